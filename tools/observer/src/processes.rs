//! Ending a browser and all processes that it started, which would otherwise go on sending.

use std::io;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// The time between two checks that the processes are gone.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Ends a process and all its descendants, and waits until they are gone.
///
/// # Errors
/// The list of processes cannot be read, or `kill` is missing.
pub fn end(mut child: Child) -> io::Result<()> {
    let mut all = vec![child.id()];
    let parents = parents()?;
    while let Some((id, _)) = parents.iter().find(|(id, parent)| all.contains(parent) && !all.contains(id)) {
        all.push(*id);
    }
    // Some processes may have ended already, so the status is ignored.
    let _ignored = Command::new("kill").arg("-9").args(all.iter().map(u32::to_string)).output()?;
    child.wait()?;
    while living()?.iter().any(|id| all.contains(id)) {
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// Lists each process and its parent.
fn parents() -> io::Result<Vec<(u32, u32)>> {
    Ok(read()?.into_iter().map(|(id, parent, _)| (id, parent)).collect())
}

/// Lists the processes that are not zombies.
fn living() -> io::Result<Vec<u32>> {
    Ok(read()?.into_iter().filter(|(_, _, state)| state != "Z").map(|(id, ..)| id).collect())
}

fn read() -> io::Result<Vec<(u32, u32, String)>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        // A process may end while it is read.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        // The name in parentheses may hold any characters.
        let rest = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        let mut words = rest.split_whitespace();
        if let (Some(id), Some(state), Some(parent)) = (id, words.next(), words.next()) {
            all.push((id, parent.parse().unwrap_or_default(), state.to_owned()));
        }
    }
    Ok(all)
}
