//! The time from the start of `portcullis mcp` to its first answer, and its memory then.

use super::unusable;
use crate::process::Failure;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often it is started.
const STARTS: usize = 11;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"package","version":"1"}}}"#;

/// Starts a program several times, and prints the medians.
pub fn measure(program: &Path) -> Result<(), Failure> {
    let mut starts = (0..STARTS).map(|_| start(program)).collect::<Result<Vec<_>, _>>()?;
    starts.sort();
    let time = starts.get(STARTS / 2).map(|(time, _)| *time).unwrap_or_default();
    starts.sort_by_key(|(_, memory)| *memory);
    let memory = starts.get(STARTS / 2).map(|(_, memory)| *memory).unwrap_or_default();
    let size = fs::metadata(program).map_err(|error| unusable(program, &error))?.len();
    println!(
        "{}: {:.1} MB, first answer after {} ms with {} MiB (medians of {STARTS})",
        program.display(),
        size as f64 / 1e6,
        time.as_millis(),
        memory / 1024
    );
    Ok(())
}

/// The time to the first answer, and the memory in KiB that is the program's own.
fn start(program: &Path) -> Result<(Duration, u64), Failure> {
    let failed = |error: std::io::Error| unusable(program, &error);
    let began = Instant::now();
    let mut command = Command::new(program);
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().map_err(failed)?;
    let (Some(mut to), Some(from)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(Failure::not_set_up(format!("{} has no standard streams", program.display())));
    };
    writeln!(to, "{INITIALIZE}").map_err(failed)?;
    let mut answer = String::new();
    BufReader::new(from).read_line(&mut answer).map_err(failed)?;
    let time = began.elapsed();
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap_or_default();
    drop(to);
    server.wait().map_err(failed)?;
    if answer.contains("serverInfo") {
        Ok((time, resident(&status)))
    } else {
        Err(Failure::finding(format!("{} answers no client", program.display())))
    }
}

/// The resident memory in KiB, from the text of `/proc/PROCESS/status`.
fn resident(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::resident;

    #[test]
    fn the_memory_is_read_from_the_systems_text() {
        assert_eq!(resident("Name:\tportcullis\nVmRSS:\t   17408 kB\nThreads:\t3\n"), 17_408);
        assert_eq!(resident(""), 0);
    }
}
