//! Undoing escapes, hexadecimal and Base64, wherever they stand in a text.

use std::ops::Range;

use super::view::{BARRIER, View};

/// The number that a hexadecimal digit stands for.
fn nibble(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// What an escape stands for.
enum Escaped {
    Byte(u8),
    Char(char),
}

/// The number that the digits at the start of `bytes` make, at most `most` of them, and how many there are.
fn number(bytes: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let digits = bytes.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    digits.fold((0, 0), |(number, count), digit| (number * radix + digit, count + 1))
}

/// The escape at the start of `bytes`, and its length: `%41`, `\x41`, `\u0041`, `&#65;` or `&#x41;`.
fn escape(bytes: &[u8]) -> Option<(Escaped, usize)> {
    let fixed = |digits: &[u8], length: usize| {
        let (value, count) = number(digits, 16, length);
        (count == length).then_some(value)
    };
    let byte = |value: u32| u8::try_from(value).ok().map(Escaped::Byte);
    let reference = |digits: &[u8], radix, before: usize| {
        let (value, count) = number(digits, radix, 7);
        let closed = usize::from(digits.get(count) == Some(&b';'));
        let escaped = Escaped::Char(char::from_u32(value).filter(|_| count > 0)?);
        Some((escaped, before + count + closed))
    };
    match bytes {
        [b'%', digits @ ..] => Some((byte(fixed(digits, 2)?)?, 3)),
        [b'\\', b'x' | b'X', digits @ ..] => Some((byte(fixed(digits, 2)?)?, 4)),
        [b'\\', b'u' | b'U', digits @ ..] => Some((Escaped::Char(char::from_u32(fixed(digits, 4)?)?), 6)),
        [b'&', b'#', b'x' | b'X', digits @ ..] => reference(digits, 16, 3),
        [b'&', b'#', digits @ ..] => reference(digits, 10, 2),
        _ => None,
    }
}

/// The view with every escape turned into what it stands for; `None` where there is none.
pub(super) fn escapes(view: &View) -> Option<View> {
    let mut out = View::with_room(view.bytes().len());
    let mut place = 0;
    let mut found = false;
    while let Some((rest, first)) = view.bytes().get(place..).and_then(|rest| Some((rest, rest.first()?))) {
        let (escaped, length) = escape(rest).unwrap_or((Escaped::Byte(*first), 1));
        found |= length > 1;
        let span = view.origin(place..place + length);
        match escaped {
            Escaped::Byte(byte) => out.push(byte, span),
            Escaped::Char(c) => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push(byte, span.clone()))
            }
        }
        place += length;
    }
    found.then_some(out)
}

/// A symbol of an encoding, something that may stand between symbols, or neither.
enum Unit {
    Symbol(u8),
    Between,
    Other,
}

/// Puts symbols of `width` bits together to bytes. In every run of symbols the first `skip` are left out,
/// since a run may begin with something else than the encoded text.
fn join(units: impl Iterator<Item = (Unit, Range<usize>)>, room: usize, width: u32, skip: usize) -> View {
    let mut out = View::with_room(room);
    let (mut skipped, mut bits, mut count) = (0, 0u32, 0u32);
    // The part of the text that the symbol with the oldest unused bit came from.
    let mut oldest = 0;
    for (unit, span) in units {
        match unit {
            Unit::Symbol(_) if skipped < skip => skipped += 1,
            Unit::Symbol(value) => {
                if count == 0 {
                    oldest = span.start;
                }
                bits = (bits << width | u32::from(value)) & 0xffff;
                count += width;
                if count >= 8 {
                    count -= 8;
                    out.push((bits >> count) as u8, oldest..span.end);
                    oldest = span.start;
                }
            }
            Unit::Between => {}
            Unit::Other => {
                out.push(BARRIER, span);
                (skipped, count) = (0, 0);
            }
        }
    }
    out
}

/// The bytes that runs of hexadecimal digits stand for, from the digit after `skip`. Between digits may
/// stand white space, `:`, `-`, `,`, `;` and the mark `0x`.
pub(super) fn hex(view: &View, skip: usize) -> View {
    let bytes = view.bytes();
    let units = view.iter().enumerate().map(|(place, (byte, span))| {
        let next = bytes.get(place + 1);
        let before = place.checked_sub(1).and_then(|before| bytes.get(before));
        let unit = match (byte, nibble(byte)) {
            (b'0', _) if matches!(next, Some(b'x' | b'X')) => Unit::Between,
            (_, Some(value)) => Unit::Symbol(value),
            (b'x' | b'X', _) if before == Some(&b'0') => Unit::Between,
            (b':' | b'-' | b',' | b';', _) => Unit::Between,
            (space, _) if space.is_ascii_whitespace() => Unit::Between,
            _ => Unit::Other,
        };
        (unit, span)
    });
    join(units, bytes.len(), 4, skip)
}

/// The bytes that runs of Base64 symbols stand for, standard or URL-safe, from the symbol after `skip`.
/// White space between symbols is passed over, as where lines are wrapped.
pub(super) fn base64(view: &View, skip: usize) -> View {
    let units = view.iter().map(|(byte, span)| {
        let unit = match byte {
            b'A'..=b'Z' => Unit::Symbol(byte - b'A'),
            b'a'..=b'z' => Unit::Symbol(byte - b'a' + 26),
            b'0'..=b'9' => Unit::Symbol(byte - b'0' + 52),
            b'+' | b'-' => Unit::Symbol(62),
            b'/' | b'_' => Unit::Symbol(63),
            space if space.is_ascii_whitespace() => Unit::Between,
            _ => Unit::Other,
        };
        (unit, span)
    });
    join(units, view.bytes().len(), 6, skip)
}
