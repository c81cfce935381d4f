//! A small language model that acts as a browsing agent, and can be talked into leaking by what it reads.
//!
//! | module | subject |
//! |---|---|
//! | [`turn`] | one turn as text: the task, what was done, the page, and the answer |
//! | [`page_view`] | a page's outline, in few words |
//! | [`dialogue`] | turns to learn from, made from seeds |
//! | [`mind`] | a language model that answers |
//! | [`words`] | turns as tokens, and the tokenizer that is learnt from them |
//! | [`random`] | choices that a seed repeats |
//!
//! The card in `agent-model/model` says how the weights are made and how well they did. They are not shipped yet: they are
//! too weak to be an agent.

pub mod dialogue;
pub mod mind;
pub mod page_view;
pub mod random;
pub mod turn;
pub mod words;
