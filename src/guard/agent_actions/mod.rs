//! The agent's recorded actions over all pages of a task, together with the controls that the guard filled. They decide
//! an order.
//!
//! Text that the agent typed, and its choices and key presses, leave a raised container only after the user saw them,
//! unless they are known to decide nothing. In a public container this holds for text and for forms that are sent. The first request with a body, or with a released value, waits for the user,
//! whether or not a form sends it. The prompt of a payment shows all recorded actions.
//!
//! | module | subject |
//! |---|---|
//! | `weight` | the effect of a verb, and whether it can decide an order |
//! | `forwarding` | released values on the way to other paths of their site |

mod forwarding;
mod weight;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use browser_signals::{Fact, FormId, NodeId, Origin, Snapshot};
use policy_dfa::{Reason, Terms};
use sirl::{Field, FieldSet, Kind};

use crate::consent::order::{
    ActionKind, FilledAddress, Filling, MAX_TEXT_CHARS, Order, RecordedAction, WaitingRequest,
};
pub(crate) use forwarding::Forwarded;
use forwarding::Forwarding;
pub(crate) use weight::{FormContext, Weighed, effect_of, goes_by_get, kind_of, name_of, submits, weigh};

/// The maximum number of actions that one prompt can show. With more the answer is no.
const MAX_ACTIONS: usize = 40;
/// The maximum number of characters that the agent's texts in one prompt have together.
const MAX_CHARACTERS: usize = 20_000;
/// The maximum number of sites that one prompt about waiting requests can name.
const MAX_WAITING: usize = 8;
/// The shortest refused text that is recognised in requests. Shorter ones occur by chance.
const MIN_RECOGNISED: usize = 4;

/// A control of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ControlLocation {
    frame: String,
    document: Fact<String>,
    node: NodeId,
}

impl ControlLocation {
    fn of(page: &Snapshot, node: NodeId) -> ControlLocation {
        let document = match &page.document {
            Fact::Known(document) => Fact::Known(document.as_str().to_owned()),
            Fact::Unknown => Fact::Unknown,
        };
        ControlLocation { frame: page.frame.as_str().to_owned(), document, node }
    }
}

/// What a page shows of the released values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnPage {
    /// The records with a value that is too long to be there by chance.
    pub records: BTreeSet<String>,
    /// The values, by record and field, that are there as whole words.
    pub values: BTreeSet<(String, Field)>,
}

/// Whether the user saw an action.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    NotYet,
    /// The user saw it and agreed.
    Agreed,
    /// The user refused it: requests that carry its text are blocked.
    Refused,
}

struct Entry {
    action: RecordedAction,
    location: Option<ControlLocation>,
    form: Option<FormId>,
    harmless: bool,
    seen: Seen,
}

#[derive(Default)]
struct Ledger {
    entries: Vec<Entry>,
    /// The controls that the guard filled, and their forms.
    filled: Vec<(ControlLocation, Option<FormId>)>,
    /// Records that addresses were filled from, by site.
    addresses: Vec<(Origin, String)>,
    /// What the page shows that the agent read last.
    on_page: OnPage,
    /// Sites to which the user refused requests.
    refused: Vec<Origin>,
    /// Requests that take released values to other paths.
    forwarding: Forwarding,
    /// Whether there are more actions than a prompt can show.
    is_full: bool,
}

/// The agent's recorded actions of a task, shared with the container's egress.
#[derive(Clone, Default)]
pub struct AgentActions(Arc<Mutex<Ledger>>);

impl AgentActions {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an action before the agent carries it out. It replaces an unseen action on the same control.
    ///
    /// # Errors
    /// One prompt cannot show its text, or not beside the texts that the user has not seen. Then nothing is recorded, and
    /// the agent must not carry it out.
    pub(crate) fn note(&self, page: &Snapshot, node: Option<NodeId>, weighed: Weighed) -> Result<(), Reason> {
        let Weighed { action, harmless } = weighed;
        let mut ledger = self.lock();
        let location = node.map(|node| ControlLocation::of(page, node));
        let again = |entry: &Entry| {
            (location.is_some() && entry.location == location && entry.seen == Seen::NotYet)
                || (entry.harmless && harmless && entry.action == action)
        };
        ledger.check_room_for(&action, again)?;
        ledger.entries.retain(|entry| !again(entry));
        ledger.push(action, location, page.form, harmless);
        Ok(())
    }

    /// Records an action that answers a dialog, before the agent carries it out.
    ///
    /// # Errors
    /// As [`AgentActions::note`].
    pub(crate) fn note_accepted(&self, action: RecordedAction) -> Result<(), Reason> {
        let mut ledger = self.lock();
        ledger.check_room_for(&action, |_| false)?;
        ledger.push(action, None, None, false);
        Ok(())
    }

    /// Whether this form has an action that the user has not seen or that they refused. Sending the form then needs no
    /// action of its own.
    pub(crate) fn is_unseen_in(&self, form: Option<FormId>) -> bool {
        let is_open = |entry: &Entry| entry.must_be_seen() || entry.seen == Seen::Refused;
        let is_here = |entry: &Entry| form.is_some() && entry.form == form && is_open(entry);
        self.lock().entries.iter().any(is_here)
    }

    /// Records that filled controls, given by their labels on the page, have another content now.
    pub fn note_changed(&self, site: &Origin, labels: Vec<String>) {
        let mut ledger = self.lock();
        for label in labels {
            let action = RecordedAction::new(site.clone(), label, ActionKind::Changed);
            if !ledger.entries.iter().any(|entry| entry.action == action) {
                let (location, form) = (None, None);
                ledger.entries.push(Entry { action, location, form, harmless: false, seen: Seen::NotYet });
            }
        }
    }

    /// Records the controls that the guard is about to fill.
    pub(crate) fn note_filled(&self, page: &Snapshot, terms: &Terms, suppliers: &[(String, Field)]) {
        let mut ledger = self.lock();
        let locations =
            terms.placements.iter().map(|placement| (ControlLocation::of(page, placement.node), page.form));
        ledger.filled.extend(locations);
        if terms.kind != Kind::Address {
            return;
        }
        for (record, _) in suppliers {
            let filled = (terms.origin.clone(), record.clone());
            if !ledger.addresses.contains(&filled) {
                ledger.addresses.push(filled);
            }
        }
    }

    /// Whether the guard filled this control, which then changes by grants only.
    pub(crate) fn is_filled(&self, page: &Snapshot, node: NodeId) -> bool {
        let location = ControlLocation::of(page, node);
        self.lock().filled.iter().any(|(filled, _)| *filled == location)
    }

    /// Whether the guard filled a control in the form of a snapshot.
    pub(crate) fn is_filled_form(&self, page: &Snapshot) -> bool {
        let Some(form) = page.form else { return false };
        let here = ControlLocation::of(page, form);
        let same =
            |location: &ControlLocation| location.frame == here.frame && location.document == here.document;
        self.lock().filled.iter().any(|(location, owner)| *owner == Some(form) && same(location))
    }

    /// Whether a form has a control that the guard filled, still in it.
    pub(crate) fn holds_filled(&self, page: &Snapshot) -> bool {
        page.form.is_some() && page.controls.iter().any(|control| self.is_filled(page, control.node))
    }

    /// Records what the page shows that the agent read last.
    pub fn note_on_page(&self, on_page: OnPage) {
        self.lock().on_page = on_page;
    }

    /// Whether that page shows the street of a record, and its postal code or city.
    pub(crate) fn shows_address(&self, record: &str) -> bool {
        let ledger = self.lock();
        let shows = |field: Field| ledger.on_page.values.contains(&(record.to_owned(), field));
        shows(Field::Street) && (shows(Field::PostalCode) || shows(Field::City))
    }

    /// Whether the user must see some action before any request leaves.
    pub fn must_be_seen(&self) -> bool {
        let ledger = self.lock();
        ledger.is_full || ledger.entries.iter().any(Entry::must_be_seen)
    }

    /// Whether one prompt can show all actions.
    pub(crate) fn can_be_shown(&self) -> bool {
        let ledger = self.lock();
        !ledger.is_full && ledger.characters(|_| true) <= MAX_CHARACTERS
    }

    /// Whether a text contains text of the agent that the user refused.
    pub(crate) fn is_refused(&self, text: &str) -> bool {
        let ledger = self.lock();
        let mut refused = ledger.entries.iter().filter(|entry| entry.seen == Seen::Refused).peekable();
        if refused.peek().is_none() {
            return false;
        }
        let text = letters(&decoded(text));
        refused.any(
            |entry| matches!(&entry.action.act, ActionKind::Typed(typed) if text.contains(&letters(typed))),
        )
    }

    /// The order at a site: all actions there, and the unseen actions elsewhere. `asked` are the address records that the
    /// same prompt asks to fill there.
    pub(crate) fn order(&self, site: &Origin, asked: Vec<String>, page_says: Vec<String>) -> Order {
        let ledger = self.lock();
        let shown = |entry: &&Entry| {
            entry.action.site == *site || entry.must_be_seen() || entry.seen == Seen::Refused
        };
        let (refused, kept): (Vec<&Entry>, Vec<&Entry>) =
            ledger.entries.iter().filter(shown).partition(|entry| entry.seen == Seen::Refused);
        let actions = kept.iter().map(|entry| entry.action.clone()).collect();
        let once = |(at, entry): (usize, &&Entry)| {
            let earlier = refused.iter().take(at).any(|earlier| earlier.action == entry.action);
            (!earlier).then(|| entry.action.clone())
        };
        let refused: Vec<RecordedAction> = refused.iter().enumerate().filter_map(once).collect();
        let mut address = ledger.address(site);
        let asked = asked.into_iter().filter(|record| address.iter().all(|filled| filled.record != *record));
        let asked: Vec<String> = asked.collect();
        address.extend(asked.into_iter().map(|record| FilledAddress { record, state: Filling::Asked }));
        Order { site: site.clone(), waiting: Vec::new(), address, actions, refused, page_says }
    }

    /// The order of waiting requests; `None` where one prompt cannot show it completely.
    pub(crate) fn waiting(&self, mut waiting: Vec<WaitingRequest>) -> Option<Order> {
        let ledger = self.lock();
        waiting.dedup();
        let site = waiting.first()?.to.clone();
        if waiting.len() > MAX_WAITING || ledger.is_full {
            return None;
        }
        for request in &mut waiting {
            request.carries = ledger.forwarding.carried_to(&request.to, &request.path);
        }
        let unseen = ledger.entries.iter().filter(|entry| entry.seen == Seen::NotYet);
        let actions = unseen.map(|entry| entry.action.clone()).collect();
        let (refused, page_says) = (Vec::new(), Vec::new());
        Some(Order { address: ledger.address(&site), site, waiting, actions, refused, page_says })
    }

    /// Whether the user already refused every site of these requests, and all actions since then that can decide something
    /// only type text or send it. The earlier answer then holds, so that an agent that writes message after message causes
    /// one prompt and not many.
    pub(crate) fn is_refused_again(&self, order: &Order) -> bool {
        let ledger = self.lock();
        let is_text = |entry: &Entry| matches!(entry.action.act, ActionKind::Typed(_) | ActionKind::Sent);
        let is_refused = |waiting: &WaitingRequest| match waiting.carries {
            FieldSet::EMPTY => ledger.refused.contains(&waiting.to),
            _ => ledger.forwarding.is_refused(waiting),
        };
        order.waiting.iter().all(is_refused)
            && ledger.entries.iter().filter(|entry| entry.must_be_seen()).all(is_text)
    }

    /// Applies the user's answer to a prompt that showed an order.
    pub(crate) fn answered(&self, order: &Order, agreed: bool) {
        let mut ledger = self.lock();
        ledger.forwarding.answered(&order.waiting, agreed);
        let was_shown = |entry: &Entry| order.actions.contains(&entry.action);
        if !agreed {
            // A no to values that go to another path is no answer about other messages to the site.
            let about_actions = order.waiting.iter().filter(|waiting| waiting.carries.is_empty());
            let sites = about_actions.map(|waiting| waiting.to.clone());
            ledger.refused.extend(sites);
            // A refused sending did not happen, and a refused text is recognised again. All other actions may leave with
            // any later request.
            ledger.entries.retain(|entry| !(entry.action.act == ActionKind::Sent && was_shown(entry)));
        }
        for entry in ledger.entries.iter_mut().filter(|entry| was_shown(entry)) {
            entry.seen = match (&entry.action.act, agreed) {
                (_, true) => Seen::Agreed,
                (ActionKind::Typed(text), false) if letters(text).len() >= MIN_RECOGNISED => Seen::Refused,
                (_, false) => Seen::NotYet,
            };
        }
    }
}

impl Entry {
    fn must_be_seen(&self) -> bool {
        !self.harmless && self.seen == Seen::NotYet
    }
}

impl Ledger {
    /// The length of the agent's texts of these entries together, in characters.
    fn characters(&self, of: impl Fn(&Entry) -> bool) -> usize {
        self.entries.iter().filter(|entry| of(entry)).map(|entry| entry.action.act.characters()).sum()
    }

    /// Checks that one prompt can show the text of a new action together with the texts that the user has not seen. The
    /// entries that the action replaces do not count.
    fn check_room_for(
        &self,
        action: &RecordedAction,
        replaced: impl Fn(&Entry) -> bool,
    ) -> Result<(), Reason> {
        let length = action.act.characters();
        let unseen = self.characters(|entry| entry.seen == Seen::NotYet && !replaced(entry));
        if length > MAX_TEXT_CHARS {
            Err(Reason::TextTooLong)
        } else if length > 0 && unseen + length > MAX_CHARACTERS {
            Err(Reason::TooMuchToShow)
        } else {
            Ok(())
        }
    }

    /// Adds an entry, or remembers that there are more of them than one prompt can show.
    fn push(
        &mut self,
        action: RecordedAction,
        location: Option<ControlLocation>,
        form: Option<FormId>,
        harmless: bool,
    ) {
        if self.entries.len() >= MAX_ACTIONS {
            self.is_full = true;
            return;
        }
        // A text that the user refused is recognised wherever it is typed, and requests that contain it are blocked.
        let known = |entry: &Entry| entry.seen == Seen::Refused && entry.action.act == action.act;
        let seen = if self.entries.iter().any(known) { Seen::Refused } else { Seen::NotYet };
        self.entries.push(Entry { action, location, form, harmless, seen });
    }

    fn address(&self, site: &Origin) -> Vec<FilledAddress> {
        let here = self.addresses.iter().filter(|(origin, _)| origin == site);
        here.map(|(_, record)| {
            let state =
                if self.on_page.records.contains(record) { Filling::Shown } else { Filling::NotShown };
            FilledAddress { record: record.clone(), state }
        })
        .collect()
    }
}

/// A text with its form encoding decoded.
fn decoded(text: &str) -> String {
    url::form_urlencoded::parse(text.as_bytes()).map(|(name, value)| format!("{name} {value} ")).collect()
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a dialog take part in the same limits as typed text.
    #[test]
    fn words_for_a_dialog_that_no_prompt_can_show_are_refused() {
        let actions = AgentActions::default();
        let answer = |length: usize| {
            let site = Origin::parse("https://shop.example").unwrap();
            let words = ActionKind::Typed("é".repeat(length));
            actions.note_accepted(RecordedAction::new(site, "Your name?".to_owned(), words))
        };
        assert_eq!(answer(MAX_TEXT_CHARS + 1), Err(Reason::TextTooLong));
        assert!(!actions.must_be_seen(), "nothing is recorded");
        for _ in 0..MAX_CHARACTERS / MAX_TEXT_CHARS {
            assert_eq!(answer(MAX_TEXT_CHARS), Ok(()));
        }
        assert!(actions.must_be_seen() && actions.can_be_shown());
        assert_eq!(answer(1), Err(Reason::TooMuchToShow));
        assert!(actions.can_be_shown());
    }
}
