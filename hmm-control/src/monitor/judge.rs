//! A monitor with a calibration curve.

use super::calibration::{Curve, ReliabilityTable};
use super::error::MonitorError;
use super::model::{Monitor, Window};
use super::watch::Watch;
use classifier::Safety;
use std::sync::Arc;

/// A [`Monitor`] with a horizon and a [`Curve`]: it gives the [`Safety`] of a document.
///
/// The prediction is that the present window and the next `horizon` are all appropriate. The curve, fitted on documents
/// that the monitor was not estimated from, calibrates it. The safety is the calibrated prediction, but at most the
/// posterior of the present window: a curve from too few or other data may make a document look worse than the monitor's
/// present estimate, and never better.
#[derive(Debug, Clone, PartialEq)]
pub struct Judge {
    monitor: Monitor,
    horizon: usize,
    curve: Curve,
}

impl Judge {
    /// Calibrates a monitor on held-out labelled documents.
    ///
    /// A window counts where it and the next `horizon` are all labelled. With horizon 0 only the present window is
    /// judged.
    ///
    /// # Errors
    /// When a window does not have one score per detector, or the windows do not have both outcomes.
    pub fn fit(monitor: Monitor, horizon: usize, held_out: &[Vec<Window>]) -> Result<Judge, MonitorError> {
        let mut samples = Vec::new();
        outcomes(&monitor, horizon, held_out, |watch, happened| {
            samples.extend(watch.conforming(horizon).map(|prediction| (prediction, happened)));
        })?;
        let good = samples.iter().filter(|(_, happened)| *happened).count();
        let bad = samples.len() - good;
        match Curve::fit(&samples) {
            Some(curve) if good > 0 && bad > 0 => Ok(Judge { monitor, horizon, curve }),
            _ => Err(MonitorError::OneOutcome { good, bad, horizon }),
        }
    }

    pub(super) fn from_parts(monitor: Monitor, horizon: usize, curve: Curve) -> Judge {
        Judge { monitor, horizon, curve }
    }

    /// The monitor.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The horizon: the number of windows after the present one that are judged with it.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// The calibration.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The start of a document.
    pub fn watch(&self) -> Watch {
        self.monitor.watch()
    }

    /// The safety of a document at present. None before its first window, and for a watch of another monitor, for which the
    /// curve is not valid.
    pub fn safety(&self, watch: &Watch) -> Option<Safety> {
        if !Arc::ptr_eq(&self.monitor.parts, &watch.monitor().parts) {
            return None;
        }
        let present = watch.present()?;
        let calibrated = self.curve.apply(watch.conforming(self.horizon)?);
        Safety::new(calibrated.min(present)).ok()
    }

    /// The reliability of the safety on labelled documents; they have to be others than those that the judge was fitted on.
    ///
    /// # Errors
    /// When a window does not have one score per detector.
    pub fn reliability(
        &self,
        documents: &[Vec<Window>],
        ranges: usize,
    ) -> Result<ReliabilityTable, MonitorError> {
        let mut samples = Vec::new();
        outcomes(&self.monitor, self.horizon, documents, |watch, happened| {
            samples.extend(self.safety(watch).map(|safety| (safety.value(), happened)));
        })?;
        Ok(ReliabilityTable::measure(&samples, ranges))
    }
}

/// Watches each document and calls `each` for every window that is labelled up to the horizon, with true if all of these
/// windows are appropriate.
fn outcomes(
    monitor: &Monitor,
    horizon: usize,
    documents: &[Vec<Window>],
    mut each: impl FnMut(&Watch, bool),
) -> Result<(), MonitorError> {
    for (document, windows) in documents.iter().enumerate() {
        let mut watch = monitor.watch();
        for (number, window) in windows.iter().enumerate() {
            watch.observe(&window.scores).map_err(|error| match error {
                MonitorError::Scores { window, found, wanted, .. } => {
                    MonitorError::Scores { document, window, found, wanted }
                }
                other => other,
            })?;
            let ahead = horizon.checked_add(1).and_then(|count| number.checked_add(count));
            let Some(ahead) = ahead.and_then(|end| windows.get(number..end)) else { continue };
            let labels: Option<Vec<usize>> = ahead.iter().map(|window| window.state).collect();
            if let Some(labels) = labels {
                each(&watch, labels.iter().all(|state| monitor.is_appropriate(*state)));
            }
        }
    }
    Ok(())
}
