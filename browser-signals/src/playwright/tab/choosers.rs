//! File choosers: a page that asks for files. The browser shows none; the page waits until the guard gives it files, or for ever.

use serde_json::{Value, json};

use super::Tab;
use super::events::PageEvent;
use super::state::{Located, Session, TabState};
use crate::json::text;
use crate::{ElementRef, FrameId, NodeId};

/// The ref of the input that a chooser is for. No ref of a page's text has this form.
const CHOOSER: &str = "chooser";

/// A file chooser that a page opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChooser {
    /// The input takes several files, and not one alone.
    pub several: bool,
    /// The page's input; it need not be in the document.
    input: Located,
}

/// The guard cancels file choosers, or lets them wait for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum FileChoosers {
    /// Each is cancelled, and the page is told so.
    #[default]
    Cancelled,
    /// The last one of a page waits for [`Tab::give_files`].
    Wait,
}

impl FileChoosers {
    /// The parameters of the browser's command that keeps choosers from opening.
    pub(crate) fn interception(self) -> Value {
        json!({ "enabled": true, "cancel": self == FileChoosers::Cancelled })
    }
}

impl Tab {
    /// The file chooser that the page opened last, if it waits, and the ref of its input, which is valid until the next call.
    pub fn file_chooser(&self) -> Option<(FileChooser, ElementRef)> {
        let mut inner = self.state.inner();
        let chooser = inner.chooser.clone()?;
        // The input went with its document.
        if inner.documents.get(&chooser.input.frame) != Some(&chooser.input.document) {
            inner.chooser = None;
            return None;
        }
        inner.elements.insert(CHOOSER.to_owned(), chooser.input.clone());
        Some((chooser, ElementRef(CHOOSER.to_owned())))
    }

    /// Forgets the file chooser. The page gets nothing, as from a person who never answers.
    pub fn forget_chooser(&self) {
        self.state.inner().chooser = None;
    }

    /// Returns true if a file chooser was cancelled since the last call.
    pub fn take_cancelled_chooser(&self) -> bool {
        std::mem::take(&mut self.state.inner().cancelled_chooser)
    }
}

impl TabState {
    /// Takes the event of a file chooser that a page opens.
    pub(crate) fn on_file_chooser(&self, session: &Session, params: &Value) {
        if self.file_choosers == FileChoosers::Cancelled {
            self.update(|inner| inner.cancelled_chooser = true);
            self.record(PageEvent::FileChooserRefused);
            return;
        }
        let frame = FrameId::new(text(params, "frameId").unwrap_or(session.target.as_str()));
        let node = params.get("backendNodeId").and_then(Value::as_i64).map(NodeId);
        let several = text(params, "mode") == Some("selectMultiple");
        self.update(|inner| {
            let document = inner.documents.get(&frame).cloned();
            inner.chooser = node
                .zip(document)
                .map(|(node, document)| FileChooser { several, input: Located { frame, document, node } });
        });
    }
}
