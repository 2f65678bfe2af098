//! The CPU time of child processes.

use std::fs;

/// Runs `run`, and gives the CPU time of the programs that it started, in user mode and in the kernel. Other work
/// on the machine lengthens this time far less than the time on a clock. The unit is a tick of the kernel, so only
/// ratios have a meaning.
///
/// `None` if the kernel is not Linux.
pub(crate) fn of_children(run: impl FnOnce()) -> Option<f64> {
    let before = ticks();
    run();
    Some(ticks()? - before?)
}

/// The ticks of the children that ended and were waited for.
fn ticks() -> Option<f64> {
    let line = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program comes second, in brackets, and may contain any character.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(user + system)
}
