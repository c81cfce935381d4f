//! What a user is told without being asked.

use std::fmt;
use std::time::Duration;

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
    /// How long it has to be waited for, where a page of the site that was open before the task is all that is in the way.
    pub wait: Option<Duration>,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning { kind, origin, reason, wait } = self;
        let kind = kind.as_str();
        write!(f, "The agent asked for your {kind} on {origin} and did not get it. ")?;
        if let Some(wait) = wait {
            let minutes = wait.as_secs().div_ceil(60).max(1);
            let unit = if minutes == 1 { "minute" } else { "minutes" };
            return write!(
                f,
                "A page of the site that was open before the task may have left a program running in the browser that nobody can \
                 see, and that could pass on what the site is given. It has ended by itself in {minutes} {unit}: let the agent \
                 ask again then. If you trust the pages that were open, end this task and begin it with \
                 `portcullis task --trust-open-pages`."
            );
        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_has_to_be_waited_for_is_said_in_minutes() {
        let of = |wait: Option<u64>| Warning {
            kind: Kind::Address,
            origin: Origin::parse("https://shop.test").unwrap(),
            reason: Reason::EgressBlocked,
            wait: wait.map(Duration::from_secs),
        };
        for (seconds, says) in
            [(0, "in 1 minute:"), (60, "in 1 minute:"), (61, "in 2 minutes:"), (305, "in 6 minutes:")]
        {
            let text = of(Some(seconds)).to_string();
            assert!(text.contains(says) && text.contains("https://shop.test"), "{text}");
            assert!(text.contains("--trust-open-pages"), "{text}");
        }
        assert!(of(None).to_string().contains("that was there before the task began"));
    }
}
