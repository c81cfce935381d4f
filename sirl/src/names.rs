//! The words of the vocabulary as text: each kind, field, tier and delivery is shown and parsed by its name.

use std::fmt;
use std::str::FromStr;

use crate::field::{Field, Tier};
use crate::kind::Kind;
use crate::reply::{Delivered, PurchaseMethod};

/// The error of a word that names nothing of the vocabulary.
///
/// ```
/// use sirl::{Field, Kind};
///
/// assert_eq!("login".parse(), Ok(Kind::Login));
/// assert_eq!("zip".parse::<Field>().unwrap().to_string(), "postal_code");
/// let error = "adress".parse::<Kind>().unwrap_err();
/// assert_eq!(error.to_string(), "`adress` is no kind of request; write one of: address, payment, purchase, contact, identity, login, otp");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no {of}; write one of: {known}")]
pub struct UnknownName {
    /// The word.
    pub word: String,
    of: &'static str,
    known: String,
}

/// With the feature `serde` a word is written by its name.
macro_rules! named {
    ($type:ty, $of:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(word: &str) -> Result<Self, UnknownName> {
                Self::from_name(word).ok_or_else(|| UnknownName {
                    word: word.to_owned(),
                    of: $of,
                    known: Self::ALL.map(Self::as_str).join(", "),
                })
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

named!(Kind, "kind of request");
named!(Field, "field");
named!(Tier, "tier");
named!(Delivered, "way of delivery");
named!(PurchaseMethod, "method of a purchase");

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn every_name_is_parsed_as_it_is_shown() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for field in Field::ALL {
            assert_eq!(field.to_string().parse(), Ok(field));
        }
        for tier in Tier::ALL {
            assert_eq!(tier.to_string().parse(), Ok(tier));
        }
        for delivered in Delivered::ALL {
            assert_eq!(delivered.to_string().parse(), Ok(delivered));
        }
        for method in PurchaseMethod::ALL {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        assert_eq!(serde_json::to_string(&Kind::ALL).unwrap().matches("\"otp\"").count(), 1);
        assert_eq!(serde_json::from_str::<Field>("\"zip\"").unwrap(), Field::PostalCode);
        let error = serde_json::from_str::<Delivered>("\"mailed\"").unwrap_err().to_string();
        assert!(error.starts_with("`mailed` is no way of delivery"), "{error}");
        assert!("".parse::<Tier>().unwrap_err().to_string().ends_with("T0, T1, T2"));
    }
}
