//! The source of a task: the user's prompt, whose values move into the vault for the task, or an agent's proposal.

use std::sync::PoisonError;

use browser_signals::Origin;
use classifier::Detectors;
use policy_dfa::{ConsentScope, Millis};
use serde::{Deserialize, Serialize};
use sirl::{Kind, Money};
use vault::{Binding, Entropy, Secret, Vault, VaultError};

use crate::audit::AuditEvent;
use crate::consent::SubjectBuilder;
use crate::consent::{Asked, ConsentPrompt, Quoted, Ticket};
use crate::guard::Dependencies;
use crate::intake::{self, Found, Intake};
use crate::session::prompts::consent_events;

/// The maximum number of doubtful words that the user is asked about. The others count as values.
const MAX_DOUBTS: usize = 8;

/// The author of a task's words.
pub(super) enum TaskSource<'a> {
    /// The user's own prompt.
    User(&'a str),
    /// The user's own task, as a program's own interface took it down.
    Typed(UserTask),
    /// The agent's proposal, which the user agrees to or not.
    Agent(Proposal),
}

/// A task that the *user* set in a program's own interface, such as a form with sites and a budget, where a prompt is otherwise read for
/// them. What is in it counts as the user's word.
///
/// Nothing that an agent wrote may go into it. So it is not made from JSON, and an agent's [`Proposal`] does not become one:
///
/// ```compile_fail
/// let task: portcullis::session::UserTask = serde_json::from_str("{}").unwrap();
/// ```
///
/// ```compile_fail
/// use portcullis::session::{Proposal, UserTask};
/// let task: UserTask = Proposal::default().into();
/// ```
///
/// ```
/// use portcullis::session::UserTask;
/// use portcullis::signals::Origin;
/// use portcullis::sirl::{Kind, Money, Currency};
///
/// let shop = Origin::parse("https://shop.example").unwrap();
/// let task = UserTask::new(vec![shop], vec![Kind::Address, Kind::Purchase])
///     .with_budget(Money::parse("60", Currency::new("USD").unwrap()).unwrap())
///     .with_words("Two kettles. My address: 17 Quarry Road, 90210 Springfield");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserTask {
    origins: Vec<Origin>,
    kinds: Vec<Kind>,
    budget: Option<Money>,
    words: String,
}

impl UserTask {
    /// A task for these sites alone, which may ask for these kinds of request.
    pub fn new(origins: Vec<Origin>, kinds: Vec<Kind>) -> UserTask {
        UserTask { origins, kinds, budget: None, words: String::new() }
    }

    /// The most that the user wants to spend.
    #[must_use]
    pub fn with_budget(mut self, budget: Money) -> UserTask {
        self.budget = Some(budget);
        self
    }

    /// The user's own words, for the model. Their values move into the vault as those of a prompt do. Sites, kinds of request
    /// and a budget in them do not count.
    #[must_use]
    pub fn with_words(mut self, words: &str) -> UserTask {
        words.clone_into(&mut self.words);
        self
    }

    /// The sites.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The kinds of request.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The budget, if the user has one.
    pub const fn budget(&self) -> Option<Money> {
        self.budget
    }

    /// The user's words. They may have values of the user's: they are for the user, and for a model only as
    /// [`crate::Session::prompt`] has them.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// What the task takes over from its words, and the words.
    pub(super) fn into_intake(self, detectors: &Detectors) -> (Intake, String) {
        let UserTask { origins, kinds, budget, words } = self;
        let read = intake::read(&words, detectors);
        (Intake { origins, kinds: each_once(kinds), budget, ..read }, words)
    }
}

fn each_once(kinds: Vec<Kind>) -> Vec<Kind> {
    kinds.into_iter().fold(Vec::new(), |mut seen, kind| {
        if !seen.contains(&kind) {
            seen.push(kind);
        }
        seen
    })
}

/// The kinds with that of one-time codes beside a login, which may ask for one halfway. The user is asked about each code.
fn with_second_factor(mut kinds: Vec<Kind>) -> Vec<Kind> {
    if kinds.contains(&Kind::Login) && !kinds.contains(&Kind::Otp) {
        kinds.push(Kind::Otp);
    }
    kinds
}

/// The sites and kinds of request that an agent asks for, where the user's own words do not reach the guard, such as
/// for an agent in another program. The proposal has no effect until the user agrees to it on their own channel. It has
/// no budget, no values and no records, which only the user can name. It may be the arguments of a model's tool call:
///
/// ```
/// use portcullis::session::Proposal;
///
/// let call = r#"{ "origins": ["https://shop.example"], "kinds": ["address", "purchase"] }"#;
/// let proposal: Proposal = serde_json::from_str(call).unwrap();
/// assert_eq!((proposal.origins.len(), proposal.kinds.len(), proposal.uploads), (1, 2, false));
/// assert!(serde_json::from_str::<Proposal>(r#"{ "budget": "60 USD" }"#).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Proposal {
    /// The only origins that the task may visit.
    pub origins: Vec<Origin>,
    /// The kinds that the task may ask for; with a login it may ask for a one-time code too. Without any, and without uploads, there is no prompt, and the container is T0,
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
    pub(super) fn into_intake(self) -> Intake {
        Intake {
            found: Vec::new(),
            unsure: Vec::new(),
            unsupported: Vec::new(),
            prompt: String::new(),
            origins: self.origins,
            handles: Vec::new(),
            persona: None,
            kinds: with_second_factor(each_once(self.kinds)),
            budget: None,
            wish: None,
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
