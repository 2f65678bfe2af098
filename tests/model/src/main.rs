//! Plays scripts, and compares what happens with the model.

mod case;
mod compare;
#[rustfmt::skip]
mod model;
mod plans;
mod play;
mod random;
#[rustfmt::skip]
mod stage;

use std::process::ExitCode;
use std::time::Instant;

use compare::Tally;
use plans::plans;
use random::random;

/// Plays all scripts, or those of the plans whose names begin with an argument.
fn main() -> ExitCode {
    let only = std::env::args().nth(1).unwrap_or_default();
    let began = Instant::now();
    let mut all = Tally::default();
    for plan in plans().iter().filter(|plan| plan.name.starts_with(&only)) {
        all = all.and(timed(plan.name, || plan.run()));
    }
    if "random".starts_with(&only) {
        all = all.and(timed("random", || random(100_000)));
    }
    println!("{all}, {:.0?}", began.elapsed());
    if all.disagreements == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn timed(name: &str, play: impl FnOnce() -> Tally) -> Tally {
    let began = Instant::now();
    let tally = play();
    println!("{name}: {tally}, {:.1?}", began.elapsed());
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_all_scripts_does_what_the_model_does() {
        let played = plans()
            .iter()
            .map(|plan| plan.sample(200))
            .fold(random(300), Tally::and);
        assert_eq!(played.disagreements, 0, "{played}");
        assert!(played.scripts > 4_000, "{played}");
    }
}
