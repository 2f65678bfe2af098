//! The CPU time of programs that were started.

use std::fs;

/// Runs something, and gives the CPU time that the programs it started took: what they computed, and
/// what the kernel did for them. Other work on the machine lengthens it far less than the time on a
/// clock. The unit is a tick of the kernel, so that only ratios mean anything.
///
/// `None` where the kernel is not Linux.
pub(crate) fn of_children(run: impl FnOnce()) -> Option<f64> {
    let before = ticks();
    run();
    Some(ticks()? - before?)
}

/// The ticks of the children that have ended and were waited for.
fn ticks() -> Option<f64> {
    let line = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program comes second, in brackets, and may hold anything.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(user + system)
}
