//! Values that a password manager of the user's supplies for a release, fetched once the release is granted.

use browser_signals::Origin;
use policy_dfa::Reason;
use sirl::{FieldSet, Kind};

use super::block_state::{BlockPhase, BlockState, GrantedRelease, MadeSecret};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};
use crate::audit::AuditEvent;
use crate::guard::sources::{FetchOutcome, FetchReport, ServedBy};

impl Core {
    /// Serves the given kinds of request from these sources too.
    #[must_use]
    pub fn with_sources(mut self, sources: Vec<ServedBy>) -> Core {
        self.settings.sources = sources;
        self
    }

    /// The source that would supply the fields that neither the vault nor this task has for an origin, by its name in questions.
    pub(in crate::session) fn source_for(
        &self,
        kind: Kind,
        fields: FieldSet,
        origin: &Origin,
    ) -> Option<&str> {
        let source = self.settings.sources.iter().find(|source| source.kinds.contains(&kind))?;
        let vault = self.values.vault.lock().ok()?;
        (!vault.not_here(kind, fields, origin).is_empty()).then_some(source.name.as_str())
    }

    /// Fetches what the release wants from a source, if there is one for it.
    pub(super) fn fetch_before(&mut self, block: BlockState, release: GrantedRelease) -> Command {
        let wanted = match (&release, self.values.vault.lock()) {
            (GrantedRelease::Fill(grant), Ok(vault)) => vault.wanted(grant),
            (GrantedRelease::Wire(grant), Ok(vault)) => vault.wanted(grant),
            _ => None,
        };
        let wanted = wanted.filter(|wanted| self.is_served(wanted.kind()));
        let Some(wanted) = wanted else { return self.code_before(block, release) };
        let command = Command::Guard(GuardCommand::Fetch(Box::new(wanted)));
        self.enter(State::Block(Box::new((block, BlockPhase::Fetching(release)))), command)
    }

    /// Records what a source was asked for, before anything of it is released.
    pub(super) fn record_fetch(
        &mut self,
        block: BlockState,
        release: GrantedRelease,
        report: FetchReport,
    ) -> Command {
        let FetchReport { source, origin, outcome } = report;
        let request = block.requests.get(block.at).map_or(0, |line| line.number);
        let fetched = AuditEvent::Fetched { request, source, origin, outcome: outcome.as_str() };
        let command = Command::Guard(GuardCommand::Record { events: vec![fetched], sync: false });
        let phase = BlockPhase::RecordingFetch { release, outcome };
        self.enter(State::Block(Box::new((block, phase))), command)
    }

    /// Goes on with what a source gave. Where it has nothing, the vault decides whether anything is missing.
    pub(super) fn fetched(
        &mut self,
        block: BlockState,
        release: GrantedRelease,
        outcome: FetchOutcome,
    ) -> Command {
        match outcome {
            FetchOutcome::Kept { is_noted: true } if self.values.has_vault_file => {
                let phase = BlockPhase::Keeping { release, made: MadeSecret::Code };
                self.enter(State::Block(Box::new((block, phase))), Command::Guard(GuardCommand::KeepVault))
            }
            FetchOutcome::Kept { is_noted: true } => self.kept(block, release, MadeSecret::Code, true),
            FetchOutcome::Kept { is_noted: false } | FetchOutcome::Nothing => {
                self.code_before(block, release)
            }
            FetchOutcome::NotChosen => self.end_request(block, Err(Reason::NoValue)),
            FetchOutcome::Failed(error) => self.end_request(block, Err(error.reason())),
            FetchOutcome::Unfit(reason) => self.end_request(block, Err(reason)),
        }
    }

    /// Returns true if a source may serve this kind of request.
    pub(in crate::session) fn is_served(&self, kind: Kind) -> bool {
        self.settings.sources.iter().any(|source| source.kinds.contains(&kind))
    }
}
