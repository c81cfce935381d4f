//! The offer of a shop for an order by its own protocol, as the user is asked about it.

use sirl::Money;

/// The offer of a shop. All texts are the shop's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenOffer {
    /// Whether the shop signed it.
    pub is_signed: bool,
    /// The total.
    pub total: Money,
    /// The shop's name for itself.
    pub seller: String,
    /// The lines, in the shop's order.
    pub lines: Vec<OfferedLine>,
    /// One line for each other part of the total, such as `tax: 0.70 USD`.
    pub parts: Vec<String>,
    /// Whether a part is something else than delivery, taxes or a discount.
    pub has_other_costs: bool,
    /// The ways of delivery.
    pub delivery: Vec<String>,
    /// What the shop says beside the offer: its warnings and other notes.
    pub warnings: Vec<String>,
}

impl SeenOffer {
    /// All texts of the shop's.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let titles = self.lines.iter().map(|line| line.title.as_str());
        let others = self.parts.iter().chain(&self.delivery).chain(&self.warnings).map(String::as_str);
        titles.chain(others).chain([self.seller.as_str()])
    }
}

/// One line of an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedLine {
    /// The shop's title of the item.
    pub title: String,
    /// The number of pieces.
    pub quantity: u32,
    /// The price of a piece.
    pub price: Money,
}

impl std::fmt::Display for OfferedLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}, {} each", self.quantity, self.title, self.price)
    }
}
