//! A fact is known or unknown; there is no third thing, and no default.

/// Something the browser was asked. `Unknown` never satisfies a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact<T> {
    /// The browser said so.
    Known(T),
    /// The browser did not say, said two things, or said it of another document.
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
