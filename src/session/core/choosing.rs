//! The user's choice among records that fit a request alike, before the user is asked about the request itself.

use browser_signals::{Origin, Snapshot};
use policy_dfa::{Millis, Reason};
use sirl::{Field, FieldSet, Kind};
use vault::{StateName, record_kind};

use super::block_state::{BlockPhase, BlockState, PendingConsent};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};
use crate::guard::record_choices::{RecordChoice, RecordChoices, RivalRecords, Unreached};

impl Core {
    /// Has the user choose among records, one request after another, and then asks about the requests.
    pub(super) fn choose_records(
        &mut self,
        block: BlockState,
        asks: Vec<PendingConsent>,
        now: Millis,
    ) -> Command {
        match asks.iter().find_map(|ask| self.undecided_for(ask)) {
            None => self.ask(block, asks, now),
            // The user was asked in this task, and chose none.
            Some(rivals) if self.user.chose_none.contains(&(rivals.kind, rivals.handles.clone())) => {
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
        chosen: Result<Option<String>, Unreached>,
        now: Millis,
    ) -> Command {
        let RivalRecords { kind, handles, .. } = rivals;
        self.user.reached_nobody = chosen.is_err();
        let Ok(chosen) = chosen else {
            let (block, asks) = self.refuse_for_want_of_a_record(block, asks, rivals);
            return self.choose_records(block, asks, now);
        };
        let chosen = chosen.filter(|handle| handles.contains(handle));
        let about = asks.iter().filter_map(|ask| ask.prompt.kind).find(|asked| record_kind(*asked) == *kind);
        self.note_choice(rivals, about, chosen);
        self.choose_records(block, asks, now)
    }

    /// Notes the record that the user chose among these for a kind of request, or that they chose none.
    pub(super) fn note_choice(&mut self, rivals: &RivalRecords, about: Option<Kind>, chosen: Option<String>) {
        let RivalRecords { kind, origin, at, handles } = rivals;
        match (chosen, about, self.values.vault.lock()) {
            (Some(handle), Some(about), Ok(mut vault)) => {
                vault.choose_record(about, at, &handle);
                let choices = std::mem::take(&mut self.user.record_choices);
                self.user.record_choices = choices.with(RecordChoice::new(kind, origin, handles, &handle));
            }
            _ => {
                self.user.chose_none.insert((*kind, handles.clone()));
            }
        }
    }

    /// Refuses the requests that these records would supply.
    fn refuse_for_want_of_a_record(
        &mut self,
        mut block: BlockState,
        mut asks: Vec<PendingConsent>,
        rivals: &RivalRecords,
    ) -> (BlockState, Vec<PendingConsent>) {
        let is_for_it = |ask: &&PendingConsent| {
            self.undecided_for(ask).is_some_and(|other| other.handles == rivals.handles)
        };
        let refused: Vec<usize> = asks.iter().filter(is_for_it).map(|ask| ask.at).collect();
        asks.retain(|ask| !refused.contains(&ask.at));
        for at in refused {
            block.at = at;
            self.refuse_line(&mut block, Reason::ConsentDenied);
        }
        (block, asks)
    }

    fn undecided_for(&self, ask: &PendingConsent) -> Option<RivalRecords> {
        self.undecided(ask.prompt.kind?, ask.prompt.fields, &ask.page)
    }

    /// The records for a request on this page among which neither the vault nor an earlier choice of the user's decides. A choice that
    /// is kept holds from now on.
    pub(super) fn undecided(&self, kind: Kind, fields: FieldSet, page: &Snapshot) -> Option<RivalRecords> {
        let origin = page.origin.known()?;
        if kind == Kind::Purchase {
            let card = FieldSet::EMPTY.with(Field::CardNumber).with(Field::CardExpiry);
            return self.undecided_among(kind, card, &[origin], origin);
        }
        let sent_to = page.destination.known().map(|to| &to.origin);
        let fields = self.supplied(kind, fields, origin, sent_to.unwrap_or(origin));
        let provider = self.provider_frame(page);
        let tokens = provider.iter().flat_map(|frame| frame.provider().tokens());
        let to: Vec<&Origin> = [origin].into_iter().chain(sent_to).chain(tokens).collect();
        // A payment in a provider's frame is one at the shop.
        let site = provider.as_ref().map_or(origin, |frame| frame.top_origin());
        self.undecided_among(kind, fields, &to, site)
    }

    /// As [`Core::undecided`], for values that go to these origins.
    pub(super) fn undecided_among(
        &self,
        kind: Kind,
        fields: FieldSet,
        to: &[&Origin],
        site: &Origin,
    ) -> Option<RivalRecords> {
        // A source has choices of its own.
        if self.source_for(kind, fields, to).is_some() {
            return None;
        }
        let at = *to.first()?;
        let mut vault = self.values.vault.lock().ok()?;
        let handles = vault.rivals_among(kind, fields, to);
        if handles.is_empty() || vault.has_chosen(kind, at, &handles) {
            return None;
        }
        let stored = vault.state(StateName::Choices).ok().flatten();
        let stored = RecordChoices::from_json(stored.as_ref().map(|bytes| bytes.as_slice()));
        let kind_of_record = record_kind(kind);
        let known = [&self.user.record_choices, &stored];
        if let Some(record) = known.iter().find_map(|known| known.among(kind_of_record, site, &handles)) {
            vault.choose_record(kind, at, record);
            return None;
        }
        let rivals = RivalRecords { kind: kind_of_record, origin: site.clone(), at: at.clone(), handles };
        // Records that a person cannot tell apart are not asked about.
        rivals.question(None).shown().is_some().then_some(rivals)
    }
}
