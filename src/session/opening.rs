//! What comes before any page: the task is sealed from the user's words, and the user is asked once.

use std::sync::PoisonError;

use browser_signals::Container;
use policy_dfa::{DecisionPoint, History, Millis, Reason, Task};
use sirl::Kind;

use super::asking::on_record;
use super::core::{Core, Tools};
use super::driver::SessionError;
use super::foresee::never;
use super::plan::{self, PlanQuestion};
use super::proposal::Proposal;
use crate::audit::{AuditEvent, SessionId};
use crate::consent::{ConsentBook, Notice, OpenPages};
use crate::egress::Releases;
use crate::guard::Kit;
use crate::intake;
use crate::scrub::Quarantine;
use crate::text::PageTextGuard;
use crate::time::unix_ms;

/// Where a session acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A container of its own, with a way out of its own.
    Container,
    /// A tab of the user's own browser.
    #[cfg_attr(not(unix), allow(dead_code, reason = "the service is for Unix"))]
    OwnBrowser(OpenPages),
}

impl Place {
    /// What the user should know of it with every question.
    fn notice(self) -> Option<Notice> {
        matches!(self, Place::OwnBrowser(_)).then_some(Notice::OwnBrowser)
    }
}

/// A task that is sealed and on record.
pub(super) struct Sealed {
    pub id: SessionId,
    pub task: Task,
    /// The prompt as the model may see it.
    pub prompt: String,
    /// The kinds that can never be granted.
    pub ruled_out: Vec<(Kind, Reason)>,
    place: Place,
    book: ConsentBook,
    seed: [u8; 32],
    prompts: u32,
}

/// What a session works with once it has a page.
pub(super) struct Ready {
    pub core: Core,
    pub text: PageTextGuard,
    pub quarantine: Quarantine,
}

/// Whose words a task is in.
pub(super) enum Wording<'a> {
    /// The user's own prompt.
    Users(&'a str),
    /// The agent's, which the user agrees to or not.
    Agents(Proposal),
}

/// Takes the values out of the prompt, seals the task, asks once for the container and for what the task will need.
pub(super) async fn open(
    kit: &mut Kit,
    decision: &DecisionPoint,
    wording: Wording<'_>,
    place: Place,
) -> Result<Sealed, SessionError> {
    kit.user_is_here();
    let (prompt, mut intake, chosen) = match wording {
        Wording::Users(prompt) => (prompt, intake::read(prompt, &kit.detectors), None),
        Wording::Agents(proposal) if !proposal.can_be_shown() => return Err(SessionError::TooManySites),
        Wording::Agents(proposal) => ("", proposal.into_intake(), Some(Notice::ChosenByTheAgent)),
    };
    if intake.origins.is_empty() {
        return Err(SessionError::NoOrigin);
    }
    let id = SessionId::random(kit.entropy.as_mut());
    let unix_ms = unix_ms();
    let mut seed = [0; 32];
    kit.entropy.fill(&mut seed);
    let policy = decision.policy_hash();
    let sealed_before_asking = kit.audit.append(id, &AuditEvent::Started { policy }, unix_ms, true);
    sealed_before_asking.map_err(|_| SessionError::Audit)?;
    let doubts = kit.settle_doubts(&mut intake, prompt, &policy).await;
    let mut prompts = u32::from(!doubts.is_empty());
    for event in doubts {
        kit.audit.append(id, &event, unix_ms, false).map_err(|_| SessionError::Audit)?;
    }
    kit.take_in(&intake, prompt).map_err(|error| SessionError::Vault(error.to_string()))?;

    // Nobody is asked about what can never be granted, whatever the pages turn out to be.
    let hoped = intake.seal(Container::T2);
    let mut ruled_out = Vec::new();
    intake.kinds.retain(|kind| {
        let reason = match kit.schema.takes(*kind) {
            None => Some(Reason::MalformedRequest),
            Some(fields) => never(decision, &hoped, &History::default(), *kind, fields),
        };
        ruled_out.extend(reason.map(|reason| (*kind, reason)));
        reason.is_none()
    });
    let mut book = ConsentBook::with_standing(kit.standing(), unix_ms);
    let question = {
        let vault = kit.vault.lock().unwrap_or_else(PoisonError::into_inner);
        PlanQuestion::of(&intake, decision, &book, &vault)
    };
    let mut container = Container::T0;
    if let Some(question) = question {
        let question = match place {
            Place::OwnBrowser(pages) => question.in_own_browser(pages),
            Place::Container => question,
        };
        prompts += 1;
        let mut nonce = [0; 16];
        kit.entropy.fill(&mut nonce);
        let before = kit.guessed_before();
        let guessed = (before > 0).then_some(Notice::GuessedBefore(before));
        let noticed = chosen.into_iter().chain(place.notice()).chain(guessed);
        let mut prompt = question.noticing(noticed).prompt(&policy, nonce);
        if !kit.is_lasting() {
            prompt = prompt.for_this_task_only();
        }
        let answer = prompt.ticket().settle(&kit.ask(&prompt).await, Millis(0));
        plan::note(&prompt, answer, &mut book);
        if answer.agrees() {
            container = Container::T2;
            if let Some(memory) = &mut kit.memory {
                memory.user_agreed();
            }
        }
        for event in on_record(&prompt, answer) {
            kit.audit.append(id, &event, unix_ms, false).map_err(|_| SessionError::Audit)?;
        }
    }
    let task = intake.seal(container);
    let sealed = AuditEvent::Sealed {
        origins: task.origins().to_vec(),
        kinds: task.kinds().to_vec(),
        budget: task.budget(),
        container,
    };
    kit.audit.append(id, &sealed, unix_ms, true).map_err(|_| SessionError::Audit)?;
    Ok(Sealed { id, task, prompt: intake.prompt, ruled_out, place, book, seed, prompts })
}

impl Sealed {
    /// The state machine of the session, and what its pages' text passes.
    pub(super) fn ready(self, decision: DecisionPoint, kit: &Kit, releases: Releases) -> Ready {
        let (vault, detectors) = (kit.vault.clone(), kit.detectors.clone());
        let quarantine = Quarantine::default();
        let text = PageTextGuard::new(
            kit.scrubber.clone(),
            quarantine.clone(),
            detectors.clone(),
            releases.clone(),
            vault.clone(),
        )
        .with_safety(kit.safety.clone());
        let lasting = kit.is_lasting();
        let tools = Tools { vault, detectors, releases, book: self.book, lasting, seed: self.seed };
        let mut core = Core::new(self.task, decision, tools, &self.prompt)
            .with_schema(kit.schema.clone())
            .with_earlier_guesses(kit.guessed_before())
            .with_values_told_to_the_model(kit.tells_model)
            .with_hand_over(kit.answerer.offers_by_hand())
            .noticing(self.place.notice());
        if let Some(memory) = &kit.memory {
            core = core.with_earlier_readings(memory.read(), memory.guessed() > 0);
        }
        (0..self.prompts).for_each(|_| core.note_prompt());
        Ready { core, text, quarantine }
    }
}
