//! What is known of a decision while some signals are still open.

mod possible;
mod task;

pub use possible::{Possible, Prospect};

use crate::alphabet::{Axis, Mask, Symbol, Valuation, mask};
use crate::cube::Cube;

/// A partial valuation: for each signal the symbols that it may have. It stands for every valuation that
/// picks one of them for each signal.
///
/// Its [`Display`](std::fmt::Display) is what a `prove` line says after `where`; nothing is known where it
/// says `anything`.
///
/// ```
/// use policy_dfa::{Axis, Partial, symbol};
///
/// let known = Partial::anything().among(&[symbol::Container::T0, symbol::Container::T1]).unwrap();
/// let known = known.named(Axis::Tls, &["valid", "broken", "insecure"]).unwrap();
/// assert_eq!(known.to_string(), "container is T0 or T1 and tls is not unknown");
/// assert!(known.among(&[symbol::Container::T2]).is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Partial(pub(crate) Cube);

impl Partial {
    /// Nothing is known: every signal may have any symbol.
    pub fn anything() -> Partial {
        Partial(Cube::whole())
    }

    /// The part in which an axis has one of the symbols; nothing where it has none of them.
    pub fn among<S: Symbol>(self, symbols: &[S]) -> Option<Partial> {
        self.0.narrowed(S::AXIS, mask(symbols)).map(Partial)
    }

    /// The part in which an axis has one of the symbols with these names; nothing where the axis lacks a
    /// name, or has none of them here.
    pub fn named(self, axis: Axis, symbols: &[&str]) -> Option<Partial> {
        let mut each = symbols.iter().map(|symbol| axis.mask_of(symbol));
        let all = each.try_fold(0, |all: Mask, one| one.map(|one| all | one))?;
        self.0.narrowed(axis, all).map(Partial)
    }

    /// Whether a valuation is one of those that it stands for.
    pub fn holds(&self, valuation: &Valuation) -> bool {
        self.0.holds(valuation)
    }

    /// How many valuations it stands for.
    pub fn count(&self) -> u128 {
        self.0.count()
    }

    /// One of its valuations.
    pub fn witness(&self) -> Valuation {
        self.0.witness()
    }

    /// The axes of which something is known.
    pub fn limits(&self) -> impl Iterator<Item = Axis> {
        self.0.limits()
    }

    /// The names of the symbols that an axis may have.
    pub fn symbols(&self, axis: Axis) -> impl Iterator<Item = &'static str> {
        let set = self.0.mask(axis);
        axis.symbols().iter().enumerate().filter(move |(place, _)| set & (1 << place) != 0).map(|(_, s)| *s)
    }
}

impl std::fmt::Display for Partial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let each: Vec<String> = self.limits().map(|axis| is(axis, self.0.mask(axis))).collect();
        f.write_str(if each.is_empty() { "anything" } else { "" })?;
        f.write_str(&each.join(" and "))
    }
}

/// `container is T0 or T1`; with `not` where that is shorter.
fn is(axis: Axis, symbols: Mask) -> String {
    let others = axis.full() & !symbols;
    let not = others != 0 && others.count_ones() < symbols.count_ones();
    let set = if not { others } else { symbols };
    let names = axis.symbols().iter().enumerate().filter(|(place, _)| set & (1 << place) != 0);
    let names: Vec<&str> = names.map(|(_, name)| *name).collect();
    format!("{} is {}{}", axis.as_str(), if not { "not " } else { "" }, names.join(" or "))
}
