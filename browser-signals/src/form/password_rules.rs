//! The rules of a page about new passwords: the attribute `passwordrules`.
//!
//! ```text
//! minlength: 12; maxlength: 20; required: lower; required: upper, digit; allowed: [-_.]; max-consecutive: 2
//! ```
//!
//! Each `required` names characters of which at least one must be used; `allowed` names those that may be used besides. A property that
//! cannot be read is left out, and the others hold. All of this is the page's word: a reader decides what to make of it.

use std::fmt::{self, Display, Formatter, Write};

/// Printable characters of ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CharacterSet(u128);

/// The named classes and their characters. `unicode` has more, which nobody needs for a password.
const CLASSES: [(&str, CharacterSet); 6] = [
    ("upper", CharacterSet::range(b'A', b'Z')),
    ("lower", CharacterSet::range(b'a', b'z')),
    ("digit", CharacterSet::range(b'0', b'9')),
    ("special", CharacterSet::SPECIAL),
    ("ascii-printable", CharacterSet::PRINTABLE),
    ("unicode", CharacterSet::PRINTABLE),
];

impl CharacterSet {
    /// No character.
    pub const EMPTY: CharacterSet = CharacterSet(0);
    /// Capital letters.
    pub const UPPER: CharacterSet = CharacterSet::range(b'A', b'Z');
    /// Small letters.
    pub const LOWER: CharacterSet = CharacterSet::range(b'a', b'z');
    /// Digits.
    pub const DIGIT: CharacterSet = CharacterSet::range(b'0', b'9');
    /// Every printable character that is no letter and no digit, the space included.
    pub const SPECIAL: CharacterSet = CharacterSet(
        CharacterSet::PRINTABLE.0 & !(CharacterSet::UPPER.0 | CharacterSet::LOWER.0 | CharacterSet::DIGIT.0),
    );
    /// Every printable character.
    pub const PRINTABLE: CharacterSet = CharacterSet::range(b' ', b'~');

    /// Every printable character but the space.
    pub const VISIBLE: CharacterSet = CharacterSet::range(b'!', b'~');

    const fn range(from: u8, to: u8) -> CharacterSet {
        let (mut bits, mut at) = (0, from);
        while at <= to {
            bits |= 1 << at;
            at += 1;
        }
        CharacterSet(bits)
    }

    /// The printable characters of a text.
    pub fn of(text: &str) -> CharacterSet {
        let printable = text.bytes().filter(|byte| matches!(byte, b' '..=b'~'));
        CharacterSet(printable.fold(0, |bits, byte| bits | 1 << byte))
    }

    /// Returns true if the set has no character.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the set has this character.
    pub const fn contains(self, byte: u8) -> bool {
        byte < 128 && self.0 >> byte & 1 == 1
    }

    /// The characters of either set.
    #[must_use]
    pub const fn or(self, other: CharacterSet) -> CharacterSet {
        CharacterSet(self.0 | other.0)
    }

    /// The characters of both sets.
    #[must_use]
    pub const fn and(self, other: CharacterSet) -> CharacterSet {
        CharacterSet(self.0 & other.0)
    }

    /// The characters, in their order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (b' '..=b'~').filter(move |byte| self.contains(*byte))
    }
}

impl Display for CharacterSet {
    /// Prints the name of the class, or the characters in brackets. A closing bracket among them comes last.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = CLASSES.iter().find(|(_, class)| class == self) {
            return f.write_str(name);
        }
        f.write_char('[')?;
        self.iter().filter(|byte| *byte != b']').try_for_each(|byte| f.write_char(char::from(byte)))?;
        f.write_str(if self.contains(b']') { "]]" } else { "]" })
    }
}

/// The most `required` properties that are read.
pub const MAX_REQUIRED: usize = 8;

/// The rules that the attribute states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PasswordRules {
    /// The fewest characters.
    pub least: Option<u32>,
    /// The most characters.
    pub most: Option<u32>,
    /// How often the same character may follow itself: 1 means that it may not.
    pub max_consecutive: Option<u32>,
    /// Sets of characters, of each of which one must be used.
    pub required: Vec<CharacterSet>,
    /// The characters that may be used besides the required ones; empty where the page names none.
    pub allowed: CharacterSet,
}

impl PasswordRules {
    /// Reads the attribute. Every text is one: what cannot be read is left out. Of repeated lengths the strictest counts.
    pub fn parse(text: &str) -> PasswordRules {
        let mut rules = PasswordRules::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (name, value) = match rest.find([':', ';']) {
                Some(at) if rest.get(at..).is_some_and(|from| from.starts_with(':')) => rest.split_at(at),
                Some(at) => {
                    rest = rest.get(at + 1..).unwrap_or_default();
                    continue;
                }
                None => break,
            };
            let value = value.get(1..).unwrap_or_default();
            rest = rules.read(&name.trim().to_ascii_lowercase(), value);
        }
        rules
    }

    /// Reads the value of one property, and returns the text after it.
    fn read<'t>(&mut self, name: &str, text: &'t str) -> &'t str {
        let (value, rest) = text.split_at(end_of_value(text));
        let rest = rest.get(1..).unwrap_or_default();
        match name {
            "minlength" => self.least = number(value).max(self.least),
            "maxlength" => self.most = least_of(number(value), self.most),
            "max-consecutive" => {
                let most = number(value).filter(|most| *most > 0);
                self.max_consecutive = least_of(most, self.max_consecutive);
            }
            "required" => {
                let set = characters(value).filter(|set| !self.required.contains(set));
                self.required.extend(set.filter(|_| self.required.len() < MAX_REQUIRED));
            }
            "allowed" => self.allowed = self.allowed.or(characters(value).unwrap_or_default()),
            _ => {}
        }
        rest
    }
}

impl Display for PasswordRules {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let numbers =
            [("minlength", self.least), ("maxlength", self.most), ("max-consecutive", self.max_consecutive)];
        for (name, number) in numbers {
            number.map_or(Ok(()), |number| write!(f, "{name}: {number}; "))?;
        }
        self.required.iter().try_for_each(|set| write!(f, "required: {set}; "))?;
        if self.allowed.is_empty() { Ok(()) } else { write!(f, "allowed: {}; ", self.allowed) }
    }
}

/// The smaller one of two numbers, of which either may be missing.
fn least_of(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A number that is too large for us is a large number.
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// Where the value of a property ends: at a semicolon outside of brackets.
fn end_of_value(text: &str) -> usize {
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['[', ';'])) {
        at += found;
        let Some(set) = text.get(at..).and_then(|rest| rest.strip_prefix('[')) else { return at };
        match end_of_set(set) {
            Some(end) => at += 1 + end + 1,
            // A set that does not end is not read, and neither is the rest.
            None => break,
        }
    }
    text.len()
}

/// Where the characters of a set end, which begins after its opening bracket. A closing bracket that another one follows is a character.
fn end_of_set(text: &str) -> Option<usize> {
    let end = text.find(']')?;
    let again = text.get(end + 1..).is_some_and(|rest| rest.starts_with(']'));
    Some(if again { end + 1 } else { end })
}

/// The characters that a list of classes names; none where one of them cannot be read.
fn characters(text: &str) -> Option<CharacterSet> {
    let mut all = CharacterSet::EMPTY;
    let mut rest = text.trim();
    loop {
        if let Some(set) = rest.strip_prefix('[') {
            let (inside, after) = set.split_at_checked(end_of_set(set)?)?;
            all = all.or(CharacterSet::of(inside));
            rest = after.get(1..)?.trim_start();
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let (name, after) = rest.split_at_checked(end)?;
            let name = name.trim().to_ascii_lowercase();
            all = all.or(CLASSES.iter().find(|(known, _)| *known == name)?.1);
            rest = after;
        }
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return (rest.is_empty() && !all.is_empty()).then_some(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(text: &str) -> CharacterSet {
        CharacterSet::of(text)
    }

    #[test]
    fn the_properties_of_real_pages_are_read() {
        let rules = PasswordRules::parse(
            "minlength: 20; required: lower; required: upper, digit; allowed: [-_.;]; max-consecutive: 2; maxlength: 40",
        );
        let expected = PasswordRules {
            least: Some(20),
            most: Some(40),
            max_consecutive: Some(2),
            required: vec![CharacterSet::LOWER, CharacterSet::UPPER.or(CharacterSet::DIGIT)],
            allowed: set("-_.;"),
        };
        assert_eq!(rules, expected);
        assert_eq!(PasswordRules::parse("REQUIRED: [ab]]; Allowed:special").required, [set("ab]")]);
        assert_eq!(PasswordRules::parse("allowed: unicode").allowed, CharacterSet::PRINTABLE);
        assert_eq!(
            PasswordRules::parse("minlength: 8; minlength: 12; maxlength: 9; maxlength: 30").least,
            Some(12)
        );
        assert_eq!(PasswordRules::parse("maxlength: 30; maxlength: 9").most, Some(9));
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        for text in [
            "",
            ";;",
            "minlength",
            "minlength: twelve",
            "required:",
            "required: runes",
            "allowed: []",
            "a: b",
        ] {
            assert_eq!(PasswordRules::parse(text), PasswordRules::default(), "{text}");
        }
        let rest =
            PasswordRules::parse("minlength: x; required: lower, runes; allowed: upper; max-consecutive: 0");
        assert_eq!(rest, PasswordRules { allowed: CharacterSet::UPPER, ..PasswordRules::default() });
        assert_eq!(PasswordRules::parse("minlength: 99999999999").least, Some(u32::MAX));
        assert_eq!(PasswordRules::parse("allowed: [ab; minlength: 9"), PasswordRules::default());
    }

    fn sets() -> impl Strategy<Value = CharacterSet> {
        prop_oneof![
            "[ -~]{1,12}".prop_map(|text| CharacterSet::of(&text)),
            prop::sample::select(CLASSES.to_vec()).prop_map(|(_, class)| class),
        ]
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "(?s).{0,200}", near in "[a-z:;,\\[\\] 0-9-]{0,80}") {
            PasswordRules::parse(&text);
            PasswordRules::parse(&near);
        }

        #[test]
        fn the_printed_form_is_read_back(
            numbers in (any::<Option<u32>>(), any::<Option<u32>>(), prop::option::of(1u32..)),
            required in prop::collection::vec(sets(), 0..MAX_REQUIRED),
            allowed in prop::option::of(sets()),
        ) {
            let mut rules = PasswordRules {
                least: numbers.0,
                most: numbers.1,
                max_consecutive: numbers.2,
                allowed: allowed.unwrap_or_default(),
                ..PasswordRules::default()
            };
            for set in required {
                if !rules.required.contains(&set) {
                    rules.required.push(set);
                }
            }
            prop_assert_eq!(PasswordRules::parse(&rules.to_string()), rules);
        }
    }
}
