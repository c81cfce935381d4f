//! The search for stored values in a text. It returns places, never values.
//!
//! The search finds a value as it is; in other letter case, accents, width or digits; with everything added
//! or left out that is neither letter nor digit, so also as a host name or a list; and, for values of six
//! characters or more, backwards and in ROT13. It finds all of these also behind escapes (percent-encoding,
//! `\x41`, `\101`, `\u0041`, HTML references by number and by name), up to three times over; and, in the text or
//! behind escapes, in hexadecimal, Base64 and Base32 (any case and alphabet, any alignment, wrapped lines) and
//! quoted-printable. The decoded bytes may be UTF-8, UTF-16 or Latin-1.
//!
//! It does not search for a value with fewer than four characters besides separators, which would be found
//! everywhere. In values with fewer than six letters and digits that also hold other marks, the marks count. It
//! does not find other encodings (compressed text, Base58), one of the encodings within another, words for
//! digits, letters of other scripts that look alike, and any cipher.
//!
//! [`Vault::scan_segments_released`] also finds the parts of a released value that a page shows by themselves (a
//! word of a name, a local part, a street next to a house number). Outgoing text is compared with whole values,
//! or with most of one.
//!
//! [`Vault::scan_segments_released`] also finds a value that is spread over several texts of one page, and
//! [`Vault::scan_outgoing`] one that is spread over several texts that were sent one after another.
//!
//! **The search is an oracle.** A caller who chooses the text and learns if anything was found can guess values.
//! So effects of the answer must not be visible to the model or the page, except for values that were already
//! released there ([`Vault::scan_released`]), and the session bounds the number of guesses.
//!
//! | module | subject |
//! |---|---|
//! | [`whole`] | whole values in one text, and the needles of a vault |
//! | [`outgoing`] | values in texts that are sent one after another |
//! | [`segments`] | released values in the texts of a page |
//!
//! Inside: `view` (bytes with their origin in the text), `fold`, `escape` and `decode` (readings of a text),
//! `find` (several strings in one pass), `search` (every reading, searched for every string), `words`, `word` and
//! `street` (parts of names, addresses and streets).

mod decode;
mod escape;
mod find;
mod fold;
mod outgoing;
mod search;
mod segments;
mod street;
#[cfg(test)]
mod tests;
mod view;
mod whole;
mod word;
mod words;

#[cfg(doc)]
use crate::store::vault::Vault;
pub use outgoing::{Outgoing, Sent, SentForm};
pub use whole::Match;
