//! The user's choice among records that fit a request alike, before the user is asked about the request itself.

use browser_signals::{Origin, Snapshot};
use policy_dfa::{Millis, Reason};
use sirl::{Field, FieldSet, Kind};
use vault::{StateName, record_kind};

use super::block_state::{BlockPhase, BlockState, PendingConsent};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};
use crate::guard::record_choices::{RecordChoices, RivalRecords};

impl Core {
    /// Has the user choose among records, one request after another, and then asks about the requests.
    pub(super) fn choose_records(
        &mut self,
        block: BlockState,
        asks: Vec<PendingConsent>,
        now: Millis,
    ) -> Command {
        let undecided = asks.iter().find_map(|ask| {
            let kind = ask.prompt.kind?;
            self.undecided(kind, ask.prompt.fields, &ask.page)
        });
        match undecided {
            None => self.ask(block, asks, now),
            // The user was asked in this task, and chose none.
            Some(rivals) if self.user.chose_none.contains(&(rivals.kind, rivals.origin.clone())) => {
                let (block, asks) = self.refuse_for_want_of_a_record(block, asks, &rivals);
                self.choose_records(block, asks, now)
            }
            Some(rivals) => {
                let rivals = Box::new(rivals);
                let phase = BlockPhase::Choosing(asks, rivals.clone());
                let command = Command::Guard(GuardCommand::ChooseRecord(rivals));
                self.enter(State::Block(Box::new((block, phase))), command)
            }
        }
    }

    /// Goes on with the user's choice. Without one, what would have been filled from these records is refused.
    pub(super) fn chosen(
        &mut self,
        block: BlockState,
        asks: Vec<PendingConsent>,
        rivals: &RivalRecords,
        chosen: Option<String>,
        now: Millis,
    ) -> Command {
        let RivalRecords { kind, origin, handles } = rivals;
        let chosen = chosen.filter(|handle| handles.contains(handle));
        let about = asks.iter().filter_map(|ask| ask.prompt.kind).find(|asked| record_kind(*asked) == *kind);
        match (chosen, about, self.values.vault.lock()) {
            (Some(handle), Some(about), Ok(mut vault)) => vault.choose_record(about, origin, &handle),
            _ => {
                self.user.chose_none.insert((*kind, origin.clone()));
            }
        }
        self.choose_records(block, asks, now)
    }

    /// Refuses the requests that these records would supply.
    fn refuse_for_want_of_a_record(
        &mut self,
        mut block: BlockState,
        mut asks: Vec<PendingConsent>,
        rivals: &RivalRecords,
    ) -> (BlockState, Vec<PendingConsent>) {
        let is_for_it = |ask: &PendingConsent| {
            ask.origin == rivals.origin
                && ask.prompt.kind.is_some_and(|kind| record_kind(kind) == rivals.kind)
        };
        for at in asks.iter().filter(|ask| is_for_it(ask)).map(|ask| ask.at).collect::<Vec<_>>() {
            block.at = at;
            self.refuse_line(&mut block, Reason::ConsentDenied);
        }
        asks.retain(|ask| !is_for_it(ask));
        (block, asks)
    }

    /// The records for a request on this page among which neither the vault nor an earlier choice of the user's decides. A choice that
    /// is kept holds from now on.
    pub(super) fn undecided(&self, kind: Kind, fields: FieldSet, page: &Snapshot) -> Option<RivalRecords> {
        let origin = page.origin.known()?;
        if kind == Kind::Purchase {
            let card = FieldSet::EMPTY.with(Field::CardNumber).with(Field::CardExpiry);
            return self.undecided_among(kind, card, &[origin]);
        }
        let sent_to = page.destination.known().map(|to| &to.origin);
        let fields = self.supplied(kind, fields, origin, sent_to.unwrap_or(origin));
        let provider = self.provider_frame(page);
        let tokens = provider.iter().flat_map(|frame| frame.provider().tokens());
        let to: Vec<&Origin> = [origin].into_iter().chain(sent_to).chain(tokens).collect();
        self.undecided_among(kind, fields, &to)
    }

    fn undecided_among(&self, kind: Kind, fields: FieldSet, to: &[&Origin]) -> Option<RivalRecords> {
        // A source has choices of its own.
        if self.source_for(kind, fields, to).is_some() {
            return None;
        }
        let origin = *to.first()?;
        let mut vault = self.values.vault.lock().ok()?;
        let handles = vault.rivals_among(kind, fields, to);
        if handles.is_empty() || vault.has_chosen(kind, origin, &handles) {
            return None;
        }
        let stored = vault.state(StateName::Choices).ok().flatten();
        let stored = RecordChoices::from_json(stored.as_ref().map(|bytes| bytes.as_slice()));
        let kind_of_record = record_kind(kind);
        if let Some(record) = stored.among(kind_of_record, origin, &handles) {
            vault.choose_record(kind, origin, record);
            return None;
        }
        let rivals = RivalRecords { kind: kind_of_record, origin: origin.clone(), handles };
        // Records that a person cannot tell apart are not asked about.
        rivals.question(None).shown().is_some().then_some(rivals)
    }
}
