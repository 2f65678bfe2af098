//! The compiler's errors in a copy.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Result;
use crate::functions::Function;

/// An error, and its primary spans.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    pub(crate) message: String,
    places: Vec<(String, usize)>,
}

impl Diagnostic {
    /// Whether the error points into this function.
    pub(crate) fn is_in(&self, function: &Function) -> bool {
        let lines = function.first..=function.last;
        let mut places = self.places.iter();
        places.any(|(file, line)| *file == function.file && lines.contains(line))
    }
}

/// Runs `cargo check`, and returns each error once.
pub(crate) fn errors(copy: &Path, args: &[String]) -> Result<Vec<Diagnostic>> {
    let output = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["check", "--keep-going", "--message-format=json"])
        .args(args)
        .current_dir(copy)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut errors: Vec<Diagnostic> = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)?;
        if let Some(error) = error(&line["message"]) {
            if !errors
                .iter()
                .any(|known| known.message == error.message && known.places == error.places)
            {
                errors.push(error);
            }
        }
    }
    if errors.is_empty() && !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(errors)
}

fn error(message: &Value) -> Option<Diagnostic> {
    let text = message["message"].as_str()?;
    // "aborting due to 2 previous errors" has no span.
    let spans = message["spans"]
        .as_array()
        .filter(|spans| !spans.is_empty())?;
    if message["level"] != "error" {
        return None;
    }
    let mut places = Vec::new();
    for span in spans.iter().filter(|span| span["is_primary"] == true) {
        // A span in a macro is replaced with the place that uses the macro.
        let mut span = span;
        while span.is_object() {
            if let (Some(file), Some(line)) =
                (span["file_name"].as_str(), span["line_start"].as_u64())
            {
                places.push((file.to_owned(), usize::try_from(line).ok()?));
            }
            span = &span["expansion"]["span"];
        }
    }
    Some(Diagnostic {
        message: text.to_owned(),
        places,
    })
}
