use super::*;

#[test]
fn every_code_has_its_verdict() {
    let table = [
        (
            Verdict::Transient,
            &[
                "40001", "40P01", "55P03", "57P01", "57P02", "57P05", "08000", "08006",
            ][..],
        ),
        (Verdict::Throttled, &["53000", "53100", "53200", "53400"]),
        (
            Verdict::Refused,
            &["53300", "57P03", "08001", "08003", "08004"],
        ),
        (
            Verdict::Unknown,
            &[
                "08007", "08P01", "40003", "57014", "58030", "XX000", "XX001",
            ],
        ),
        // Unique violation, syntax error, wrong password, no such database, failed transaction,
        // a constraint at commit, too complex, in use, dropped database.
        (
            Verdict::Permanent,
            &[
                "23505", "42601", "28P01", "3D000", "25P02", "40002", "54001", "55006", "57P04",
            ],
        ),
        // Nothing that PostgreSQL sends.
        (
            Verdict::Unknown,
            &[
                "",
                "0",
                "40",
                "4000",
                "400011",
                "ZZ000",
                "\u{e9}\u{e9}\u{e9}",
                "99999",
                "00000",
                "01000",
            ],
        ),
    ];
    for (verdict, codes) in table {
        for code in codes {
            assert_eq!(SqlState::from_code(code).verdict(), verdict, "{code}");
        }
    }
}

#[test]
fn any_code_is_harmless_and_only_listed_ones_are_retried() {
    use proptest::prelude::*;
    let listed = [
        "40001", "40P01", "55P03", "57P01", "57P02", "57P03", "57P05", "08000", "08001", "08003",
        "08004", "08006", "53000", "53100", "53200", "53300", "53400",
    ];
    proptest!(|(code in "\\PC{0,6}|[0-9A-Z]{5}")| {
        let retried = SqlState::from_code(&code).verdict().is_retryable();
        prop_assert_eq!(retried, listed.contains(&code.as_str()));
    });
}
