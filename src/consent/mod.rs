//! Asking the user: prompts in plain words, who answers them, and answers that stand.
//!
//! A prompt is made by the session's core, for what the browser showed at that moment. Its answer is bound to
//! it by a number that is used once and by the hash of what was asked; one that comes late, twice or for
//! something else is no. Silence is no.
//!
//! | module | subject |
//! |---|---|
//! | [`answer`] | what a user can say |
//! | [`prompt`] | what a user is asked, in words |
//! | [`ticket`] | which answer belongs to which prompt |
//! | [`answerer`] | who answers: the terminal, a script |
//! | [`book`] | answers that stand, for a session or for longer |
//! | [`page`] | a page of the guard's own, in a browser of its own |

pub mod answer;
pub mod answerer;
pub mod book;
pub mod page;
pub mod prompt;
pub mod ticket;

pub use answer::Answer;
pub use answerer::{AnswerFuture, Answerer, CodeFuture, ScriptedAnswerer, TerminalAnswerer};
pub use book::{ConsentBook, StandingConsent};
pub use prompt::{Asked, ConsentPrompt, Notice, Quoted};
pub use ticket::{Answered, Ticket};
