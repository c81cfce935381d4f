//! National identification numbers of digits alone, recognised by their check digits together with their grouping or
//! the words before them.
//!
//! A check digit alone is weak evidence: one number of eleven digits in a hundred passes some check. So a number with
//! neither a characteristic grouping nor an announcing word has a low confidence, or is not reported.

use crate::detect::context::{before, begins, contains_word, ends};
use crate::detect::digits::{DigitRun, luhn, mod_11_10, number, verhoeff, weighted};
use crate::detect::finding::{Finding, SensitiveKind};
use crate::detect::neighbours::{is_hex_word, long_numbers_beside};
use std::ops::Range;

use super::date::is_day;

/// How far back the words that announce a number are searched, in bytes.
const REACH: usize = 48;
/// The largest number of groups that a number is written in.
const MOST_GROUPS: usize = 7;

/// The number format of one state.
struct Scheme {
    /// The number of digits.
    length: usize,
    /// The check of the digits.
    valid: fn(&[u8]) -> bool,
    /// Characteristic groupings of the digits, and the signs between the groups.
    layouts: &'static [(&'static [usize], &'static [&'static str])],
    /// The confidence of a number in such a grouping.
    grouped: u8,
    /// Words that announce one; the confidence is then [`NAMED`].
    words: &'static [&'static str],
    /// The confidence of bare digits without words; 0 if these are not reported.
    bare: u8,
}

/// The confidence of a valid number that a word announces.
const NAMED: u8 = 95;

const SCHEMES: [Scheme; 17] = [
    // United States, social security number: no check digit, but some areas are never issued.
    Scheme {
        length: 9,
        valid: is_social_security,
        layouts: &[(&[3, 2, 4], &["-", "-"])],
        grouped: 80,
        words: &["ssn", "social security", "social security number", "social sec"],
        bare: 0,
    },
    // Germany, tax identification number.
    Scheme {
        length: 11,
        valid: is_german_tax,
        layouts: &[(&[2, 3, 3, 3], &[" ", " ", " "])],
        grouped: 85,
        words: &[
            "steuer-id",
            "steuer id",
            "steueridentifikationsnummer",
            "steuer-identifikationsnummer",
            "idnr",
            "tax id",
            "tin",
        ],
        bare: 0,
    },
    // France, numéro d'inscription au répertoire.
    Scheme {
        length: 15,
        valid: is_french,
        layouts: &[(&[1, 2, 2, 2, 3, 3, 2], &[" ", " ", " ", " ", " ", " "])],
        grouped: 95,
        words: &["sécurité sociale", "securite sociale", "nir", "insee", "sécu", "numéro de sécu"],
        bare: 75,
    },
    // Netherlands, burgerservicenummer.
    Scheme {
        length: 9,
        valid: is_dutch,
        layouts: &[],
        grouped: 0,
        words: &["bsn", "burgerservicenummer", "sofinummer", "sofi-nummer"],
        bare: 0,
    },
    // Poland, PESEL.
    Scheme { length: 11, valid: is_polish, layouts: &[], grouped: 0, words: &["pesel"], bare: 40 },
    // Sweden, personnummer, with and without the century.
    Scheme {
        length: 10,
        valid: is_swedish,
        layouts: &[(&[6, 4], &["-"]), (&[6, 4], &["+"])],
        grouped: 80,
        words: &["personnummer", "personnr", "samordningsnummer", "personal identity number"],
        bare: 0,
    },
    Scheme {
        length: 12,
        valid: |digits| digits.get(2..).is_some_and(is_swedish) && is_century(digits),
        layouts: &[(&[8, 4], &["-"])],
        grouped: 85,
        words: &["personnummer", "personnr", "samordningsnummer", "personal identity number"],
        bare: 0,
    },
    // Norway, fødselsnummer.
    Scheme {
        length: 11,
        valid: is_norwegian,
        layouts: &[(&[6, 5], &[" "])],
        grouped: 85,
        words: &["fødselsnummer", "fodselsnummer", "personnummer", "fnr"],
        bare: 50,
    },
    // Denmark, CPR: no check digit any more.
    Scheme {
        length: 10,
        valid: |digits| day_month_year(digits),
        layouts: &[],
        grouped: 0,
        words: &["cpr", "cpr-nummer", "cpr-nr", "personnummer"],
        bare: 0,
    },
    // Switzerland, AHV and AVS.
    Scheme {
        length: 13,
        valid: is_swiss,
        layouts: &[(&[3, 4, 4, 2], &[".", ".", "."]), (&[3, 4, 4, 2], &[" ", " ", " "])],
        grouped: 95,
        words: &["ahv", "avs", "ahv-nummer", "numéro avs"],
        bare: 80,
    },
    // Belgium, rijksregisternummer.
    Scheme {
        length: 11,
        valid: is_belgian,
        layouts: &[(&[2, 2, 2, 3, 2], &[".", ".", "-", "."])],
        grouped: 95,
        words: &[
            "rijksregisternummer",
            "rijksregister",
            "registre national",
            "numéro national",
            "national number",
        ],
        bare: 40,
    },
    // Brazil, CPF.
    Scheme {
        length: 11,
        valid: is_brazilian,
        layouts: &[(&[3, 3, 3, 2], &[".", ".", "-"])],
        grouped: 95,
        words: &["cpf"],
        bare: 40,
    },
    // India, Aadhaar.
    Scheme {
        length: 12,
        valid: |digits| digits.first().is_some_and(|digit| *digit >= 2) && verhoeff(digits),
        layouts: &[(&[4, 4, 4], &[" ", " ", " "]), (&[4, 4, 4], &["-", "-"])],
        grouped: 60,
        words: &["aadhaar", "aadhar", "uidai", "आधार"],
        bare: 0,
    },
    // Portugal, número de identificação fiscal.
    Scheme {
        length: 9,
        valid: is_portuguese,
        layouts: &[],
        grouped: 0,
        words: &["nif", "contribuinte", "identificação fiscal"],
        bare: 0,
    },
    // Canada, social insurance number.
    Scheme {
        length: 9,
        valid: luhn,
        layouts: &[],
        grouped: 0,
        words: &["sin", "social insurance", "social insurance number", "assurance sociale"],
        bare: 0,
    },
    // China, resident identity number; a check digit of X is not supported.
    Scheme {
        length: 18,
        valid: is_chinese,
        layouts: &[],
        grouped: 0,
        words: &["身份证", "resident identity"],
        bare: 85,
    },
    // South Africa, identity number.
    Scheme {
        length: 13,
        valid: |digits| luhn(digits) && year_month_day(digits),
        layouts: &[(&[6, 4, 2, 1], &[" ", " ", " "])],
        grouped: 80,
        words: &["id number", "identity number", "sa id", "south african id"],
        bare: 0,
    },
];

/// Finds the national identification numbers in a run of digits. They may overlap.
pub(crate) fn find(run: &DigitRun<'_>, found: &mut Vec<Finding>) {
    for first in 0..run.groups.len() {
        for last in first..run.groups.len().min(first + MOST_GROUPS) {
            let Some(groups) = run.groups.get(first..=last) else { break };
            let (Some(start), Some(end)) = (groups.first(), groups.last()) else { break };
            let Some(digits) = run.digits.get(start.digits.start..end.digits.end) else { break };
            if digits.len() > 18 {
                break;
            }
            let span = start.span.start..end.span.end;
            let percent = SCHEMES
                .iter()
                .filter(|scheme| scheme.length == digits.len() && (scheme.valid)(digits))
                .map(|scheme| confidence(run, first..last + 1, &span, scheme))
                .max()
                .unwrap_or(0);
            // A check digit alone is no evidence among constants or in a hash.
            let figure =
                percent < NAMED && (is_hex_word(run.text, &span) || long_numbers_beside(run.text, &span));
            if percent > 0 && !figure && stands_alone(run, first..last + 1, &span) {
                found.push(Finding::new(span, SensitiveKind::NationalId, percent));
            }
        }
    }
}

fn confidence(run: &DigitRun<'_>, groups: Range<usize>, span: &Range<usize>, scheme: &Scheme) -> u8 {
    let laid_out = |lengths: &[usize], signs: &[&str]| {
        lengths.len() == groups.len()
            && groups.clone().zip(lengths).all(|(group, length)| {
                run.groups.get(group).is_some_and(|group| group.digits.len() == *length)
            })
            && groups.clone().skip(1).zip(signs).all(|(group, sign)| run.separator_before(group) == *sign)
    };
    let grouped = scheme.layouts.iter().any(|(lengths, signs)| laid_out(lengths, signs));
    let bare = if groups.len() == 1 { scheme.bare } else { 0 };
    let form = if grouped { scheme.grouped } else { bare };
    if contains_word(before(run.text, span.start, REACH), scheme.words) { NAMED.max(form) } else { form }
}

/// Returns whether the number is no part of a longer number or of a word.
fn stands_alone(run: &DigitRun<'_>, groups: Range<usize>, span: &Range<usize>) -> bool {
    let parted = |group: usize| group >= run.groups.len() || run.separator_before(group).contains(' ');
    let before = run.text.get(..span.start).and_then(|head| head.chars().next_back());
    let after = run.text.get(span.end..).unwrap_or_default();
    let mut behind = after.chars();
    let goes_on = match (behind.next(), behind.next()) {
        (Some('-' | '.' | '/' | '_' | ','), Some(next)) => next.is_alphanumeric(),
        _ => false,
    };
    begins(run.text, span.start)
        && ends(run.text, span.end)
        && !before.is_some_and(|sign| "+-._/#$€£@".contains(sign))
        && !goes_on
        && parted(groups.end)
        && (groups.start == 0 || parted(groups.start))
}

fn part(digits: &[u8], range: Range<usize>) -> u64 {
    digits.get(range).and_then(number).unwrap_or(0)
}

/// Returns the last `count` digits as a number.
fn check(digits: &[u8], count: usize) -> u64 {
    part(digits, digits.len().saturating_sub(count)..digits.len())
}

fn is_social_security(digits: &[u8]) -> bool {
    let (area, group, serial) = (part(digits, 0..3), part(digits, 3..5), part(digits, 5..9));
    // 078-05-1120 was printed on a sample card; it still has the form of a number.
    !matches!(area, 0 | 666 | 900..) && group > 0 && serial > 0
}

/// One of the first ten digits occurs two or three times, the others at most once.
fn is_german_tax(digits: &[u8]) -> bool {
    let mut counts = [0_u8; 10];
    for digit in digits.iter().take(10) {
        if let Some(count) = counts.get_mut(usize::from(*digit)) {
            *count += 1;
        }
    }
    let repeated: Vec<u8> = counts.into_iter().filter(|count| *count > 1).collect();
    digits.first() != Some(&0) && matches!(repeated.as_slice(), [2 | 3]) && mod_11_10(digits)
}

/// Sex, year, month, department, commune, order, and 97 less the remainder by 97.
fn is_french(digits: &[u8]) -> bool {
    let month = part(digits, 3..5);
    let months = matches!(month, 1..=12 | 20 | 30..=42 | 50..=99);
    matches!(digits.first(), Some(1 | 2 | 3 | 4 | 7 | 8))
        && months
        && 97 - part(digits, 0..13) % 97 == check(digits, 2)
}

/// The "eleven test": the weights fall from 9, the last is -1.
fn is_dutch(digits: &[u8]) -> bool {
    let sum = weighted(digits, &[9, 8, 7, 6, 5, 4, 3, 2, -1]);
    sum % 11 == 0 && digits.iter().any(|digit| *digit != 0)
}

fn is_polish(digits: &[u8]) -> bool {
    // The century is in the month: 80 for 1800, 0 for 1900, 20 for 2000 and so on.
    let day = is_day(part(digits, 2..4) % 20, part(digits, 4..6));
    day && weighted(digits, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 == 0
}

fn is_swedish(digits: &[u8]) -> bool {
    // A coordination number has 60 added to the day.
    let day = part(digits, 4..6);
    is_day(part(digits, 2..4), if day > 60 { day - 60 } else { day }) && luhn(digits)
}

fn is_century(digits: &[u8]) -> bool {
    matches!(part(digits, 0..2), 19 | 20)
}

fn is_norwegian(digits: &[u8]) -> bool {
    day_month_year(digits)
        && weighted(digits, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 == 0
        && weighted(digits, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0
}

/// The country's code 756, and the check digit of an article number.
fn is_swiss(digits: &[u8]) -> bool {
    part(digits, 0..3) == 756 && weighted(digits, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 == 0
}

fn is_belgian(digits: &[u8]) -> bool {
    let body = part(digits, 0..9);
    let fits = |body: u64| 97 - body % 97 == check(digits, 2);
    let month = part(digits, 2..4);
    is_day(month % 20, part(digits, 4..6)) && (fits(body) || fits(2_000_000_000 + body))
}

fn is_brazilian(digits: &[u8]) -> bool {
    let digit = |count: usize| {
        let sum: u32 =
            digits.iter().take(count).zip((2..=count as u32 + 1).rev()).map(|(d, w)| u32::from(*d) * w).sum();
        u8::try_from(sum * 10 % 11 % 10).ok()
    };
    let varied = digits.windows(2).any(|pair| matches!(pair, [a, b] if a != b));
    varied && digit(9).as_ref() == digits.get(9) && digit(10).as_ref() == digits.get(10)
}

fn is_portuguese(digits: &[u8]) -> bool {
    let rest = weighted(digits, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    let expected = if rest < 2 { 0 } else { 11 - rest };
    matches!(digits.first(), Some(1..=3)) && digits.last().map(|digit| i32::from(*digit)) == Some(expected)
}

/// ISO/IEC 7064, MOD 11-2, over a region, a date and an order.
fn is_chinese(digits: &[u8]) -> bool {
    let sum = weighted(digits, &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2, 1]);
    let year = part(digits, 6..10);
    sum % 11 == 1 && (1900..=2099).contains(&year) && is_day(part(digits, 10..12), part(digits, 12..14))
}

fn day_month_year(digits: &[u8]) -> bool {
    is_day(part(digits, 2..4), part(digits, 0..2))
}

fn year_month_day(digits: &[u8]) -> bool {
    is_day(part(digits, 2..4), part(digits, 4..6))
}
