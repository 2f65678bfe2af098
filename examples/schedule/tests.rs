//! The output of the example, and the arguments that it refuses.

use std::fs;
use std::time::Duration;

use reattempt::{FAST_IO, Jitter, NO_RETRY, Policy, SLOW_IO};
use simulation::tables::cost_row;

use super::*;

fn given(arguments: &[&str]) -> Result<Asked, String> {
    asked(arguments.iter().map(OsString::from))
}

fn policy(text: &str) -> Policy {
    given(&[text]).unwrap().policies[0].policy
}

fn page(arguments: &[&str]) -> String {
    page::write(&given(arguments).unwrap().policies).0
}

#[test]
fn a_policy_is_a_preset_or_settings_with_commas_or_on_lines() {
    for (name, preset) in [
        ("FAST_IO", FAST_IO),
        (" SLOW_IO ", SLOW_IO),
        ("NO_RETRY", NO_RETRY),
        ("", Policy::new()),
    ] {
        assert_eq!(policy(name), preset, "{name}");
    }
    let expected = Policy::new()
        .with_attempts(6)
        .with_base(Duration::from_millis(50))
        .with_jitter(Jitter::Equal)
        .with_deadline(Duration::from_secs(5));
    for text in [
        "attempts = 6, base = \"50ms\", jitter = \"equal\", deadline = \"5s\"",
        "attempts=6,base='50ms',jitter='equal',deadline='5s', ",
        "# from a file\nattempts = 6\n\nbase = '50ms' # short\r\njitter = \"equal\",\n  deadline = '5s'",
    ] {
        assert_eq!(policy(text), expected, "{text}");
    }
}

#[test]
fn bad_settings_are_refused_with_what_is_wrong_and_where() {
    for (text, place, message) in [
        (
            "FAST_OI",
            "",
            "unknown preset `FAST_OI`, expected one of `FAST_IO`, `SLOW_IO`, `NO_RETRY`",
        ),
        (
            "atempts = 6",
            "line 1, column 12",
            "unknown field `atempts`, expected one of `attempts`, ",
        ),
        (
            "attempts = 2, base = '5'",
            "line 1, column 33",
            "duration \"5\": 5 has no unit, write \"5s\" or \"5ms\"",
        ),
        (
            "attempts = 2\n\njitter = 'ful'",
            "line 3, column 10",
            "unknown variant `ful`, expected one of `none`, `full`, `equal`, `decorrelated`",
        ),
        (
            "timeout = '5s'\ndeadline = '1s'",
            "",
            "`timeout` (5s in the settings) is above `deadline` (1s in the settings)",
        ),
        (
            "delays = ['1s']",
            "line 1, column 12",
            "unknown field `delays`, expected one of ",
        ),
    ] {
        let error = given(&[text]).unwrap_err();
        assert!(error.contains(place) && error.contains(message), "{error}");
        // The error has the mistakes of both policies.
        let both = given(&["factor = 0.5", text]).unwrap_err();
        assert!(both.contains("0.5 is not from 1 to 1000"), "{both}");
        assert!(both.ends_with(&error), "{both}");
    }
}

#[test]
fn what_is_no_policy_is_refused_without_a_panic() {
    for text in [
        "=",
        "attempts",
        "attempts =",
        "}",
        "{",
        "} , enabled = false",
        "attempts = 2 }\n{",
        "[policy]\n[policy]",
        "\n=",
        "\"",
        "'''",
        "\u{feff}",
        "\0",
        "attempts = 1e400",
        "#",
        "enabled",
        "ä",
        "policy.attempts = 2",
    ] {
        if let Err(message) = given(&[text]) {
            assert!(!message.is_empty(), "{text}");
        }
        assert!(reattempt::is_enabled(), "{text}");
    }
    for arguments in [&[][..], &["FAST_IO"; 3], &["FAST_IO", "--svg"]] {
        let message = given(arguments).unwrap_err();
        assert!(message.ends_with(USAGE), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;

    let argument = OsString::from_vec(vec![b'a', 0xFF]);
    let message = asked([argument].into_iter()).unwrap_err();
    assert!(message.contains("expected text in UTF-8"), "{message}");
}

fn section<'p>(page: &'p str, title: &str) -> Vec<&'p str> {
    let (_, rest) = page
        .split_once(&format!("\n{title}\n\n"))
        .unwrap_or_else(|| panic!("{title}\n{page}"));
    rest.split("\n\n").next().unwrap().lines().collect()
}

#[test]
fn the_page_has_the_table_the_draws_and_the_worst_case() {
    let settings = "attempts = 6, base = \"50ms\", jitter = \"equal\", deadline = \"5s\"";
    let page = page(&[settings]);
    assert!(
        page.starts_with(&format!("{settings}\n{}\n", policy(settings))),
        "{page}"
    );

    let totals = section(&page, "Time waited in all, 10,000 schedules drawn");
    let (summary, bars) = totals.split_last().unwrap();
    let counts = bars
        .iter()
        .map(|bar| bar.split_whitespace().last().unwrap());
    assert_eq!(
        counts
            .map(|count| count.parse::<u32>().unwrap())
            .sum::<u32>(),
        10_000,
        "{page}"
    );
    // From 775 ms to 1550 ms, so 1162.5 ms on average.
    assert!(
        summary.starts_with("mean 1.16s, half at most 1.1"),
        "{summary}"
    );

    let delays = section(&page, "Each delay, drawn");
    assert_eq!(delays.len(), 5);
    assert!(
        delays[4].starts_with("  attempt 6   400ms to 800ms  mean 60"),
        "{}",
        delays[4]
    );

    let worst = section(&page, "Worst case");
    assert_eq!(
        worst,
        [
            "  a call takes at most 5s",
            "  attempts that fail at once: 6"
        ]
    );
}

/// The rows are those of `docs/LOAD.md`, where the policy is the one of the page.
#[test]
fn the_amplification_is_that_of_the_page_on_load() {
    let page = page(&["attempts = 3"]);
    let rows = section(
        &page,
        "Amplification: attempts for each call, if attempts fail at random",
    );
    for (row, failing) in rows[1..3].iter().zip([0.1, 0.5]) {
        let cells: Vec<f64> = row
            .split_whitespace()
            .filter_map(|cell| cell.parse().ok())
            .collect();
        let row = cost_row(failing);
        let load: Vec<f64> = row
            .split(['|', ','])
            .filter_map(|cell| cell.trim().parse().ok())
            .collect();
        // Without a budget, and with the default at 200 calls a second.
        for (shown, load) in [(cells[1], load[0]), (cells[2], load[2])] {
            assert!((shown - load).abs() < 0.01, "{shown} and {load} in {row}");
        }
    }
    assert!(
        rows[3].starts_with("    100 %  3.00        1.01"),
        "{}",
        rows[3]
    );
}

#[test]
fn what_has_no_end_is_shown_up_to_where_it_was_drawn() {
    let endless = page(&["attempts = 'unlimited', max_delay = '1s', base = '1s', jitter = 'none'"]);
    for text in [
        "  100s  ██████████████████████████████ 10000",
        "  attempt 13  1s  mean 1s ",
        "of the first 100 retries",
        "  no limit: there is no deadline",
        "  attempts that fail at once: more than 100",
        "    100 %  no limit    none if unlimited",
    ] {
        assert!(endless.contains(text), "{text}\n{endless}");
    }
    let once = page(&["NO_RETRY"]);
    assert!(once.contains("  no retry, no delay"), "{once}");
}

#[test]
fn two_policies_stand_side_by_side_and_share_a_picture() {
    let folder = std::env::temp_dir().join(format!("reattempt-schedule-{}", std::process::id()));
    for policies in [
        ["FAST_IO", "SLOW_IO"],
        [
            "NO_RETRY",
            "attempts = 'unlimited', base = '24h', max_delay = '24h'",
        ],
        ["attempts = 2, base = '1ns'", "NO_RETRY"],
    ] {
        let file = folder.join("folder/picture.svg");
        let arguments = [policies[0], "--svg", file.to_str().unwrap(), policies[1]];
        let asked = given(&arguments).unwrap();
        let (page, drawn) = page::write(&asked.policies);
        let first = page.lines().next().unwrap();
        assert!(
            first.starts_with(policies[0]) && first.ends_with(policies[1]),
            "{first}"
        );

        picture::draw(&asked.policies, &drawn, &asked.picture).unwrap();
        let picture = fs::read_to_string(&file).unwrap();
        assert!(
            picture.ends_with("</svg>\n") || picture.ends_with("</svg>"),
            "{policies:?}"
        );
        for policy in policies {
            let name = policy.split(',').next().unwrap();
            assert!(picture.contains(&name.replace('\'', "&apos;")), "{name}");
        }
        assert!(
            !picture.contains("NaN") && !picture.contains("inf"),
            "{policies:?}"
        );
    }
    fs::remove_dir_all(&folder).unwrap();

    let asked = given(&["FAST_IO", "--svg", "/dev/null/picture.svg"]).unwrap();
    let message = show(&asked).unwrap_err();
    assert!(message.starts_with("/dev/null/picture.svg: "), "{message}");
}
