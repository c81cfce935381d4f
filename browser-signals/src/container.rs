//! Containers: isolated browser contexts in three tiers.

/// The tier of a container. `T0` until the user raised it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Container {
    /// Reading only: nothing sensitive is released.
    T0,
    /// Low-risk data may be released.
    T1,
    /// High-risk data may be released.
    T2,
}

impl Container {
    /// The name of the tier: `T0`, `T1` or `T2`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Container::T0 => "T0",
            Container::T1 => "T1",
            Container::T2 => "T2",
        }
    }
}
