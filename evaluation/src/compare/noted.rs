//! The guard's own judge of pages, and the lowest that it said.

use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Outline;
use classifier::Safety;
use portcullis::safety::{PageSafety, WindowSafety};

/// Says of pages what the shipped judge says, and remembers the lowest.
pub(super) struct NotedSafety {
    judge: WindowSafety,
    lowest: Mutex<Option<f64>>,
}

impl NotedSafety {
    pub(super) fn new(judge: &WindowSafety) -> Arc<NotedSafety> {
        Arc::new(NotedSafety { judge: judge.clone(), lowest: Mutex::default() })
    }

    /// The lowest safety so far; nothing where no page was judged.
    pub(super) fn lowest(&self) -> Option<f64> {
        *self.lowest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageSafety for NotedSafety {
    fn of(&self, outline: &Outline) -> Safety {
        let safety = self.judge.of(outline);
        let mut lowest = self.lowest.lock().unwrap_or_else(PoisonError::into_inner);
        *lowest = Some(lowest.map_or(safety.value(), |known| known.min(safety.value())));
        safety
    }
}
