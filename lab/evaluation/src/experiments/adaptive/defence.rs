//! The defence that the attacker searches against: the shipped injection classifier, and the `Safety` threshold of
//! approach C.

use std::sync::Arc;

use classifier::{LinearClassifier, Unfolded, WindowPlace, highest_risk};
use portcullis::APPROACH_C_POLICY;
use portcullis::policy::Policy;
use portcullis::safety::WindowSafety;
use portcullis::sirl::Tier;
use serde::{Deserialize, Serialize};

use crate::trials::EvaluationError;

/// The scores of a wording.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The highest injection risk in it, in `[0, 1]`.
    pub risk: f64,
    /// Its safety, in `[0, 1]`.
    pub safety: f64,
}

/// The thresholds of the defence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Text with this risk or more is withheld from the model.
    pub quarantine: f64,
    /// Below this safety each release of tier T1 is asked about, with a warning.
    pub t1: f64,
    /// Below this safety each release of tier T2 is asked about, with a warning.
    pub t2: f64,
}

impl Limits {
    /// Returns true if the text is shown to the model.
    pub fn is_read(&self, seen: &Seen) -> bool {
        seen.risk < self.quarantine
    }

    /// Returns true if the text is shown and leaves every yes of the user's in force.
    pub fn passes(&self, seen: &Seen) -> bool {
        self.is_read(seen) && seen.safety >= self.t2
    }
}

/// Scores wordings as the guard would.
pub trait Judge {
    /// The scores of a wording.
    fn see(&self, words: &str) -> Seen;
    /// The thresholds of the defence.
    fn limits(&self) -> Limits;
}

/// The shipped classifiers and the thresholds of the shipped approach C.
pub struct Defence {
    model: Arc<LinearClassifier>,
    safety: WindowSafety,
    limits: Limits,
}

impl Defence {
    /// The shipped defence.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn shipped() -> Result<Defence, EvaluationError> {
        let failed = |error: &dyn std::fmt::Display| EvaluationError::Failed(error.to_string());
        let model = LinearClassifier::injection().map_err(|error| failed(&error))?;
        let policy = Policy::parse(APPROACH_C_POLICY).map_err(|error| failed(&error))?;
        let thresholds =
            policy.thresholds().ok_or_else(|| failed(&"the policy of approach C names no thresholds"))?;
        let limits = Limits {
            quarantine: model.quarantine().value(),
            t1: thresholds.of(Tier::T1),
            t2: thresholds.of(Tier::T2),
        };
        let safety = WindowSafety::standard().map_err(|error| failed(&error))?;
        Ok(Defence { model: Arc::new(model), safety, limits })
    }
}

impl Judge for Defence {
    fn see(&self, words: &str) -> Seen {
        let risk = highest_risk(&Unfolded::new(words), WindowPlace::Shown, self.model.as_ref()).value();
        Seen { risk, safety: self.safety.of_text(words).value() }
    }

    fn limits(&self) -> Limits {
        self.limits
    }
}

/// A defence that counts the queries.
pub struct Oracle<'a> {
    judge: &'a dyn Judge,
    asked: u64,
}

impl<'a> Oracle<'a> {
    /// Starts with no queries.
    pub fn new(judge: &'a dyn Judge) -> Oracle<'a> {
        Oracle { judge, asked: 0 }
    }

    /// The scores of a wording; this counts as a query.
    pub fn see(&mut self, words: &str) -> Seen {
        self.asked += 1;
        self.judge.see(words)
    }

    /// The number of queries.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// The thresholds of the defence.
    pub fn limits(&self) -> Limits {
        self.judge.limits()
    }
}
