//! The console, the requests and scripts of a page in a container. They bypass the reading of the page, so there are none once the
//! container may have private data, and no value is released into a container in which a script ran: it could wait for the value.

use browser_signals::ElementRef;
use browser_signals::playwright::BridgeError;
use browser_signals::playwright::developer_tools::console::ConsoleMessage;
use browser_signals::playwright::developer_tools::requests::{PageRequest, ResponseBody};
use browser_signals::playwright::developer_tools::{Recording, ScriptResult};

use super::container::Session;

impl Session {
    /// Has the pages record their console or requests, until values of the user may be in the container. A request for values
    /// wipes the records, whether or not it is granted.
    pub fn record_pages(&mut self, recording: Recording) {
        self.recording = recording;
        self.record_again();
    }

    pub(super) fn record_again(&self) {
        let recording = if self.is_private() { Recording::default() } else { self.recording };
        for page in self.pages.iter().filter(|page| page.recording() != recording) {
            page.record(recording);
        }
    }

    /// The messages of the page's console since its document came, or all that are kept, oldest first. They are text of the page:
    /// [`Session::tell`] scrubs it.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once the container may have private data.
    pub fn console(&self, all: bool) -> Result<Vec<ConsoleMessage>, BridgeError> {
        if self.is_private() { Err(BridgeError::TextWithheld) } else { self.tab.console(all) }
    }

    /// The page's requests since its document was asked for. They are text of the page, as [`Session::console`].
    ///
    /// # Errors
    /// As for [`Session::console`].
    pub fn requests(&self) -> Result<Vec<PageRequest>, BridgeError> {
        if self.is_private() { Err(BridgeError::TextWithheld) } else { self.tab.requests() }
    }

    /// The content of a response. It is text of the page, as [`Session::console`].
    ///
    /// # Errors
    /// As for [`Session::console`]; [`BridgeError::NotApplicable`] where the browser has not kept it.
    pub async fn response_body(&self, of: &PageRequest) -> Result<ResponseBody, BridgeError> {
        if self.is_private() { Err(BridgeError::TextWithheld) } else { self.tab.response_body(of).await }
    }

    /// Runs a script of the agent's in the page. Nothing is released into this container any more. Its result is text of the page, as
    /// [`Session::console`].
    ///
    /// # Errors
    /// As for [`Session::console`]; otherwise as for an action.
    pub async fn run_script(
        &mut self,
        script: &str,
        element: Option<&ElementRef>,
    ) -> Result<ScriptResult, BridgeError> {
        if self.is_private() || self.is_taken_over() {
            return Err(BridgeError::TextWithheld);
        }
        // It counts from before its start, since it may have an effect even if it fails.
        self.ran_script = true;
        let ran = self.tab.run_script(script, element).await;
        self.note_pages();
        ran
    }

    /// Gives the page another size.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once the container may have private data: a page can measure what is shown.
    /// [`BridgeError::NotApplicable`] for a size that a page cannot have.
    pub async fn resize(&self, width: u32, height: u32) -> Result<(), BridgeError> {
        if self.is_private() { Err(BridgeError::TextWithheld) } else { self.tab.resize(width, height).await }
    }
}
