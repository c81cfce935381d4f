//! Uploads in a container: files of the user's for an input of the page, each time after a question.

use std::sync::Arc;

use browser_signals::outline::Purpose;
use browser_signals::playwright::ObservationTarget;
use browser_signals::{ElementRef, Observed, Snapshot};
use policy_dfa::Reason;

use super::container::Session;
use super::container_actions::{reason_of, release_within};
use crate::audit::AuditEvent;
use crate::guard::upload_folder::{CopiedFiles, FileRefused};
use crate::session::ActionOutcome;
use crate::session::prompts::upload::UploadTarget;

impl Session {
    /// The names of the files that the user offers for uploads, as the agent may name them.
    pub fn offered_files(&mut self) -> Vec<String> {
        let names =
            self.driver.dependencies.uploads.as_ref().map(|folder| folder.names()).unwrap_or_default();
        names.iter().map(|name| self.tell_inline(name, Purpose::Text)).collect()
    }

    /// Whether the page asks for files, and the user offers some.
    pub fn asks_for_files(&self) -> bool {
        self.driver.dependencies.uploads.is_some() && self.tab.file_chooser().is_some()
    }

    /// Whether the page asked for files since the last call, and was told that there are none.
    pub fn take_cancelled_chooser(&mut self) -> bool {
        self.tab.take_cancelled_chooser()
    }

    /// Gives the page no files.
    pub fn cancel_upload(&mut self) {
        self.tab.forget_chooser();
    }

    /// Gives files of the user's folder to the input for which the page asks for files, if the policy allows it and the user agrees.
    /// The agent gets only the text of the outcome.
    ///
    /// An upload is a release. From then on only sites of the task that got the files are reached, the container has one page, and
    /// nothing of it is shown past the reading that masks values; what is in the files is not masked.
    ///
    /// # Errors
    /// [`FileRefused`] where no question was asked for want of such files.
    pub async fn upload(&mut self, names: &[String]) -> Result<ActionOutcome, FileRefused> {
        if self.driver.dependencies.uploads.is_none() {
            return Err(FileRefused::NoFolder);
        }
        if self.tab.dialog().is_some() {
            return Ok(ActionOutcome::refused(Reason::DialogOpen));
        }
        // As during a request for values, dialogs are dismissed until the end.
        self.tab.let_dialogs_wait(false);
        let done = self.upload_undisturbed(names).await;
        self.after_action().await;
        match done? {
            Ok(()) => Ok(ActionOutcome::done()),
            Err(reason) => {
                let reason = self.driver.core.for_want_of_a_user(reason);
                self.driver.core.note_denial(reason);
                let origin = self.driver.core.read.origin.clone();
                let event = AuditEvent::UploadFailed { origin, reason };
                Ok(ActionOutcome::refused(if self.driver.record(&[event], true) {
                    reason
                } else {
                    Reason::AuditUnavailable
                }))
            }
        }
    }

    /// The inner error is the reason of a refusal.
    async fn upload_undisturbed(&mut self, names: &[String]) -> Result<Result<(), Reason>, FileRefused> {
        let Some((chooser, input)) = self.tab.file_chooser() else { return Err(FileRefused::NoChooser) };
        if names.len() > 1 && !chooser.several {
            return Err(FileRefused::OnlyOne);
        }
        let page = match self.tab.observe(ObservationTarget::Element(&input)).await {
            Ok(page) => page,
            Err(error) => return Ok(Err(reason_of(&error))),
        };
        // Whether the folder has a file is not told where nothing could be uploaded.
        let target = match self.driver.core.may_upload(&page, self.driver.now()) {
            Ok(target) => target,
            Err(reason) => return Ok(Err(reason)),
        };
        let copies = self.copies(names).await?;
        Ok(self.ask_and_give(copies, target, &input, &page).await)
    }

    async fn ask_and_give(
        &mut self,
        copies: CopiedFiles,
        target: UploadTarget,
        input: &ElementRef,
        page: &Observed<Snapshot>,
    ) -> Result<(), Reason> {
        self.prepare_release().await?;
        let prompt =
            self.driver.core.ask_about_upload(copies.asked.clone(), &target, page, self.driver.now());
        let answered = self.driver.dependencies.ask(&prompt).await;
        let (agreed, events) =
            self.driver.core.answered_about_upload(&prompt, &answered, &target, self.driver.now());
        let is_recorded = self.driver.record(&events, true);
        if !agreed {
            return Err(Reason::ConsentDenied);
        }
        let uploaded = AuditEvent::Uploaded {
            origin: target.site.clone(),
            files: copies.asked.len() as u64,
            bytes: copies.asked.iter().map(|file| file.bytes).sum(),
        };
        if !is_recorded || !self.driver.record(&[uploaded], true) {
            return Err(Reason::AuditUnavailable);
        }
        self.driver.text.note_unknown_values();
        let paths = copies.paths.clone();
        // Chromium reads them when the page does.
        self.uploaded.push(copies);
        let open = self.open_to(target.origins())?;
        release_within(&self.proxy, &open, async || ()).await?;
        // A page may send its form by itself once it has the files.
        self.agent_actions.set_sending(true);
        let tab = Arc::clone(&self.tab);
        let given = self.while_asking(async { tab.give_files(input, &paths, page).await }).await;
        self.agent_actions.set_sending(false);
        given?.map_err(|error| reason_of(&error))
    }

    async fn copies(&self, names: &[String]) -> Result<CopiedFiles, FileRefused> {
        let folder = self.driver.dependencies.uploads.clone().ok_or(FileRefused::NoFolder)?;
        let names = names.to_vec();
        let copied = tokio::task::spawn_blocking(move || folder.copy(&names)).await;
        copied.map_err(|_| FileRefused::Unreadable)?
    }
}
