//! The page of the guide shows code of the example, which compiles and runs.

use std::fs;
use std::path::Path;

/// The code of the example on a page: the other blocks are doc tests.
fn blocks(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```ignore\n").skip(1);
    blocks
        .filter_map(|block| Some(block.split_once("\n```")?.0))
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
    assert!(!blocks.is_empty());
    for block in blocks {
        assert!(files.contains(block), "not in the example: {block}");
    }
}
