//! The answerer: the interface to the user, and its offers to finish manually.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use browser_signals::Origin;
use policy_dfa::Reason;
use sirl::Kind;
use vault::Secret;

use super::answer::Answer;
use super::code::AskedCode;
use super::prompt::ConsentPrompt;
use super::warning::Warning;
use super::which_account::WhichAccount;

/// A future of an answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// A future of a code, if the user gives one.
pub type CodeFuture<'a> = Pin<Box<dyn Future<Output = Option<Secret>> + Send + 'a>>;

/// A future of the place of an account in a list, if the user chooses one.
pub type ChoiceFuture<'a> = Pin<Box<dyn Future<Output = Option<usize>> + Send + 'a>>;

/// A future of the end of a hand-over.
pub type HandOverFuture<'a> = Pin<Box<dyn Future<Output = HandedOver> + Send + 'a>>;

/// A future that ends when a warning was shown.
pub type WarnFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The interface to the user, who answers prompts. A missing answer is no: when the prompt expires, the session stops
/// waiting and drops the future.
pub trait Answerer: Send {
    /// Asks for an answer to one prompt.
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a>;

    /// Asks for a code that goes with an agreed release: a card's security code, without which the payment can be made, or a
    /// one-time code that a site sent. It is used for this release and never stored. By default there is none.
    fn code<'a>(&'a mut self, _asked: &'a AskedCode, _prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(std::future::ready(None))
    }

    /// Lets the user choose one of several accounts at a site, by its place in the list. By default none is chosen, and nothing is filled
    /// in.
    fn choose<'a>(&'a mut self, _which: &'a WhichAccount) -> ChoiceFuture<'a> {
        Box::pin(std::future::ready(None))
    }

    /// Whether the last prompt reached the user: a window was opened for it, or a terminal or another program showed it.
    /// By default every prompt does.
    fn reached_the_user(&self) -> bool {
        true
    }

    /// Whether [`hand_over`](Answerer::hand_over) reaches a user who sees the browser's window. By default it does not.
    fn offers_hand_over(&self) -> bool {
        false
    }

    /// Offers the user to finish a refused request manually, and waits until they report the end. The agent does nothing
    /// meanwhile. Unless the user lets it go on, it does and reads nothing more in the task, since the page may show what
    /// the user typed. By default it goes on.
    fn hand_over<'a>(&'a mut self, _offer: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(std::future::ready(HandedOver::GoOn))
    }

    /// Shows the user a warning, which needs no answer. Nothing waits for the user; by default nothing is shown.
    fn warn<'a>(&'a mut self, _warning: &'a Warning) -> WarnFuture<'a> {
        Box::pin(std::future::ready(()))
    }
}

/// An answerer that follows a rule, for tests and simulations.
pub struct ScriptedAnswerer<F>(pub F);

impl<F: FnMut(&ConsentPrompt) -> Answer + Send> Answerer for ScriptedAnswerer<F> {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let answer = (self.0)(prompt);
        Box::pin(std::future::ready(answer))
    }
}

/// The time within which the user must finish a hand-over.
pub const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// An offer to finish a refused request manually in the browser's window: to pay a shop that does not use the browser's
/// payment interface, or to fill in a page that looks unsafe and that the user knows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandOver {
    /// The kind of request.
    pub kind: Kind,
    /// The origin of the page.
    pub origin: Origin,
    /// The reason of the refusal.
    pub reason: Reason,
    /// The user's label for the client whose agent asked, if several are served.
    pub client: Option<String>,
}

impl HandOver {
    /// The offer by the reason that the agent reads. Offers are counted by it, so that the agent does not learn what the vault lacks.
    #[cfg(feature = "browser")]
    pub(crate) fn as_read_by_the_model(&self) -> HandOver {
        HandOver { reason: self.reason.as_read_by_the_model(), ..self.clone() }
    }

    /// The offer for a refused request; none where the user could do no more, or refused it themselves.
    pub fn of(kind: Kind, origin: Origin, reason: Reason) -> Option<HandOver> {
        // Data that the policy never releases is not offered: a manipulated agent that requests a card would get the user
        // to type it.
        reason.can_be_settled_by_hand().then_some(HandOver { kind, origin, reason, client: None })
    }

    /// Whether the offer waits for a second refusal of the same kind: the agent may mend its request until then.
    pub fn waits_for_a_second_refusal(&self) -> bool {
        matches!(self.reason, Reason::NoControl | Reason::NoPayButton)
    }
}

/// The end of a hand-over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandedOver {
    /// The user reported that they finished.
    Finished,
    /// The user lets the agent go on and read the page.
    GoOn,
    /// There was no answer. The user may have typed, or may still be typing.
    Silence,
}

impl HandedOver {
    /// Whether the agent's part of the task is over. Only the user's answer lets it go on: a page can show typed text as
    /// its own words.
    pub fn ends_the_agents_part(self) -> bool {
        self != HandedOver::GoOn
    }
}

impl fmt::Display for HandOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandOver { kind, origin, reason, client } = self;
        let kind = kind.as_str();
        if let Some(client) = client {
            write!(f, "From your client `{client}`: ")?;
        }
        write!(f, "The agent asked for your {kind} on {origin} and did not get it. {} ", reason.explain())?;
        if *reason == Reason::LowSafety {
            f.write_str("Words in it read like an attempt to direct the agent, or like a scam. ")?;
        }
        f.write_str(
            "If you know the site, you can finish by hand in the browser's window. The agent then does and reads \
             nothing more in this task. A page in that window that says it is the guard, or asks in the guard's name, \
             is not the guard.",
        )
    }
}
