//! One-time codes, recognised by the words around them.

use crate::detect::context::{after, before, begins, ends};
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// Words for a code. The German, Dutch and Swedish ones are at the end of longer words.
pub(crate) const CODE: &str = r"(?i:code|c[óo]digo|codice|kod|kode|otp|tan|pin|einmalpasswort|one-time password|mot de passe . usage unique)";

/// The largest distance from the word to the code, in bytes.
const REACH: usize = 56;

/// Parts of words that say that the code is a one-time code.
const TELLING: [&str; 46] = [
    "verif",
    "secur",
    "login",
    "log-in",
    "log in",
    "sign-in",
    "sign in",
    "signin",
    "one-time",
    "one time",
    "single-use",
    "authentic",
    "confirm",
    "2fa",
    "two-factor",
    "two-step",
    "passcode",
    "sicherheit",
    "bestätig",
    "einmal",
    "anmelde",
    "zugang",
    "freischalt",
    "sécurité",
    "securite",
    "connexion",
    "usage unique",
    "vérif",
    "seguridad",
    "acceso",
    "confirma",
    "un solo uso",
    "sicurezza",
    "accesso",
    "usa e getta",
    "beveiliging",
    "inlog",
    "eenmalig",
    "weryfik",
    "jednoraz",
    "engång",
    "inlogg",
    "bekräft",
    "otp",
    "mtan",
    "smstan",
];
/// Words that say whose code it is.
const POSSESSIVE: [&str; 22] = [
    "your", "ihr", "ihre", "dein", "deine", "votre", "ton", "tu", "su", "tuo", "tua", "suo", "il", "uw",
    "je", "jouw", "twój", "din", "ditt", "seu", "sua", "my",
];
/// Words of other codes.
const OTHER: [&str; 48] = [
    "postal",
    "post",
    "zip",
    "area",
    "country",
    "error",
    "status",
    "promo",
    "promotion",
    "coupon",
    "discount",
    "voucher",
    "gift",
    "product",
    "item",
    "article",
    "source",
    "qr",
    "bar",
    "exit",
    "dialing",
    "dialling",
    "dress",
    "colour",
    "color",
    "hs",
    "tax",
    "postleitzahl",
    "rabatt",
    "gutschein",
    "fehler",
    "postaux",
    "promotionnel",
    "réduction",
    "postales",
    "descuento",
    "sconto",
    "postale",
    "kortings",
    "swift",
    "bic",
    "airport",
    "iata",
    "currency",
    "sort",
    "referral",
    "invite",
    "tracking",
];

/// Returns the code near the matched word.
pub(crate) fn find(text: &str, word: Range<usize>) -> Option<Finding> {
    if !ends(text, word.end) {
        return None;
    }
    let start = word_start(text, word.start);
    let name = text.get(start..word.end)?.to_lowercase();
    if !begins(text, start) {
        return None;
    }
    let head = before(text, start, REACH).to_lowercase();
    let near = head.rsplit(['.', '!', '?', '\n', ';']).next().unwrap_or_default();
    let nearest: Vec<&str> =
        near.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_other = |word: &str| OTHER.contains(&word);
    let last = nearest.iter().rev().take(1).any(|word| is_other(word));
    let compound = OTHER.iter().any(|other| name.len() > other.len() + 3 && name.starts_with(other));
    if last || compound {
        return None;
    }
    let tail = after(text, word.end, REACH);
    let sentence = tail.split(['!', '?', '\n', ';']).next().unwrap_or_default();
    let telling = TELLING.iter().any(|part| near.contains(part) || name.contains(part));
    let possessive = nearest.iter().rev().take(4).any(|word| POSSESSIVE.contains(word));
    let ahead = value_ahead(sentence);
    let behind = value_behind(near, before(text, start, REACH));
    let (span, percent) = match (ahead, behind) {
        (Some((value, announced)), _) if telling && announced => {
            (word.end + value.start..word.end + value.end, 90)
        }
        (Some((value, announced)), _) if possessive && announced => {
            (word.end + value.start..word.end + value.end, 75)
        }
        (_, Some(back)) if telling => (start - back.start..start - back.end, 90),
        (_, Some(back)) if possessive => (start - back.start..start - back.end, 75),
        (Some((value, _)), _) if telling => (word.end + value.start..word.end + value.end, 60),
        _ => return None,
    };
    (begins(text, span.start) && ends(text, span.end))
        .then(|| Finding::new(span, SensitiveKind::OneTimeCode, percent))
}

/// Returns the start of the word that continues before `at`.
fn word_start(text: &str, at: usize) -> usize {
    let head = before(text, at, 24);
    let length: usize = head.chars().rev().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    at - length
}

/// Returns the first code in a text, and whether a sign or a verb announces it.
fn value_ahead(tail: &str) -> Option<(Range<usize>, bool)> {
    let at = tail.find(|c: char| c.is_ascii_digit())?;
    let lead = tail.get(..at)?;
    let length = code_length(tail.get(at..)?)?;
    // Letters before a dash belong to the code: G-123456.
    let prefix =
        lead.strip_suffix('-').and_then(|head| head.chars().next_back()).filter(char::is_ascii_uppercase);
    let start = if prefix.is_some() { at - 2 } else { at };
    let verb = |word: &str| {
        matches!(word, "is" | "ist" | "lautet" | "est" | "es" | "è" | "é" | "jest" | "är" | "er")
    };
    let said = lead.contains([':', '=']) || lead.to_lowercase().split_whitespace().any(verb);
    // "The code expires in 5 minutes", "the code was sent 2026".
    let other = lead.contains(". ") || lead.matches(char::is_whitespace).count() > 9;
    (!other && at + length > at).then_some((start..at + length, said))
}

/// Returns the code before the word, if only words that announce it are between, as the distances of its start and
/// end from the word.
fn value_behind(near: &str, head: &str) -> Option<Range<usize>> {
    // A change to lower case may change lengths; then the code is not searched.
    let head = (head.to_lowercase().ends_with(near) && head.len() >= near.len()).then_some(head)?;
    let near = head.get(head.len() - near.len()..)?;
    let end = near.rfind(|c: char| c.is_ascii_digit())? + 1;
    let between = near.get(end..)?.to_lowercase();
    let mut words = between.split_whitespace();
    let first = words.next()?;
    let says = matches!(
        first,
        "is" | "ist"
            | "est"
            | "es"
            | "è"
            | "é"
            | "jest"
            | "är"
            | "er"
            | "as"
            | "als"
            | "comme"
            | "como"
            | "come"
            | "to"
    );
    let start = near
        .get(..end)?
        .rfind(|c: char| !(c.is_ascii_digit() || c == ' ' || c == '-'))
        .map_or(0, |at| at + 1);
    let code = near.get(start..end)?;
    let skipped = code.len() - code.trim_start_matches([' ', '-']).len();
    let code = code.get(skipped..)?;
    let lead = near.get(..start + skipped)?;
    let prefix = lead.strip_suffix('-').is_some_and(|head| head.ends_with(|c: char| c.is_ascii_uppercase()));
    let from = start + skipped - if prefix { 2 } else { 0 };
    (says && code_length(code) == Some(code.len())).then(|| near.len() - from..near.len() - end)
}

/// Returns the length of the code that a text begins with: four to eight digits, or two or three groups of two to
/// four.
fn code_length(text: &str) -> Option<usize> {
    let digits = |rest: &str| rest.bytes().take(9).take_while(u8::is_ascii_digit).count();
    let first = digits(text);
    let mut length = first;
    let mut total = first;
    while (2..=4).contains(&first) && total < 8 {
        let Some(rest) = text.get(length..).and_then(|rest| rest.strip_prefix([' ', '-'])) else { break };
        let next = digits(rest);
        if next != first || total + next > 8 {
            break;
        }
        length += next + 1;
        total += next;
    }
    let rest = text.get(length..)?;
    let mut behind = rest.chars();
    let goes_on = match (behind.next(), behind.next()) {
        (Some('.' | ',' | ':' | '/' | '-'), Some(next)) => next.is_alphanumeric(),
        (Some('%' | '€' | '$' | '£'), _) => true,
        (Some(next), _) => next.is_alphanumeric(),
        _ => false,
    };
    ((4..=8).contains(&total) && !goes_on).then_some(length)
}
