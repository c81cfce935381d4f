//! Values that a password manager of the user's supplies for a release. They are fetched for a grant, which is then dropped: a fetch may
//! wait for the user, and the release is decided anew on a fresh look once the values are there.

use browser_signals::Origin;
use policy_dfa::{Millis, Reason};
use sirl::{Field, FieldSet, Kind};
use vault::sources::{SourceError, Wanted};

use super::block_state::{BlockPhase, BlockState, GrantedRelease};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};
use crate::audit::AuditEvent;
use crate::consent::{AskedCode, ConsentPrompt, Warning, WarningCause};
use crate::guard::sources::{FetchOutcome, FetchReport, ServedBy};

/// The most fetches that give nothing, for one site and kind in a task.
const MAX_FAILED_FETCHES: u8 = 3;

impl Core {
    /// Serves the given kinds of request from these sources too.
    #[must_use]
    pub fn with_sources(mut self, sources: Vec<ServedBy>) -> Core {
        self.settings.sources = sources;
        self
    }

    /// The source that would supply the fields that neither the vault nor this task has, by its name in questions; none where the values
    /// would go to several origins.
    pub(in crate::session) fn source_for(
        &self,
        kind: Kind,
        fields: FieldSet,
        to: &[&Origin],
    ) -> Option<&str> {
        let (origin, others) = to.split_first()?;
        let source = self.settings.sources.iter().find(|source| source.kinds.contains(&kind))?;
        let is_one_place = others.iter().all(|other| other == origin);
        let vault = self.values.vault.lock().ok()?;
        let is_needed = is_one_place && !vault.not_here(kind, fields, origin).is_empty();
        is_needed.then_some(source.name.as_str())
    }

    /// The fields that a granted release needs from a source, if one serves its kind and was not asked for this request already.
    pub(super) fn to_fetch(&self, block: &BlockState, release: &GrantedRelease) -> Option<Wanted> {
        let is_asked = block.requests.get(block.at).is_some_and(|line| line.is_fetched);
        let vault = self.values.vault.lock().ok()?;
        if is_asked || vault.is_locked() {
            return None;
        }
        let wanted = match release {
            GrantedRelease::Fill(grant) => vault.wanted(grant),
            GrantedRelease::Wire(grant) => vault.wanted(grant),
            GrantedRelease::Pay(_) | GrantedRelease::ShowToModel(_) => None,
        };
        wanted
            .filter(|wanted| self.settings.sources.iter().any(|source| source.kinds.contains(&wanted.kind())))
    }

    /// Fetches what a release wants. A fetch may open a window of the source's or a question of the guard's, which nobody counts: so
    /// few that give nothing are made for one site and kind in a task.
    pub(super) fn fetch(&mut self, block: BlockState, wanted: Wanted, now: Millis) -> Command {
        let place = (wanted.kind(), wanted.origin().clone());
        if self.user.failed_fetches.get(&place).is_some_and(|failed| *failed >= MAX_FAILED_FETCHES) {
            let error = Some(SourceError::GivenUp);
            return self.without_values(block, &wanted, (Reason::NoValue, error), now);
        }
        let command = Command::Guard(GuardCommand::Fetch(Box::new(wanted)));
        self.enter(State::Block(Box::new((block, BlockPhase::Fetching))), command)
    }

    /// Records what a source was asked for, before anything of it is released.
    pub(super) fn record_fetch(&mut self, block: BlockState, report: FetchReport) -> Command {
        let request = block.requests.get(block.at).map_or(0, |line| line.number);
        let fetched = AuditEvent::Fetched {
            request,
            source: report.source.clone(),
            origin: report.wanted.origin().clone(),
            outcome: report.outcome.as_str(),
        };
        let command = Command::Guard(GuardCommand::Record { events: vec![fetched], sync: false });
        self.enter(State::Block(Box::new((block, BlockPhase::RecordingFetch(Box::new(report))))), command)
    }

    /// Goes on with what a source gave.
    pub(super) fn fetched(&mut self, mut block: BlockState, report: &FetchReport, now: Millis) -> Command {
        let FetchReport { wanted, outcome, .. } = report;
        if let Some(line) = block.current() {
            line.is_fetched = true;
        }
        // A code is asked about each time, and a model may ask again before the half minute is over.
        let is_not_counted = matches!(
            outcome,
            FetchOutcome::Kept { .. }
                | FetchOutcome::Unfit(Reason::CodeUsed)
                | FetchOutcome::Failed(
                    SourceError::NotRunning
                        | SourceError::Missing
                        | SourceError::NotConnected
                        | SourceError::Unsafe
                )
        );
        if !is_not_counted {
            let failed =
                self.user.failed_fetches.entry((wanted.kind(), wanted.origin().clone())).or_default();
            *failed = failed.saturating_add(1);
        }
        match outcome {
            FetchOutcome::Kept { is_noted: true } if self.values.has_vault_file => {
                let phase = BlockPhase::KeepingFetched(wanted.origin().clone());
                let command = Command::Guard(GuardCommand::KeepVault);
                self.enter(State::Block(Box::new((block, phase))), command)
            }
            FetchOutcome::Kept { .. } => self.release_next(block, now),
            FetchOutcome::Nothing => match self.typed_code(&block, wanted) {
                Some((code, prompt)) => self.ask_for_code(block, code, prompt),
                // The vault decides whether anything is missing.
                None => self.release_next(block, now),
            },
            FetchOutcome::NotChosen => self.without_values(block, wanted, (Reason::NoValue, None), now),
            FetchOutcome::Failed(error) => {
                self.without_values(block, wanted, (error.reason(), Some(*error)), now)
            }
            FetchOutcome::Unfit(reason) => {
                let error = (*reason == Reason::ValueDamaged).then_some(SourceError::Unusable);
                self.without_values(block, wanted, (*reason, error), now)
            }
        }
    }

    /// Tells the user why a source gave nothing. A code may still be typed; else the request is refused.
    fn without_values(
        &mut self,
        mut block: BlockState,
        wanted: &Wanted,
        (reason, error): (Reason, Option<SourceError>),
        now: Millis,
    ) -> Command {
        if let Some(error) = error {
            let (kind, origin) = (wanted.kind(), wanted.origin().clone());
            self.warn(Warning { kind, origin, cause: WarningCause::Source(error) });
        }
        if let Some(line) = block.current() {
            line.is_fetched = true;
        }
        if reason != Reason::CodeUsed
            && let Some((code, prompt)) = self.typed_code(&block, wanted)
        {
            return self.ask_for_code(block, code, prompt);
        }
        self.refuse_line(&mut block, reason);
        self.release_next(block, now)
    }

    /// The code that the user may type in place of a source's, and the question that agreed to it.
    fn typed_code(&self, block: &BlockState, wanted: &Wanted) -> Option<(AskedCode, Box<ConsentPrompt>)> {
        let is_for_it = |code: &AskedCode| matches!(code, AskedCode::OneTime { to } if to == wanted.origin());
        let code = block.code.clone().filter(|(code, _)| is_for_it(code));
        code.filter(|_| wanted.fields().contains(Field::OneTimeCode))
    }

    fn ask_for_code(&mut self, block: BlockState, code: AskedCode, prompt: Box<ConsentPrompt>) -> Command {
        let command = Command::Guard(GuardCommand::AskCode { code, prompt });
        self.enter(State::Block(Box::new((block, BlockPhase::AskingCode))), command)
    }

    /// Goes on once the vault's file has the step of a source's code, and without the code where the file could not be written.
    pub(super) fn kept_fetched(
        &mut self,
        mut block: BlockState,
        origin: &Origin,
        kept: bool,
        now: Millis,
    ) -> Command {
        if !kept {
            if let Ok(mut vault) = self.values.vault.lock() {
                vault.forget_fetched_code(origin);
            }
            self.refuse_line(&mut block, Reason::CodeNotKept);
        }
        self.release_next(block, now)
    }

    /// Returns true if a code that the user could type is asked for after a source was, and not before.
    pub(super) fn comes_after_a_source(&self, code: &AskedCode) -> bool {
        let one = FieldSet::EMPTY.with(Field::OneTimeCode);
        matches!(code, AskedCode::OneTime { to } if self.source_for(Kind::Otp, one, &[to]).is_some())
    }
}
