//! Decoding of hexadecimal, Base64 and Base32 anywhere in a text.

use super::view::{BARRIER, View};

/// An encoding that writes bytes in a smaller alphabet.
struct Alphabet {
    /// The number of bits of a symbol.
    width: u32,
    /// Runs of fewer symbols hold no value that is searched for.
    fewest: usize,
    unit: fn(&[u8], usize, u8) -> Unit,
}

/// A symbol of an encoding, a separator that is allowed between symbols, or another byte.
enum Unit {
    Symbol(u8),
    Separator,
    Other,
}

/// Hexadecimal digits, in either case. Allowed separators are white space, `:`, `-`, `,`, `;` and `0x`.
const HEX: Alphabet = Alphabet { width: 4, fewest: 8, unit: hex_unit };
/// Base64, standard and URL-safe. White space between symbols is skipped, as in wrapped lines.
const BASE64: Alphabet = Alphabet { width: 6, fewest: 6, unit: base64_unit };
/// Base32 of RFC 4648, in either case. Line ends are skipped.
const BASE32: Alphabet = Alphabet { width: 5, fewest: 7, unit: base32_unit };

fn hex_unit(bytes: &[u8], place: usize, byte: u8) -> Unit {
    let at = |place: Option<usize>| place.and_then(|place| bytes.get(place));
    match byte {
        b'0' if matches!(at(place.checked_add(1)), Some(b'x' | b'X')) => Unit::Separator,
        b'0'..=b'9' => Unit::Symbol(byte - b'0'),
        b'a'..=b'f' => Unit::Symbol(byte - b'a' + 10),
        b'A'..=b'F' => Unit::Symbol(byte - b'A' + 10),
        b'x' | b'X' if at(place.checked_sub(1)) == Some(&b'0') => Unit::Separator,
        b':' | b'-' | b',' | b';' => Unit::Separator,
        space if space.is_ascii_whitespace() => Unit::Separator,
        _ => Unit::Other,
    }
}

fn base64_unit(_: &[u8], _: usize, byte: u8) -> Unit {
    match byte {
        b'A'..=b'Z' => Unit::Symbol(byte - b'A'),
        b'a'..=b'z' => Unit::Symbol(byte - b'a' + 26),
        b'0'..=b'9' => Unit::Symbol(byte - b'0' + 52),
        b'+' | b'-' => Unit::Symbol(62),
        b'/' | b'_' => Unit::Symbol(63),
        space if space.is_ascii_whitespace() => Unit::Separator,
        _ => Unit::Other,
    }
}

fn base32_unit(_: &[u8], _: usize, byte: u8) -> Unit {
    match byte {
        b'A'..=b'Z' => Unit::Symbol(byte - b'A'),
        b'a'..=b'z' => Unit::Symbol(byte - b'a'),
        b'2'..=b'7' => Unit::Symbol(byte - b'2' + 26),
        b'\r' | b'\n' => Unit::Separator,
        _ => Unit::Other,
    }
}

/// Passes every decoding of parts of the view to `give`, one after another.
pub(super) fn each_decoded(view: &View, mut give: impl FnMut(&View)) {
    for (alphabet, alignments) in [(HEX, 2), (BASE64, 4), (BASE32, 8)] {
        let runs = runs(view.bytes(), &alphabet);
        for skip in 0..alignments {
            if !runs.is_empty() {
                give(&join(view, &runs, &alphabet, skip));
            }
        }
    }
}

/// Finds the runs of symbols that are long enough, each from its first byte up to the byte that ends it.
fn runs(bytes: &[u8], alphabet: &Alphabet) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let (mut start, mut symbols) = (0, 0);
    for (place, byte) in bytes.iter().enumerate() {
        match (alphabet.unit)(bytes, place, *byte) {
            Unit::Symbol(_) => symbols += 1,
            Unit::Separator => {}
            Unit::Other => {
                if symbols >= alphabet.fewest {
                    runs.push((start, place));
                }
                (start, symbols) = (place + 1, 0);
            }
        }
    }
    if symbols >= alphabet.fewest {
        runs.push((start, bytes.len()));
    }
    runs
}

/// Decodes each run without its first `skip` symbols, because a run may begin with something other than the encoded
/// text.
fn join(view: &View, runs: &[(usize, usize)], alphabet: &Alphabet, skip: usize) -> View {
    let bytes = view.bytes();
    let mut out = view.like(runs.iter().map(|(start, end)| (end - start) * 3 / 4 + 2).sum());
    for (start, end) in runs {
        let (mut skipped, mut bits, mut count) = (0, 0u32, 0u32);
        // The place of the symbol with the oldest unused bit.
        let mut oldest = *start;
        for (place, byte) in bytes.iter().enumerate().take(*end).skip(*start) {
            match (alphabet.unit)(bytes, place, *byte) {
                Unit::Symbol(_) if skipped < skip => skipped += 1,
                Unit::Symbol(value) => {
                    if count == 0 {
                        oldest = place;
                    }
                    bits = (bits << alphabet.width | u32::from(value)) & 0xffff;
                    count += alphabet.width;
                    if count >= 8 {
                        count -= 8;
                        out.push((bits >> count) as u8, view.origin(oldest..place + 1));
                        oldest = place;
                    }
                }
                Unit::Separator | Unit::Other => {}
            }
        }
        out.push(BARRIER, view.origin(*start..*start));
    }
    out
}
