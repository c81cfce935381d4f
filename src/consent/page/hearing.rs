//! What the page's script says, whoever carries it here.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::desk::{Desk, Refused};
use super::message::Message;
use super::words::ending;

/// Hears a consent page that is shown now. Copies of it hear the same page.
#[derive(Clone, Default)]
pub struct Hearing {
    pub(super) desk: Arc<Desk>,
}

/// Why something was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unheard {
    /// It is no message of the page.
    NoMessage,
    /// There is no such question, or it does not take this, or not any more.
    Closed,
    /// The question has not been in front of the user for long enough.
    Early,
}

impl Unheard {
    /// The status of HTTP for it, which the page's script is told.
    pub const fn status(self) -> u16 {
        match self {
            Unheard::NoMessage => 400,
            Unheard::Closed => 404,
            Unheard::Early => 425,
        }
    }
}

impl From<Refused> for Unheard {
    fn from(refused: Refused) -> Unheard {
        match refused {
            Refused::Closed => Unheard::Closed,
            Refused::Early => Unheard::Early,
        }
    }
}

impl Hearing {
    /// Takes one message. What comes back is for the page's script: the words of a question, or how it ended.
    ///
    /// # Errors
    /// [`Unheard`].
    pub fn hear(&self, says: &[u8]) -> Result<Value, Unheard> {
        let now = Instant::now();
        let said = match Message::read(says).ok_or(Unheard::NoMessage)? {
            Message::Show { nonce } => return Ok(self.desk.show(nonce, now)?),
            Message::Answer { nonce, subject, answer } => {
                self.desk.answer(nonce, subject, answer, now)?;
                Some(answer)
            }
            Message::Code { nonce, subject, code } => {
                self.desk.code(nonce, subject, code, now)?;
                None
            }
        };
        Ok(serde_json::json!({ "said": ending(said) }))
    }
}
