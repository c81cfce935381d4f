//! Ending a browser with everything that it started: what lives on goes on sending.

use std::io;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// How often somebody looks whether a process is gone.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Ends a process and all below it, and waits until they are gone.
///
/// # Errors
/// Where the processes of this machine cannot be read, or `kill` is missing.
pub fn end(mut child: Child) -> io::Result<()> {
    let mut all = vec![child.id()];
    let parents = parents()?;
    while let Some((id, _)) = parents.iter().find(|(id, parent)| all.contains(parent) && !all.contains(id)) {
        all.push(*id);
    }
    // Those that are gone by now make no difference.
    let _some_are_gone = Command::new("kill").arg("-9").args(all.iter().map(u32::to_string)).output()?;
    child.wait()?;
    while living()?.iter().any(|id| all.contains(id)) {
        thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// Each process and its parent.
fn parents() -> io::Result<Vec<(u32, u32)>> {
    Ok(read()?.into_iter().map(|(id, parent, _)| (id, parent)).collect())
}

/// Those that have not ended and only wait for somebody to ask how.
fn living() -> io::Result<Vec<u32>> {
    Ok(read()?.into_iter().filter(|(_, _, state)| state != "Z").map(|(id, ..)| id).collect())
}

fn read() -> io::Result<Vec<(u32, u32, String)>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        // A process may end while it is read.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        // The name, which stands between, may hold anything.
        let rest = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        let mut words = rest.split_whitespace();
        if let (Some(id), Some(state), Some(parent)) = (id, words.next(), words.next()) {
            all.push((id, parent.parse().unwrap_or_default(), state.to_owned()));
        }
    }
    Ok(all)
}
