//! The parser of `ctx`, and of an amount with its currency.

use super::error::{Parse, SyntaxError};
use super::lexical::{Name, bare_value, string_value};
use super::sequence::object;
use crate::error::ParseErrorKind;
use crate::{Claim, ClaimKey, Currency, Money, Tier};

/// The keys of a `ctx`, for messages.
const KEYS: &str =
    "origin, top_origin, origin_request, container, tls, sink, purpose, control, total, currency";

const AMOUNT: &str = "a plain decimal number such as 64.15: no quotes, no sign, no exponent, no more \
                      decimals than the currency has, at most fifteen digits with all of them";

/// An amount and its currency while an object is being parsed. Either may come first.
#[derive(Default)]
pub(super) struct Price<'a> {
    number: Option<Located<'a, &'a str>>,
    currency: Option<Located<'a, Currency>>,
}

/// A value and its place.
struct Located<'a, T> {
    value: T,
    start: &'a str,
    end: &'a str,
}

impl<'a> Price<'a> {
    /// Parses the amount, which is the value of `key`.
    pub(super) fn number(&mut self, at: &Name<'a>, input: &'a str, key: &'static str) -> Parse<'a, ()> {
        located(&mut self.number, at, input, key, |input| {
            bare_value(input, key, AMOUNT, |text| {
                text.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
            })
        })
    }

    /// Parses the currency.
    pub(super) fn currency(&mut self, at: &Name<'a>, input: &'a str) -> Parse<'a, ()> {
        located(&mut self.currency, at, input, "currency", |input| {
            string_value(input, "currency", "three capitals in quotes, such as \"USD\"", |text| {
                Currency::new(&text)
            })
        })
    }

    /// Returns the amount, which is the value of `key`, if both or neither were given.
    pub(super) fn finish(self, key: &'static str) -> Result<Option<Money>, nom::Err<SyntaxError>> {
        match (self.number, self.currency) {
            (None, None) => Ok(None),
            (Some(number), Some(currency)) => match Money::parse(number.value, currency.value) {
                Some(money) => Ok(Some(money)),
                None => {
                    let kind = ParseErrorKind::WrongValue { key, wants: AMOUNT };
                    Err(SyntaxError::between(number.start, number.end, kind))
                }
            },
            (Some(number), None) => {
                Err(SyntaxError::between(number.start, number.end, ParseErrorKind::MissingKey("currency")))
            }
            (None, Some(currency)) => {
                Err(SyntaxError::between(currency.start, currency.end, ParseErrorKind::MissingKey(key)))
            }
        }
    }
}

fn located<'a, T>(
    slot: &mut Option<Located<'a, T>>,
    at: &Name<'a>,
    input: &'a str,
    key: &'static str,
    value: impl FnOnce(&'a str) -> Parse<'a, T>,
) -> Parse<'a, ()> {
    once(slot, at, input, key, |input| {
        let (end, value) = value(input)?;
        Ok((end, Located { value, start: input, end }))
    })
}

/// Parses the value of `key` into `slot`, which must still be empty.
pub(super) fn once<'a, T>(
    slot: &mut Option<T>,
    at: &Name<'a>,
    input: &'a str,
    key: &'static str,
    value: impl FnOnce(&'a str) -> Parse<'a, T>,
) -> Parse<'a, ()> {
    if slot.is_some() {
        return Err(at.error(ParseErrorKind::DuplicateKey(key)));
    }
    let (rest, value) = value(input)?;
    *slot = Some(value);
    Ok((rest, ()))
}

/// Parses the object after `ctx=`.
pub(super) fn claim(input: &str) -> Parse<'_, Claim> {
    let mut claim = Claim::default();
    let mut price = Price::default();
    let (rest, ()) = object(input, |at, input| {
        let Some(key) = ClaimKey::from_name(&at.text) else {
            return Err(at.error(ParseErrorKind::UnknownKey { name: at.excerpt(), known: KEYS }));
        };
        let name = key.as_str();
        let text = match key {
            ClaimKey::Container => {
                return once(&mut claim.container, at, input, name, |input| {
                    string_value(input, name, "\"T0\", \"T1\" or \"T2\"", |text| Tier::from_name(&text))
                });
            }
            ClaimKey::Tls => {
                return once(&mut claim.tls, at, input, name, |input| {
                    bare_value(input, name, "true or false", |text| text.parse().ok())
                });
            }
            ClaimKey::Total => return price.number(at, input, name),
            ClaimKey::Currency => return price.currency(at, input),
            ClaimKey::Origin => &mut claim.origin,
            ClaimKey::TopOrigin => &mut claim.top_origin,
            ClaimKey::OriginRequest => &mut claim.origin_request,
            ClaimKey::Sink => &mut claim.sink,
            ClaimKey::Purpose => &mut claim.purpose,
            ClaimKey::Control => &mut claim.control,
        };
        once(text, at, input, name, |input| {
            string_value(input, name, "a string in quotes", |text| Some(text.into_owned()))
        })
    })?;
    claim.total = price.finish(ClaimKey::Total.as_str())?;
    Ok((rest, claim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_lists_every_key() {
        assert_eq!(KEYS, ClaimKey::ALL.map(ClaimKey::as_str).join(", "));
    }
}
