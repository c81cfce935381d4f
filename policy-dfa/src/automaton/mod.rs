//! The automaton: from the rules of a policy to guards, decision diagrams and a table of states, and its form as
//! bytes.

pub(crate) mod bytes;
pub(crate) mod compile;
mod cover;
pub(crate) mod cube;
pub(crate) mod diagram;
pub(crate) mod guards;
pub(crate) mod site_matcher;
pub(crate) mod table;
