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
    Origin(Owner),
    Tls(Channel),
    Frame(FrameTest),
    DestinationOrigin(Owner),
    DestinationChannel(Channel),
    /// The sinks that pass.
    Sink(Mask),
    Visible,
    Safety,
    /// Text may not be carried from one origin to another.
    Flow,
    /// Only the user's own words may be carried.
    FlowOwn,
}

/// The connections that pass: encrypted ones, and those in clear that stay on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Channel {
    Encrypted,
    EncryptedOrLoopback,
    Loopback,
}

impl Channel {
    pub(crate) const ALL: [Channel; 3] =
        [Channel::Encrypted, Channel::EncryptedOrLoopback, Channel::Loopback];

    pub(crate) fn of(encrypted: bool, loopback: bool) -> Option<Channel> {
        Channel::ALL
            .into_iter()
            .find(|it| (it.passes_encrypted(), it.passes_loopback()) == (encrypted, loopback))
    }

    pub(crate) fn passes_encrypted(self) -> bool {
        self != Channel::Loopback
    }

    pub(crate) fn passes_loopback(self) -> bool {
        self != Channel::Encrypted
    }

    /// The words of a clause, where `encrypted` is its word for an encrypted connection.
    pub(crate) fn words(self, encrypted: &'static str) -> String {
        let passing =
            [self.passes_encrypted().then_some(encrypted), self.passes_loopback().then_some("loopback")];
        passing.into_iter().flatten().collect::<Vec<_>>().join(" or ")
    }
}

impl Test {
    /// Whether it lets plain http on this machine pass.
    pub(crate) fn passes_loopback(self) -> bool {
        matches!(self, Test::Tls(channel) | Test::DestinationChannel(channel) if channel.passes_loopback())
    }

    /// Whether it lets a payment provider that the policy names pass.
    pub(crate) fn passes_provider(self) -> bool {
        match self {
            Test::Frame(frame) => frame.passes_provider(),
            Test::Origin(owner) | Test::DestinationOrigin(owner) => owner == Owner::TaskOrProvider,
            _ => false,
        }
    }
}

/// Whose origins pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Task,
    /// The task's, and a payment provider's in its frame.
    TaskOrProvider,
}

impl Owner {
    /// The words of a clause.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Owner::Task => "is the task's",
            Owner::TaskOrProvider => "is the task's or provider's",
        }
    }
}

/// The frames that pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FrameTest {
    Top,
    SameOrigin,
    Any,
    /// The top frame, and the frame of a payment provider in it.
    TopOrProvider,
    /// The frame of a payment provider alone.
    Provider,
}

impl FrameTest {
    /// Whether the frame of a payment provider passes because it is one.
    pub(crate) fn passes_provider(self) -> bool {
        matches!(self, FrameTest::TopOrProvider | FrameTest::Provider)
    }
}

/// A set of symbols on one axis. It holds where the axis has one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Condition {
    pub(crate) axis: Axis,
    pub(crate) symbols: Mask,
}
