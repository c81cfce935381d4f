//! Receiving the messages of the page's script, from the listener or from another transport.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::content::{Said, ending};
use super::message::Message;
use super::question::{QuestionSlot, Refused};

/// The channel of the consent page that is shown now. Clones belong to the same page.
#[derive(Clone, Default)]
pub struct PageChannel {
    pub(super) slot: Arc<QuestionSlot>,
}

/// Why a message was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelError {
    /// It is no message of the page.
    NoMessage,
    /// There is no such question, or it does not accept this reply, or no longer.
    Closed,
    /// The question has not been shown to the user for long enough.
    Early,
}

impl ChannelError {
    /// The HTTP status for the page's script.
    pub const fn status(self) -> u16 {
        match self {
            ChannelError::NoMessage => 400,
            ChannelError::Closed => 404,
            ChannelError::Early => 425,
        }
    }
}

impl From<Refused> for ChannelError {
    fn from(refused: Refused) -> ChannelError {
        match refused {
            Refused::Closed => ChannelError::Closed,
            Refused::Early => ChannelError::Early,
        }
    }
}

impl PageChannel {
    /// Receives one message. The result is for the page's script: the content of a question, or its closing text.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub fn receive(&self, message: &[u8]) -> Result<Value, ChannelError> {
        let now = Instant::now();
        let said = match Message::read(message).ok_or(ChannelError::NoMessage)? {
            Message::Show { nonce } => return Ok(self.slot.show(nonce, now)?),
            Message::Answer { nonce, subject, answer } => {
                self.slot.answer(nonce, subject, answer, now)?;
                Said::Answer(answer)
            }
            Message::Account { nonce, subject, account } => {
                self.slot.account(nonce, subject, account, now)?;
                Said::Account(account)
            }
            Message::Code { nonce, subject, code } => {
                self.slot.code(nonce, subject, code, now)?;
                Said::Code
            }
        };
        Ok(serde_json::json!({ "said": ending(&said) }))
    }
}
