//! The warning in a question about a text that looks unsafe.

use browser_signals::Origin;

/// The level of a warning: the thresholds that the score misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// It misses the threshold of every tier.
    High,
    /// It reaches that of T0 only.
    Medium,
    /// It reaches that of T1, and misses that of T2.
    Low,
}

/// A warning about a text that looks unsafe. It has no words of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspicion {
    /// How unsafe it looks.
    pub concern: Concern,
    /// The origin of the page; none for text that the agent was told in another way than by reading a page.
    pub page: Option<Origin>,
    /// Whether the agent was told it.
    pub told: bool,
}
