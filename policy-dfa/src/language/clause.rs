//! Clauses: the conditions that a policy puts on one event.

use sirl::Tier;

use crate::vocabulary::alphabet::{Axis, Mask};

/// One condition on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Clause {
    pub(crate) test: Test,
    /// The cases to which the clause is limited; with none, it always applies.
    pub(crate) when: Option<Condition>,
    /// Whether a failed clause asks the user instead of denying.
    pub(crate) soft: bool,
}

/// The test that a clause makes. The order is the canonical one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Test {
    ContainerCovers,
    ContainerAtLeast(Tier),
    Origin,
    Tls,
    Frame(FrameTest),
    DestinationOrigin,
    DestinationHttps,
    /// The sinks that pass.
    Sink(Mask),
    Visible,
    Safety,
    /// Text may not be carried from one origin to another.
    Flow,
    /// Only the user's own words may be carried.
    FlowOwn,
}

/// The frames that pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FrameTest {
    Top,
    SameOrigin,
    Any,
}

/// A set of symbols on one axis. It holds where the axis has one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Condition {
    pub(crate) axis: Axis,
    pub(crate) symbols: Mask,
}
