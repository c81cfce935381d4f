//! Converts a stored value to the form that a control takes. A whole name goes into two boxes, an expiry into two lists, a card
//! number into four boxes, a country into a list by its code or its name.
//!
//! The control says what it asks for ([`Asked`]); the grant says which field may be released. What cannot be derived from the
//! stored value is an error, and never a guess.

mod birth;
mod choice;
mod date;
mod person;
mod phone;
mod place;

use browser_signals::Control;
use browser_signals::matching::Asked;
use sirl::{Field, FieldSet};
use zeroize::Zeroizing;

use crate::codes::secret_of;

/// Returns the field of a record that holds this kind of data, whole or in part; none where no record holds it.
pub const fn field_of(asked: Asked) -> Option<Field> {
    Some(match asked {
        Asked::FullName | Asked::GivenName | Asked::AdditionalName | Asked::FamilyName | Asked::CardName => {
            Field::Name
        }
        Asked::Street | Asked::StreetLine2 | Asked::StreetLine3 | Asked::HouseNumber => Field::Street,
        Asked::City => Field::City,
        Asked::Region => Field::Region,
        Asked::PostalCode => Field::PostalCode,
        Asked::Country => Field::Country,
        Asked::Phone | Asked::PhoneCountryCode => Field::Phone,
        Asked::Email => Field::Email,
        Asked::Username | Asked::UsernameOrEmail => Field::Username,
        Asked::Password | Asked::NewPassword => Field::Password,
        Asked::OneTimeCode => Field::OneTimeCode,
        Asked::CardNumber => Field::CardNumber,
        Asked::CardExpiry | Asked::CardExpiryMonth | Asked::CardExpiryYear => Field::CardExpiry,
        Asked::CardCode => Field::CardCode,
        Asked::GovernmentId => Field::GovernmentId,
        Asked::Company => Field::Company,
        Asked::BirthDate | Asked::BirthDay | Asked::BirthMonth | Asked::BirthYear => Field::BirthDate,
        Asked::HonorificPrefix | Asked::CardType => return None,
    })
}

/// Returns what a control asks for that takes a whole value of this field.
pub(crate) const fn whole(field: Field) -> Asked {
    match field {
        Field::Name => Asked::FullName,
        Field::Street => Asked::Street,
        Field::City => Asked::City,
        Field::Region => Asked::Region,
        Field::PostalCode => Asked::PostalCode,
        Field::Country => Asked::Country,
        Field::Phone => Asked::Phone,
        Field::Email => Asked::Email,
        Field::Username => Asked::Username,
        Field::Password => Asked::Password,
        Field::NewPassword => Asked::NewPassword,
        Field::OneTimeCode => Asked::OneTimeCode,
        Field::CardNumber => Asked::CardNumber,
        Field::CardExpiry => Asked::CardExpiry,
        Field::CardCode => Asked::CardCode,
        Field::GovernmentId => Asked::GovernmentId,
        Field::Company => Asked::Company,
        Field::BirthDate => Asked::BirthDate,
    }
}

/// Returns the field that a request for `fields` releases into a control that asks for this; none if it asks for no such field.
/// The name of an account may be its e-mail address, so a request for the address alone releases it there. A password that is being set
/// may be a stored one, if no new one is asked for.
pub fn field_among(asked: Asked, fields: FieldSet) -> Option<Field> {
    let field = field_of(asked)?;
    let first = (asked == Asked::NewPassword).then_some(Field::NewPassword);
    let other = (field == Field::Username).then_some(Field::Email);
    [first, Some(field), other].into_iter().flatten().find(|field| fields.contains(*field))
}

/// How many boxes a number is split over, given all the controls of a form that ask for it: four boxes of four digits for a card
/// number, four to eight of one character for a code, and else one.
pub fn boxes_of<'a>(asked: Asked, controls: impl Iterator<Item = &'a Control>) -> usize {
    let longest: Vec<Option<u32>> = controls.map(|control| control.words.max_length).collect();
    let of = |characters| longest.iter().all(|most| *most == Some(characters));
    match (asked, longest.len()) {
        (Asked::CardNumber, 4) if of(4) => 4,
        (Asked::OneTimeCode, boxes @ 4..=8) if of(1) => boxes,
        _ => 1,
    }
}

/// A control that a value is shaped for.
pub(crate) struct Target<'a> {
    pub(crate) asked: Asked,
    pub(crate) control: &'a Control,
    /// The kinds of data that the placed controls of the form ask for.
    pub(crate) form: &'a [Asked],
    /// The index of this control among the boxes that one value is split over, and the number of these boxes.
    pub(crate) part: (usize, usize),
}

impl Target<'_> {
    fn form_asks(&self, asked: Asked) -> bool {
        self.form.contains(&asked)
    }

    fn is_select(&self) -> bool {
        self.control.tag == "select"
    }

    /// Whether the control takes so many characters.
    fn takes(&self, characters: usize) -> bool {
        let most = self.control.words.max_length.and_then(|most| usize::try_from(most).ok());
        most.is_none_or(|most| characters <= most)
    }
}

/// A value as a control takes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shaped {
    /// As it is stored.
    AsStored,
    /// In another form, which is wiped when dropped.
    As(Zeroizing<String>),
    /// The control stays empty, since the value has no such part.
    Empty,
}

impl Shaped {
    fn text(text: impl Into<String>) -> Shaped {
        Shaped::As(Zeroizing::new(text.into()))
    }
}

/// A part of the value that cannot be derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Underivable;

/// Shapes a stored value for a control.
pub(crate) fn shape(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let (index, boxes) = target.part;
    match target.asked {
        Asked::GivenName | Asked::AdditionalName | Asked::FamilyName => person::part_of_name(value, target),
        Asked::FullName | Asked::CardName => Ok(person::whole_name(value)),
        Asked::Street | Asked::StreetLine2 | Asked::StreetLine3 | Asked::HouseNumber => {
            person::part_of_street(value, target)
        }
        Asked::Country => Ok(place::country(value, target)),
        Asked::Region => Ok(place::region(value, target)),
        Asked::Phone => Ok(phone::number(value, target)),
        Asked::PhoneCountryCode => phone::country_code(value, target),
        Asked::BirthDate => birth::whole(value, target),
        Asked::BirthDay | Asked::BirthMonth | Asked::BirthYear => birth::part(value, target),
        Asked::CardExpiry => Ok(date::expiry(value, target)),
        Asked::CardExpiryMonth => date::expiry_month(value, target),
        Asked::CardExpiryYear => date::expiry_year(value, target),
        Asked::CardNumber | Asked::OneTimeCode if boxes > 1 => split(value, index, boxes),
        _ if target.is_select() => Ok(choice::equal(target.control, &[value])),
        _ => Ok(Shaped::AsStored),
    }
}

/// The other texts that a control may get of a value, by which it is searched for: a name in the order of speech, the lines of a
/// street, an expiry with its whole year, a birth date in the orders of several countries. Parts that any text contains are not among them.
pub(crate) fn other_spellings(field: Field, value: &str) -> Vec<Zeroizing<String>> {
    match field {
        Field::Name => person::spoken(value).map(Zeroizing::new).into_iter().collect(),
        Field::Street => {
            let lines = person::lines(value);
            let apart = lines.iter().filter(|line| lines.len() > 1 && line.chars().count() >= LONG_LINE);
            apart.map(|line| Zeroizing::new((*line).to_owned())).collect()
        }
        Field::CardExpiry => date::long(value).map(Zeroizing::new).into_iter().collect(),
        Field::OneTimeCode => {
            secret_of(value).map(|secret| Zeroizing::new(secret.to_owned())).into_iter().collect()
        }
        Field::BirthDate => birth::spellings(value).into_iter().map(Zeroizing::new).collect(),
        _ => Vec::new(),
    }
}

/// The shortest line of a street that is searched for apart from the others, in characters.
const LONG_LINE: usize = 8;

/// Given and family name, for a receiver that takes both and prints one after the other. A name whose parts cannot be told apart is
/// whole in the first.
pub(crate) fn parts_of_name(value: &str) -> (Zeroizing<String>, Zeroizing<String>) {
    let (given, family) = person::given_and_family(value).unwrap_or((value.trim(), ""));
    (Zeroizing::new(given.to_owned()), Zeroizing::new(family.to_owned()))
}

/// The first line of a street, and the others in one.
pub(crate) fn parts_of_street(value: &str) -> (Zeroizing<String>, Zeroizing<String>) {
    let lines = person::lines(value);
    let (first, rest) = lines.split_first().map_or(("", [].as_slice()), |(first, rest)| (*first, rest));
    (Zeroizing::new(first.to_owned()), Zeroizing::new(rest.join(", ")))
}

pub(crate) use place::country_code;

/// One of several equal parts of a number.
fn split(value: &str, index: usize, boxes: usize) -> Result<Shaped, Underivable> {
    let digits: Zeroizing<String> = Zeroizing::new(value.chars().filter(|c| c.is_alphanumeric()).collect());
    let length = digits.len().checked_div(boxes).filter(|length| *length > 0).ok_or(Underivable)?;
    if !digits.len().is_multiple_of(boxes) {
        return Err(Underivable);
    }
    let part = digits.get(index * length..(index + 1) * length).ok_or(Underivable)?;
    Ok(Shaped::text(part))
}

#[cfg(test)]
mod tests;
