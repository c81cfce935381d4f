//! The last digits of a number beside words or signs that announce them: `ending in 0173`, `•••• 4242`.
//!
//! They are found by their form alone. If only the digits of a real value were masked, a page could list all 10,000
//! endings and see which one is. So all endings are masked once any number was released.

use std::ops::Range;

/// Words that announce last digits, in lower case without accents. The text before the digits ends with one of them.
const WORDS: [&str; 52] = [
    "ending",
    "ending in",
    "ending with",
    "ends in",
    "ends with",
    "last four",
    "last 4",
    "last digits",
    "last four digits",
    "last 4 digits",
    "final digits",
    "final four",
    "endend auf",
    "endet auf",
    "endend mit",
    "endet mit",
    "endung",
    "endziffern",
    "endnummer",
    "letzte ziffern",
    "letzten ziffern",
    "letzte vier ziffern",
    "letzten vier ziffern",
    "letzte 4 ziffern",
    "letzten 4 ziffern",
    "terminant par",
    "termine par",
    "finissant par",
    "finit par",
    "derniers chiffres",
    "terminada en",
    "terminado en",
    "termina en",
    "acabada en",
    "acabado en",
    "acaba en",
    "finaliza en",
    "terminacion",
    "ultimos digitos",
    "cuatro digitos",
    "4 digitos",
    "termina con",
    "termina in",
    "finisce con",
    "ultime cifre",
    "quattro cifre",
    "4 cifre",
    "terminado em",
    "terminada em",
    "termina em",
    "com final",
    "eindigend op",
];
/// The same in Dutch, Polish, and scripts without spaces.
const MORE: [&str; 12] = [
    "eindigt op",
    "laatste cijfers",
    "vier cijfers",
    "4 cijfers",
    "koncowka",
    "konczy sie na",
    "尾号",
    "尾号为",
    "末尾",
    "下4桁",
    "下四桁",
    "끝자리",
];
/// Words that may be between such words and the digits.
const BETWEEN: [&str; 12] =
    ["is", "are", "in", "digits", "number", "sind", "lauten", "sont", "son", "sono", "sao", "no"];
/// Signs for a digit that is not shown.
const MARKS: [char; 10] = ['•', '*', '●', '∙', '·', '＊', '⁎', '…', 'x', 'X'];
/// The most bytes before digits that are examined.
const MAX_BEFORE: usize = 48;

/// The spans of digits that are announced as the end of a longer number.
pub(super) fn endings(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(start) = rest.find(|c: char| c.is_ascii_digit()) else { break };
        let digits = rest.get(start..).unwrap_or("");
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let span = at + start..at + start + length;
        at = span.end;
        let before = text.get(text.floor_char_boundary(span.start.saturating_sub(MAX_BEFORE))..span.start);
        if (2..=6).contains(&length) && ends_here(text, span.end) && is_ending(before.unwrap_or(""), length) {
            found.push(span);
        }
    }
    found
}

/// Whether the number or word ends here.
fn ends_here(text: &str, end: usize) -> bool {
    let mut after = text.get(end..).unwrap_or("").chars();
    match after.next() {
        Some('.' | ',' | ':') => !after.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => !c.is_alphanumeric() && !MARKS.contains(&c),
        None => true,
    }
}

/// Whether the text before digits, of this length, announces them as last digits.
fn is_ending(before: &str, length: usize) -> bool {
    is_marked(before, length) || (length == 4 && is_named(before))
}

/// Whether signs for digits come before: `•••• 4242`, `xxxx-1234`, `...0173`.
fn is_marked(before: &str, length: usize) -> bool {
    let close = before.trim_end_matches([' ', '-', '\u{a0}', '\u{2011}', '\n']);
    if before.len() - close.len() > 6 {
        return false;
    }
    if before.ends_with("...") {
        return length == 4;
    }
    let parted = |c: char| MARKS.contains(&c) || matches!(c, ' ' | '-' | '\u{a0}');
    let run = close.get(close.trim_end_matches(parted).len()..).unwrap_or("");
    let marks = run.chars().filter(|c| MARKS.contains(c)).count();
    let word = close.chars().rev().find(|c| !MARKS.contains(c)).is_some_and(char::is_alphanumeric);
    let letters = run.contains(['x', 'X']);
    match close.chars().next_back() {
        // A pager uses the same sign for pages that it leaves out.
        Some('…') if marks == 1 => length == 4,
        Some(c) => MARKS.contains(&c) && marks >= 2 && !(letters && word),
        None => false,
    }
}

/// Whether one of the words comes before.
fn is_named(before: &str) -> bool {
    let before = folded(before);
    let mut rest = before.as_str();
    for _ in 0..3 {
        rest = rest
            .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '#' | '(' | '.' | '"'));
        if WORDS.iter().chain(&MORE).any(|words| ends_in(rest, words)) {
            return true;
        }
        let Some(shorter) = BETWEEN.iter().find(|word| ends_in(rest, word)) else { return false };
        rest = rest.get(..rest.len() - shorter.len()).unwrap_or("");
    }
    false
}

/// Whether a text ends with these words, at a word boundary.
fn ends_in(text: &str, words: &str) -> bool {
    let Some(before) = text.strip_suffix(words) else { return false };
    !words.is_ascii() || !before.ends_with(char::is_alphanumeric)
}

/// Lower case without accents, with white space folded to one space.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_whitespace() && out.ends_with(' ') => {}
            c if c.is_whitespace() => out.push(' '),
            'á' | 'à' | 'â' | 'ã' => out.push('a'),
            'é' | 'è' | 'ê' | 'ę' => out.push('e'),
            'í' | 'ì' => out.push('i'),
            'ó' | 'ò' | 'ô' => out.push('o'),
            'ú' | 'ù' => out.push('u'),
            'ń' => out.push('n'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn without(text: &str) -> String {
        let mut out = text.to_owned();
        endings(text).into_iter().rev().for_each(|span| out.replace_range(span, "_"));
        out
    }

    #[test]
    fn last_digits_are_found_beside_words_that_announce_them() {
        for text in [
            "phone ending in 0173",
            "Visa ending with: 4242.",
            "Card (last 4 digits: 4242)",
            "last four digits are 4242",
            "Karte endet auf 4242",
            "mit den letzten vier Ziffern 4242",
            "carte se terminant par 4242",
            "4 derniers chiffres : 4242",
            "tarjeta terminada en 4242",
            "últimos 4 dígitos: 4242",
            "carta che termina con 4242",
            "ultime 4 cifre 4242",
            "cartão com final 4242",
            "kaart eindigend op 4242",
            "卡片尾号4242",
            "•••• 4242",
            "• • • • 4242",
            "•••• •••• •••• 4242",
            "**** **** **** 4242",
            "xxxx-xxxx-xxxx-4242",
            "XX4242",
            "...4242",
            "…4242",
            "+1 ••• ••• ••73",
            "ending in\n0173",
        ] {
            let left = without(text);
            assert!(left.contains('_') && !left.contains("42") && !left.contains("73"), "{text}: {left}");
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "4242",
            "Order 4242",
            "ending in 20 minutes",
            "ends in 12345",
            "ending at 1830",
            "page 1 ... 12",
            "1 … 12",
            "• 2024",
            "A · 2024",
            "SKUxx1234",
            "bending in 4242",
            "3 x 1200",
            "ends in 10.30",
            "ending in 1234.50",
        ] {
            assert_eq!(without(text), text);
        }
    }
}
