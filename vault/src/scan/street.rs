//! The spellings of a street, and the house number next to one.

use std::ops::Range;

use super::word::{NumberSide, plain};

/// The words for each kind of street, with their short forms.
const KINDS: [&[&str]; 36] = [
    &["street", "st", "str"],
    &["strasse", "str"],
    &["straat", "str"],
    &["road", "rd"],
    &["avenue", "ave", "av"],
    &["avenida", "avda", "avd", "av"],
    &["boulevard", "blvd", "bvd", "boul", "bd"],
    &["lane", "ln"],
    &["drive", "dr"],
    &["court", "ct"],
    &["close", "cl"],
    &["square", "sq"],
    &["terrace", "terr", "ter"],
    &["crescent", "cres"],
    &["circle", "cir"],
    &["trail", "trl"],
    &["gardens", "gdns"],
    &["highway", "hwy"],
    &["parkway", "pkwy"],
    &["place", "pl"],
    &["platz", "pl"],
    &["plaza", "plz", "pza"],
    &["piazza", "pzza", "pza"],
    &["praca", "pca", "pc"],
    &["plein", "pln"],
    &["allee", "all"],
    &["chemin", "chem", "ch"],
    &["impasse", "imp"],
    &["route", "rte"],
    &["rue", "r"],
    &["rua", "r"],
    &["calle", "c"],
    &["carretera", "ctra"],
    &["travessa", "trav", "tv"],
    &["viale", "vle"],
    &["corso", "cso"],
];
/// Words for kinds that are written as one word with the name.
const JOINED: [&str; 4] = ["strasse", "straat", "platz", "str"];
/// Words before the number of a flat or a floor.
const WITHIN: [&str; 22] = [
    "apt",
    "apartment",
    "appartement",
    "apartamento",
    "apto",
    "unit",
    "suite",
    "ste",
    "flat",
    "floor",
    "room",
    "wohnung",
    "whg",
    "etage",
    "app",
    "appt",
    "piso",
    "dpto",
    "interno",
    "int",
    "scala",
    "bus",
];
/// The words that may be between a street and its number.
const NUMBER: [&str; 7] = ["no", "nr", "n", "num", "numero", "nummer", "number"];
/// The most characters between a street and its number.
const GAP: usize = 4;

/// Passes the spellings of a value's street to `take`, without the house number, each as a list of pieces.
pub(super) fn each_spelling(value: &str, mut take: impl FnMut(&[&str], NumberSide)) {
    let mut side = NumberSide::Before;
    for (place, part) in value.split([',', ';', '\n']).enumerate() {
        let mut words: Vec<&str> = part.split_whitespace().collect();
        let has_first = words.len() > 1 && words.first().is_some_and(|word| is_house_number(word));
        if has_first {
            words.remove(0);
        }
        let cut = words
            .iter()
            .skip(1)
            .position(|word| word.starts_with('#') || WITHIN.contains(&plain(word).as_str()));
        words.truncate(cut.map_or(words.len(), |cut| cut + 1));
        while words.len() > 1 && words.last().is_some_and(|word| is_house_number(word)) {
            words.pop();
            side = NumberSide::After;
        }
        while words.len() > 1 && words.last().is_some_and(|word| NUMBER.contains(&plain(word).as_str())) {
            words.pop();
        }
        let letters = words.iter().flat_map(|word| word.chars()).filter(|c| c.is_alphabetic()).count();
        if letters < 4 {
            continue;
        }
        if !has_first && place == 0 {
            side = NumberSide::After;
        }
        take(&words, side);
        each_other(&words, |pieces| take(pieces, side));
        return;
    }
}

/// Passes the same street with each other word for its kind to `take`.
fn each_other(words: &[&str], mut take: impl FnMut(&[&str])) {
    for (place, word) in words.iter().enumerate() {
        let plain_word = plain(word);
        let (before, after) = (words.get(..place).unwrap_or(&[]), words.get(place + 1..).unwrap_or(&[]));
        for kinds in KINDS.iter().filter(|kinds| kinds.contains(&plain_word.as_str())) {
            for other in kinds.iter().filter(|other| **other != plain_word.as_str()) {
                take(&[before, &[other], after].concat());
            }
        }
        let joined = JOINED.iter().find_map(|kind| Some((kind, plain_word.strip_suffix(kind)?)));
        let Some((kind, stem)) = joined.filter(|(_, stem)| stem.len() > 2) else { continue };
        for other in KINDS.iter().filter(|kinds| kinds.contains(kind)).flat_map(|kinds| kinds.iter()) {
            take(&[before, &[stem, other], after].concat());
        }
    }
}

/// Tells if a word is a house number: `17`, `17B`, `17-19`, `12/4`, `17bis`.
fn is_house_number(word: &str) -> bool {
    let mut parts = word.trim_end_matches(['.', ',']).split(['-', '/', '–']);
    let is_number = |part: &str| {
        let letters = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        (1..=5).contains(&digits)
            && (letters.chars().count() <= 1 || matches!(plain(letters).as_str(), "bis" | "ter"))
            && letters.chars().all(char::is_alphabetic)
    };
    parts.next().is_some_and(is_number) && parts.all(|part| is_number(part) || part.len() == 1)
}

/// Finds the house number next to the street at `span`. On another line, it must be alone there.
pub(super) fn house_number(text: &str, span: &Range<usize>, side: NumberSide) -> Option<Range<usize>> {
    let before = || number_before(text, span.start);
    let after = || number_after(text, span.end);
    match side {
        NumberSide::Before => before().or_else(after),
        NumberSide::After => after().or_else(before),
    }
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '.' | ';' | ':' | '#' | '°' | 'º' | '-' | '–' | '(')
}

fn belongs(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '/')
}

fn number_before(text: &str, end: usize) -> Option<Range<usize>> {
    let before = text.get(..end)?;
    let rest = before.trim_end_matches(is_gap);
    let gap = before.get(rest.len()..)?;
    let word = rest.rsplit(|c| !belongs(c)).next()?;
    let start = rest.len() - word.len();
    let alone = !gap.contains('\n') || text.get(..start)?.ends_with('\n') || start == 0;
    (gap.chars().count() <= GAP && !gap.is_empty() && is_house_number(word) && alone)
        .then_some(start..rest.len())
}

fn number_after(text: &str, start: usize) -> Option<Range<usize>> {
    let after = text.get(start..)?;
    let mut rest = after.trim_start_matches(is_gap);
    let mut gap = after.len() - rest.len();
    let first = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    if NUMBER.contains(&plain(first).as_str()) {
        let named = rest.get(first.len()..)?;
        rest = named.trim_start_matches(is_gap);
        gap = named.len() - rest.len();
    }
    let word = rest.split(|c| !belongs(c)).next()?;
    let (from, crossed) = (text.len() - rest.len(), after.get(..after.len() - rest.len())?.contains('\n'));
    let ends = rest.get(word.len()..)?;
    let alone = !crossed || ends.is_empty() || ends.starts_with('\n');
    (gap <= GAP + 1 && is_house_number(word) && alone).then_some(from..from + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(value: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_spelling(value, |pieces, _| all.push(plain(&pieces.concat()).to_string()));
        all
    }

    #[test]
    fn a_street_is_spelled_with_every_word_for_its_kind() {
        assert_eq!(spellings("17 Quarry Road"), ["quarryroad", "quarryrd"]);
        assert_eq!(spellings("350 5th Avenue, Apt 4B"), ["5thavenue", "5thave", "5thav"]);
        assert_eq!(spellings("17, rue de Rivoli").first().map(String::as_str), Some("ruederivoli"));
        assert_eq!(spellings("Calle Mayor, 5"), ["callemayor", "cmayor"]);
        assert_eq!(spellings("12B Baker St Flat 3"), ["bakerst", "bakerstreet", "bakerstr"]);
        let german = spellings("Lindenstraße 17");
        assert!(german.contains(&"lindenstr".to_owned()), "{german:?}");
        assert!(spellings("Lindenstr. 17a").contains(&"lindenstrasse".to_owned()));
        assert_eq!(spellings("5"), Vec::<String>::new());
    }

    #[test]
    fn the_number_next_to_a_street_is_found() {
        let number = |text: &str, street: &str, side| {
            let start = text.find(street).unwrap();
            house_number(text, &(start..start + street.len()), side).map(|place| text[place].to_owned())
        };
        let some = |number: &str| Some(number.to_owned());
        assert_eq!(number("at 17 Elm Rd, 94704", "Elm Rd", NumberSide::Before), some("17"));
        assert_eq!(number("Elm Road No. 17b", "Elm Road", NumberSide::Before), some("17b"));
        assert_eq!(number("Elm Road\n17\nCopy", "Elm Road", NumberSide::Before), some("17"));
        assert_eq!(number("Elm Road\n17 items", "Elm Road", NumberSide::After), None);
        assert_eq!(number("17bis, Elm Road", "Elm Road", NumberSide::Before), some("17bis"));
        assert_eq!(number("on Elm Road and 17", "Elm Road", NumberSide::After), None);
    }
}
