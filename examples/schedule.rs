//! Shows what a policy does: its delays, drawn 10,000 times, its worst case, and how much load it adds.
//!
//! ```text
//! cargo run -p simulation --example schedule -- FAST_IO
//! cargo run -p simulation --example schedule -- 'attempts = 6, base = "50ms", jitter = "equal", deadline = "5s"'
//! cargo run -p simulation --example schedule -- FAST_IO 'attempts = 4, base = "10ms"'   # to compare
//! ```
//!
//! Settings are those of a configuration file, with commas. Bad input ends with code 2.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use reattempt::{BATCH, FAST_IO, FILES, NO_RETRY, Policy, SLOW_IO};
use serde::Deserialize;
use simulation::SEED;
use simulation::dice::Dice;
use simulation::luck::{self, CALLS};
use simulation::manner::Manner;

const USAGE: &str = "usage: cargo run -p simulation --example schedule -- POLICY [POLICY …]\n\
                     POLICY is the name of a preset, FAST_IO, or settings, 'attempts = 6, base = \"50ms\"'";

const DRAWS: u32 = 10_000;

/// The retries of a schedule that are drawn: one without limits has no end.
const MOST_RETRIES: usize = 100;

/// The delays of a schedule that are shown one by one.
const SHOWN: usize = 12;

fn main() -> ExitCode {
    let texts: Vec<String> = std::env::args().skip(1).collect();
    let policies: Result<Vec<_>, _> = texts.iter().map(|text| policy(text)).collect();
    match policies {
        Ok(policies) if !policies.is_empty() => {
            for (text, policy) in texts.iter().zip(&policies) {
                println!("{}", page(text, policy));
            }
            ExitCode::SUCCESS
        }
        Ok(_) => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        Err(mistake) => {
            eprintln!("{mistake}");
            ExitCode::from(2)
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InOneLine {
    policy: Policy,
}

/// Reads the name of a preset, or settings. The error says what is wrong, and where.
fn policy(text: &str) -> Result<Policy, String> {
    match text.trim() {
        "FAST_IO" => Ok(FAST_IO),
        "SLOW_IO" => Ok(SLOW_IO),
        "BATCH" => Ok(BATCH),
        "FILES" => Ok(FILES),
        "NO_RETRY" => Ok(NO_RETRY),
        name if !name.is_empty() && !name.contains('=') => Err(format!(
            "unknown preset `{name}`, expected one of `FAST_IO`, `SLOW_IO`, `BATCH`, `FILES`, `NO_RETRY`"
        )),
        settings => {
            let table = format!("policy = {{ {} }}", settings.trim_end_matches([',', ' ']));
            let read = toml::from_str(&table).map(|InOneLine { policy }| policy);
            read.map_err(|error| error.to_string().trim_end().to_owned())
        }
    }
}

fn page(name: &str, policy: &Policy) -> String {
    let draws = (0..u64::from(DRAWS)).map(|draw| luck::delays(policy, Dice::of(&[SEED, draw])));
    let schedules: Vec<Vec<_>> = draws
        .map(|schedule| schedule.take(MOST_RETRIES).collect())
        .collect();
    let totals = schedules.iter().map(|delays| {
        let delays = delays.iter().copied();
        delays.fold(Duration::ZERO, Duration::saturating_add)
    });
    let mut page = format!("{name}\n{policy}\n\nTime waited in all, {DRAWS} schedules drawn\n");
    let _ = writeln!(page, "  {}", summary(totals.collect()));
    if schedules.iter().any(|delays| delays.len() == MOST_RETRIES) {
        let _ = writeln!(page, "  of the first {MOST_RETRIES} retries");
    }
    page += "\nEach delay\n";
    for retry in 0..SHOWN {
        let delays = schedules.iter().filter_map(|delays| delays.get(retry));
        let delays: Vec<_> = delays.copied().collect();
        if !delays.is_empty() {
            let _ = writeln!(page, "  attempt {:<2}  {}", retry + 2, summary(delays));
        }
    }
    page += "\nAttempts for each call, if attempts fail at random (see docs/LOAD.md)\n";
    page + &load(policy)
}

/// The shortest length, the longest, and two between.
fn summary(mut lengths: Vec<Duration>) -> String {
    lengths.sort_unstable();
    let [least, half, most, longest] =
        [0, 50, 99, 100].map(|percent| lengths[(lengths.len() - 1) * percent / 100]);
    format!("{least:.1?} to {longest:.1?}, half at most {half:.1?}, 99 of 100 at most {most:.1?}")
}

fn load(policy: &Policy) -> String {
    if policy.attempts().is_none_or(|attempts| attempts > 1_000) {
        return "  no limit, or more than a thousand\n".to_owned();
    }
    let rows = [0.1, 0.5, 1.0].map(|failing| {
        let [without, with] = [Manner::BACKOFF, Manner::BUDGET].map(|manner| {
            let manner = Manner {
                policy: policy.clone(),
                ..manner
            };
            luck::run(&manner, CALLS, failing, SEED).amplification
        });
        let percent = failing * 100.0;
        format!("  {percent:>3.0} % fail  {without:.2}, with the default budget {with:.2}\n")
    });
    rows.concat()
}

#[cfg(test)]
mod tests {
    use reattempt::Jitter;
    use simulation::tables::cost_row;

    use super::*;

    #[test]
    fn a_policy_is_a_preset_or_settings() {
        let settings = Policy::new()
            .with_attempts(6)
            .with_base(Duration::from_millis(50))
            .with_jitter(Jitter::Equal)
            .with_deadline(Duration::from_secs(5));
        for (text, expected) in [
            ("FAST_IO", FAST_IO),
            (" SLOW_IO ", SLOW_IO),
            ("BATCH", BATCH),
            ("FILES", FILES),
            ("NO_RETRY", NO_RETRY),
            ("", Policy::new()),
            (
                "attempts = 6, base = \"50ms\", jitter = \"equal\", deadline = \"5s\"",
                settings.clone(),
            ),
            (
                "attempts=6,base='50ms',jitter='equal',deadline='5s', ",
                settings,
            ),
        ] {
            assert_eq!(policy(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn bad_settings_are_refused_with_what_is_wrong_and_where() {
        for (text, parts) in [
            (
                "FAST_OI",
                [
                    "unknown preset `FAST_OI`",
                    "expected one of `FAST_IO`, `SLOW_IO`, `BATCH`, `FILES`, `NO_RETRY`",
                ],
            ),
            (
                "atempts = 6",
                [
                    "line 1, column 12",
                    "unknown field `atempts`, expected one of `attempts`, ",
                ],
            ),
            (
                "attempts = 2, base = '5'",
                [
                    "line 1, column 33",
                    "duration \"5\": 5 has no unit, write \"5s\" or \"5ms\"",
                ],
            ),
            (
                "timeout = '5s', deadline = '1s'",
                [
                    "`timeout` (5s in the settings)",
                    "is above `deadline` (1s in the settings)",
                ],
            ),
            (
                "attempts = 2 }\nenabled = { a = 1",
                ["enabled", "unknown field"],
            ),
        ] {
            let error = policy(text).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    #[test]
    fn the_page_has_the_policy_the_draws_and_the_load() {
        let settings = "attempts = 6, base = \"50ms\", jitter = \"equal\", deadline = \"5s\"";
        let policy = policy(settings).unwrap();
        let page = page(settings, &policy);
        assert!(
            page.starts_with(&format!("{settings}\n{policy}\n")),
            "{page}"
        );
        // From 775 ms to 1550 ms.
        assert!(page.contains("drawn\n  "), "{page}");
        assert!(page.contains(", half at most 1.2s, "), "{page}");
        // From 400 ms to 800 ms.
        assert!(page.contains("  attempt 6   400."), "{page}");
        assert!(page.contains("ms to 800."), "{page}");
        assert!(!page.contains("attempt 7 "), "{page}");
    }

    /// The figures are those of `docs/LOAD.md`, where the policy is the one of the page.
    #[test]
    fn the_load_is_that_of_the_page_on_load() {
        let shown = load(&Policy::new());
        for (line, failing) in shown.lines().zip([0.1, 0.5]) {
            let row = cost_row(failing);
            let page: Vec<f64> = row
                .split(['|', ','])
                .filter_map(|cell| cell.trim().parse().ok())
                .collect();
            let shown: Vec<f64> = line
                .split([' ', ','])
                .filter_map(|word| word.parse().ok())
                .collect();
            // The share, and then without a budget and with the default at 200 calls a second.
            assert_eq!(shown.len(), 3, "{line}");
            for (shown, load) in shown[1..].iter().zip([page[0], page[2]]) {
                assert!((shown - load).abs() < 0.01, "{line} and {row}");
            }
        }
        assert!(shown.ends_with("  100 % fail  3.00, with the default budget 1.01\n"));
    }

    #[test]
    fn what_has_no_end_is_shown_up_to_where_it_was_drawn() {
        let text = "attempts = 'unlimited', max_delay = '1s', base = '1s', jitter = 'none'";
        let endless = page(text, &policy(text).unwrap());
        for text in [
            "  100.0s to 100.0s, ",
            "  of the first 100 retries\n",
            "  attempt 13  1.0s to 1.0s, ",
            "  no limit, or more than a thousand\n",
        ] {
            assert!(endless.contains(text), "{text}\n{endless}");
        }
        let once = page("NO_RETRY", &NO_RETRY);
        assert!(once.contains("\n  0.0ns to 0.0ns, "), "{once}");
    }
}
