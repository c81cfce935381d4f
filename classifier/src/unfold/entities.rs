//! HTML character references.

use super::Disguise;
use super::collector::Collector;
use super::passage::{self, ENOUGH, Piece};

/// The longest reference that is looked for, in bytes after the ampersand.
const LONGEST: usize = 12;

/// Finds references that stand for letters. One that stands for an ASCII letter or digit, or for a character that
/// shows nothing, is enough; of others three, as every French page that was not decoded has some. Those for
/// symbols alone are left: the text reads without them.
pub(super) fn find(collector: &mut Collector<'_>) {
    let text = collector.text();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut run = Run::default();
    for (at, _) in text.match_indices('&') {
        let Some((character, length)) = text.get(at + 1..).and_then(reference) else { continue };
        if at != run.end {
            run.close(collector, &mut pieces);
            run.start = at;
        }
        run.end = at + 1 + length;
        run.says.push(character);
        run.weight += weight(character);
    }
    run.close(collector, &mut pieces);
    passage::report(collector, Disguise::Entities, &pieces);
}

/// References that follow each other without a gap.
#[derive(Default)]
struct Run {
    start: usize,
    end: usize,
    says: String,
    weight: usize,
}

impl Run {
    fn close(&mut self, collector: &mut Collector<'_>, pieces: &mut Vec<Piece>) {
        if !self.says.is_empty() {
            let at = self.start..self.end;
            let says = collector.fold(&self.says, &at);
            pieces.push(Piece { at, says, weight: self.weight });
        }
        self.says.clear();
        self.weight = 0;
    }
}

fn weight(character: char) -> usize {
    match character {
        _ if character.is_ascii_alphanumeric() => ENOUGH,
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => ENOUGH,
        '\u{E0000}'..='\u{E0FFF}' => ENOUGH,
        _ if character.is_alphabetic() => ENOUGH.div_ceil(3),
        _ => 0,
    }
}

/// The character of a reference, and its length, for the text after an ampersand. A numeric one may lack its
/// semicolon, as it may in a browser.
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
