//! Decoding of escapes, which are short codes for one character or byte in an otherwise plain text.

use super::view::View;

/// The meaning of an escape.
enum Escaped {
    Byte(u8),
    Char(char),
    /// No character, as at a soft line break.
    Nothing,
}

/// Parses at most `most` digits at the start of `bytes`, and returns their value and count.
fn number(bytes: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let digits = bytes.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    digits.fold((0, 0), |(number, count), digit| (number * radix + digit, count + 1))
}

/// Parses exactly `length` digits.
fn fixed(digits: &[u8], radix: u32, length: usize) -> Option<u32> {
    let (value, count) = number(digits, radix, length);
    (count == length).then_some(value)
}

fn byte(value: u32) -> Option<Escaped> {
    u8::try_from(value).ok().map(Escaped::Byte)
}

/// Parses the escape at the start of `bytes`, and returns its length too: `%41`, `\x41`, `\101`, `\u0041`, `\u{41}`,
/// a surrogate pair of `\u`, `\n` and the like, `&#65;`, `&#x41;`, or a named reference.
fn escape(bytes: &[u8]) -> Option<(Escaped, usize)> {
    let reference = |digits: &[u8], radix, before: usize| {
        let (value, count) = number(digits, radix, 7);
        let closed = usize::from(digits.get(count) == Some(&b';'));
        let escaped = Escaped::Char(char::from_u32(value).filter(|_| count > 0)?);
        Some((escaped, before + count + closed))
    };
    match bytes {
        [b'%', digits @ ..] => Some((byte(fixed(digits, 16, 2)?)?, 3)),
        [b'\\', b'x' | b'X', digits @ ..] => Some((byte(fixed(digits, 16, 2)?)?, 4)),
        [b'\\', b'u', b'{', digits @ ..] => {
            let (value, count) = number(digits, 16, 6);
            let closed = count > 0 && digits.get(count) == Some(&b'}');
            Some((Escaped::Char(char::from_u32(value).filter(|_| closed)?), count + 4))
        }
        [b'\\', b'u' | b'U', digits @ ..] => wide_escape(fixed(digits, 16, 4)?, digits.get(4..)?),
        [b'\\', b'0'..=b'3', ..] => Some((byte(fixed(bytes.get(1..)?, 8, 3)?)?, 4)),
        [b'\\', b'n' | b'r' | b't' | b'b' | b'f', ..] => Some((Escaped::Char(' '), 2)),
        [b'&', b'#', b'x' | b'X', digits @ ..] => reference(digits, 16, 3),
        [b'&', b'#', digits @ ..] => reference(digits, 10, 2),
        [b'&', name @ ..] => {
            let end = name.iter().take(12).position(|byte| *byte == b';')?;
            let named = named(std::str::from_utf8(name.get(..end)?).ok()?)?;
            Some((Escaped::Char(named), end + 2))
        }
        _ => None,
    }
}

/// Parses one `\u` escape, or two that are a surrogate pair.
fn wide_escape(first: u32, rest: &[u8]) -> Option<(Escaped, usize)> {
    if let Some(c) = char::from_u32(first) {
        return Some((Escaped::Char(c), 6));
    }
    let [b'\\', b'u' | b'U', digits @ ..] = rest else { return None };
    let second = fixed(digits, 16, 4)?;
    let both = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let c = char::decode_utf16(both).next()?.ok()?;
    Some((Escaped::Char(c), 12))
}

/// The marks in the names of letters with a mark, such as `auml`. The mark is left out, as in folded values.
const MARKS: [&str; 10] =
    ["uml", "acute", "grave", "circ", "tilde", "ring", "cedil", "caron", "breve", "macr"];

/// Names of characters that may separate those of a value.
const SEPARATORS: [&str; 50] = [
    "nbsp", "ensp", "emsp", "thinsp", "Tab", "NewLine", "shy", "zwnj", "zwj", "lrm", "rlm", "amp", "AMP",
    "lt", "LT", "gt", "GT", "quot", "QUOT", "apos", "commat", "period", "comma", "colon", "semi", "num",
    "dash", "hyphen", "ndash", "mdash", "lowbar", "plus", "minus", "sol", "bsol", "excl", "quest", "dollar",
    "percnt", "ast", "equals", "lpar", "rpar", "lsqb", "rsqb", "grave", "middot", "vert", "lbrace", "rbrace",
];

/// The character of a named HTML reference, for those that can occur in a value.
fn named(name: &str) -> Option<char> {
    Some(match name {
        "szlig" => 'ß',
        "oslash" | "Oslash" => 'ø',
        "aelig" | "AElig" => 'æ',
        "oelig" | "OElig" => 'œ',
        "eth" | "ETH" => 'ð',
        "thorn" | "THORN" => 'þ',
        "lstrok" | "Lstrok" => 'ł',
        // These are the marks that count in a short value.
        "commat" => '@',
        "amp" | "AMP" => '&',
        "num" => '#',
        "excl" => '!',
        "dollar" => '$',
        "percnt" => '%',
        _ if SEPARATORS.contains(&name) => ' ',
        _ => {
            let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
            return MARKS.contains(&name.get(1..)?).then_some(letter);
        }
    })
}

/// Parses an escape of quoted-printable text: `=41`, or `=` at a soft line break.
fn quoted_printable(bytes: &[u8]) -> Option<(Escaped, usize)> {
    match bytes {
        [b'=', b'\r', b'\n', ..] => Some((Escaped::Nothing, 3)),
        [b'=', b'\n', ..] => Some((Escaped::Nothing, 2)),
        [b'=', digits @ ..] => Some((byte(fixed(digits, 16, 2)?)?, 3)),
        _ => None,
    }
}

/// Decodes every escape in the view; `None` if there is none.
pub(super) fn escapes(view: &View) -> Option<View> {
    let begins = |byte: &u8| matches!(byte, b'%' | b'\\' | b'&');
    view.bytes().iter().any(begins).then(|| decoded(view, escape)).flatten()
}

/// Decodes the view as quoted-printable text; `None` if it has no such escape. This is separate from the other
/// escapes, because in a web address the same letters are a value after its name.
pub(super) fn unquoted(view: &View) -> Option<View> {
    view.bytes().contains(&b'=').then(|| decoded(view, quoted_printable)).flatten()
}

fn decoded(view: &View, escape: fn(&[u8]) -> Option<(Escaped, usize)>) -> Option<View> {
    let mut out = view.like(view.bytes().len());
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
            Escaped::Nothing => {}
        }
        place += length;
    }
    found.then_some(out)
}
