//! A small language model that acts as a browsing agent, and can be talked into leaking by what it reads.
//!
//! | module | subject |
//! |---|---|
//! | [`turn`] | one turn as text: the task, what was done, the page, and the answer |
//! | [`page_view`] | a page's outline, in few words |
//! | [`dialogue`] | turns to learn from, made from seeds |
//! | [`copying`] | what an answer may copy: addresses, controls and values that were read |
//! | [`mind`] | a language model that answers |
//! | [`remembering`] | a language model that remembers what it said |
//! | [`several`] | many answers to one situation, to learn from |
//! | [`gate`] | answers under a look-ahead that keeps card numbers out |
//! | [`parrot`] | a model that says one text, for tests |
//! | [`words`] | turns as tokens, and the tokenizer that is learnt from them |
//! | [`random`] | choices that a seed repeats |
//!
//! The weights, with the card that says how they were made and how well they do, are in `agent-model/model`.

pub mod copying;
pub mod dialogue;
pub mod gate;
pub mod mind;
pub mod page_view;
pub mod parrot;
mod passages;
pub mod random;
pub mod remembering;
pub mod several;
pub mod turn;
pub mod words;
