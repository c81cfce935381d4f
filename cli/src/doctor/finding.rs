//! One line of the doctor's report.

use std::fmt;

use serde_json::{Value, json};

/// The state of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is present and works.
    Ok,
    /// It is absent.
    Missing,
    /// It is present and has a problem.
    Problem,
}

impl Status {
    const fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Missing => "missing",
            Status::Problem => "problem",
        }
    }
}

/// The finding about one component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The component.
    pub name: &'static str,
    /// Its state.
    pub status: Status,
    /// A description of the component or of the problem.
    pub says: String,
    /// The remedy, if one is needed.
    pub mend: Option<String>,
    /// True if the guard cannot work without it.
    pub needed: bool,
}

impl Finding {
    pub fn ok(name: &'static str, says: impl Into<String>) -> Finding {
        Finding { name, status: Status::Ok, says: says.into(), mend: None, needed: false }
    }

    pub fn missing(name: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding { name, status: Status::Missing, says: says.into(), mend: Some(mend.into()), needed: false }
    }

    pub fn problem(name: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding { name, status: Status::Problem, says: says.into(), mend: Some(mend.into()), needed: false }
    }

    /// Marks a component without which the guard cannot work.
    pub fn needed(mut self) -> Finding {
        self.needed = true;
        self
    }

    /// Returns true unless a guarded browser cannot work for this reason.
    pub fn lets_work(&self) -> bool {
        !self.needed || self.status == Status::Ok
    }

    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "status": self.status.word(),
            "says": self.says,
            "mend": self.mend,
            "needed": self.needed,
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8} {:<18} {}", self.status.word(), self.name, self.says)?;
        match &self.mend {
            Some(mend) => write!(f, "; {mend}"),
            None => Ok(()),
        }
    }
}
