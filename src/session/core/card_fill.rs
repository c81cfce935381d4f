//! Cards that were filled into forms: the total that the page names, and which fill counts as a payment.
//!
//! A fill that placed the number or the security code is one payment. A repetition in the same shop's own form, for the same page,
//! destination and total, is the same payment, since shops refuse cards and forget forms. The user is asked about it all the same, and
//! it is possible twice. Where the page names no total, or the agent has acted since it read the page, nothing is a repetition; the
//! frames of a payment provider do not say which page they are on, so nothing is one there either.

use std::sync::Arc;

use browser_signals::{Destination, Origin, Snapshot};
use policy_dfa::{History, SessionEvent};
use sirl::{Currency, Field, FieldSet, Kind, Money, Request};

use super::block_state::BlockState;
use super::state::Core;
use crate::guard::mandate::{greatest_amount, stated_total};

/// The currencies in which a total is looked for, where the user's words name none.
const CURRENCIES: [&str; 7] = ["USD", "EUR", "GBP", "JPY", "INR", "KRW", "RUB"];

/// The most repetitions of one fill.
const MAX_REPETITIONS: u8 = 2;

/// What identifies a fill of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct CardFill {
    shop: Origin,
    path: Arc<str>,
    sent_to: Destination,
    total: Money,
}

impl Core {
    /// The shop that a card on this page pays: the site itself, or the one around the frame of a payment provider.
    fn shop_of<'p>(&self, page: &'p Snapshot) -> Option<&'p Origin> {
        let provider = self.provider_frame(page).is_some();
        if provider { page.top_origin.known() } else { page.origin.known() }
    }

    /// The total that the shop's page names. It is that of the page as the agent read it last, if the agent has not acted since, without
    /// the agent's own texts.
    pub(in crate::session) fn stated_total(&self, shop: &Origin) -> Option<Money> {
        if self.read.origin.as_ref() != Some(shop) || self.read.is_acted_on {
            return None;
        }
        let in_currency = |currency| stated_total(&self.read.untyped, currency);
        match self.task.budget() {
            Some(budget) => in_currency(budget.currency),
            None => {
                let mut found =
                    CURRENCIES.iter().filter_map(|code| Currency::new(code)).filter_map(in_currency);
                // Two currencies are two totals.
                found.next().filter(|_| found.next().is_none())
            }
        }
    }

    /// The greatest sum that a request with the card may name: no honest one names more than every amount on its page.
    pub(super) fn greatest_amount(&self, total: Option<Money>) -> Option<Money> {
        let total = total?;
        greatest_amount(&self.read.untyped, total.currency)
            .map(|amount| Money { minor: amount.minor.max(total.minor), ..total })
    }

    /// The amount of a request: what a purchase is to cost, or the total that the page with the form names.
    pub(in crate::session) fn amount_of(&self, request: &Request, page: &Snapshot) -> Option<Money> {
        match request.kind {
            Kind::Payment => self.stated_total(self.shop_of(page)?),
            _ => request.claim.total,
        }
    }

    /// The identity of a fill in the shop's own form, if it has one.
    pub(super) fn card_fill(&self, page: &Snapshot) -> Option<CardFill> {
        if self.provider_frame(page).is_some() {
            return None;
        }
        let shop = page.origin.known()?.clone();
        let total = self.stated_total(&shop)?;
        Some(CardFill {
            shop,
            path: page.path.known()?.clone(),
            sent_to: page.destination.known()?.clone(),
            total,
        })
    }

    /// Whether a card's number or code was released to one of these origins in this task.
    pub(in crate::session) fn has_filled_card(&self, origins: &[&Origin]) -> bool {
        let released = self.values.releases.all();
        released.iter().any(|one| is_chargeable(one.field) && origins.contains(&&one.destination.origin))
    }

    /// The total of a request that fills a card once more into the same form, if it may.
    pub(in crate::session) fn repeated_total(&self, request: &Request, page: &Snapshot) -> Option<Money> {
        // A repetition is asked about, so a policy that asks nothing has none.
        if request.kind != Kind::Payment || self.policy.decision.consent_scope(Kind::Payment).is_none() {
            return None;
        }
        let fill = self.card_fill(page)?;
        let (known, repeated) = self.values.card_fills.iter().find(|(known, _)| *known == fill)?;
        (*repeated < MAX_REPETITIONS).then_some(known.total)
    }

    /// The history by which a request is decided. For a repeated fill of a card, it lacks the fill that is repeated.
    pub(in crate::session) fn history_for(&self, request: &Request, page: &Snapshot) -> History {
        let history = self.policy.history;
        self.repeated_total(request, page).map_or(history, |total| history.without_payment(total))
    }

    /// Counts the release of the current request in the policy's history. All parts of a request are one, a fill of a card counts
    /// once it places the number or the code, and a repetition counts once.
    pub(super) fn note_release(&mut self, block: &mut BlockState) {
        let parts = block.requests.get(block.first_part()..block.at).unwrap_or_default();
        let has_spent =
            parts.iter().any(|part| part.delivered.is_some() && spends(part.request.effective_fields()));
        let has_more = block.requests.get(block.at + 1).is_some_and(|next| next.goes_on);
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
            self.happened(SessionEvent::Uncounted(kind));
            return;
        }
        // What the page says after the whole payment is read anew.
        self.read.is_acted_on |= !has_more;
        let known =
            fill.as_ref().and_then(|fill| self.values.card_fills.iter_mut().find(|(known, _)| known == fill));
        match (known, fill) {
            _ if has_spent => self.happened(SessionEvent::Uncounted(kind)),
            (Some((_, repeated)), _) => {
                *repeated = repeated.saturating_add(1);
                self.happened(SessionEvent::Uncounted(kind));
            }
            (None, Some(fill)) => {
                self.happened(SessionEvent::Charged(fill.total));
                self.values.card_fills.push((fill, 0));
            }
            (None, None) => self.happened(SessionEvent::Released(kind)),
        }
    }
}

/// Whether these fields of a card are enough to charge it, or a part of what is.
fn spends(fields: FieldSet) -> bool {
    fields.iter().any(is_chargeable)
}

fn is_chargeable(field: Field) -> bool {
    matches!(field, Field::CardNumber | Field::CardCode)
}
