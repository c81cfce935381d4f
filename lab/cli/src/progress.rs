//! Progress of a long command.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error; without a terminal a line for each step.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new() -> Progress {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Progress { bar }
    }

    /// The current step.
    pub fn say(&self, what: String) {
        if self.bar.is_hidden() {
            eprintln!("{what}");
        }
        self.bar.set_message(what);
        self.bar.tick();
    }

    pub fn set(&self, done: u64, all: u64) {
        self.bar.set_length(all);
        self.bar.set_position(done);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A duration in words.
pub fn spoken(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds @ 90..5400 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}
