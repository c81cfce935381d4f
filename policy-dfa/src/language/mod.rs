//! The policy language: text and JSON to a [`Policy`](policy::Policy), and back.

pub(crate) mod clause;
pub(crate) mod error;
pub(crate) mod json;
pub(crate) mod parse;
pub(crate) mod policy;
mod print;
pub(crate) mod provider;
pub(crate) mod session;
pub(crate) mod site;
pub(crate) mod spans;
