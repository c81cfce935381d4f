//! Attributes: weighted automata over tokens, made edge by edge or from phrases, lengths, grammars and patterns.

mod automaton;
mod error;
mod patterns;

pub use automaton::{Attribute, AttributeBuilder, Edge};
pub use error::AttributeError;
