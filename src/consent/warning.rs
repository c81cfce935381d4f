//! What a user is told without being asked.

use std::fmt;

use browser_signals::Origin;
use policy_dfa::Reason;
use sirl::Kind;

/// Something was refused because of the page; the user may want to know, and to look for themselves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// What the agent asked for.
    pub kind: Kind,
    /// On whose page.
    pub origin: Origin,
    /// Why it did not get it.
    pub reason: Reason,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning { kind, origin, reason } = self;
        let kind = kind.as_str();
        write!(f, "The agent asked for your {kind} on {origin} and did not get it. ")?;
        if *reason == Reason::EgressBlocked {
            return f.write_str(
                "What a page of the site is given could leave for another site: a page or a service worker is there \
                 that was there before the task began. Load the site's pages again, close its other tabs and windows, and let the \
                 agent ask once more.",
            );
        }
        write!(f, "{} ", reason.explain())?;
        f.write_str(
            "Words on the page read like an attempt to direct the agent, or like a scam. If you know the site, you \
             can finish there by hand.",
        )
    }
}
