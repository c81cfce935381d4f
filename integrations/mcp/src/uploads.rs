//! Files of the user's for a page that asks for some: the call, and the words for it.

use portcullis::session::ActionOutcome;

use crate::call::Answer;
use crate::task_session::TaskSession;
use crate::worker::{Worker, no_page};

/// The line about a page that asks for files, in playwright-mcp's words where the user offers some.
pub fn asked_for(session: &mut TaskSession) -> Option<String> {
    if session.asks_for_files() {
        return Some("### Modal state\n- [File chooser]: can be handled by browser_file_upload".to_owned());
    }
    let in_vain = "the page asks for files, and got none: the user offers no folder for uploads. They do with `--files FOLDER`";
    session.take_cancelled_chooser().then(|| in_vain.to_owned())
}

/// The line of the status about the files that the user offers; without names outside of a raised container.
pub fn listed(names: Option<&[String]>) -> String {
    let words = match names {
        None => "named in a task with uploads (portcullis_plan)".to_owned(),
        Some([]) => "the user's folder has none".to_owned(),
        Some(names) => names.join(", "),
    };
    format!("\n- files for uploads: {words}")
}

impl Worker {
    /// Gives the page files, or none.
    pub(crate) async fn upload(&mut self, files: Option<Vec<String>>) -> Result<Answer, String> {
        let session = self.session.as_mut().ok_or_else(no_page)?;
        let was_private = session.is_private();
        let outcome = session.upload(files.as_deref()).await?.unwrap_or_else(ActionOutcome::done);
        // A difference from the page before an upload would tell of the files.
        if session.is_private() && !was_private {
            self.forget_page();
        }
        self.answered(outcome).await
    }
}
