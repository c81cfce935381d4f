//! The text beside a value that says that it is something else: part of an address, of a hash, of a row of figures, or
//! the number of an article.

use super::context::{after, before, contains_word};
use std::ops::Range;

/// The largest part of a word or an address that is read before a value, in bytes.
const LONGEST_ADDRESS: usize = 256;
/// How far back a word that names a number is searched, in bytes.
const REACH: usize = 40;

/// Words that name a card.
const CARD_WORDS: [&str; 30] = [
    "card",
    "cards",
    "credit",
    "debit",
    "creditcard",
    "cardnumber",
    "card_number",
    "cardno",
    "ccnum",
    "cc",
    "pan",
    "visa",
    "mastercard",
    "amex",
    "maestro",
    "diners",
    "discover",
    "jcb",
    "unionpay",
    "karte",
    "kreditkarte",
    "kartennummer",
    "carte",
    "tarjeta",
    "carta",
    "cartão",
    "kaart",
    "creditcardnummer",
    "karta",
    "pay",
];

/// Words that name the number of an article, a parcel or a device.
const ARTICLE_WORDS: [&str; 38] = [
    "upc",
    "ean",
    "ean-13",
    "gtin",
    "jan",
    "isbn",
    "isbn-13",
    "issn",
    "asin",
    "sku",
    "mpn",
    "ndc",
    "barcode",
    "imei",
    "iccid",
    "serial",
    "article",
    "artikel",
    "artikelnr",
    "artikelnummer",
    "item",
    "model",
    "part",
    "tracking",
    "shipment",
    "parcel",
    "sendungsnummer",
    "sendung",
    "colis",
    "suivi",
    "doi",
    "pmid",
    "version",
    "build",
    "revision",
    "timestamp",
    "offset",
    "checksum",
];

/// Returns the start of the word that goes on before `at`: no white space, quote or bracket is within it.
fn word_before(text: &str, at: usize) -> &str {
    let start = text.ceil_char_boundary(at.saturating_sub(LONGEST_ADDRESS));
    let window = text.get(start..at).unwrap_or_default();
    window.rsplit(|c: char| c.is_whitespace() || "\"'`<>[]{}|".contains(c)).next().unwrap_or_default()
}

/// Returns whether `at` is inside of a web address, or of a path that begins like one, and no field of its query names
/// a card there.
pub(crate) fn in_address(text: &str, at: usize) -> bool {
    let word = word_before(text, at);
    let address = word.contains("://") || word.starts_with("www.") || is_path(word);
    let field = word.strip_suffix('=').and_then(|word| word.rsplit(['?', '&', '#', ';']).next());
    address && !field.is_some_and(names_number)
}

/// Returns whether the field of a query may hold the number of a card, an account or a phone.
fn names_number(field: &str) -> bool {
    let field = field.to_ascii_lowercase();
    ["card", "cc", "pan", "pay", "num", "acc", "tel", "phone", "mobile", "karte", "carte", "tarjeta"]
        .iter()
        .any(|word| field.contains(word))
}

/// Returns whether a word is the beginning of a path: `/usr/lib/`, `./a/`, `shop.example/p/`.
fn is_path(word: &str) -> bool {
    word.contains('/')
        && word.split('/').filter(|part| part.bytes().any(|byte| byte.is_ascii_alphabetic())).count() >= 1
        && word.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with(['/', '-', '_', '.'])
}

/// Returns the beginning of the address or word that an `@` at `at` is in, when it is the user's part of a web address:
/// `https://user:password@host`.
pub(crate) fn is_user_part(text: &str, at: usize) -> bool {
    let word = word_before(text, at);
    word.rsplit_once("://").is_some_and(|(_, authority)| {
        // A password may contain a slash that was not encoded, behind a colon.
        !authority.contains(['/', '?', '#'])
            || authority.split('/').next().is_some_and(|user| {
                user.split_once(':').is_some_and(|(name, rest)| {
                    !name.contains('.') && !rest.bytes().all(|byte| byte.is_ascii_digit())
                })
            })
    })
}

/// Returns whether digits are part of a longer hexadecimal word, such as a hash or an identifier.
pub(crate) fn is_hex_word(text: &str, span: &Range<usize>) -> bool {
    const REACH: usize = 64;
    let bytes = text.as_bytes();
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'-' | b'_');
    let head =
        bytes.get(..span.start).unwrap_or_default().iter().rev().take(REACH).take_while(belongs).count();
    let tail = bytes.get(span.end..).unwrap_or_default().iter().take(REACH).take_while(belongs).count();
    let word = bytes.get(span.start - head..span.end + tail).unwrap_or_default();
    let own = head..head + span.len();
    let mut hex_parts = 0;
    let mut from = 0;
    for part in word.split(|byte| matches!(byte, b'-' | b'_')) {
        let letters = part.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let bare = part.strip_prefix(b"0x").unwrap_or(part);
        let hex = bare.iter().all(u8::is_ascii_hexdigit);
        if from <= own.start && own.end <= from + part.len() {
            if letters >= 8 || (letters >= 2 && hex) {
                return true;
            }
        } else if hex && bare.len() >= 4 && bare.iter().any(u8::is_ascii_digit) && letters > 0 {
            hex_parts += 1;
        }
        from += part.len() + 1;
    }
    hex_parts >= 2
}

/// Returns whether a code in capital hexadecimal digits, of four or five of them, stands beside or touches a number, as in
/// a table of characters.
pub(crate) fn is_in_code_table(text: &str, span: &Range<usize>) -> bool {
    let code = |word: &str| {
        (4..=5).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'A'..=b'F'))
            && word.bytes().any(|byte| byte.is_ascii_uppercase())
    };
    let part = |c: char| !c.is_alphanumeric();
    let before = before(text, span.start, 8).trim_end_matches([' ', '\n', ';']);
    let behind = after(text, span.end, 8);
    let touches = behind.starts_with(|c: char| matches!(c, 'A'..='F'));
    let behind = behind.trim_start_matches([' ', '\n', ';']);
    touches
        || before.rsplit(part).next().is_some_and(code)
        || (behind.len() < 8 && behind.split(part).next().is_some_and(code))
}

/// Returns whether several other long numbers stand beside a number, with only signs between: a list of constants.
pub(crate) fn long_numbers_beside(text: &str, span: &Range<usize>) -> bool {
    const LONG: usize = 14;
    let before = before(text, span.start, 3 * REACH);
    let behind = after(text, span.end, 3 * REACH);
    let part = |c: char| !c.is_alphanumeric();
    let count = |words: &mut dyn Iterator<Item = &str>| {
        let numbers = words
            .filter(|word| !word.is_empty())
            .take_while(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        numbers.filter(|word| word.len() >= LONG).count()
    };
    count(&mut before.rsplit(part)) + count(&mut behind.split(part)) >= 2
}

/// Returns whether a word right before a number names a card.
pub(crate) fn names_card(text: &str, at: usize) -> bool {
    contains_word(line_before(text, at), &CARD_WORDS)
}

/// Returns whether a word right before a number names an article, and no other number is between.
pub(crate) fn names_article(text: &str, at: usize) -> bool {
    let line = line_before(text, at);
    let near = line.rsplit(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
    // "EAN-13: 4006381333931" has a number in its name.
    contains_word(near, &ARTICLE_WORDS)
        || contains_word(line, &["ean-13", "isbn-13", "ean-8", "isbn-10", "gtin-14", "gtin-13", "upc-a"])
}

fn line_before(text: &str, at: usize) -> &str {
    before(text, at, REACH).rsplit('\n').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_are_told_from_prose() {
        let inside = |text: &str| in_address(text, text.find('4').unwrap());
        for text in [
            "https://a.example/p/411",
            "www.a.example/411",
            "/usr/lib/x/411",
            "see (https://a.example/b-411",
            "a/b/411",
        ] {
            assert!(inside(text), "{text}");
        }
        for text in [
            "pay 411",
            "https://a.example/ 411",
            "either/or 411",
            "n/a: 411",
            "https://a.example/?card=411",
            "https://a.example/?a=1&ccnum=411",
        ] {
            assert!(!inside(text), "{text}");
        }
    }

    #[test]
    fn the_user_of_an_address_is_told_from_its_path() {
        let user = |text: &str| is_user_part(text, text.find('@').unwrap());
        for text in ["https://u:p@h.example/", "ssh://git@h.example/x", "amqp://app:a/b#c9@h", "'http://u@h'"]
        {
            assert!(user(text), "{text}");
        }
        for text in [
            "https://h.example/list/a@b.example",
            "https://h.example:80/a@b",
            "a@b",
            "https://h/?m=a@b.example",
        ] {
            assert!(!user(text), "{text}");
        }
    }

    #[test]
    fn hashes_are_words_of_hexadecimal_digits() {
        let word = |text: &str| {
            let start = text.find("123456789012").unwrap();
            is_hex_word(text, &(start..start + 12))
        };
        for text in [
            "9f3cb123456789012c7a8c1",
            "ab123456789012",
            "9f3c-11d8-123456789012",
            "0x03837526_098b_11d8_123456789012",
        ] {
            assert!(word(text), "{text}");
        }
        for text in [
            "No123456789012x",
            "123456789012",
            "card-123456789012",
            "customer_123456789012",
            "1-2-123456789012",
        ] {
            assert!(!word(text), "{text}");
        }
    }
}
