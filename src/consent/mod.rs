//! Asking the user: prompts in plain words, who answers them, and answers that stand.
//!
//! A prompt is made by the session's core, for what the browser showed at that moment. Its answer is bound to
//! it by a number that is used once and by the hash of what was asked; one that comes late, twice or for
//! something else is no. Silence is no.
//!
//! | module | subject |
//! |---|---|
//! | [`answer`] | what a user can say |
//! | [`form`] | which form a yes is for |
//! | [`prompt`] | what a user is asked, in words |
//! | [`open_pages`] | what holds for pages that were open before a task |
//! | [`order`](mod@order) | what goes out with an order, as the user is told of it |
//! | [`ticket`] | which answer belongs to which prompt |
//! | [`answerer`] | who answers: the trait, a script |
//! | [`terminal`] | asking on the terminal |
//! | [`book`] | answers that stand, for a session or for longer |
//! | [`change`] | what a user changes of them, outside of any question |
//! | [`hand_over`] | what a user may finish by hand |
//! | [`warning`] | what a user is told without being asked |
//! | [`page`] | a page of the guard's own, in a browser of its own |

pub mod answer;
pub mod answerer;
pub mod book;
pub mod change;
pub mod form;
pub mod hand_over;
pub mod open_pages;
pub mod order;
pub mod page;
pub mod prompt;
#[cfg(feature = "browser")]
pub mod terminal;
pub mod ticket;
pub(crate) mod visible;
pub mod warning;

pub use answer::Answer;
pub use answerer::{AnswerFuture, Answerer, CodeFuture, HandOverFuture, ScriptedAnswerer, WarnFuture};
pub use book::{ConsentBook, Release, StandingConsent};
pub use change::{Change, How, Made};
pub use form::{Exposed, FormPlace, Purpose};
pub use hand_over::{HandOver, HandedOver};
pub use open_pages::OpenPages;
pub use prompt::{Asked, ConsentPrompt, Line, Notice, Quoted, SiteName, Weight};
#[cfg(feature = "browser")]
pub use terminal::TerminalAnswerer;
pub use ticket::{Answered, Ticket};
pub use warning::Warning;
