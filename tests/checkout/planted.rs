//! The changes of behaviour that `tests/mutants` plants: each still has its place in the code.

use std::fs;

#[path = "../mutants/src/behaviour.rs"]
mod behaviour;

#[test]
fn each_planted_change_has_one_place_in_the_code() {
    let list = fs::read_to_string("tests/mutants/behaviour.txt").unwrap();
    let changes = behaviour::changes(&list);
    let misplaced = changes.iter().filter_map(|change| {
        let text = fs::read_to_string(change.file).unwrap_or_default();
        change.plant(&text).err()
    });
    let misplaced: Vec<_> = misplaced.collect();
    assert!(misplaced.is_empty(), "{}", misplaced.join("\n\n"));
    assert!(changes.len() >= 20 && changes.iter().all(|change| !change.tests.is_empty()));
}
