//! Phone numbers, recognised by a country prefix, by the grouping of their digits, or by the words before them.

use super::phone_words::{PhoneCue, is_label, names_phone, nearest_word};
use crate::detect::context::{after, before};
use crate::detect::digits::DigitRun;
use crate::detect::neighbours::{in_address, is_hex_word};
use std::ops::Range;

/// The fewest and the most digits of a phone number (ITU-T E.164 allows fifteen; two zeros may lead).
const FEWEST_DIGITS: usize = 7;
const MOST_DIGITS: usize = 17;
/// The largest number of groups that a number is written in.
const MOST_GROUPS: usize = 8;

/// Groupings of national numbers that are rare in other numbers, as digits per group.
const GROUPINGS: [&[usize]; 7] =
    [&[3, 3, 4], &[1, 3, 3, 4], &[3, 3, 2, 2], &[3, 2, 2, 2], &[2, 4, 4], &[2, 5, 4], &[5, 5]];

/// Returns the phone numbers in a run, outside the card numbers found in it. A span includes a plus sign, brackets
/// and an extension. Text before `floor` belongs to another finding and is ignored.
pub(crate) fn find(run: &DigitRun<'_>, cards: &[Range<usize>], floor: usize) -> Vec<Range<usize>> {
    let blocks = blocks(run, cards);
    let mut found = Vec::new();
    let mut first = 0;
    let mut floor = floor;
    while first < blocks.len() {
        let candidate = (first..blocks.len())
            .take(MOST_GROUPS)
            .take_while(|last| *last == first || blocks.get(*last).is_some_and(|block| block.joins))
            .filter_map(|last| {
                let groups = blocks.get(first)?.groups.start..blocks.get(last)?.groups.end;
                let goes_on = blocks.get(last + 1).is_some_and(|block| block.joins);
                let alone = !goes_on && !blocks.get(first)?.joins;
                Some((last, Candidate::new(run, groups, floor, alone)?.accept()?))
            })
            .last();
        match candidate {
            Some((last, span)) => {
                floor = span.end;
                found.push(span);
                first = last + 1;
            }
            None => first += 1,
        }
    }
    found
}

/// Groups with no space between them.
#[derive(Debug)]
struct Block {
    groups: Range<usize>,
    /// True if only a separator is between the block and the one before.
    joins: bool,
}

fn blocks(run: &DigitRun<'_>, cards: &[Range<usize>]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut cards = cards.iter().peekable();
    let mut covered = 0;
    for group in 0..run.groups.len() {
        while let Some(card) = cards.next_if(|card| card.start <= group) {
            covered = covered.max(card.end);
        }
        if group < covered {
            continue;
        }
        let separator = run.separator_before(group);
        let plus = separator.contains('+');
        let after_other = blocks.last().is_none_or(|block| block.groups.end != group);
        match blocks.last_mut() {
            Some(block) if !after_other && !plus && !separator.contains(' ') => block.groups.end = group + 1,
            _ => blocks.push(Block { groups: group..group + 1, joins: !after_other && !plus }),
        }
    }
    blocks
}

/// A part of a run that may be a phone number.
struct Candidate<'r> {
    text: &'r str,
    /// The start of the text whose words count for it.
    floor: usize,
    /// The digits of each group.
    groups: Vec<&'r [u8]>,
    /// The separators between the groups: one fewer than groups.
    separators: Vec<&'r str>,
    span: Range<usize>,
    plus: bool,
    /// The group in brackets, if one is.
    bracketed: Option<usize>,
    /// True if no other digits are next to it.
    alone: bool,
}

impl<'r> Candidate<'r> {
    fn new(run: &'r DigitRun<'_>, groups: Range<usize>, floor: usize, alone: bool) -> Option<Candidate<'r>> {
        let inner = run.span(groups.clone())?;
        let before = run.text.get(floor..inner.start)?;
        let signs = before.len() - before.trim_end_matches(['+', '(']).len();
        let signs = before.get(before.len() - signs.min(2)..)?;
        let plus = signs.contains('+') && signs != "++";
        let separators: Vec<&str> = groups.clone().skip(1).map(|group| run.separator_before(group)).collect();
        let closing = separators.iter().position(|separator| separator.contains(')'));
        let opening = separators.iter().position(|separator| separator.contains('(')).map(|at| at + 1);
        let opened =
            signs.contains('(') && closing.is_some_and(|at| opening.is_none_or(|opening| at < opening));
        let opening = if opened { Some(0) } else { opening };
        // A bracket that closes after the number encloses the number and is no part of it.
        let kept = match signs {
            "(+" if opened => 2,
            "+(" => 2,
            _ if plus || opened => 1,
            _ => 0,
        };
        let start = inner.start - kept;
        let end = inner.end + extension(run.text.get(inner.end..)?);
        Some(Candidate {
            text: run.text,
            floor,
            groups: groups
                .filter_map(|group| run.digits.get(run.groups.get(group)?.digits.clone()))
                .collect(),
            separators,
            span: start..end,
            plus,
            bracketed: closing.filter(|at| Some(*at) == opening),
            alone,
        })
    }

    /// The span, when this is a phone number.
    fn accept(&self) -> Option<Range<usize>> {
        let count = self.count();
        let sized = (FEWEST_DIGITS..=MOST_DIGITS).contains(&count) && self.groups.len() <= MOST_GROUPS;
        let figure = || self.is_code() || self.is_signed_date() || self.is_bound() || self.is_in_address();
        let phone = sized && !self.glued() && (self.international() || self.national()) && !figure();
        phone.then(|| self.span.clone())
    }

    fn count(&self) -> usize {
        self.groups.iter().map(|group| group.len()).sum()
    }

    fn starts_with(&self, digits: &[u8]) -> bool {
        self.groups.first().is_some_and(|group| group.starts_with(digits))
    }

    fn starts_with_any(&self, digits: &[u8]) -> bool {
        self.groups.first().and_then(|group| group.first()).is_some_and(|digit| digits.contains(digit))
    }

    fn before(&self) -> &'r str {
        self.text.get(self.floor..self.span.start).unwrap_or_default()
    }

    fn after(&self) -> &'r str {
        self.text.get(self.span.end..).unwrap_or_default()
    }

    /// Returns whether the word right after the number says which line it is: `555 2671 office`.
    fn is_labelled(&self) -> bool {
        let after = self.after();
        let word = after.strip_prefix([' ', '-']).unwrap_or(after).trim_start_matches('(');
        let length: usize = word.chars().take(16).take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
        is_label(word.get(..length).unwrap_or_default())
    }

    /// Returns whether the number is a part of something longer: a word, a code, a path, a sum.
    fn glued(&self) -> bool {
        let before = self.before();
        let mut back = before.chars().rev();
        let glued_before = match (back.next(), back.next()) {
            (Some('-' | ',' | '/' | '='), Some(character)) => {
                character.is_alphanumeric() && !names_phone(before)
            }
            // The seconds of a time: 15:20:00.000000123.
            (Some(':'), Some(character)) => character.is_ascii_digit(),
            (Some(character), _) => character.is_alphanumeric() || "_#@\\".contains(character),
            _ => false,
        };
        let mut after = self.after().chars();
        let glued_after = match (after.next(), after.next()) {
            (Some('-' | '/' | '=' | ':'), Some(character)) => {
                character.is_alphanumeric() && !self.is_labelled()
            }
            // A name of a host goes on in small letters.
            (Some('.'), Some(character)) => character.is_ascii_digit() || character.is_ascii_lowercase(),
            (Some(','), Some(character)) => character.is_ascii_digit(),
            (Some(character), _) => character.is_alphanumeric() || "_%@".contains(character),
            _ => false,
        };
        glued_before || glued_after
    }

    /// `+49 30 901820`, `0049 30 901820`.
    fn international(&self) -> bool {
        let count = self.count();
        let fewest = if self.groups.len() > 1 { 10 } else { 12 };
        let zeros = self.starts_with(&[0, 0]) && !self.starts_with(&[0, 0, 0]);
        let figure = self.is_decimal() || self.is_dump() || self.is_range();
        (self.plus && !self.starts_with(&[0]) && count <= 15)
            || (zeros
                && self.alone
                && count >= fewest
                && !figure
                && nearest_word(self.before()) != PhoneCue::Other)
    }

    /// Returns whether the number is a binary one, such as `0010 0010 0110 0000`, or within a hash.
    fn is_code(&self) -> bool {
        let binary =
            self.count() >= 8 && self.groups.iter().all(|group| group.iter().all(|digit| *digit < 2));
        binary || is_hex_word(self.text, &self.span)
    }

    /// Returns whether a sign comes before a date: `+9999-12-31`.
    fn is_signed_date(&self) -> bool {
        self.plus
            && matches!(self.groups.as_slice(), [year, month, day]
                if year.len() >= 4 && month.len() == 2 && day.len() == 2 && number(month) <= 12 && number(day) <= 31)
            && self.separators.iter().all(|separator| *separator == "-")
    }

    /// Returns whether the number is the upper bound of a range of integers: `(-33554432, +33554432)`.
    fn is_bound(&self) -> bool {
        let [digits] = self.groups.as_slice() else { return false };
        let lower = |word: &str| {
            word.trim_matches(['(', ',', '[', ')']).strip_prefix('-').is_some_and(|word| {
                word.len() == digits.len() && word.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        self.plus && before(self.text, self.span.start, 32).split(' ').any(lower)
    }

    /// Returns whether the number is in a web address or path that does not announce a phone number.
    fn is_in_address(&self) -> bool {
        !self.plus && in_address(self.text, self.span.start) && !names_phone(self.before())
    }

    /// Returns whether the number is a row of bytes: pairs of digits that are not five, or that go on as hexadecimal
    /// digits. Of pairs, only the five of a French number are a phone number.
    fn is_dump(&self) -> bool {
        let pairs = self.groups.len() > 2 && self.groups.iter().all(|group| group.len() == 2);
        let mut behind = after(self.text, self.span.end, 4).chars();
        let goes_on = behind.next() == Some(' ')
            && behind.next().is_some_and(|c| c.is_ascii_hexdigit())
            && behind.next().is_some_and(|c| c.is_ascii_hexdigit())
            && !behind.next().is_some_and(char::is_alphanumeric);
        pairs && (self.groups.len() != 5 || !self.alone || goes_on || self.starts_with(&[0, 0]))
    }

    fn national(&self) -> bool {
        let figure = self.is_date()
            || self.is_network_address()
            || self.is_sum()
            || self.is_decimal()
            || self.is_dump();
        if self.plus || figure {
            return false;
        }
        let word = if self.is_labelled() { PhoneCue::Phone } else { nearest_word(self.before()) };
        match word {
            PhoneCue::Phone => self.count() <= 13 && !self.is_years(),
            PhoneCue::Other => self.in_brackets(),
            PhoneCue::None => {
                self.in_brackets()
                    || !self.is_range() && (self.trunk() || self.alone && self.has_known_grouping())
            }
        }
    }

    /// `(415) 555-2671`, `1 (415) 555-2671`, `(030) 123456`.
    fn in_brackets(&self) -> bool {
        let Some(at @ (0 | 1)) = self.bracketed else { return false };
        let Some(area) = self.groups.get(at) else { return false };
        let country = if at == 1 { self.groups.first().map_or(0, |group| group.len()) } else { 0 };
        let rest = self.count() - country - area.len();
        // A year in brackets before two page numbers is a citation.
        (2..=5).contains(&area.len()) && country <= 3 && (5..=10).contains(&rest) && !is_year(area)
    }

    /// `030 12345678`, `0171/123 45 67`, `06-10446904`, `02.27.96.63.08`.
    fn trunk(&self) -> bool {
        let zero = self.starts_with(&[0]) && !self.starts_with(&[0, 0]);
        let sized = self.groups.len() > 1 && (9..=12).contains(&self.count());
        let parts = self.groups.iter().all(|group| (2..=8).contains(&group.len()));
        zero && sized && parts && self.is_even(1) && !self.is_social_security() && !self.is_postal_code()
    }

    /// A postal code of the United States: `02110-1301`.
    fn is_postal_code(&self) -> bool {
        self.separators == ["-"]
            && matches!(self.groups.as_slice(), [five, four] if five.len() == 5 && four.len() == 4)
    }

    fn has_known_grouping(&self) -> bool {
        let lengths: Vec<usize> = self.groups.iter().map(|group| group.len()).collect();
        let known = GROUPINGS.contains(&lengths.as_slice()) && self.is_even(usize::from(lengths.len() > 3));
        // With spaces or dots, three groups of three digits are a sum in thousands.
        let thirds = lengths == [3, 3, 3] && self.separators.iter().all(|separator| *separator == "-");
        // Two groups of five are a number of India, which begins with a high digit, or else figures.
        let fives = lengths == [5, 5] && (self.separators != [" "] || !self.starts_with_any(&[6, 7, 8, 9]));
        (known && !fives) || thirds
    }

    /// Returns whether the separators, but for the first few, are all the same single sign.
    fn is_even(&self, skip: usize) -> bool {
        let mut rest = self.separators.iter().skip(skip.min(self.separators.len().saturating_sub(1)));
        let first = rest.next();
        self.separators.iter().all(|separator| separator.len() == 1)
            && rest.all(|separator| Some(separator) == first)
    }

    /// Returns whether the number contains a day, a month and a year, in any usual order.
    fn is_date(&self) -> bool {
        let part = |group: &&[u8]| (1..=2).contains(&group.len());
        self.groups.windows(3).zip(self.separators.windows(2)).any(|(groups, separators)| {
            let same = matches!(separators, [a, b] if a == b && ["-", ".", "/"].contains(a));
            let date = match groups {
                [year, month, day] if is_year(year) => part(month) && part(day),
                [day, month, year] if is_year(year) => part(day) && part(month),
                _ => false,
            };
            same && date
        }) || matches!(self.groups.as_slice(), [stamp] if is_stamp(stamp))
    }

    /// Returns whether the number is a decimal: `49649.82`, `4.360778994930029`, `030712.345216`.
    fn is_decimal(&self) -> bool {
        let [whole, fraction] = self.groups.as_slice() else { return false };
        self.separators == ["."] && !((2..=5).contains(&whole.len()) && (3..=8).contains(&fraction.len()))
    }

    /// Returns whether the number is a range or a share: `60000-64999`, `21549/21549`.
    fn is_range(&self) -> bool {
        let [first, last] = self.groups.as_slice() else { return false };
        let sign = self.separators == ["-"] || self.separators == ["/"];
        sign && first.len() == last.len() && number(first) <= number(last)
    }

    /// Returns whether the number is two years: `1999-2004`.
    fn is_years(&self) -> bool {
        self.groups.len() == 2 && self.groups.iter().all(|group| is_year(group))
    }

    /// A social security number of the United States: `081-80-5372`.
    fn is_social_security(&self) -> bool {
        matches!(self.groups.as_slice(), [area, group, serial] if [area.len(), group.len(), serial.len()] == [3, 2, 4])
    }

    fn is_network_address(&self) -> bool {
        self.groups.len() == 4
            && self.separators.iter().all(|separator| *separator == ".")
            && self.groups.iter().all(|group| number(group) <= 255)
    }

    /// Returns whether a currency is next to the number.
    fn is_sum(&self) -> bool {
        const SIGNS: &str = "$€£¥₹₽₩₺₴₫฿₪¢";
        let before = self.before().trim_end();
        let after = self.after().trim_start();
        let code = |word: &str| {
            const CODES: [&str; 20] = [
                "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "RUB", "PLN", "CZK", "SEK", "NOK", "DKK",
                "CAD", "AUD", "BRL", "MXN", "KRW", "TRY", "VND",
            ];
            CODES.contains(&word)
        };
        let is_word = |character: char| character.is_ascii_alphabetic();
        let head = after.split(|character| !is_word(character)).next().unwrap_or_default();
        let tail = before.rsplit(|character| !is_word(character)).next().unwrap_or_default();
        before.ends_with(|sign| SIGNS.contains(sign))
            || after.starts_with(|sign| SIGNS.contains(sign))
            || code(head)
            || code(tail)
    }
}

fn number(group: &[u8]) -> u64 {
    group.iter().fold(0_u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(*digit)))
}

fn is_year(group: &[u8]) -> bool {
    group.len() == 4 && (1900..=2099).contains(&number(group))
}

/// `20261120`: a date without separators.
fn is_stamp(group: &[u8]) -> bool {
    let value = number(group);
    group.len() == 8
        && (1900..=2099).contains(&(value / 10_000))
        && (1..=12).contains(&(value / 100 % 100))
        && (1..=31).contains(&(value % 100))
}

/// Returns the length in bytes of an extension at the beginning of `after`: `x123`, ` ext. 123`.
fn extension(after: &str) -> usize {
    let window: String = after.chars().take(12).collect::<String>().to_ascii_lowercase();
    let rest = window.trim_start_matches([' ', ',']);
    for word in ["extension", "ext.", "ext", "x"] {
        if let Some(rest) = rest.strip_prefix(word) {
            let rest = rest.trim_start_matches([' ', ':']);
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let length = window.len() - rest.len() + digits;
            let ends = !after.get(length..).is_some_and(|tail| tail.starts_with(char::is_alphanumeric));
            return if (1..=6).contains(&digits) && ends { length } else { 0 };
        }
    }
    0
}
