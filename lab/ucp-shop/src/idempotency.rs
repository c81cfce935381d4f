//! The answers that a repeated call gets again. A client that lost an answer sends the same bytes under the same key, and nothing is
//! carried out twice.

use std::collections::BTreeMap;

use crate::http::{Answer, Method, Request};
use crate::refusal::Refusal;

/// The fewest characters of a key: 128 random bits in base64url.
const MIN_KEY: usize = 22;

/// The client and its key. Another client's key is another key, since an answer repeats the buyer's address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey {
    agent: String,
    key: String,
}

impl CallKey {
    /// Takes the key of a call by this client.
    pub(crate) fn of(request: &Request<'_>, agent: &str) -> Result<CallKey, Refusal> {
        let key = request.header("Idempotency-Key").filter(|key| key.chars().count() >= MIN_KEY);
        let key = key.ok_or(Refusal::Key)?.to_owned();
        Ok(CallKey { agent: agent.to_owned(), key })
    }
}

/// A call that was answered.
#[derive(Debug, Clone)]
struct Answered {
    method: Method,
    path: String,
    body: Vec<u8>,
    answer: Answer,
}

/// All calls that were answered. The shop keeps them as long as it lives.
#[derive(Debug, Default)]
pub(crate) struct AnsweredCalls(BTreeMap<CallKey, Answered>);

impl AnsweredCalls {
    /// The first answer to this call, if there is one. The same key on other bytes is refused.
    pub(crate) fn find(&self, key: &CallKey, request: &Request<'_>) -> Result<Option<Answer>, Refusal> {
        let Some(known) = self.0.get(key) else { return Ok(None) };
        let is_same =
            known.method == request.method && known.path == request.path && known.body == request.body;
        if is_same { Ok(Some(known.answer.clone())) } else { Err(Refusal::Conflict) }
    }

    /// Keeps an answer. It is in time when it is given again.
    pub(crate) fn keep(&mut self, key: CallKey, request: &Request<'_>, answer: &Answer) {
        let answer = Answer { is_late: false, ..answer.clone() };
        let (path, body) = (request.path.to_owned(), request.body.to_vec());
        self.0.insert(key, Answered { method: request.method, path, body, answer });
    }
}
