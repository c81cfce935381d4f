//! The n-gram model: its formula, its file format, its topics.

mod bytes;
mod formula;
mod topics;
