//! The report of a session with its counts, or why it could not begin.

use std::collections::BTreeMap;

use browser_signals::playwright::BridgeError;
use browser_signals::{Container, Origin};
use policy_dfa::Reason;
use serde::{Deserialize, Serialize};
use sirl::Field;

use crate::guard::GuardError;

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The prompt names no web address, so the task has no site to act on.
    #[error("the prompt names no web address; say where to go, such as https://shop.example")]
    NoOrigin,
    /// The task that an agent proposes names more sites than one prompt can show.
    #[error("the task names more sites than the user can be asked about at once; name eight at most")]
    TooManySites,
    /// The task names a site without TLS that the policy never opens.
    #[error(transparent)]
    NotEncrypted(#[from] NotEncrypted),
    /// The policy limits released values to a path, and a browser with the extension cannot.
    #[error(
        "the policy has released values keep to their path, which the extension cannot see to; use a browser of the guard's own, or \
         a policy without this rule"
    )]
    PathsOpen,
    /// The audit record cannot be written.
    #[error("the audit record cannot be written, so nothing is begun")]
    Audit,
    /// A value of the prompt could not be moved into the vault.
    #[error("a value of the prompt could not be moved into the vault: {0}")]
    Vault(String),
    /// The container's proxy could not be started.
    #[error("the container's proxy could not be started: {0}")]
    Proxy(String),
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// The guard failed.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

/// Why a task with a site without TLS cannot begin, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotEncrypted {
    /// It is no site of this machine.
    #[error(
        "{0} is not encrypted, so the policy lets nothing go there; name the site with https:// (without TLS only \
         127.0.0.1, [::1] and localhost can be used, with a port that the user lists with `--private-hosts`)"
    )]
    Elsewhere(Origin),
    /// It is a site of this machine that the user did not list.
    #[error(
        "{0} is a site of this machine without TLS that the user has not listed; start the guard with `--private-hosts \
         {host}:{port}`, or name the site with https://",
        host = .0.host(),
        port = .0.port()
    )]
    NotListed(Origin),
    /// It is listed, and the policy does not allow it.
    #[error(
        "{0} is a site of this machine without TLS, and the policy does not let it be used; say `destination https or \
         loopback` and `tls valid or loopback` in the policy, or name the site with https://"
    )]
    NotInThePolicy(Origin),
}

/// The report of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionReport {
    /// The session's counts.
    pub counts: SessionCounts,
    /// The container that the user agreed to.
    pub container: Container,
}

/// The counts of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionCounts {
    /// Actions of the agent.
    pub actions: u64,
    /// Prompts shown to the user.
    pub prompts: u32,
    /// Warnings shown to the user, which need no answer.
    pub warnings: u32,
    /// Releases and purchases carried out.
    pub releases: u32,
    /// The agent's own actions and requests that were refused or failed.
    pub refused: u64,
    /// Denials, by reason code, with the requests of pages that were stopped.
    pub denials: BTreeMap<String, u64>,
    /// Refusals that confirmed a guess of a value, by record and field. Each of them shows the agent that its text is in
    /// the vault, so a caller that runs session after session must sum them.
    #[serde(with = "guesses")]
    pub guessed: BTreeMap<(String, Field), u32>,
}

impl SessionCounts {
    /// Counts a denial of an action or a request of the agent.
    pub fn denied(&mut self, reason: Reason) {
        self.refused += 1;
        self.stopped(reason);
    }

    /// Counts something that was stopped and that the agent did not ask for.
    pub fn stopped(&mut self, reason: Reason) {
        *self.denials.entry(reason.code()).or_default() += 1;
    }
}

/// The guesses as a list, since the keys of a JSON object are texts.
mod guesses {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use sirl::Field;

    #[derive(Serialize, Deserialize)]
    struct Guess {
        record: String,
        field: Field,
        times: u32,
    }

    pub(super) fn serialize<S: Serializer>(
        guessed: &BTreeMap<(String, Field), u32>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let guess = |((record, field), times): (&(String, Field), &u32)| Guess {
            record: record.clone(),
            field: *field,
            times: *times,
        };
        serializer.collect_seq(guessed.iter().map(guess))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<(String, Field), u32>, D::Error> {
        let guesses = Vec::<Guess>::deserialize(deserializer)?;
        Ok(guesses.into_iter().map(|guess| ((guess.record, guess.field), guess.times)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_is_written() {
        let mut counts = SessionCounts { actions: 3, ..SessionCounts::default() };
        counts.denied(Reason::NoForm);
        counts.guessed.insert(("address:home".to_owned(), Field::City), 2);
        let report = SessionReport { counts, container: Container::T1 };
        let written = serde_json::json!(report);
        assert_eq!(written["counts"]["denials"], serde_json::json!({ "no_form": 1 }));
        assert_eq!(written["container"], "T1");
        assert_eq!(serde_json::from_value::<SessionReport>(written).ok(), Some(report));
    }
}
