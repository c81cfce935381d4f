//! Splits what a page calls a control into words that can be compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The longest text that is read, in characters. Longer labels are cut, so that the work for a control is bounded.
const LONGEST: usize = 400;

/// The kind of a character, by which words are told apart.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Small,
    Capital,
    Digit,
    Other,
}

impl Kind {
    fn of(c: char) -> Kind {
        if c.is_ascii_digit() {
            Kind::Digit
        } else if c.is_uppercase() {
            Kind::Capital
        } else if c.is_alphanumeric() || is_combining_mark(c) {
            Kind::Small
        } else {
            Kind::Other
        }
    }
}

/// The words of a text, in small letters without accents and with compatibility forms replaced. `shipToName1` is four words, and
/// `e-mail` is one.
pub fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = Kind::Other;
    for c in text.chars().take(LONGEST).nfkc() {
        let kind = Kind::of(c);
        let letters = |kind| matches!(kind, Kind::Small | Kind::Capital);
        let splits = kind == Kind::Other
            || (before == Kind::Small && kind == Kind::Capital)
            || (before == Kind::Digit && letters(kind))
            || (letters(before) && kind == Kind::Digit);
        if splits && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        before = kind;
        if kind != Kind::Other {
            c.to_lowercase().for_each(|small| fold(small, &mut word));
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    joined(words)
}

/// Writes `e-mail`, `e-post` and their like as one word.
fn joined(words: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        match out.last_mut() {
            Some(last) if last == "e" && (word.starts_with("mail") || word.starts_with("post")) => {
                last.push_str(&word);
            }
            _ => out.push(word),
        }
    }
    out
}

/// Appends a small letter without its accents.
fn fold(c: char, out: &mut String) {
    match c {
        'ß' => out.push_str("ss"),
        'ø' => out.push('o'),
        'ł' => out.push('l'),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'đ' => out.push('d'),
        'ı' => out.push('i'),
        'ς' => out.push('σ'),
        // Signs of Japanese and Korean have no accents: their parts tell words apart.
        _ if is_unspaced_sign(c) => out.push(c),
        _ => out.extend(std::iter::once(c).nfd().filter(|c| !is_combining_mark(*c))),
    }
}

/// Whether a text is written without spaces between its words.
pub fn is_unspaced(text: &str) -> bool {
    text.chars().any(is_unspaced_sign)
}

const fn is_unspaced_sign(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_labels_become_words() {
        for (text, expected) in [
            ("shipToName", "ship to name"),
            ("shipping_address[post-code]", "shipping address post code"),
            ("Address2", "address 2"),
            ("E-Mail-Adresse", "email adresse"),
            ("E-post", "epost"),
            ("Straße & Hausnummer *", "strasse hausnummer"),
            ("Prénom", "prenom"),
            ("Ｅｍａｉｌ", "email"),
            ("IBAN", "iban"),
            ("Фамилия", "фамилия"),
            ("ﾒｰﾙｱﾄﾞﾚｽ", "メールアドレス"),
            ("비밀번호", "비밀번호"),
            ("", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }
}
