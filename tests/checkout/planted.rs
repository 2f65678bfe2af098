//! The changes of behaviour that `tests/mutants` plants: each still has its place in the code.

use std::fs;
use std::path::Path;

#[path = "../mutants/src/behaviour.rs"]
mod behaviour;

#[test]
fn each_planted_change_has_one_place_in_the_code() {
    let list = fs::read_to_string("tests/mutants/behaviour.txt").unwrap();
    let changes = behaviour::changes(&list);
    let planted = behaviour::plant_each(Path::new("."), &changes);
    let planted = planted.unwrap_or_else(|misplaced| panic!("{misplaced}"));
    assert!(planted.len() >= 20 && changes.iter().all(|change| !change.tests.is_empty()));
}
