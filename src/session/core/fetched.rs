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
use crate::consent::AskedCode;
use crate::guard::sources::{FetchOutcome, FetchReport, ServedBy};

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

    /// What a granted release needs from a source, if one serves its kind and was not asked for this request already.
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

    /// Fetches what a release wants. The user is not asked again and again for what they refused in this task.
    pub(super) fn fetch(&mut self, mut block: BlockState, wanted: Wanted, now: Millis) -> Command {
        let place = (wanted.kind(), wanted.origin().clone());
        if self.user.fetches_given_up.contains(&place) {
            self.refuse_line(&mut block, Reason::NoValue);
            return self.release_next(block, now);
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

    /// Goes on with what a source gave. Where it has nothing, the user is asked for a code, or the vault decides whether anything is
    /// missing.
    pub(super) fn fetched(&mut self, mut block: BlockState, report: &FetchReport, now: Millis) -> Command {
        let FetchReport { wanted, outcome, .. } = report;
        if let Some(line) = block.current() {
            line.is_fetched = true;
        }
        let refused = match outcome {
            FetchOutcome::Kept { is_noted: true } if self.values.has_vault_file => {
                let phase = BlockPhase::KeepingFetched(wanted.origin().clone());
                let command = Command::Guard(GuardCommand::KeepVault);
                return self.enter(State::Block(Box::new((block, phase))), command);
            }
            FetchOutcome::Kept { .. } => return self.release_next(block, now),
            FetchOutcome::Nothing => {
                let is_for_it =
                    |code: &AskedCode| matches!(code, AskedCode::OneTime { to } if to == wanted.origin());
                return match block.code.clone().filter(|(code, _)| is_for_it(code)) {
                    Some((code, prompt)) if wanted.fields().contains(Field::OneTimeCode) => self.enter(
                        State::Block(Box::new((block, BlockPhase::AskingCode))),
                        Command::Guard(GuardCommand::AskCode { code, prompt }),
                    ),
                    _ => self.release_next(block, now),
                };
            }
            FetchOutcome::NotChosen => Reason::NoValue,
            FetchOutcome::Failed(error) => {
                self.user.source_failed = Some(*error);
                error.reason()
            }
            FetchOutcome::Unfit(reason) => *reason,
        };
        if matches!(
            outcome,
            FetchOutcome::NotChosen | FetchOutcome::Failed(SourceError::Refused | SourceError::TimedOut)
        ) {
            self.user.fetches_given_up.insert((wanted.kind(), wanted.origin().clone()));
        }
        self.refuse_line(&mut block, refused);
        self.release_next(block, now)
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
