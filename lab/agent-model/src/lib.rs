//! A small language model that acts as a browsing agent and follows prompt injections.
//!
//! | module | subject |
//! |---|---|
//! | [`agent`] | [`agent::AgentModel`]: a language model with its tokenizer, which answers situations one by one or in batches |
//! | [`turn`] | one turn as text: the task, the steps so far, the page, and the answer |
//! | [`page_view`] | a page's outline in the short form that the model reads |
//! | [`copying`] | the constraint that addresses, controls and values in an answer occur in the input |
//! | [`gate`] | decoding under a look-ahead that keeps card numbers out of answers |
//! | [`tokenizer`] | turns as tokens, and training the tokenizer |
//! | [`dialogue`] | training turns, generated from seeds |
//! | [`cache`] | a language model that caches its steps |
//! | [`echo`] | a language model with one fixed answer, for tests |
//! | [`random`] | a reproducible random generator |
//!
//! The weights, and the model card with training and evaluation, are in `lab/agent-model/model`. `lab/agent-model/graded` has those
//! of an agent that obeys to a degree.

pub mod agent;
pub mod cache;
pub mod copying;
pub mod dialogue;
pub mod echo;
pub mod gate;
pub mod page_view;
mod passages;
pub mod random;
pub mod tokenizer;
pub mod turn;
