//! Facts, which are known or unknown, and the mark of evidence.

/// An answer of the browser. There is no default, and `Unknown` never satisfies a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact<T> {
    /// The browser stated the value.
    Known(T),
    /// The browser gave no answer, contradictory answers, or one about another document.
    Unknown,
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Unknown => None,
        }
    }

    /// Whether the value is known.
    pub fn is_known(&self) -> bool {
        matches!(self, Fact::Known(_))
    }

    /// Applies `f` to a known value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Fact::Known(value) => Fact::Known(f(value)),
            Fact::Unknown => Fact::Unknown,
        }
    }
}

impl<T> From<Option<T>> for Fact<T> {
    fn from(value: Option<T>) -> Fact<T> {
        value.map_or(Fact::Unknown, Fact::Known)
    }
}

/// A value that a bridge read from the browser. Only a bridge can make one, so holding an
/// `Observed<Snapshot>` proves that the facts did not come from the model or the page's own words.
///
/// The number rises with every observation of one bridge, so that the later of two observations is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed<T> {
    value: T,
    number: u64,
}

impl<T> Observed<T> {
    #[cfg(any(feature = "playwright", feature = "extension", feature = "simulated", test))]
    #[allow(dead_code, reason = "each feature uses it from another module")]
    pub(crate) fn new(value: T, number: u64) -> Observed<T> {
        Observed { value, number }
    }

    /// An observation that no browser made, for the tests of the crates above.
    #[cfg(feature = "simulated")]
    pub fn simulated(value: T, number: u64) -> Observed<T> {
        Observed::new(value, number)
    }

    /// The observed value.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The number of the observation.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl<T> std::ops::Deref for Observed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}
