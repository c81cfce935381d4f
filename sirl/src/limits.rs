//! Limits on the length of blocks, plans, replies and schemas, and on their characters.
//!
//! Every limit is checked before the text past it is read, so that a parse takes time and memory in
//! proportion to the text, and keeps at most [`MAX_REQUESTS`] x [`MAX_LINE_BYTES`] of it.

use crate::items::{ITEM_BYTES, MAX_ITEMS};
use crate::{ClaimKey, Request};

/// The longest line, in bytes, without its line ending. The canonical form of a request must fit too.
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

/// The longest part of a wrong name that an error repeats, in characters.
pub const MAX_EXCERPT_CHARS: usize = 24;

/// The most memory, in bytes, that a [`Scanner`](crate::Scanner) holds of its input: the requests of one block,
/// whose strings together are no longer than their lines, a fixed size for each item that they name, and the line
/// being read, up to the length that is too long. The schema is not counted, since it is the caller's.
pub const MAX_SCAN_BYTES: usize = MAX_REQUESTS
    * (MAX_LINE_BYTES + size_of::<Request>() + MAX_ITEMS * ITEM_BYTES)
    + MAX_LINE_BYTES
    + LOOK_AHEAD;

/// The longest schema, in bytes.
pub const MAX_SCHEMA_BYTES: usize = 16 * 1024;

/// The most aliases that a schema declares.
pub const MAX_ALIASES: usize = 64;

/// The longest alias, in bytes.
pub const MAX_ALIAS_BYTES: usize = 24;

/// The bytes past [`MAX_LINE_BYTES`] that are enough to find the end of the character there.
pub(crate) const LOOK_AHEAD: usize = 4;

/// Tells if a string may not hold `c`, escaped or not. Controls and line separators would end the line of a
/// request; direction marks could disguise it in a prompt.
pub(crate) fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
