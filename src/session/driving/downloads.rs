//! Downloads of the container's pages: recorded as they end, and told to the agent once.

use std::time::Duration;

use browser_signals::outline::Purpose;
use browser_signals::playwright::{BridgeError, DownloadEnd};

use super::container::Session;
use crate::audit::AuditEvent;

/// How long the answer to an action waits for a download.
const PATIENCE: Duration = Duration::from_secs(2);

/// A download that ended, as the agent is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldDownload {
    /// The name of the file, as text of the page; empty where values of the user's may be in the container, since the page may
    /// know them.
    pub name: String,
    /// The origin that it came from; empty for an address of the page's own making.
    pub origin: String,
    /// The number of bytes that arrived; none where values of the user's may be in the container, since a page can make a file as
    /// long as a value says.
    pub bytes: Option<u64>,
    /// How it ended.
    pub end: DownloadEnd,
}

impl Session {
    /// The downloads that ended since the last call. The files are the user's: the agent gets no content of them. A download that
    /// is running is waited for, two seconds at most.
    pub async fn take_downloads(&mut self) -> Vec<ToldDownload> {
        self.tab.downloads_end(PATIENCE).await;
        self.note_downloads();
        std::mem::take(&mut self.downloads)
    }

    /// Keeps the page as a PDF in the user's folder, as a download: the agent gets no content of it.
    ///
    /// # Errors
    /// As for [`Tab::keep_as_pdf`](browser_signals::playwright::Tab::keep_as_pdf); [`BridgeError::TextWithheld`] once the user has taken
    /// over.
    pub async fn keep_as_pdf(&mut self) -> Result<(), BridgeError> {
        // What the user does by hand is not the agent's to keep.
        if self.is_taken_over() {
            return Err(BridgeError::TextWithheld);
        }
        self.tab.keep_as_pdf().await
    }

    /// Records the downloads that ended.
    pub(super) fn note_downloads(&mut self) {
        let is_private = self.is_private();
        for download in self.tab.take_downloads() {
            // A page can write a value into the name of a file, into the name of a host, and into a length.
            let bytes = (!is_private).then_some(download.bytes);
            if download.end == DownloadEnd::Kept {
                let origin = download.origin.clone();
                self.driver.record(&[AuditEvent::Downloaded { origin, bytes }], false);
            }
            if self.is_taken_over() {
                continue;
            }
            let name = match is_private {
                true => String::new(),
                false => self.tell_inline(&download.name, Purpose::Text),
            };
            let origin = download.origin.map(|origin| origin.to_string()).unwrap_or_default();
            let origin = self.tell_inline(&origin, Purpose::Text);
            self.downloads.push(ToldDownload { name, origin, bytes, end: download.end });
        }
    }
}
