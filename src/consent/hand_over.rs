//! What a user may finish by hand.

use std::fmt;
use std::time::Duration;

use browser_signals::Origin;
use policy_dfa::Reason;
use sirl::Kind;

/// How long a person may take.
pub const BY_HAND_WITHIN: Duration = Duration::from_secs(15 * 60);

/// Something that the agent did not get and that a person can do in the browser's window: pay a shop that does not ask
/// the browser for payments, or fill in a page that looks unsafe and that the person knows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandOver {
    /// What the agent asked for.
    pub kind: Kind,
    /// On whose page.
    pub origin: Origin,
    /// Why it did not get it.
    pub reason: Reason,
}

impl HandOver {
    /// The offer for a request that was refused; none where a person could do no more, or where the reason is the
    /// user's own.
    pub fn of(kind: Kind, origin: Origin, reason: Reason) -> Option<HandOver> {
        // Not what the policy hands over in no way: an agent that was talked into asking for a card would bring the user to
        // type it.
        let offered = matches!(reason, Reason::LowSafety | Reason::NoPaymentInterface | Reason::NoValue);
        offered.then_some(HandOver { kind, origin, reason })
    }
}

/// How an offer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandedOver {
    /// The user says that they finished.
    Finished,
    /// The user says that the agent may go on, and read what stands on the page.
    GoOn,
    /// Nobody said anything. Somebody may have typed, or be typing still.
    Silence,
}

impl HandedOver {
    /// Whether the agent's part of the task is over. Only the user's word lets it go on: a page can show what was typed
    /// into it as words of its own.
    pub fn ends_the_agents_part(self) -> bool {
        self != HandedOver::GoOn
    }
}

impl fmt::Display for HandOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandOver { kind, origin, reason } = self;
        let kind = kind.as_str();
        write!(f, "The agent asked for your {kind} on {origin} and did not get it. {} ", reason.explain())?;
        if *reason == Reason::LowSafety {
            f.write_str("Words on the page read like an attempt to direct the agent, or like a scam. ")?;
        }
        f.write_str(
            "If you know the site, you can finish by hand in the browser's window. The agent then does and reads \
             nothing more in this task. A page in that window that says it is the guard, or asks in the guard's name, \
             is not the guard.",
        )
    }
}
