//! What decides an order: what the agent set, over all pages of a task, and what the guard filled.
//!
//! Nothing of what the agent typed, chose or pressed leaves a raised container before the user saw it, but for what is
//! known to decide nothing. The first request with a body, or with a released value, waits until then, form or no form; a
//! payment's question shows all of it.
//!
//! | module | subject |
//! |---|---|
//! | `weight` | what of the agent's doing decides something |

mod weight;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use browser_signals::{Fact, FormId, NodeId, Origin, Snapshot};
use policy_dfa::Terms;
use sirl::{Field, Kind};

use crate::consent::order::{Act, Deed, FilledAddress, Filling, Order, Waiting};
pub(crate) use weight::{Around, Weighed, weigh};

/// The most that one question can show. With more the answer is no.
const MOST: usize = 40;
/// The longest text of the agent that one question can show, in characters.
const LONGEST: usize = 500;
/// The most sites that one question about waiting requests can name.
const MOST_WAITING: usize = 8;
/// Shorter texts stand in any request by chance.
const RECOGNISED: usize = 4;

/// A control of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    frame: String,
    document: Fact<String>,
    node: NodeId,
}

impl Place {
    fn of(page: &Snapshot, node: NodeId) -> Place {
        let document = match &page.document {
            Fact::Known(document) => Fact::Known(document.as_str().to_owned()),
            Fact::Unknown => Fact::Unknown,
        };
        Place { frame: page.frame.as_str().to_owned(), document, node }
    }
}

/// Whether the user knows of a deed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    NotYet,
    /// And agreed.
    Agreed,
    /// And said no: requests that carry the text are stopped.
    Refused,
}

struct Entry {
    deed: Deed,
    place: Option<Place>,
    form: Option<FormId>,
    harmless: bool,
    seen: Seen,
}

#[derive(Default)]
struct Ledger {
    entries: Vec<Entry>,
    /// Where the guard filled something, and in which form.
    filled: Vec<(Place, Option<FormId>)>,
    /// Records that addresses were filled from, by site.
    addresses: Vec<(Origin, String)>,
    /// Records whose values the page that was read last shows.
    on_page: BTreeSet<String>,
    /// Sites to which the user refused to let requests go.
    refused: Vec<Origin>,
    /// Whether there was more than a question can show.
    is_full: bool,
}

/// What the agent set in a task, shared with the container's way out.
#[derive(Clone, Default)]
pub struct Deeds(Arc<Mutex<Ledger>>);

impl Deeds {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what the agent is about to do. What it sets again in the same control takes the place of what it set before.
    pub(crate) fn note(&self, page: &Snapshot, node: Option<NodeId>, weighed: Weighed) {
        let Weighed { deed, harmless } = weighed;
        let mut ledger = self.ledger();
        let place = node.map(|node| Place::of(page, node));
        let again = |entry: &Entry| place.is_some() && entry.place == place && entry.seen == Seen::NotYet;
        ledger.entries.retain(|entry| !(again(entry) || entry.harmless && harmless && entry.deed == deed));
        let longest = match &deed.act {
            Act::Typed(text) | Act::Chose(text) | Act::Opened(text) => text.chars().count(),
            _ => 0,
        };
        if ledger.entries.len() >= MOST || longest > LONGEST {
            ledger.is_full = true;
            return;
        }
        // A text that the user refused is known again wherever it is typed, and what it stands in does not leave.
        let known = |entry: &Entry| entry.seen == Seen::Refused && entry.deed.act == deed.act;
        let seen = if ledger.entries.iter().any(known) { Seen::Refused } else { Seen::NotYet };
        ledger.entries.push(Entry { deed, place, form: page.form, harmless, seen });
    }

    /// Whether what the agent set in this form speaks for itself when the form is sent: the user has yet to see it, or
    /// refused it.
    pub(crate) fn is_unseen_in(&self, form: Option<FormId>) -> bool {
        let speaks = |entry: &Entry| entry.waits() || entry.seen == Seen::Refused;
        let waits = |entry: &Entry| form.is_some() && entry.form == form && speaks(entry);
        self.ledger().entries.iter().any(waits)
    }

    /// Notes that filled controls, named by what the page calls them, hold something else now.
    pub fn note_changed(&self, site: &Origin, labels: Vec<String>) {
        let mut ledger = self.ledger();
        for label in labels {
            let deed = Deed { site: site.clone(), label, act: Act::Changed };
            if !ledger.entries.iter().any(|entry| entry.deed == deed) {
                let (place, form) = (None, None);
                ledger.entries.push(Entry { deed, place, form, harmless: false, seen: Seen::NotYet });
            }
        }
    }

    /// Notes what the guard fills, before it does.
    pub(crate) fn note_filled(&self, page: &Snapshot, terms: &Terms, suppliers: &[(String, Field)]) {
        let mut ledger = self.ledger();
        let places = terms.placements.iter().map(|placement| (Place::of(page, placement.node), page.form));
        ledger.filled.extend(places);
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

    /// Whether the guard filled this control: it changes by grants only.
    pub(crate) fn is_filled(&self, page: &Snapshot, node: NodeId) -> bool {
        let place = Place::of(page, node);
        self.ledger().filled.iter().any(|(filled, _)| *filled == place)
    }

    /// Whether the guard filled something in the form that a snapshot shows.
    pub(crate) fn is_filled_form(&self, page: &Snapshot) -> bool {
        let Some(form) = page.form else { return false };
        let here = Place::of(page, form);
        let same = |place: &Place| place.frame == here.frame && place.document == here.document;
        self.ledger().filled.iter().any(|(place, owner)| *owner == Some(form) && same(place))
    }

    /// Notes which records the page that was read last shows.
    pub fn note_on_page(&self, records: BTreeSet<String>) {
        self.ledger().on_page = records;
    }

    /// Whether something has to be seen by the user before anything leaves.
    pub fn must_be_seen(&self) -> bool {
        let ledger = self.ledger();
        ledger.is_full || ledger.entries.iter().any(Entry::waits)
    }

    /// Whether one question can show all of it.
    pub(crate) fn can_be_shown(&self) -> bool {
        !self.ledger().is_full
    }

    /// Whether a text holds something of the agent's that the user refused.
    pub(crate) fn is_refused(&self, text: &str) -> bool {
        let ledger = self.ledger();
        let mut refused = ledger.entries.iter().filter(|entry| entry.seen == Seen::Refused).peekable();
        if refused.peek().is_none() {
            return false;
        }
        let text = letters(&decoded(text));
        refused.any(|entry| matches!(&entry.deed.act, Act::Typed(typed) if text.contains(&letters(typed))))
    }

    /// What is ordered from a site: all that the agent set there, and what of its doing elsewhere nobody saw. `asked` are
    /// the records of addresses that the same question asks to fill there.
    pub(crate) fn order(&self, site: &Origin, asked: Vec<String>, page_says: Vec<String>) -> Order {
        let ledger = self.ledger();
        let shown = |entry: &&Entry| entry.deed.site == *site || entry.waits() || entry.seen == Seen::Refused;
        let (refused, kept): (Vec<&Entry>, Vec<&Entry>) =
            ledger.entries.iter().filter(shown).partition(|entry| entry.seen == Seen::Refused);
        let deeds = kept.iter().map(|entry| entry.deed.clone()).collect();
        let once = |(at, entry): (usize, &&Entry)| {
            let earlier = refused.iter().take(at).any(|earlier| earlier.deed == entry.deed);
            (!earlier).then(|| entry.deed.clone())
        };
        let refused: Vec<Deed> = refused.iter().enumerate().filter_map(once).collect();
        let mut address = ledger.address(site);
        let asked = asked.into_iter().filter(|record| address.iter().all(|filled| filled.record != *record));
        let asked: Vec<String> = asked.collect();
        address.extend(asked.into_iter().map(|record| FilledAddress { record, state: Filling::Asked }));
        Order { site: site.clone(), waiting: Vec::new(), address, deeds, refused, page_says }
    }

    /// What goes out with requests that wait; none where that cannot be shown whole.
    pub(crate) fn waiting(&self, mut waiting: Vec<Waiting>) -> Option<Order> {
        let ledger = self.ledger();
        waiting.dedup();
        let site = waiting.first()?.to.clone();
        if waiting.len() > MOST_WAITING || ledger.is_full {
            return None;
        }
        let unseen = ledger.entries.iter().filter(|entry| entry.seen == Seen::NotYet);
        let deeds = unseen.map(|entry| entry.deed.clone()).collect();
        let (refused, page_says) = (Vec::new(), Vec::new());
        Some(Order { address: ledger.address(&site), site, waiting, deeds, refused, page_says })
    }

    /// Whether the user has already answered no for every site where these requests go, and the agent has only typed and
    /// sent since then, beside what decides nothing. The same no holds for it: an agent that writes message after message
    /// makes one question, not many.
    pub(crate) fn is_refused_again(&self, order: &Order) -> bool {
        let ledger = self.ledger();
        let is_text = |entry: &Entry| matches!(entry.deed.act, Act::Typed(_) | Act::Sent);
        order.waiting.iter().all(|waiting| ledger.refused.contains(&waiting.to))
            && ledger.entries.iter().filter(|entry| entry.waits()).all(is_text)
    }

    /// Takes in what the user said to a question that showed an order.
    pub(crate) fn answered(&self, order: &Order, agreed: bool) {
        let mut ledger = self.ledger();
        let was_shown = |entry: &Entry| order.deeds.contains(&entry.deed);
        if !agreed {
            let sites = order.waiting.iter().map(|waiting| waiting.to.clone());
            ledger.refused.extend(sites);
            // What was only sent did not go; a text is known again; all else may go out with any later request.
            ledger.entries.retain(|entry| !(entry.deed.act == Act::Sent && was_shown(entry)));
        }
        for entry in ledger.entries.iter_mut().filter(|entry| was_shown(entry)) {
            entry.seen = match (&entry.deed.act, agreed) {
                (_, true) => Seen::Agreed,
                (Act::Typed(text), false) if letters(text).len() >= RECOGNISED => Seen::Refused,
                (_, false) => Seen::NotYet,
            };
        }
    }
}

impl Entry {
    fn waits(&self) -> bool {
        !self.harmless && self.seen == Seen::NotYet
    }
}

impl Ledger {
    fn address(&self, site: &Origin) -> Vec<FilledAddress> {
        let here = self.addresses.iter().filter(|(origin, _)| origin == site);
        here.map(|(_, record)| {
            let state = if self.on_page.contains(record) { Filling::Shown } else { Filling::NotShown };
            FilledAddress { record: record.clone(), state }
        })
        .collect()
    }
}

/// A text with what forms and addresses hide brought to light.
fn decoded(text: &str) -> String {
    url::form_urlencoded::parse(text.as_bytes()).map(|(name, value)| format!("{name} {value} ")).collect()
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
