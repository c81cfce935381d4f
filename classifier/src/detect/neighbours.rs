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
    address && !word.ends_with('=')
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
    let (head, tail) = (text.get(..span.start).unwrap_or_default(), text.get(span.end..).unwrap_or_default());
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let before = head.bytes().rev().take(128).take_while(belongs);
    let behind = tail.bytes().take(128).take_while(belongs);
    let (mut letters, mut others, mut dashes) = (0, 0, 0);
    for byte in before.chain(behind) {
        match byte {
            b'-' => dashes += 1,
            byte if byte.is_ascii_hexdigit() => letters += usize::from(byte.is_ascii_alphabetic()),
            _ => others += 1,
        }
    }
    (letters >= 2 && others == 0) || letters + others >= 8 || (letters + others >= 2 && dashes >= 2)
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
        for text in
            ["pay 411", "https://a.example/ 411", "either/or 411", "n/a: 411", "https://a.example/?card=411"]
        {
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
        assert!(word("9f3cb123456789012c7a8c1") && word("ab123456789012") && word("x-y-123456789012-z"));
        assert!(!word("No123456789012x") && !word("123456789012") && !word("card-123456789012"));
    }
}
