//! Recognising a placeholder that a page rewrote, and writing the value in the same way.

use zeroize::Zeroizing;

use crate::Shape;

/// The characters that a page's script puts between the digits of a card number or a date.
const SEPARATORS: [char; 7] = [' ', '\u{a0}', '\u{2009}', '-', '.', '/', '\u{2013}'];

fn digits(text: &str) -> impl Iterator<Item = char> + Clone {
    text.chars().filter(char::is_ascii_digit)
}

/// The digits of a text that consists of digits and separators alone.
fn bare(text: &str) -> Option<String> {
    let known = |c: char| c.is_ascii_digit() || SEPARATORS.contains(&c);
    (text.len() <= 64 && text.chars().all(known)).then(|| digits(text).collect())
}

/// The order in which a date is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    MonthYear,
    MonthLongYear,
    LongYearMonth,
}

const LAYOUTS: [Layout; 3] = [Layout::MonthYear, Layout::MonthLongYear, Layout::LongYearMonth];

/// A month and a year as digits: two and four.
struct Expiry {
    month: Zeroizing<String>,
    year: Zeroizing<String>,
}

impl Expiry {
    /// Reads `12/29`, `12/2029`, `1229`, `122029`, `2029-12` and the like.
    fn read(text: &str) -> Option<Expiry> {
        let mut all = Zeroizing::new(String::with_capacity(64));
        let mut groups = 0;
        let mut first = 0;
        let mut inside = false;
        for c in text.trim().chars() {
            if c.is_ascii_digit() {
                groups += usize::from(!inside);
                all.push(c);
            } else if !SEPARATORS.contains(&c) {
                return None;
            }
            inside = c.is_ascii_digit();
            first += usize::from(inside && groups == 1);
            if all.len() > 6 {
                return None;
            }
        }
        // A month of one digit is only recognised before a separator.
        if groups == 2 && first == 1 {
            all.insert(0, '0');
            first = 2;
        }
        let month_first = match (groups, first, all.len()) {
            (1, 4, 4) | (2, 2, 4 | 6) => true,
            (2, 4, 6) => false,
            (1, 6, 6) => all.get(..2).is_some_and(|month| month <= "12"),
            _ => return None,
        };
        let (month, year) =
            if month_first { (all.get(..2)?, all.get(2..)?) } else { (all.get(4..)?, all.get(..4)?) };
        let known = ("01"..="12").contains(&month);
        let mut long = Zeroizing::new(String::with_capacity(4));
        if year.len() == 2 {
            long.push_str("20");
        }
        long.push_str(year);
        known.then(|| Expiry { month: Zeroizing::new(month.to_owned()), year: long })
    }

    fn written(&self, layout: Layout) -> Zeroizing<String> {
        let mut out = Zeroizing::new(String::with_capacity(6));
        let short = self.year.get(2..).unwrap_or_default();
        let (first, second) = match layout {
            Layout::MonthYear => (self.month.as_str(), short),
            Layout::MonthLongYear => (self.month.as_str(), self.year.as_str()),
            Layout::LongYearMonth => (self.year.as_str(), self.month.as_str()),
        };
        out.push_str(first);
        out.push_str(second);
        out
    }
}

/// The layout in which `text` has the placeholder's date.
fn layout_of(text: &str, placeholder: &str) -> Option<Layout> {
    let (found, expiry) = (bare(text)?, Expiry::read(placeholder)?);
    LAYOUTS.into_iter().find(|layout| *expiry.written(*layout) == found)
}

/// Whether `text` is the placeholder, as the page may have rewritten it.
pub(super) fn is_placeholder(shape: Shape, placeholder: &str, text: &str) -> bool {
    text == placeholder
        || match shape {
            Shape::Text => false,
            Shape::Digits => bare(text).is_some_and(|found| digits(placeholder).eq(found.chars())),
            Shape::Expiry => layout_of(text, placeholder).is_some(),
        }
}

/// `digits` with the separators of `pattern`, which has as many digits.
fn in_groups(digits: &str, pattern: &str) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(digits.len() + pattern.len()));
    let mut next = digits.chars();
    for c in pattern.chars() {
        if c.is_ascii_digit() { out.extend(next.next()) } else { out.push(c) }
    }
    out
}

/// The value, written as the page wrote its placeholder.
pub(super) fn written(shape: Shape, placeholder: &str, found: &str, value: &str) -> Zeroizing<String> {
    let as_stored = || Zeroizing::new(value.to_owned());
    match shape {
        Shape::Text => as_stored(),
        Shape::Digits if !value.chars().all(|c| c.is_ascii_digit() || SEPARATORS.contains(&c)) => as_stored(),
        Shape::Digits => {
            let mut plain = Zeroizing::new(String::with_capacity(value.len()));
            plain.extend(digits(value));
            if plain.len() == digits(found).count() { in_groups(&plain, found) } else { plain }
        }
        Shape::Expiry => match (Expiry::read(value), layout_of(found, placeholder)) {
            (Some(expiry), Some(layout)) => in_groups(&expiry.written(layout), found),
            _ => as_stored(),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_known_in_any_grouping_and_goes_in_the_same() {
        let placeholder = "4000001234567899";
        for (found, visa, amex) in [
            ("4000001234567899", "4111111111111111", "378282246310005"),
            ("4000 0012 3456 7899", "4111 1111 1111 1111", "378282246310005"),
            ("4000-0012-3456-7899", "4111-1111-1111-1111", "378282246310005"),
        ] {
            assert!(is_placeholder(Shape::Digits, placeholder, found));
            assert_eq!(*written(Shape::Digits, placeholder, found, "4111 1111 1111 1111"), visa);
            assert_eq!(*written(Shape::Digits, placeholder, found, "378282246310005"), amex);
        }
        for other in ["4000001234567890", "40000012345678990", "x4000001234567899", "", "4000 0012"] {
            assert!(!is_placeholder(Shape::Digits, placeholder, other), "{other}");
        }
        assert_eq!(*written(Shape::Digits, "123456", "123456", "AB 12"), "AB 12");
    }

    #[test]
    fn a_date_is_known_in_any_order_and_goes_in_the_same() {
        let placeholder = "07/38";
        for (found, goes) in [
            ("07/38", "12/29"),
            ("07 / 38", "12 / 29"),
            ("0738", "1229"),
            ("07-2038", "12-2029"),
            ("2038-07", "2029-12"),
            ("203807", "202912"),
            ("072038", "122029"),
        ] {
            assert!(is_placeholder(Shape::Expiry, placeholder, found), "{found}");
            for stored in ["12/29", "12 / 29", "1229", "12/2029", "122029", "2029-12", "202912"] {
                assert_eq!(*written(Shape::Expiry, placeholder, found, stored), goes, "{found} {stored}");
            }
        }
        assert_eq!(*written(Shape::Expiry, placeholder, "07/38", "1/30"), "01/30");
        for other in ["08/38", "07/39", "7/38", "07/38 ", "38/07", "07", "07/38/1"] {
            let known = other == "07/38 ";
            assert_eq!(is_placeholder(Shape::Expiry, placeholder, other), known, "{other}");
        }
        assert_eq!(*written(Shape::Expiry, placeholder, "07/38", "soon"), "soon");
        for no_date in ["13/29", "00/29", "129", "1/2/29", "12/9", "12/29x", "", "122", "99999999"] {
            assert!(Expiry::read(no_date).is_none(), "{no_date}");
        }
    }

    #[test]
    fn a_text_is_known_as_it_stands_alone() {
        assert!(is_placeholder(Shape::Text, "Zura Kimo", "Zura Kimo"));
        assert!(!is_placeholder(Shape::Text, "Zura Kimo", "zura kimo"));
        assert_eq!(*written(Shape::Text, "a", "a", "Ana Gru\u{df}"), "Ana Gru\u{df}");
    }
}
