//! The arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

/// The longest that a run with load may take.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// A shop on 127.0.0.1 that shows its retries.
#[derive(Debug, Parser)]
#[command(name = "service")]
pub(crate) struct Arguments {
    /// Port on 127.0.0.1, or 0 for any free port
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,

    /// Makes this many checkouts a second itself, from 1 to 200
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) load: Option<u32>,

    /// Ends after this time, at most 1h [default with --load: 10m]
    #[arg(long = "for", value_parser = duration, value_name = "DURATION")]
    limit: Option<Duration>,

    /// Events on standard error: warn, info, or debug for each failed attempt
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub(crate) events: LevelFilter,

    /// Settings that override the policies in the code
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/retry.toml"))]
    pub(crate) config: PathBuf,
}

impl Arguments {
    /// How long the service runs. `None` means until it is stopped.
    pub(crate) fn limit(&self) -> Option<Duration> {
        let with_load = self.load.map(|_| Duration::from_secs(600));
        self.limit.or(with_load)
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration > LONGEST {
        return Err(format!("at most {}", humantime::format_duration(LONGEST)));
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &str) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(["service"].into_iter().chain(arguments.split_whitespace()))
    }

    #[test]
    fn load_is_bounded_in_rate_and_time() {
        for refused in ["--load 0", "--load 201", "--for 61m", "--for 1"] {
            assert!(parsed(refused).is_err(), "{refused}");
        }
        let limit = |arguments| parsed(arguments).map(|parsed| parsed.limit()).ok();
        assert_eq!(limit("--load 200"), Some(Some(Duration::from_secs(600))));
        assert_eq!(limit("--load 1 --for 1h"), Some(Some(LONGEST)));
        assert_eq!(limit(""), Some(None));
    }
}
