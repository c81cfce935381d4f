//! How much text a block, a plan, a reply or a schema may hold.
//!
//! Every limit is checked before the text past it is read, so that a parse takes time and memory in
//! proportion to the text, and keeps at most [`MAX_REQUESTS`] x [`MAX_LINE_BYTES`] of it.

use crate::parse::LOOK_AHEAD;
use crate::{ClaimKey, Request};

/// The longest line, in bytes, without its line ending. The canonical print of a request must fit too.
pub const MAX_LINE_BYTES: usize = 4096;

/// The most requests in one block; `REQ.end` and empty lines are not counted.
pub const MAX_REQUESTS: usize = 16;

/// The deepest nesting of brackets: a `ctx` holds single values (depth 1), a reply may hold one list
/// (depth 2).
pub const MAX_DEPTH: usize = 2;

/// The most keys in one `ctx`: each key of the closed list once.
pub const MAX_KEYS: usize = ClaimKey::ALL.len();

/// The longest string, in bytes of UTF-8 after its escapes are resolved.
pub const MAX_STRING_BYTES: usize = 512;

/// The longest part of an offending name that an error repeats, in characters.
pub const MAX_EXCERPT_CHARS: usize = 24;

/// The most memory, in bytes, that a [`Scanner`](crate::Scanner) holds of what it read: the requests of one
/// block, whose strings together are no longer than their lines, and the line being read, as far as it tells
/// that it is too long. Its schema is not counted: it is the caller's, and of the size that it has.
pub const MAX_SCAN_BYTES: usize =
    MAX_REQUESTS * (MAX_LINE_BYTES + size_of::<Request>()) + MAX_LINE_BYTES + LOOK_AHEAD;

/// The longest schema, in bytes.
pub const MAX_SCHEMA_BYTES: usize = 16 * 1024;

/// The most aliases that a schema declares.
pub const MAX_ALIASES: usize = 64;

/// The longest alias, in bytes.
pub const MAX_ALIAS_BYTES: usize = 24;
