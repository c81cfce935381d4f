//! Ranges of characters, converted to ranges of UTF-8 bytes.

/// The characters of a [`super::expr::Expr::Text`] that need no escape: all but the quote, the backslash and the
/// characters that a string may not hold.
pub(super) const PLAIN: [(char, char); 11] = [
    (' ', '!'),
    ('#', '['),
    (']', '~'),
    ('\u{a0}', '\u{61b}'),
    ('\u{61d}', '\u{200d}'),
    ('\u{2010}', '\u{2027}'),
    ('\u{202f}', '\u{2065}'),
    ('\u{206a}', '\u{d7ff}'),
    ('\u{e000}', '\u{ffff}'),
    ('\u{10000}', '\u{fffff}'),
    ('\u{100000}', '\u{10ffff}'),
];

/// Converts the characters from `from` to `to` to sequences of byte ranges. A character is in the range if and only
/// if its bytes are in the ranges of one sequence, in order.
pub(super) fn sequences(from: char, to: char) -> Vec<Vec<(u8, u8)>> {
    let mut found = Vec::new();
    let mut from = u32::from(from);
    let to = u32::from(to);
    // The range is cut where the length of the encoding changes, and around the surrogates, which have none.
    for last in [0x7f, 0x7ff, 0xd7ff, 0xffff, 0x10_ffff] {
        let end = to.min(last);
        if from <= end {
            let start = if (0xd800..0xe000).contains(&from) { 0xe000 } else { from };
            if let (Some(start), Some(end)) = (char::from_u32(start), char::from_u32(end))
                && start <= end
            {
                let mut buffers = ([0; 4], [0; 4]);
                let start = start.encode_utf8(&mut buffers.0).as_bytes();
                split(Vec::new(), start, end.encode_utf8(&mut buffers.1).as_bytes(), &mut found);
            }
            from = last + 1;
        }
    }
    found
}

/// Adds the sequences between two encodings of the same length, after the ranges of `prefix`.
fn split(prefix: Vec<(u8, u8)>, from: &[u8], to: &[u8], found: &mut Vec<Vec<(u8, u8)>>) {
    let (Some((first, from)), Some((last, to))) = (from.split_first(), to.split_first()) else {
        found.push(prefix);
        return;
    };
    let with = |from: u8, to: u8| {
        let mut prefix = prefix.clone();
        prefix.push((from, to));
        prefix
    };
    let (lowest, highest) = (vec![0x80; from.len()], vec![0xbf; from.len()]);
    if first == last {
        return split(with(*first, *first), from, to, found);
    }
    let (mut low, mut high) = (*first, *last);
    if from != lowest {
        split(with(low, low), from, &highest, found);
        low += 1;
    }
    let cut = to != highest;
    if cut {
        high -= 1;
    }
    if low <= high {
        split(with(low, high), &lowest, &highest, found);
    }
    if cut {
        split(with(*last, *last), &lowest, to, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::is_forbidden;

    fn holds(sequences: &[Vec<(u8, u8)>], bytes: &[u8]) -> bool {
        sequences.iter().any(|ranges| {
            ranges.len() == bytes.len()
                && ranges.iter().zip(bytes).all(|((from, to), byte)| (from..=to).contains(&byte))
        })
    }

    #[test]
    fn plain_characters_are_those_that_a_string_may_hold() {
        for c in '\0'..=char::MAX {
            let plain = PLAIN.iter().any(|(from, to)| (*from..=*to).contains(&c));
            assert_eq!(plain, c != '"' && c != '\\' && !is_forbidden(c), "{c:?}");
        }
    }

    #[test]
    fn every_character_is_in_its_own_bytes() {
        let sequences: Vec<_> = PLAIN.iter().flat_map(|(from, to)| sequences(*from, *to)).collect();
        for c in '\0'..=char::MAX {
            let plain = PLAIN.iter().any(|(from, to)| (*from..=*to).contains(&c));
            assert_eq!(holds(&sequences, c.encode_utf8(&mut [0; 4]).as_bytes()), plain, "{c:?}");
        }
    }

    /// Tries many sequences of up to four bytes. Bytes that are not UTF-8 are in no sequence of ranges.
    #[test]
    fn invalid_utf8_is_in_no_range() {
        let sequences: Vec<_> = PLAIN.iter().flat_map(|(from, to)| sequences(*from, *to)).collect();
        let tails = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        for a in 0x80..=0xff {
            for b in 0..=0xff {
                for c in tails {
                    for bytes in [&[a][..], &[a, b], &[a, b, c], &[a, b, c, 0x80], &[a, b, c, 0x7f]] {
                        if holds(&sequences, bytes) {
                            assert!(std::str::from_utf8(bytes).is_ok(), "{bytes:x?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_across_the_surrogates_leaves_them_out() {
        let sequences = sequences('\u{d000}', '\u{e001}');
        assert!(holds(&sequences, "\u{d7ff}".as_bytes()) && holds(&sequences, "\u{e001}".as_bytes()));
        assert!(!holds(&sequences, &[0xed, 0xa0, 0x80]) && !holds(&sequences, "\u{e002}".as_bytes()));
    }
}
