//! Parts of names and streets.
//!
//! A name is stored as its person writes it, or as `Family, Given` where its parts cannot be told from its words. A street is stored
//! in one line or in several.

use browser_signals::matching::Asked;

use super::{Shaped, Target, Underivable};

/// The parts that a name with a comma states: family and given names.
fn stated(name: &str) -> Option<(&str, &str)> {
    let (family, given) = name.split_once(',')?;
    let (family, given) = (family.trim(), given.trim());
    (!family.is_empty() && !given.is_empty() && !given.contains(',')).then_some((family, given))
}

/// The given and the family name: those that a comma states, or the words of a name that has two.
pub(super) fn given_and_family(name: &str) -> Option<(&str, &str)> {
    if let Some((family, given)) = stated(name) {
        return Some((given, family));
    }
    let mut words = name.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(given), Some(family), None) => Some((given, family)),
        _ => None,
    }
}

/// The whole name in the order of speech, where it is stored in another.
pub(super) fn spoken(name: &str) -> Option<String> {
    stated(name).map(|(family, given)| format!("{given} {family}"))
}

/// A whole name.
pub(super) fn whole_name(value: &str) -> Shaped {
    spoken(value).map_or(Shaped::AsStored, Shaped::text)
}

/// A part of a whole name. Without a comma only a name of two words has known parts, and one of three where the form asks for a
/// name between: longer names are divided in different places in different cultures.
pub(super) fn part_of_name(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let asks_between = target.form_asks(Asked::AdditionalName);
    let words: Vec<&str> = value.split_whitespace().collect();
    let (given, between, family) = if let Some((family, given)) = stated(value) {
        let parts = given.split_once(char::is_whitespace).filter(|_| asks_between);
        parts.map_or((given, "", family), |(first, rest)| (first, rest.trim(), family))
    } else {
        match words.as_slice() {
            [given, family] => (*given, "", *family),
            [given, between, family] if asks_between => (*given, *between, *family),
            _ => return Err(Underivable),
        }
    };
    let part = match target.asked {
        Asked::GivenName => given,
        Asked::FamilyName => family,
        _ => between,
    };
    Ok(if part.is_empty() { Shaped::Empty } else { Shaped::text(part) })
}

/// The lines of a street.
pub(super) fn lines(value: &str) -> Vec<&str> {
    value.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// A street in the boxes that the form has for it: its lines, and its number where that has a box.
pub(super) fn part_of_street(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let lines = lines(value);
    let asks_number = target.form_asks(Asked::HouseNumber);
    let first = match target.asked {
        Asked::StreetLine2 if target.form_asks(Asked::StreetLine3) => {
            return Ok(joined(lines.get(1..2).unwrap_or_default()));
        }
        Asked::StreetLine2 => return Ok(joined(lines.get(1..).unwrap_or_default())),
        Asked::StreetLine3 => return Ok(joined(lines.get(2..).unwrap_or_default())),
        Asked::Street if !asks_number && lines.len() < 2 => return Ok(Shaped::AsStored),
        Asked::Street if !asks_number && !target.form_asks(Asked::StreetLine2) => return Ok(joined(&lines)),
        _ => *lines.first().ok_or(Underivable)?,
    };
    if !asks_number {
        return Ok(Shaped::text(first));
    }
    let (street, number) = divided(first).ok_or(Underivable)?;
    Ok(Shaped::text(if target.asked == Asked::HouseNumber { number } else { street }))
}

/// Lines in one; nothing where there is none.
fn joined(lines: &[&str]) -> Shaped {
    if lines.is_empty() { Shaped::Empty } else { Shaped::text(lines.join(", ")) }
}

/// Street and number of a line with one number, which stands at its beginning or its end.
fn divided(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let has_digit = |word: &&&str| word.contains(|c: char| c.is_ascii_digit());
    if words.len() < 2 || words.iter().filter(has_digit).count() != 1 {
        return None;
    }
    if words.first().is_some_and(is_number) {
        let (number, street) = line.split_once(char::is_whitespace)?;
        Some((street.trim(), number.trim_end_matches(',')))
    } else if words.last().is_some_and(is_number) {
        let (street, number) = line.rsplit_once(char::is_whitespace)?;
        Some((street.trim().trim_end_matches(','), number))
    } else {
        None
    }
}
