//! A question to the person, on a page of the extension.

use serde_json::json;

use super::link::outcome;
use super::{ExtensionError, ExtensionLink};

impl ExtensionLink {
    /// Has the extension open its consent page for the question of this number, in place of any other. What the page
    /// says comes as something that the extension asks.
    ///
    /// # Errors
    /// [`ExtensionError`]: nobody was asked.
    pub async fn open_question(&self, nonce: &str) -> Result<(), ExtensionError> {
        let (id, answer) = self.expect()?;
        self.say(&json!({ "id": id, "ask": "consent", "nonce": nonce })).await?;
        match outcome(self.within(id, answer).await?)?.as_str() {
            Some("opened") => Ok(()),
            Some("no_window") => Err(ExtensionError::NoWindow),
            _ => Err(ExtensionError::Malformed),
        }
    }

    /// The question of this number is over: its window is not to stay in front of the person.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn close_question(&self, nonce: &str) -> Result<(), ExtensionError> {
        self.done(json!({ "ask": "over", "question": nonce })).await
    }
}
