//! The opening of a session, before any page: the guard seals the task from the user's words, and asks the user once.

use std::time::Instant;

use browser_signals::lookalike::warnings;
use browser_signals::{Container, Origin};
use policy_dfa::{DecisionPoint, History, Millis, Reason, SessionEvent, Task};
use sirl::Kind;
use vault::{Entropy, Vault};

use super::driver::Driver;
use super::task_source::TaskSource;
use crate::audit::{AuditEvent, AuditLog, SessionId};
use crate::consent::{
    ChosenBy, ConsentBook, Notice, OpenPages, QuestionTask, SavedLoginProblem, Warning, WarningCause,
};
use crate::egress::Releases;
use crate::guard::Dependencies;
use crate::guard::agent_memory::TaskMemory;
use crate::guard::mandate::Mandate;
use crate::intake::{self, Intake};
use crate::page_text::PageTextGuard;
use crate::page_text::Quarantine;
use crate::session::core::{Core, CoreDependencies, NotRaised};
use crate::session::decisions::never_granted;
use crate::session::prompts::plan::{PlanQuestion, store_plan_answer};
use crate::session::prompts::{consent_events, distinct_records};
use crate::session::{NotEncrypted, SessionError};
use crate::system::unix_ms;

/// The browser that a session acts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskSurface {
    /// A container of the guard's browser, with a proxy of its own.
    Container,
    /// A tab of the user's own browser.
    #[cfg_attr(not(unix), allow(dead_code, reason = "the service is for Unix"))]
    OwnBrowser(OpenPages),
}

impl TaskSurface {
    /// The notice that every prompt shows.
    fn notice(self) -> Option<Notice> {
        self.is_own_browser().then_some(Notice::OwnBrowser)
    }

    fn is_own_browser(self) -> bool {
        matches!(self, TaskSurface::OwnBrowser(_))
    }
}

/// A task that is sealed and recorded.
pub(super) struct SealedTask {
    pub id: SessionId,
    pub task: Task,
    /// The prompt as it is shown to the model.
    pub prompt: String,
    /// The kinds that can never be granted.
    pub ruled_out: Vec<(Kind, Reason)>,
    pub(super) surface: TaskSurface,
    pub(super) chosen_by: ChosenBy,
    book: ConsentBook,
    seed: [u8; 32],
    pub(super) prompts: u32,
    /// The user's yes to one purchase.
    mandate: Option<Mandate>,
    /// The saved login that was not restored, and why; the user is told.
    pub(super) not_restored: Option<(Origin, SavedLoginProblem)>,
    not_raised: Option<NotRaised>,
}

/// The refusal of a task that names a site without TLS that the policy never opens.
fn judge_encryption(decision: &DecisionPoint, task: &Task) -> Result<(), NotEncrypted> {
    let never = |origin: &&Origin| !decision.may_open(origin, task, &History::default());
    let Some(origin) = task.origins().iter().filter(|origin| origin.scheme() == "http").find(never).cloned()
    else {
        return Ok(());
    };
    Err(match origin.is_plain_loopback() {
        false => NotEncrypted::Elsewhere(origin),
        true if task.has_on_this_machine(&origin) => NotEncrypted::NotInThePolicy(origin),
        true => NotEncrypted::NotListed(origin),
    })
}

/// The origins of the payment providers whose frames the task may fill.
pub(super) fn reachable_providers(decision: &DecisionPoint, task: &Task) -> Vec<Origin> {
    let pays = task.container() == Container::T2 && task.kinds().contains(Kind::Payment);
    let providers = decision.providers().iter().filter(|_| pays);
    providers.flat_map(|provider| provider.frames().iter().chain(provider.tokens())).cloned().collect()
}

/// The mandate that the user is asked for with the task: only for the user's own words, at a site without a warning, and in a container of
/// the guard's.
fn possible_mandate(
    decision: &DecisionPoint,
    intake: &Intake,
    chosen_by: ChosenBy,
    surface: TaskSurface,
    vault: &Vault,
) -> Option<Mandate> {
    let payee = intake.origins.first()?;
    let is_plain = warnings(payee, &[]).is_empty() && payee.scheme() == "https";
    let may_be = decision.takes_mandates()
        && chosen_by == ChosenBy::User
        && surface == TaskSurface::Container
        && is_plain;
    let supplied = vault.suppliers(Kind::Address, Kind::Address.default_fields(), payee);
    Mandate::of(intake, &distinct_records(supplied)).filter(|_| may_be)
}

/// Takes the values out of the prompt, seals the task, asks once for the container and for what the task will need.
pub(super) async fn open(
    dependencies: &mut Dependencies,
    decision: &DecisionPoint,
    wording: TaskSource<'_>,
    surface: TaskSurface,
    on_this_machine: &[Origin],
) -> Result<SealedTask, SessionError> {
    // An agent's proposal does not show that the user is there, and opens no window for the passphrase.
    let is_the_users = !matches!(wording, TaskSource::Agent(_));
    if is_the_users {
        dependencies.note_user_present();
    }
    dependencies.reopen(is_the_users).await;
    let offers_files = dependencies.offers_files() && surface == TaskSurface::Container;
    let (prompt, mut intake, uploads, chosen_by) = match wording {
        TaskSource::User(prompt) => {
            (prompt.to_owned(), intake::read(prompt, &dependencies.detectors), true, ChosenBy::User)
        }
        TaskSource::Typed(task) => {
            let (intake, words) = task.into_intake(&dependencies.detectors);
            (words, intake, true, ChosenBy::User)
        }
        TaskSource::Agent(proposal) if !proposal.can_be_shown() => return Err(SessionError::TooManySites),
        TaskSource::Agent(proposal) => {
            let uploads = proposal.uploads;
            (String::new(), proposal.into_intake(), uploads, ChosenBy::Agent)
        }
    };
    if intake.origins.is_empty() {
        return Err(SessionError::NoOrigin);
    }
    let seal = |intake: &Intake, container| {
        intake.seal(container).with_sites_on_this_machine(on_this_machine.iter().cloned())
    };
    judge_encryption(decision, &seal(&intake, Container::T2))?;
    let id = SessionId::random(&mut dependencies.entropy);
    let unix_ms = unix_ms();
    let mut seed = [0; 32];
    dependencies.entropy.fill(&mut seed);
    let policy = decision.policy_hash();
    let sealed_before_asking = dependencies.audit.append(id, &AuditEvent::Started { policy }, unix_ms, true);
    sealed_before_asking.map_err(|_| SessionError::Audit)?;
    let doubts = dependencies.settle_doubts(&mut intake, &prompt, &policy).await;
    let mut prompts = u32::from(!doubts.is_empty());
    for event in doubts {
        dependencies.audit.append(id, &event, unix_ms, false).map_err(|_| SessionError::Audit)?;
    }
    dependencies
        .store_prompt_values(&intake, &prompt)
        .map_err(|error| SessionError::Vault(error.to_string()))?;

    // The user is not asked about kinds that can never be granted, whatever the pages are.
    let raised = seal(&intake, Container::T2);
    let mut ruled_out = Vec::new();
    intake.kinds.retain(|kind| {
        let reason = match dependencies.schema.takes(*kind) {
            None => Some(Reason::MalformedRequest),
            Some(fields) => never_granted(decision, &raised, &History::default(), *kind, fields),
        };
        ruled_out.extend(reason.map(|reason| (*kind, reason)));
        reason.is_none()
    });
    let mut book = ConsentBook::with_standing(dependencies.standing_consents(), unix_ms);
    let (question, mandate) = {
        let vault = dependencies.vault();
        let mandate = possible_mandate(decision, &intake, chosen_by, surface, &vault);
        let offers_files = offers_files && uploads;
        let orders = dependencies.orders.is_some() && !surface.is_own_browser();
        (PlanQuestion::of(&intake, offers_files, decision, &book, &vault, mandate.as_ref(), orders), mandate)
    };
    let (mut container, mut not_raised) = (Container::T0, None);
    if let Some(question) = question {
        let question = match surface {
            TaskSurface::OwnBrowser(pages) => question.in_own_browser(pages),
            TaskSurface::Container => question,
        };
        prompts += 1;
        let tier = question.tier();
        let mut nonce = [0; 16];
        dependencies.entropy.fill(&mut nonce);
        let before = dependencies.earlier_guesses();
        let guessed = (before > 0).then_some(Notice::GuessedBefore(before));
        let chosen = (chosen_by == ChosenBy::Agent).then_some(Notice::ChosenByTheAgent);
        let noticed = chosen.into_iter().chain(surface.notice()).chain(guessed);
        let prompt = question.with_notices(noticed).prompt(&policy, nonce);
        let mut prompt = prompt.in_task(QuestionTask { chosen_by, tier });
        if !dependencies.has_vault_file() {
            prompt = prompt.for_this_task_only();
        }
        let answered = dependencies.ask(&prompt).await;
        let answer = prompt.ticket().settle(&answered, Millis(0));
        store_plan_answer(&prompt, answer, &mut book);
        if answer.agrees() {
            container = tier;
            if let Some(memory) = &dependencies.memory {
                memory.user_agreed();
            }
        } else {
            let nobody = answered.reached_nobody();
            not_raised = Some(if nobody { NotRaised::NobodyAsked } else { NotRaised::Refused });
        }
        for event in consent_events(&prompt, answer) {
            dependencies.audit.append(id, &event, unix_ms, false).map_err(|_| SessionError::Audit)?;
        }
    }
    let task = seal(&intake, container);
    let sealed = AuditEvent::Sealed {
        origins: task.origins().to_vec(),
        kinds: task.kinds().iter().collect(),
        budget: task.budget(),
        container,
    };
    dependencies.audit.append(id, &sealed, unix_ms, true).map_err(|_| SessionError::Audit)?;
    Ok(SealedTask {
        id,
        task,
        prompt: intake.prompt,
        ruled_out,
        surface,
        chosen_by,
        book,
        seed,
        prompts,
        mandate: mandate.filter(|_| container == Container::T2),
        not_restored: None,
        not_raised,
    })
}

impl SealedTask {
    /// The account that pays orders by the shops' own protocol. They need a container's proxy, so a tab of the user's browser has none.
    fn order_account(&self, dependencies: &Dependencies) -> Option<String> {
        let orders = dependencies.orders.as_ref().filter(|_| !self.surface.is_own_browser());
        orders.map(|orders| orders.account())
    }

    /// The session, before it has a browser.
    pub(super) fn ready(
        self,
        decision: DecisionPoint,
        dependencies: Dependencies,
        releases: Releases,
    ) -> Driver {
        let (vault, detectors) = (dependencies.vault.clone(), dependencies.detectors.clone());
        let order_account = self.order_account(&dependencies);
        let quarantine = Quarantine::default();
        let text = PageTextGuard::new(
            dependencies.scrubber.clone(),
            quarantine.clone(),
            detectors.clone(),
            releases.clone(),
            vault.clone(),
        )
        .with_safety(dependencies.safety.clone())
        .in_own_browser(self.surface.is_own_browser());
        let has_vault_file = dependencies.has_vault_file();
        let tools =
            CoreDependencies { vault, detectors, releases, book: self.book, has_vault_file, seed: self.seed };
        let mut core = Core::new(self.task, decision, tools, &self.prompt)
            .with_schema(dependencies.schema.clone())
            .with_earlier_guesses(dependencies.earlier_guesses())
            .with_values_shown_to_the_model(dependencies.shows_values_to_model)
            .with_egress_checks(dependencies.egress)
            .with_hand_over(dependencies.answerer.offers_hand_over())
            .with_payment_handler(dependencies.payments.is_some())
            .with_orders(order_account)
            .with_sources(dependencies.sources.iter().map(|source| source.serves.clone()).collect())
            .not_raised(self.not_raised)
            .chosen_by(self.chosen_by)
            .with_mandate(self.mandate)
            .with_notice(self.surface.notice());
        let mut memory = dependencies.memory.as_ref().map(|memory| memory.open(core.taint()));
        if memory.as_mut().is_some_and(TaskMemory::learn) {
            core.happened(SessionEvent::Suspected);
        }
        (0..self.prompts).for_each(|_| core.note_prompt());
        if let Some((origin, problem)) = self.not_restored {
            core.warn(Warning { kind: Kind::Login, origin, cause: WarningCause::SavedLogin(problem) });
        }
        let mut driver = Driver {
            id: self.id,
            core,
            text,
            quarantine,
            memory,
            known_generation: None,
            dependencies,
            prompt: self.prompt,
            ruled_out: self.ruled_out,
            started: Instant::now(),
        };
        driver.save_standing();
        driver.dependencies.sign_head();
        driver
    }
}
