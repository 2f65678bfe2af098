//! Wrong files in a folder: the message about each, and that the settings stay as they were.

mod in_code;
mod listed;
#[cfg(unix)]
mod unreadable;

use std::fs;
use std::path::Path;

use reattempt::Preset;
use reattempt::config::{MAX_FILE_BYTES, Source};

use self::in_code::presets;
use self::listed::keys;

const PRESETS: &str = "the presets are `payments`, `search`, `db.read-only`";

/// What each file says before it is wrong. The presets in the code have none of these values.
const RIGHT: &str =
    "[payments]\nattempts = 9\n[search]\njitter = 'none'\n[db.read-only]\nbase = '7ms'\n";

/// Loads the file while it is right, lets `break_it` replace it, and loads it again. Returns the message of the second
/// time, with FILE in place of the path. The settings of the first time must stay.
fn refused(path: &Path, break_it: impl FnOnce(&Path)) -> String {
    let presets = presets();
    fs::write(path, RIGHT).unwrap();
    let source = Source::new(presets).with_toml_file(path).unwrap();
    source.apply().unwrap();
    let before = presets.map(Preset::policy);
    assert_eq!(before[0].attempts(), Some(9));

    fs::remove_file(path).unwrap();
    break_it(path);
    let error = source.apply().unwrap_err();
    assert_eq!(presets.map(Preset::policy), before, "{error}");

    // A program that starts now is refused too: by the file, or by its content.
    let start = Source::new(presets).with_toml_file(path);
    let start = start.and_then(|source| source.apply()).unwrap_err();
    assert_eq!(start, error);
    let path = path.to_str().unwrap();
    for problem in error.problems() {
        assert_eq!(problem.origin(), path);
        let help = problem.message().split_once("; ");
        assert!(help.is_some(), "no help: {problem}");
    }
    error.to_string().replace(path, "FILE")
}

struct Wrong {
    name: &'static str,
    text: String,
    messages: Vec<String>,
}

/// The files of `wrong.txt`.
fn files() -> Vec<Wrong> {
    let mut files: Vec<Wrong> = Vec::new();
    for line in include_str!("wrong.txt").lines() {
        if let Some(name) = line.strip_prefix("> ") {
            files.push(Wrong {
                name,
                text: String::new(),
                messages: Vec::new(),
            });
        } else if let Some(file) = files.last_mut() {
            match line.strip_prefix("! ") {
                Some(message) => {
                    let message = message.replace("KEYS", &keys()).replace("PRESETS", PRESETS);
                    file.messages.push(format!("FILE{message}"));
                }
                None => file.text.extend([line, "\n"]),
            }
        }
    }
    files
}

#[test]
fn each_wrong_file_is_refused_with_its_path_and_line_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let files = files();
    assert!(files.len() >= 40, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let path = folder.path().join(format!("{}.toml", file.name));
        let said = refused(&path, |path| fs::write(path, &file.text).unwrap());
        let expected = file.messages.join("\n");
        if said != expected {
            wrong.push(format!("> {}\nsaid {said}\nnot  {expected}", file.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_is_gone_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = refused(&folder.path().join("missing.toml"), |_| {});
    assert!(
        message.starts_with("FILE: cannot be read: ") && message.contains("(os error "),
        "{message}"
    );
    assert!(
        message.ends_with(", expected a TOML file; check the path, or write the file"),
        "{message}"
    );
}

#[test]
fn a_path_that_leads_through_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let path = folder.path().join("file/retry.toml");
    let error = Source::new(presets()).with_toml_file(path).unwrap_err();
    let error = error.to_string();
    assert!(error.contains(": cannot be read: "), "{error}");
    assert!(
        error.contains(", expected a TOML file; check the path"),
        "{error}"
    );
}

#[test]
fn a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        refused(&folder.path().join("folder.toml"), |path| fs::create_dir(
            path
        )
        .unwrap()),
        "FILE: is a folder, expected a TOML file; add the name of a file in it, such as `retry.toml`"
    );
}

#[test]
fn a_file_with_a_byte_that_is_not_utf_8_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let latin = |path: &Path| fs::write(path, b"[payments]\n# f\xFCr Zahlungen").unwrap();
    assert_eq!(
        refused(&folder.path().join("latin.toml"), latin),
        "FILE:2: has the byte 0xFC, which is not UTF-8, expected text in UTF-8; save the file as UTF-8"
    );
}

#[test]
fn a_file_of_ten_megabytes_is_refused_with_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let large = |path: &Path| fs::write(path, vec![b'#'; 10_000_000]).unwrap();
    assert_eq!(
        refused(&folder.path().join("large.toml"), large),
        "FILE: has 10000000 bytes, expected at most 1048576 (1 MiB); check the path, since settings are much smaller"
    );
    let largest = usize::try_from(MAX_FILE_BYTES).unwrap();
    let path = folder.path().join("largest.toml");
    fs::write(&path, vec![b'#'; largest]).unwrap();
    let source = Source::new(presets()).with_toml_file(&path).unwrap();
    source.apply().unwrap();
    fs::write(&path, vec![b'#'; largest + 1]).unwrap();
    source.apply().unwrap_err();
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        refused(&folder.path().join("secret.toml"), unreadable::make),
        "FILE: cannot be read: Permission denied (os error 13), expected a TOML file; \
         let the user of this process read it"
    );
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_a_file_is_not_opened() {
    const MESSAGE: &str = "is not a regular file, expected a TOML file; \
                           to read a device or a pipe, pass its text to `with_toml_text`";
    let folder = tempfile::tempdir().unwrap();
    // A read of these devices would give nothing, or never end.
    let message = refused(&folder.path().join("device.toml"), |path| {
        std::os::unix::fs::symlink("/dev/null", path).unwrap();
    });
    assert_eq!(message, format!("FILE: {MESSAGE}"));
    let error = Source::new(presets()).with_toml_file("/dev/zero");
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), format!("/dev/zero: {MESSAGE}"));
}
