//! One line of what the doctor says.

use std::fmt;

use serde_json::{Value, json};

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is there and as it should be.
    Ok,
    /// It is not there.
    Missing,
    /// It is there and not as it should be.
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

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked for.
    pub name: &'static str,
    /// How it is.
    pub status: Status,
    /// What it is, or what is wrong.
    pub says: String,
    /// What mends it, where something needs to be.
    pub mend: Option<String>,
    /// Whether nothing works without it.
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

    /// Nothing works without it.
    pub fn needed(mut self) -> Finding {
        self.needed = true;
        self
    }

    /// Whether a guarded browser works as far as this goes.
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
