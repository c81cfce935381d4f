//! Cards that were filled into forms: the total that the page names, and which fill counts as a payment.
//!
//! A fill that placed the number or the security code is one payment. A repetition for the same shop, page, destination and total is
//! the same payment, since shops refuse cards and forget forms; the user is asked about it all the same. Where the page names no total,
//! nothing is a repetition.

use std::sync::Arc;

use browser_signals::{Destination, Origin, Snapshot};
use policy_dfa::{History, SessionEvent};
use sirl::{Currency, Field, FieldSet, Kind, Money, Request};

use super::block_state::BlockState;
use super::state::Core;
use crate::guard::mandate::stated_total;

/// The currencies in which a total is looked for, where the user's words name none.
const CURRENCIES: [&str; 7] = ["USD", "EUR", "GBP", "JPY", "INR", "KRW", "RUB"];

/// What identifies a fill of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct CardFill {
    shop: Origin,
    total: Money,
    /// The form's origin, and its path and destination. The frames of a payment provider are one form, of which the origin counts.
    form: (Origin, Option<(Arc<str>, Destination)>),
}

impl Core {
    /// The shop that a card on this page pays: the site itself, or the one around the frame of a payment provider.
    fn shop_of<'p>(&self, page: &'p Snapshot) -> Option<&'p Origin> {
        let provider = self.provider_frame(page).is_some();
        if provider { page.top_origin.known() } else { page.origin.known() }
    }

    /// The total that the shop's page names, as the agent read it last.
    pub(in crate::session) fn stated_total(&self, shop: &Origin) -> Option<Money> {
        if self.read.origin.as_ref() != Some(shop) {
            return None;
        }
        let in_currency = |currency| stated_total(&self.read.text, currency);
        match self.task.budget() {
            Some(budget) => in_currency(budget.currency),
            None => CURRENCIES.iter().filter_map(|code| Currency::new(code)).find_map(in_currency),
        }
    }

    /// The amount of a request: what a purchase is to cost, or the total that the page with the form names.
    pub(in crate::session) fn amount_of(&self, request: &Request, page: &Snapshot) -> Option<Money> {
        match request.kind {
            Kind::Payment => self.stated_total(self.shop_of(page)?),
            _ => request.claim.total,
        }
    }

    pub(super) fn card_fill(&self, page: &Snapshot) -> Option<CardFill> {
        let shop = self.shop_of(page)?.clone();
        let total = self.stated_total(&shop)?;
        let place = match self.provider_frame(page) {
            Some(_) => None,
            None => Some((page.path.known()?.clone(), page.destination.known()?.clone())),
        };
        Some(CardFill { shop, total, form: (page.origin.known()?.clone(), place) })
    }

    /// Whether a card was filled for this shop in this task, for the total that its page names.
    pub(in crate::session) fn has_filled_card(&self, shop: &Origin) -> bool {
        let total = self.stated_total(shop);
        self.values.card_fills.iter().any(|fill| fill.shop == *shop && Some(fill.total) == total)
    }

    /// Whether a request fills a card once more into the same form for the same total.
    pub(in crate::session) fn repeats_a_card_fill(&self, request: &Request, page: &Snapshot) -> bool {
        let is_known = |fill: CardFill| self.values.card_fills.contains(&fill);
        request.kind == Kind::Payment && self.card_fill(page).is_some_and(is_known)
    }

    /// The history by which a request is decided. For a repeated fill of a card, it lacks the fill that is repeated.
    pub(in crate::session) fn history_for(&self, request: &Request, page: &Snapshot) -> History {
        let history = self.policy.history;
        if self.repeats_a_card_fill(request, page) { history.without_one(Kind::Payment) } else { history }
    }

    /// Counts the release of the current request in the policy's history. All parts of a request are one, a fill of a card counts
    /// once it places the number or the code, and a repetition counts once.
    pub(super) fn note_release(&mut self, block: &mut BlockState) {
        let parts = block.requests.get(block.first_part()..block.at).unwrap_or_default();
        let has_spent =
            parts.iter().any(|part| part.delivered.is_some() && spends(part.request.effective_fields()));
        let Some(line) = block.current() else { return };
        let kind = line.request.kind;
        if kind != Kind::Payment {
            if !line.goes_on {
                self.happened(SessionEvent::Released(kind));
            }
            return;
        }
        let fill = line.card_fill.take();
        if !spends(line.request.effective_fields()) {
            return;
        }
        let repeats = fill.as_ref().is_some_and(|fill| self.values.card_fills.contains(fill));
        if !(has_spent || repeats) {
            self.happened(SessionEvent::Released(kind));
        }
        self.values.card_fills.extend(fill.filter(|_| !repeats));
    }
}

/// Whether these fields of a card are enough to charge it, or a part of what is.
fn spends(fields: FieldSet) -> bool {
    fields.contains(Field::CardNumber) || fields.contains(Field::CardCode)
}
