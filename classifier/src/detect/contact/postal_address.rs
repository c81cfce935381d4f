//! Postal addresses: a street and a house number, and the postal code and town if they follow.
//!
//! A word for "street" marks a candidate; the patterns of the countries are then tried from the words before it. No
//! list of towns or streets is used, so a street whose name has no such word is not found.

use crate::detect::context::{after, before};
use crate::detect::finding::{Finding, SensitiveKind};
use regex_automata::meta::{BuildError, Regex};
use regex_automata::{Anchored, Input};
use std::ops::Range;

/// Words for a street, which mark a candidate: whole words first, then ends of words.
pub(crate) const STREET: &str = r"(?i:(?-u:\b)(?:street|st|avenue|ave|av|road|rd|lane|ln|drive|dr|boulevard|blvd|bd|court|ct|square|terrace|highway|hwy|parkway|pkwy|crescent|way|rue|chemin|impasse|quai|allée|calle|avenida|avda|plaza|paseo|carrer|camino|via|viale|piazza|corso|largo|vicolo|p\.?o\.? box)(?-u:\b)|stra(?:ß|ss)e(?-u:\b)|str\.|(?:weg|platz|allee|gasse|damm|ufer|straat|laan|plein|gracht|kade|dijk|singel)(?-u:\b)|c/)";

/// The largest distance in bytes from the start of an address to its word for a street, and the number of starts that
/// are tried.
const REACH: usize = 64;
const MOST_STARTS: usize = 3;
/// The largest length of an address, in bytes.
const LONGEST: usize = 200;

/// A word of a name, which begins with a capital letter.
const NAME: &str = r"[^ \n\r0-9,;:()\[\]a-z!?|<>][^ \n\r0-9,;:()\[\]!?|<>]*";
/// The separator between the parts of an address.
const GAP: &str = r"(?:,? ?\n ?|, |\. |,? | - )";

/// The first part of an address in a style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// The house number.
    Number,
    /// The word for a street.
    Word,
    /// The first word of the street's name.
    Name,
}

/// The address format of some countries.
struct Style {
    /// The ends, in lower case, of the words for a street that this style applies to.
    words: &'static [&'static str],
    beginning: Beginning,
    /// The street and the house number.
    street: String,
    /// The postal code and the town.
    code: String,
}

fn styles() -> [Style; 6] {
    let unit = r"(?i:apt|apartment|suite|ste|unit|floor|fl|flat|room)\.? ?#?[A-Za-z0-9\-]{1,6}";
    let town = format!(r"(?:{NAME}[ \-]?){{1,4}}");
    let english_code = r"(?:[A-Z]{2},? )?(?:[0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9])(?-u:\b)";
    let english = r"(?i:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|square|terrace|highway|hwy|parkway|pkwy|crescent|way)(?-u:\b)\.?";
    let five = format!(r"{GAP}(?:[A-Z]{{1,2}}-)?[0-9]{{5}} {town}");
    [
        // United States, United Kingdom, Canada, Australia.
        Style {
            words: &[
                "street",
                "st",
                "avenue",
                "ave",
                "road",
                "rd",
                "lane",
                "ln",
                "drive",
                "dr",
                "boulevard",
                "blvd",
                "court",
                "ct",
                "square",
                "terrace",
                "highway",
                "hwy",
                "parkway",
                "pkwy",
                "crescent",
                "way",
                "box",
            ],
            beginning: Beginning::Number,
            street: format!(
                r"(?:(?i:p\.?o\.? box) [0-9]{{1,6}}|[0-9]{{1,5}}(?:[A-Za-z]|-[0-9]{{1,4}})?,? (?:(?:{NAME}|[0-9]{{1,3}}(?:st|nd|rd|th)) ){{1,4}}{english}(?: (?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)(?-u:\b)\.?)?(?:{GAP}(?:{unit}|#[0-9A-Za-z]{{1,5}}))?)"
            ),
            code: format!("(?:{GAP}{town}){{1,2}}{GAP}?{english_code}"),
        },
        // France.
        Style {
            words: &["rue", "avenue", "av", "boulevard", "bd", "chemin", "impasse", "quai", "allée"],
            beginning: Beginning::Number,
            street: format!(
                r"[0-9]{{1,4}}(?: ?(?:bis|ter|quater))?,? (?i:rue|avenue|av\.|boulevard|bd|place|chemin|impasse|quai|allée|cours|route)(?: (?:de|du|des|la|le|les)| d'| l'){{0,3}} ?(?:{NAME}[ \-]?){{1,4}}"
            ),
            code: five.clone(),
        },
        // Germany, Austria, Switzerland: with a postal code of four or five digits.
        Style {
            words: &["straße", "strasse", "str.", "weg", "platz", "allee", "gasse", "damm", "ufer"],
            beginning: Beginning::Name,
            street: format!(
                r"(?:(?:{NAME}|der|den|dem|die|zur|zum)[ \-]){{0,3}}{NAME}(?:[ \-](?i:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|damm|ufer))? [0-9]{{1,4}}(?: ?[a-z])?(?-u:\b)"
            ),
            code: format!("{GAP}(?:[A-Z]{{1,2}}-)?[0-9]{{4,5}} {town}"),
        },
        // Netherlands.
        Style {
            words: &["straat", "laan", "weg", "plein", "gracht", "kade", "dijk", "singel"],
            beginning: Beginning::Name,
            street: format!(r"(?:{NAME} ){{0,2}}{NAME} [0-9]{{1,4}}(?:[ \-]?[A-Za-z0-9]{{1,3}})?(?-u:\b)"),
            code: format!("{GAP}[0-9]{{4}} ?[A-Z]{{2}}{GAP}{town}"),
        },
        // Spain.
        Style {
            words: &["calle", "c/", "avenida", "avda", "plaza", "paseo", "carrer", "camino"],
            beginning: Beginning::Word,
            street: format!(
                r"(?i:calle|c/|avenida|avda\.?|plaza|paseo|carrer|camino) ?(?:(?:de|del|la|las|los|el) ){{0,2}}(?:{NAME} ?){{1,4}},? ?(?:(?i:nº|n°|núm\.|no\.) ?)?[0-9]{{1,4}}(?-u:\b)(?:, ?[0-9]{{1,2}}[ºª]? ?[A-Za-z]{{0,4}})?"
            ),
            code: five.clone(),
        },
        // Italy.
        Style {
            words: &["via", "viale", "piazza", "corso", "largo", "vicolo"],
            beginning: Beginning::Word,
            street: format!(
                r"(?i:via|viale|piazza|corso|largo|vicolo) (?:(?i:del|della|dei|delle|degli|di|d') ?)?(?:{NAME} ?){{1,4}},? ?[0-9]{{1,4}}(?:/[A-Za-z0-9])?(?-u:\b)"
            ),
            code: five,
        },
    ]
}

/// The compiled styles. Each stays small by itself; one pattern of them all exceeds the memory limit of the search.
#[derive(Debug, Clone)]
pub(crate) struct Addresses(Vec<(&'static [&'static str], Beginning, Regex)>);

impl Addresses {
    pub(crate) fn new() -> Result<Addresses, Box<BuildError>> {
        let compile = |style: Style| {
            // The longer pattern comes first, so that it wins.
            let patterns = [format!("{}{}", style.street, style.code), style.street];
            Ok((style.words, style.beginning, Regex::new_many(&patterns).map_err(Box::new)?))
        };
        let compiled: Result<Vec<_>, Box<BuildError>> = styles().into_iter().map(compile).collect();
        compiled.map(Addresses)
    }

    /// Returns the address around the matched word for a street.
    pub(crate) fn find(&self, text: &str, word: Range<usize>) -> Option<Finding> {
        let behind = after(text, word.end, LONGEST);
        let head = before(text, word.start, REACH);
        let near = behind.get(..behind.floor_char_boundary(48))?;
        if !head.bytes().chain(near.bytes()).any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let name = text.get(word.clone())?.to_lowercase();
        let end = word.end + behind.len();
        let styles = self.0.iter().filter(|(words, _, _)| words.iter().any(|known| name.ends_with(known)));
        styles
            .filter_map(|(_, beginning, regex)| {
                let starts = starts(head, word.start, *beginning);
                starts.into_iter().find_map(|start| at(regex, text, start..end, &word))
            })
            .max_by_key(|finding| (finding.confidence, finding.span.len()))
    }
}

/// Returns the starts from which an address is tried whose word for a street begins at `word`, the farthest first.
fn starts(head: &str, word: usize, beginning: Beginning) -> Vec<usize> {
    let begins = |at: usize| {
        let before = head.get(..at).and_then(|head| head.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '.' || c == '-')
    };
    let fits = |c: char| match beginning {
        Beginning::Number => c.is_ascii_digit(),
        Beginning::Name => c.is_uppercase(),
        Beginning::Word => false,
    };
    let candidates = head.char_indices().rev().filter(|(at, c)| fits(*c) && begins(*at));
    let mut starts: Vec<usize> = candidates.map(|(at, _)| word - head.len() + at).take(MOST_STARTS).collect();
    starts.reverse();
    // A word for a street alone is not a name.
    if beginning != Beginning::Name {
        starts.push(word);
    }
    starts
}

fn at(regex: &Regex, text: &str, range: Range<usize>, word: &Range<usize>) -> Option<Finding> {
    let hit = regex.find(Input::new(text).range(range).anchored(Anchored::Yes))?;
    let value = text.get(hit.range())?.trim_end_matches([' ', ',', '.', '-', '\n', '\r']);
    let span = hit.start()..hit.start() + value.len();
    let percent = if hit.pattern().as_usize() == 0 { 80 } else { 50 };
    (span.end >= word.end).then(|| Finding::new(span, SensitiveKind::PostalAddress, percent))
}
