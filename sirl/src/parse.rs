//! Reading text: blocks of requests, plans, and replies.

mod block;
mod claim;
mod fault;
mod form;
mod lexical;
mod line;
mod reader;
mod reply;
mod sequence;
mod string;

pub use block::{find_block, parse_block, parse_block_with, parse_plan, parse_plan_with};
pub(crate) use fault::Misfit;
pub(crate) use form::Form;
pub(crate) use reader::{LOOK_AHEAD, Reader};
pub use reply::parse_reply;
