use super::*;

#[test]
fn a_code_has_the_verdict_of_its_number() {
    for code in [
        "40001", "08007", "53300", "23505", "58030", "XX000", "nonsense",
    ] {
        assert_eq!(
            SqlState::from_code(code).verdict(),
            codes::sqlstate(code),
            "{code}"
        );
    }
}
