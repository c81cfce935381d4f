//! Asking the user: prompts in plain words, answerers, and standing consents.
//!
//! The session's core makes a prompt for the page that the browser showed at that moment. A nonce and the hash of the
//! question bind the answer to it; an answer that comes late, twice or for another question counts as no. So does silence.
//!
//! | module | subject |
//! |---|---|
//! | `answer` | answers, and the tickets that bind them to prompts |
//! | `asked` | the things that a prompt can ask |
//! | `asked_parts` | the parts of questions that have lines of their own |
//! | [`order`](mod@order) | the question about an order, with the recorded actions of the agent |
//! | `form` | the form that a consent is bound to |
//! | `by_form` | the questions that a client's own form may ask |
//! | `line` | the lines of a prompt |
//! | `prompt` | a consent prompt |
//! | `suspicion` | the warning in a prompt about a text that looks unsafe |
//! | `answerer` | the interface to the user, with offers to finish manually |
//! | `warning` | what the user is told without being asked |
//! | `terminal` | the answerer on the terminal |
//! | [`page`] | the answerer on a page of the guard's own, in a browser of its own |
//! | [`standing`] | standing consents and their stored form |
//! | `book` | the answers that are in force in a session |
//! | `change` | changes that the user makes outside of any question |

mod answer;
mod answerer;
mod asked;
mod asked_parts;
mod book;
mod by_form;
mod change;
mod code;
mod form;
mod line;
mod offer;
pub mod order;
pub mod page;
mod prompt;
pub mod standing;
pub(crate) mod suspicion;
#[cfg(feature = "browser")]
mod terminal;
mod warning;
mod which_account;

pub use answer::{ANSWER_TIMEOUT, Answer, Answered, MIN_READING_TIME, Subject, SubjectBuilder, Ticket};
pub use answerer::{
    AnswerFuture, Answerer, ChoiceFuture, CodeFuture, HAND_OVER_TIMEOUT, HandOver, HandOverFuture,
    HandedOver, ScriptedAnswerer, WarnFuture,
};
#[cfg(feature = "browser")]
pub(crate) use asked::ACCOUNT_NAMES;
pub use asked::Asked;
#[cfg(all(unix, feature = "browser"))]
pub(crate) use asked_parts::shows_whole;
pub use asked_parts::{AskedFile, AskedProvider, OpenPages, PointedBox, Quoted};
pub use book::{CONSENT_LIFETIME, ConsentBook, ReleaseScope, SITE_LIFETIME};
pub use by_form::{ChosenBy, FormQuestion, NotByForm, QuestionTask};
pub use change::{Change, ChangeKind, ChangeOutcome};
pub use code::AskedCode;
pub use form::{Exposed, FormPlace, Purpose};
pub(crate) use line::visible;
pub use line::{LineStyle, PromptLine, SiteName};
pub use offer::{OfferedLine, SeenOffer};
pub use prompt::{ConsentPrompt, Notice};
pub use standing::{StandingChanges, StandingConsent};
#[cfg(feature = "browser")]
pub use terminal::TerminalAnswerer;
pub use warning::{OrderProblem, SavedLoginProblem, Warning, WarningCause};
pub use which_account::{ChosenFrom, WhichAccount};
