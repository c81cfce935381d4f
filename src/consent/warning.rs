//! A warning: what the user is told in a task without being asked.

use std::fmt;
use std::time::Duration;

use browser_signals::Origin;
use policy_dfa::Reason;
use sirl::Kind;
use vault::sources::SourceError;

/// A warning. It needs no answer.
///
/// ```
/// use portcullis::consent::{SavedLoginProblem, Warning, WarningCause};
/// use portcullis::signals::Origin;
/// use portcullis::sirl::Kind;
///
/// let cause = WarningCause::SavedLogin(SavedLoginProblem::InUse);
/// let warning = Warning { kind: Kind::Login, origin: Origin::parse("https://shop.example")?, cause };
/// assert!(warning.to_string().starts_with("Your saved login at https://shop.example is used by another task."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// The kind of request.
    pub kind: Kind,
    /// The origin of the page.
    pub origin: Origin,
    /// The cause.
    pub cause: WarningCause,
}

/// The cause of a warning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningCause {
    /// A request is refused, since words of the page read like an attempt to direct the agent, or like a scam.
    UnsafePage,
    /// A request is refused, since what a page of the site is given could leave for another site: by a page or a service worker from before
    /// the task.
    EarlierPage {
        /// The time to wait, where a program of a page that is closed is the only obstacle.
        wait: Option<Duration>,
    },
    /// A password manager gave nothing.
    Source(SourceError),
    /// A saved login was not used, kept or renewed.
    SavedLogin(SavedLoginProblem),
    /// An order by the shop's own protocol was not as it should be.
    Order(OrderProblem),
}

/// What became of an order by the shop's own protocol.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderProblem {
    /// An order of before, whose end was not known, was taken by the shop. The text is its amount.
    Taken(String),
    /// It was not placed, for this reason. The text has no words of the shop's.
    NotPlaced(String),
    /// The shop does not say whether it sold. The guard asks it again before the next order.
    Unknown,
    /// The shop sold, and its receipt does not verify or is for something else.
    DoubtfulReceipt,
}

/// A failure of a saved login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SavedLoginProblem {
    /// Another container uses it, so the task goes on without it.
    InUse,
    /// It could not be restored, so the task goes on without it.
    NotRestored(Reason),
    /// The user wanted to keep a login, and it could not be kept.
    NotKept(Reason),
    /// The new values of its cookies could not be kept.
    NotRenewed(Reason),
}

impl Warning {
    /// Returns true if the two differ at most in the remaining time.
    pub(crate) fn is_like(&self, other: &Warning) -> bool {
        use WarningCause::EarlierPage;
        let is_cause = match (&self.cause, &other.cause) {
            (EarlierPage { wait: one }, EarlierPage { wait: other }) => one.is_some() == other.is_some(),
            // Each of these is another order.
            (WarningCause::Order(_), _) => false,
            (one, other) => one == other,
        };
        is_cause && (self.kind, &self.origin) == (other.kind, &other.origin)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning { kind, origin, cause } = self;
        if let WarningCause::SavedLogin(problem) = cause {
            return problem.write(origin, f);
        }
        if let WarningCause::Order(problem) = cause {
            return problem.write(origin, f);
        }
        let kind = kind.as_str();
        write!(f, "The agent asked for your {kind} on {origin} and did not get it. ")?;
        match cause {
            WarningCause::EarlierPage { wait: Some(wait) } => {
                let minutes = wait.as_secs().div_ceil(60).max(1);
                let unit = if minutes == 1 { "minute" } else { "minutes" };
                write!(
                    f,
                    "A page of the site that was open before the task may have left a program running in the browser that nobody can \
                     see, and that could pass on what the site is given. It has ended by itself in {minutes} {unit}: let the agent \
                     ask again then. If you trust the pages that were open, end this task and begin it with \
                     `portcullis task --trust-open-pages`."
                )
            }
            WarningCause::EarlierPage { wait: None } => f.write_str(
                "What a page of the site is given could leave for another site: a page or a service worker is there \
                 that was there before the task began. Load the site's pages again, close its other tabs and windows, and let the \
                 agent ask once more.",
            ),
            WarningCause::Source(source) => write!(f, "Your password manager gave nothing: {source}."),
            WarningCause::UnsafePage | WarningCause::SavedLogin(_) | WarningCause::Order(_) => write!(
                f,
                "{} Words in it read like an attempt to direct the agent, or like a scam. If you know the site, you can finish \
                 there by hand.",
                Reason::LowSafety.explain()
            ),
        }
    }
}

impl OrderProblem {
    fn write(&self, origin: &Origin, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderProblem::Taken(amount) => write!(
                f,
                "{origin} took the earlier order for {amount}, of which nobody knew the end. Nothing else was ordered now. Ask the agent \
                 again only if you want a second order."
            ),
            OrderProblem::NotPlaced(why) => write!(f, "Nothing was ordered at {origin}: {why}."),
            OrderProblem::Unknown => write!(
                f,
                "It is not known whether {origin} took your order, since the shop does not say. Look at your orders there before you \
                 order again. Portcullis asks the shop once more before the next order."
            ),
            OrderProblem::DoubtfulReceipt => write!(
                f,
                "{origin} took your order, and its receipt is not for what you agreed to. You agreed to pay no more than you were shown. \
                 Look at your orders there."
            ),
        }
    }
}

impl SavedLoginProblem {
    fn write(self, origin: &Origin, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SavedLoginProblem::InUse => write!(
                f,
                "Your saved login at {origin} is used by another task. This task goes on without it."
            ),
            SavedLoginProblem::NotRestored(reason) => write!(
                f,
                "Your saved login at {origin} could not be used, and this task goes on without it. {}",
                reason.explain()
            ),
            SavedLoginProblem::NotKept(reason) => write!(
                f,
                "Your login at {origin} was not kept, and what was kept before is unchanged. {} `portcullis login {origin}` keeps \
                 one outside of a task.",
                reason.explain()
            ),
            SavedLoginProblem::NotRenewed(reason) => write!(
                f,
                "What {origin} set anew in this task was not kept in your saved login, so the site may ask you to log in the next time. \
                 {} `portcullis login {origin}` makes the login anew.",
                reason.explain()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn of(cause: WarningCause) -> Warning {
        Warning { kind: Kind::Login, origin: Origin::parse("https://shop.test").unwrap(), cause }
    }

    #[test]
    fn the_time_to_wait_is_given_in_minutes() {
        let of = |wait: Option<u64>| of(WarningCause::EarlierPage { wait: wait.map(Duration::from_secs) });
        for (seconds, says) in
            [(0, "in 1 minute:"), (60, "in 1 minute:"), (61, "in 2 minutes:"), (305, "in 6 minutes:")]
        {
            let text = of(Some(seconds)).to_string();
            assert!(text.contains(says) && text.contains("https://shop.test"), "{text}");
            assert!(text.contains("--trust-open-pages"), "{text}");
            assert!(of(Some(seconds)).is_like(&of(Some(1))) && !of(Some(seconds)).is_like(&of(None)));
        }
        assert!(of(None).to_string().contains("that was there before the task began"));
    }

    #[test]
    fn a_saved_login_is_not_said_to_be_asked_for_by_the_agent() {
        let reason = Reason::AuditUnavailable;
        for problem in [
            SavedLoginProblem::InUse,
            SavedLoginProblem::NotRestored(reason),
            SavedLoginProblem::NotKept(reason),
            SavedLoginProblem::NotRenewed(reason),
        ] {
            let text = of(WarningCause::SavedLogin(problem)).to_string();
            assert!(text.contains("https://shop.test") && !text.contains("The agent asked"), "{text}");
            assert!(!text.contains("scam") && text.contains("login"), "{text}");
        }
    }
}
