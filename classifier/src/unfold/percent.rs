//! Percent-encoding.

use super::Disguise;
use super::collector::Collector;
use super::passage::{self, ENOUGH, Piece};

/// Finds percent-encoded letters. One ASCII letter or digit is enough, as no address needs it; of spaces two, so that
/// words in the query of an address are read; of other letters four. Addresses without words are left.
pub(super) fn find(collector: &mut Collector<'_>) {
    let text = collector.text();
    let mut pieces = Vec::new();
    let mut done = 0;
    for (at, _) in text.match_indices('%') {
        if at < done {
            continue;
        }
        let bytes = escapes(text, at);
        done = at + 3 * bytes.len().max(1);
        let Ok(decoded) = std::str::from_utf8(&bytes) else { continue };
        if decoded.is_empty() {
            continue;
        }
        let place = at..at + 3 * bytes.len();
        let letter = |at: Option<usize>| {
            at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_alphanumeric)
        };
        let between = letter(at.checked_sub(1)) && letter(Some(place.end));
        let weight = decoded.chars().map(|character| weight(character, between)).sum();
        let says = collector.fold(decoded, &place);
        pieces.push(Piece { at: place, says, weight });
    }
    passage::report(collector, Disguise::Percent, &pieces);
}

fn weight(character: char, between_letters: bool) -> usize {
    match character {
        _ if character.is_ascii_alphanumeric() => ENOUGH,
        ' ' if between_letters => ENOUGH / 2,
        _ if character.is_alphabetic() => ENOUGH / 4,
        _ => 0,
    }
}

/// The bytes of the escapes that follow each other from `at` on.
fn escapes(text: &str, at: usize) -> Vec<u8> {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    rest.chunks_exact(3)
        .map_while(|escape| match escape {
            [b'%', high, low] => Some(digit(*high)? * 16 + digit(*low)?),
            _ => None,
        })
        .collect()
}
