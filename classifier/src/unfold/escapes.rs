//! HTML character references and percent-encoding.

use super::collector::{Collector, Disguise, ENOUGH, Piece, report_passages};

/// The longest reference that is read, in bytes after the ampersand.
const LONGEST: usize = 12;

/// Finds references to letters. One reference to an ASCII letter or digit, or to an invisible character, is enough;
/// of others three are needed, since French pages that were not decoded contain some. References to symbols alone are
/// ignored: the text is readable without them.
pub(super) fn find_entities(collector: &mut Collector<'_>) {
    let text = collector.text();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut run = ReferenceRun::default();
    for (at, _) in text.match_indices('&') {
        let Some((character, length)) = text.get(at + 1..).and_then(reference) else { continue };
        if at != run.end {
            run.close(collector, &mut pieces);
            run.start = at;
        }
        run.end = at + 1 + length;
        run.decoded.push(character);
        run.weight += entity_weight(character);
    }
    run.close(collector, &mut pieces);
    report_passages(collector, Disguise::Entities, &pieces);
}

/// References without a gap between them.
#[derive(Default)]
struct ReferenceRun {
    start: usize,
    end: usize,
    decoded: String,
    weight: usize,
}

impl ReferenceRun {
    fn close(&mut self, collector: &mut Collector<'_>, pieces: &mut Vec<Piece>) {
        if !self.decoded.is_empty() {
            let at = self.start..self.end;
            let decoded = collector.fold(&self.decoded, &at);
            pieces.push(Piece { at, decoded, weight: self.weight });
        }
        self.decoded.clear();
        self.weight = 0;
    }
}

fn entity_weight(character: char) -> usize {
    match character {
        _ if character.is_ascii_alphanumeric() => ENOUGH,
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => ENOUGH,
        '\u{E0000}'..='\u{E0FFF}' => ENOUGH,
        _ if character.is_alphabetic() => ENOUGH.div_ceil(3),
        _ => 0,
    }
}

/// Returns the character of a reference, and its length, for the text after an ampersand. A numeric one may lack its
/// semicolon, as browsers allow.
fn reference(text: &str) -> Option<(char, usize)> {
    let head = text.get(..text.floor_char_boundary(LONGEST.min(text.len())))?;
    let Some(number) = head.strip_prefix('#') else {
        let (name, _) = head.split_once(';')?;
        return Some((named(name)?, name.len() + 1));
    };
    let (digits, radix, prefix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 2),
        None => (number, 10, 1),
    };
    let length = digits.find(|character: char| !character.is_digit(radix)).unwrap_or(digits.len());
    let code = u32::from_str_radix(digits.get(..length)?, radix).ok()?;
    let semicolon = usize::from(digits.get(length..)?.starts_with(';'));
    let character = char::from_u32(code).filter(|character| *character != '\0')?;
    Some((character, prefix + length + semicolon))
}

/// The common named references: those of XML, of Latin-1 and of typography (HTML Standard, section 13.5).
fn named(name: &str) -> Option<char> {
    let place = NAMED.binary_search_by_key(&name, |(known, _)| known).ok()?;
    NAMED.get(place).map(|(_, character)| *character)
}

#[rustfmt::skip]
const NAMED: [(&str, char); 98] = [
    ("AElig", 'Æ'), ("Aacute", 'Á'), ("Acirc", 'Â'), ("Agrave", 'À'), ("Aring", 'Å'), ("Atilde", 'Ã'),
    ("Auml", 'Ä'), ("Ccedil", 'Ç'), ("ETH", 'Ð'), ("Eacute", 'É'), ("Ecirc", 'Ê'), ("Egrave", 'È'),
    ("Euml", 'Ë'), ("Iacute", 'Í'), ("Icirc", 'Î'), ("Igrave", 'Ì'), ("Iuml", 'Ï'), ("NewLine", '\n'),
    ("Ntilde", 'Ñ'), ("OElig", 'Œ'), ("Oacute", 'Ó'), ("Ocirc", 'Ô'), ("Ograve", 'Ò'), ("Oslash", 'Ø'),
    ("Otilde", 'Õ'), ("Ouml", 'Ö'), ("Scaron", 'Š'), ("THORN", 'Þ'), ("Tab", '\t'), ("Uacute", 'Ú'),
    ("Ucirc", 'Û'), ("Ugrave", 'Ù'), ("Uuml", 'Ü'), ("Yacute", 'Ý'), ("Yuml", 'Ÿ'), ("aacute", 'á'),
    ("acirc", 'â'), ("aelig", 'æ'), ("agrave", 'à'), ("amp", '&'), ("apos", '\''), ("aring", 'å'),
    ("atilde", 'ã'), ("auml", 'ä'), ("bull", '•'), ("ccedil", 'ç'), ("colon", ':'), ("comma", ','),
    ("commat", '@'), ("copy", '©'), ("eacute", 'é'), ("ecirc", 'ê'), ("egrave", 'è'), ("eth", 'ð'),
    ("euml", 'ë'), ("euro", '€'), ("gt", '>'), ("hellip", '…'), ("iacute", 'í'), ("icirc", 'î'),
    ("igrave", 'ì'), ("iuml", 'ï'), ("laquo", '«'), ("ldquo", '“'), ("lsquo", '‘'), ("lt", '<'),
    ("mdash", '—'), ("middot", '·'), ("nbsp", '\u{A0}'), ("ndash", '–'), ("ntilde", 'ñ'), ("oacute", 'ó'),
    ("ocirc", 'ô'), ("oelig", 'œ'), ("ograve", 'ò'), ("oslash", 'ø'), ("otilde", 'õ'), ("ouml", 'ö'),
    ("period", '.'), ("pound", '£'), ("quot", '"'), ("raquo", '»'), ("rdquo", '”'), ("reg", '®'),
    ("rsquo", '’'), ("scaron", 'š'), ("shy", '\u{AD}'), ("szlig", 'ß'), ("thorn", 'þ'), ("trade", '™'),
    ("uacute", 'ú'), ("ucirc", 'û'), ("ugrave", 'ù'), ("uuml", 'ü'), ("yacute", 'ý'), ("yuml", 'ÿ'),
    ("zwj", '\u{200D}'), ("zwnj", '\u{200C}'),
];

/// Finds percent-encoded letters. One ASCII letter or digit is enough, since no address needs it; two spaces are, so
/// that words in the query of an address are read; of other letters four are needed. Addresses without words are
/// ignored.
pub(super) fn find_percent(collector: &mut Collector<'_>) {
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
        let weight = decoded.chars().map(|character| percent_weight(character, between)).sum();
        let decoded = collector.fold(decoded, &place);
        pieces.push(Piece { at: place, decoded, weight });
    }
    report_passages(collector, Disguise::Percent, &pieces);
}

fn percent_weight(character: char, between_letters: bool) -> usize {
    match character {
        _ if character.is_ascii_alphanumeric() => ENOUGH,
        ' ' if between_letters => ENOUGH / 2,
        _ if character.is_alphabetic() => ENOUGH / 4,
        _ => 0,
    }
}

/// Returns the bytes of the consecutive escapes from `at` on.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(NAMED.is_sorted_by(|left, right| left.0 < right.0));
    }

    #[test]
    fn references_are_read_as_browsers_do() {
        assert_eq!(reference("#105;x"), Some(('i', 5)));
        assert_eq!(reference("#x69;x"), Some(('i', 5)));
        assert_eq!(reference("#X69z"), Some(('i', 4)));
        assert_eq!(reference("#105"), Some(('i', 4)));
        assert_eq!(reference("uuml;ber"), Some(('ü', 5)));
        assert_eq!(reference("#xE0069;"), Some(('\u{E0069}', 8)));
        for none in
            ["", "#", "#;", "#x", "nothing;", "amp", "#0;", "#xD800;", "#x110000;", "é;", "#99999999999;"]
        {
            assert_eq!(reference(none), None, "{none}");
        }
    }
}
