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
            _ => Err(ExtensionError::Malformed),
        }
    }
}
