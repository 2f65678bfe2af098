//! The page of the guide shows code of the example, which compiles and runs.

use std::fs;
use std::path::Path;

/// The blocks of Rust of a page.
fn blocks(page: &str) -> Vec<&str> {
    let parts = page.split("\n```");
    // Every second part is inside. The first line is the language, which is left out for Rust.
    let inside = parts.skip(1).step_by(2);
    inside
        .filter_map(|block| block.strip_prefix('\n'))
        .collect()
}

pub(crate) async fn shows_the_code_of_the_example() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(package.join("../../src/guide/queues.md")).unwrap();
    let files = fs::read_dir(package.join("src")).unwrap();
    let files: String = files
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    let blocks = blocks(&page);
    assert!(blocks.len() >= 4, "{blocks:?}");
    for block in blocks {
        assert!(files.contains(block), "not in the example: {block}");
    }
    // The dependencies, and the files to read, are those of the package.
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    for name in ["apalis", "apalis-postgres", "sqlx"] {
        let is_it = |line: &&str| line.starts_with(&format!("{name} = "));
        let line = manifest.lines().find(is_it).unwrap();
        assert!(page.contains(line), "{line}");
    }
}
