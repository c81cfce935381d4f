//! The parsers of blocks, plans and replies.

mod block;
mod claim;
mod error;
mod lexical;
mod reader;
mod reply;
mod sequence;

pub use block::{find_block, parse_block, parse_block_with, parse_plan, parse_plan_with};
pub(crate) use reader::BlockReader;
pub use reply::parse_reply;
