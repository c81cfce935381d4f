//! Values of the prompt: the guard moves them into the vault for one task, and asks the user about doubtful words.

use std::sync::PoisonError;

use policy_dfa::{ConsentScope, Millis};
use vault::{Binding, Secret, Vault, VaultError};

use crate::audit::AuditEvent;
use crate::consent::ticket::SubjectOf;
use crate::consent::{Asked, ConsentPrompt, Quoted, Ticket};
use crate::guard::Dependencies;
use crate::intake::{Found, Intake};
use crate::session::prompts::consent_events;

/// The maximum number of doubtful words that the user is asked about. The others count as values.
const MAX_DOUBTS: usize = 8;

impl Dependencies {
    /// Asks the user in one prompt whether the model may read words that may be values. Words that the user does not
    /// release are removed from the task's prompt. Returns the audit events.
    pub(super) async fn settle_doubts(
        &mut self,
        intake: &mut Intake,
        original: &str,
        policy: &[u8; 32],
    ) -> Vec<AuditEvent> {
        if intake.unsure.is_empty() {
            return Vec::new();
        }
        let doubts = intake.unsure.iter().take(MAX_DOUBTS);
        let asked: Vec<Asked> = doubts
            .map(|doubt| Asked::Reveal {
                field: doubt.field,
                words: Quoted::new(original.get(doubt.span.clone()).unwrap_or("")),
            })
            .collect();
        let shown = asked.len();
        let subject = asked
            .iter()
            .fold(SubjectOf::policy(policy), |subject, asked| subject.part(asked.to_string().as_bytes()));
        let mut nonce = [0; 16];
        self.entropy.fill(&mut nonce);
        let ticket = Ticket::new(nonce, subject.finish(), Millis(0));
        let prompt = ConsentPrompt::new(asked, Vec::new(), ConsentScope::EveryTime, ticket);
        let prompt = prompt.for_this_task_only();
        let answer = prompt.ticket().settle(&self.ask(&prompt).await, Millis(0));
        let released = if answer.agrees() { shown } else { 0 };
        while intake.unsure.len() > released {
            intake.conceal(original, released);
        }
        consent_events(&prompt, answer)
    }

    /// Stores the prompt's values in the vault for the task, and prefers the records that the prompt names.
    pub(super) fn store_prompt_values(&mut self, intake: &Intake, original: &str) -> Result<(), VaultError> {
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        vault.forget_task_values();
        for found in &intake.found {
            let value = Secret::new(original.get(found.span.clone()).unwrap_or("").as_bytes());
            let binding = binding(found, intake);
            vault.insert_for_task(found.handle, found.field, value, &binding, self.entropy.as_mut())?;
        }
        let named = named_persona(intake, &vault).or_else(|| self.persona.clone());
        vault.prefer(named);
        Ok(())
    }
}

/// The binding of a value of the prompt: a login is bound to its site, and other values may go anywhere that the
/// policy and the user allow.
fn binding(found: &Found, intake: &Intake) -> Binding {
    match found.binding.as_ref().or(intake.origins.first()) {
        Some(origin) => Binding::usual(found.handle, found.field, origin),
        None => Binding::Anywhere,
    }
}

/// The persona that the prompt names, if the vault has one of that name.
fn named_persona(intake: &Intake, vault: &Vault) -> Option<String> {
    let of_handles = intake.handles.iter().filter_map(|handle| handle.split_once(':')).map(|(_, name)| name);
    let mut named = intake.persona.as_deref().into_iter().chain(of_handles);
    let personas = vault.personas();
    named.find(|name| personas.contains(name)).map(str::to_owned)
}
