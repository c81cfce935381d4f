//! The source of a task: the user's prompt, whose values move into the vault for the task, or an agent's proposal.

use std::sync::PoisonError;

use browser_signals::Origin;
use policy_dfa::{ConsentScope, Millis};
use sirl::Kind;
use vault::{Binding, Entropy, Secret, Vault, VaultError};

use crate::audit::AuditEvent;
use crate::consent::SubjectBuilder;
use crate::consent::{Asked, ConsentPrompt, Quoted, Ticket};
use crate::guard::Dependencies;
use crate::intake::{Found, Intake};
use crate::session::prompts::consent_events;

/// The maximum number of doubtful words that the user is asked about. The others count as values.
const MAX_DOUBTS: usize = 8;

/// The author of a task's words.
pub(super) enum TaskSource<'a> {
    /// The user's own prompt.
    User(&'a str),
    /// The agent's proposal, which the user agrees to or not.
    Agent(Proposal),
}

/// The sites and kinds of request that an agent asks for, where the user's own words do not reach the guard, such as
/// for an agent in another program. The proposal has no effect until the user agrees to it on their own channel. It has
/// no budget, no values and no records, which only the user can name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposal {
    /// The only origins that the task may visit.
    pub origins: Vec<Origin>,
    /// The kinds that the task may ask for. Without any, and without uploads, there is no prompt, and the container is T0,
    /// which releases nothing.
    pub kinds: Vec<Kind>,
    /// Whether the task gives the user's files to these sites. The user is asked about each upload, in a container of T2.
    pub uploads: bool,
}

/// The maximum number of sites in one prompt. Users do not read longer lists.
const MAX_SITES: usize = 8;

/// The maximum length of all sites' names together, in bytes. The prompt would cut longer text.
const MAX_LENGTH: usize = 1600;

impl Proposal {
    /// Whether one prompt can show the whole proposal.
    pub(super) fn can_be_shown(&self) -> bool {
        let length: usize = self.origins.iter().map(|origin| origin.to_string().len()).sum();
        self.origins.len() <= MAX_SITES && length <= MAX_LENGTH
    }

    /// The task, as if a prompt had named it.
    pub(super) fn into_intake(mut self) -> Intake {
        let mut seen = Vec::new();
        self.kinds.retain(|kind| {
            !seen.contains(kind) && {
                seen.push(*kind);
                true
            }
        });
        Intake {
            found: Vec::new(),
            unsure: Vec::new(),
            unsupported: Vec::new(),
            prompt: String::new(),
            origins: self.origins,
            handles: Vec::new(),
            persona: None,
            kinds: self.kinds,
            budget: None,
        }
    }
}

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
        let subject = asked.iter().fold(SubjectBuilder::policy(policy), |subject, asked| {
            subject.part(asked.to_string().as_bytes())
        });
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
            vault.insert_for_task(found.handle, found.field, value, &binding, &mut self.entropy)?;
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
