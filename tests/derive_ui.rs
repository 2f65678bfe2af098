//! What the derive says of each mistake.

#[test]
fn each_mistake_has_its_message() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/derive-*.rs");
}
