//! A finding's value in one spelling, for comparing it with others.

use crate::finding::{Finding, SensitiveKind};
use crate::normalise::Normalised;
use zeroize::Zeroizing;

/// The value of a finding in the spelling that all its spellings have in common; empty where the span is no part of
/// the text.
///
/// Numbers are their digits and capital letters alone (a phone number keeps its plus sign); an e-mail address is in
/// small letters; addresses and dates are in small letters with one space between their words; passwords and tokens
/// are as they stand, without characters that show nothing.
///
/// **It is the secret itself**: it comes in a buffer that is wiped when it is dropped, and belongs in a comparison or
/// a keyed digest, never in a log. The text that it was found in is the caller's to wipe.
///
/// ```
/// use classifier::{Detector, Detectors, normal_form};
///
/// let detectors = Detectors::standard()?;
/// let normal = |text: &str| normal_form(text, &detectors.detect(text)[0]).to_string();
/// assert_eq!(normal("4111 1111 1111 1111"), normal("pay ４111-1111-1111-1111!"));
/// assert_eq!(normal("Ann@Example.org"), "ann@example.org");
/// # Ok::<(), classifier::BuildError>(())
/// ```
pub fn normal_form(text: &str, finding: &Finding) -> Zeroizing<String> {
    let value = text.get(finding.span.clone()).unwrap_or_default();
    // Folding makes at most eighteen characters of one; with room for all, the buffer never moves, so that no copy
    // of it stays behind.
    let mut normal = Zeroizing::new(String::with_capacity(value.len() * MOST_GROWTH));
    for character in value.chars() {
        // Folding goes by single characters, so no buffer of it ever holds more of the value than one.
        let folded = Normalised::new(character.encode_utf8(&mut [0; 4]));
        for folded in folded.text().chars() {
            push(&mut normal, folded, finding.kind);
        }
    }
    while normal.ends_with(' ') {
        normal.pop();
    }
    normal
}

/// The most bytes that folding and then small or capital letters make of one byte of text.
const MOST_GROWTH: usize = 36;

fn push(normal: &mut String, character: char, kind: SensitiveKind) {
    match kind {
        SensitiveKind::CardNumber
        | SensitiveKind::Iban
        | SensitiveKind::NationalId
        | SensitiveKind::OneTimeCode => {
            normal.extend(
                character.is_alphanumeric().then_some(character).into_iter().flat_map(char::to_uppercase),
            );
        }
        SensitiveKind::Passport => {
            let belongs = character.is_alphanumeric() || character == '<';
            normal.extend(belongs.then_some(character).into_iter().flat_map(char::to_uppercase));
        }
        SensitiveKind::Phone => {
            let leads = character == '+' && normal.is_empty();
            if leads || character.is_ascii_digit() {
                normal.push(character);
            }
        }
        SensitiveKind::Email => normal.extend(character.to_lowercase()),
        SensitiveKind::PostalAddress | SensitiveKind::BirthDate => {
            if character.is_alphanumeric() {
                normal.extend(character.to_lowercase());
            } else if !normal.is_empty() && !normal.ends_with(' ') {
                normal.push(' ');
            }
        }
        SensitiveKind::Password | SensitiveKind::Token => normal.push(character),
    }
}
