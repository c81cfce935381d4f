//! Reading text: blocks of requests, and replies.

mod block;
mod claim;
mod fault;
mod lexical;
mod line;
mod reply;
mod sequence;
mod string;

pub use block::{find_block, parse_block};
pub use reply::parse_reply;
