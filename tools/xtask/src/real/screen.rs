//! A screen of the run's own, on which `xdotool` plays the person's part in windows.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Failure;

/// The time for a window to appear, and for whatever else is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A screen without a monitor, until this is dropped.
pub struct Screen {
    server: Child,
    /// Its name, for the programs that show windows on it.
    pub display: String,
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ended = self.server.kill();
        let _reaped = self.server.wait();
    }
}

impl Screen {
    /// Starts one with a number of its own.
    pub fn start() -> Result<Screen, Failure> {
        let failed = |error: std::io::Error| Failure::not_set_up(format!("Xvfb: {error}"));
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", "1024x768x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut number = String::new();
        if let Some(out) = server.stdout.take() {
            BufReader::new(out).read_line(&mut number).map_err(failed)?;
        }
        Ok(Screen { server, display: format!(":{}", number.trim()) })
    }

    /// Calls `xdotool`, and returns what it prints.
    pub fn xdotool(&self, arguments: &[&str]) -> String {
        let output = Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    }

    /// Waits for a window with these words in its title, and returns its number.
    pub fn window(&self, title: &str) -> Result<String, Failure> {
        until(&format!("no window is named `{title}`"), || {
            let found = self.xdotool(&["search", "--onlyvisible", "--name", title]);
            found.lines().next().map(str::to_owned)
        })
    }
}

/// Waits for something.
pub fn until<T>(missing: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, Failure> {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if began.elapsed() > PATIENCE {
            return Err(Failure::not_set_up(missing.to_owned()));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
