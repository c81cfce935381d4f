//! Evidence: a value that a bridge saw, numbered in rising order.

/// A value that a bridge read from the browser. Only a bridge can make one, so holding an
/// `Observed<Snapshot>` proves that the facts did not come from the model or the page's own words.
///
/// The number rises with every observation of one bridge: a later one is fresh against an earlier one.
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

    /// What was seen.
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
