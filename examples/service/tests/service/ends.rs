//! The end of the service, and of the servers that it started.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::program::Service;
use crate::{PATIENCE, Tested};

/// No `drop` runs, so nothing in the service can end its servers.
pub(crate) async fn a_service_that_is_killed_leaves_no_server_behind() -> Tested {
    let service = Service::start_still()?;
    let servers = started_by(service.id());
    for name in ["postgres", "redis-server"] {
        let is_there = servers.iter().any(|id| line_of(*id).contains(name));
        assert!(is_there, "{name}");
    }
    signal("-KILL", service.id())?;
    let began = Instant::now();
    while servers.iter().any(|id| !line_of(*id).is_empty()) {
        if began.elapsed() > PATIENCE {
            return Err(format!("still there: {servers:?}").into());
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

pub(crate) async fn a_service_whose_database_was_killed_ends_when_it_is_asked_to() -> Tested {
    let service = Service::start_still()?;
    let servers = started_by(service.id());
    let database = servers
        .iter()
        .find(|id| line_of(**id).contains("/postgres"));
    signal("-KILL", *database.ok_or("no database")?)?;
    let began = Instant::now();
    drop(service);
    let took = began.elapsed();
    // `pg_ctl` would wait for 90 s.
    assert!(took < Duration::from_secs(60), "{took:?}");
    Ok(())
}

/// The processes that this one started, and those that they started.
fn started_by(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let children = threads.into_iter().flatten().flatten().flat_map(|thread| {
        let children = fs::read_to_string(thread.path().join("children"));
        let children = children.unwrap_or_default();
        let numbers = children.split_whitespace().map(str::parse);
        numbers.flatten().collect::<Vec<u32>>()
    });
    children
        .flat_map(|child| [vec![child], started_by(child)].concat())
        .collect()
}

/// The command line of a process that runs, or else nothing.
fn line_of(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default()
}

fn signal(signal: &str, process: u32) -> Tested {
    let sent = Command::new("kill")
        .args([signal, &process.to_string()])
        .status()?;
    if sent.success() {
        Ok(())
    } else {
        Err(format!("no process {process}").into())
    }
}
