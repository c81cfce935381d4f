//! Files for the file inputs of a page.

use std::path::PathBuf;

use serde_json::json;

use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::{ElementRef, Observed, Snapshot};

impl Tab {
    /// Gives files to the file input of the decision, in the place of those that it had. The browser reads them when the page does, so
    /// they have to stay as they are until the container ends.
    ///
    /// # Errors
    /// As for [`Tab::type_text`], and in each case the page has not got the files.
    pub async fn give_files(
        &self,
        target: &ElementRef,
        files: &[PathBuf],
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        if !decided.target.as_ref().is_some_and(|it| it.tag == "input" && it.input_type == "file") {
            return Err(BridgeError::NotApplicable);
        }
        let aimed = self.aim(target, decided).await?;
        let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        let given = json!({ "files": files, "backendNodeId": aimed.located.node.0 });
        let navigations = self.begin();
        aimed.frame.session.call("DOM.setFileInputFiles", given).await?;
        self.forget_chooser();
        // The page has the files, whatever it does then.
        let _of_the_page = self.settle(navigations).await;
        Ok(())
    }
}
