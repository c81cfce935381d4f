//! Exact amounts of money.

/// A three-letter ISO 4217 currency code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Accepts exactly three ASCII capitals. It does not check that the code is in use.
    #[must_use]
    pub fn new(code: &str) -> Option<Currency> {
        let bytes: [u8; 3] = code.as_bytes().try_into().ok()?;
        bytes.iter().all(u8::is_ascii_uppercase).then_some(Currency(bytes))
    }

    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("")
    }

    /// The number of digits after the decimal point in this currency (ISO 4217: 0, 2, 3 or 4); 2 for a code that
    /// is not in use.
    #[must_use]
    pub fn minor_digits(self) -> u32 {
        match &self.0 {
            b"BIF" | b"CLP" | b"DJF" | b"GNF" | b"ISK" | b"JPY" | b"KMF" | b"KRW" | b"PYG" | b"RWF"
            | b"UGX" | b"UYI" | b"VND" | b"VUV" | b"XAF" | b"XOF" | b"XPF" => 0,
            b"BHD" | b"IQD" | b"JOD" | b"KWD" | b"LYD" | b"OMR" | b"TND" => 3,
            b"CLF" | b"UYW" => 4,
            _ => 2,
        }
    }
}

/// An amount in the minor unit of its currency (cents for USD); never a float. With the feature `serde` it is a text such as
/// `64.15 USD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    /// The amount in minor units.
    pub minor: u64,
    /// The currency.
    pub currency: Currency,
}

impl Money {
    /// The largest amount that has a text form, in minor units: fifteen digits.
    pub const MAX_MINOR: u64 = 999_999_999_999_999;

    /// Parses a decimal literal such as `64.15`: no sign, no exponent, no needless leading zero, no more
    /// digits after the point than the currency has, at most [`Money::MAX_MINOR`] in minor units.
    ///
    /// ```
    /// use sirl::{Currency, Money};
    ///
    /// let usd = Currency::new("USD").unwrap();
    /// assert_eq!(Money::parse("64.1", usd).unwrap().minor, 6410);
    /// assert_eq!(Money::parse("64.1", usd).unwrap().to_decimal(), "64.10");
    /// assert_eq!(Money::parse("64.155", usd), None);
    /// ```
    #[must_use]
    pub fn parse(decimal: &str, currency: Currency) -> Option<Money> {
        let (whole, fraction) = match decimal.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (decimal, ""),
        };
        let digits = currency.minor_digits();
        let missing = digits.checked_sub(u32::try_from(fraction.len()).ok()?)?;
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        let mut minor: u64 = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            minor = minor.checked_mul(10)?.checked_add(digit)?;
        }
        minor = minor.checked_mul(10u64.pow(missing))?;
        (minor <= Money::MAX_MINOR).then_some(Money { minor, currency })
    }

    /// The amount as a decimal literal with all minor digits, such as `64.15`.
    #[must_use]
    pub fn to_decimal(&self) -> String {
        let digits = self.currency.minor_digits();
        if digits == 0 {
            return self.minor.to_string();
        }
        let scale = 10u64.pow(digits);
        format!("{}.{:0width$}", self.minor / scale, self.minor % scale, width = digits as usize)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Money {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Money {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        let written = String::deserialize(deserializer)?;
        let amount = written.split_once(' ').and_then(|(decimal, code)| {
            Currency::new(code).and_then(|currency| Money::parse(decimal, currency))
        });
        amount.ok_or_else(|| {
            let problem = format!("`{written}` is no amount; write one such as 64.15 USD");
            serde::de::Error::custom(problem)
        })
    }
}

/// The amount and the code, such as `64.15 USD`.
impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.to_decimal(), self.currency.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn money(decimal: &str, code: &str) -> Option<u64> {
        Money::parse(decimal, Currency::new(code).unwrap()).map(|money| money.minor)
    }

    #[test]
    fn decimals_become_minor_units() {
        for (decimal, code, minor) in [
            ("64.15", "USD", 6415),
            ("64.1", "USD", 6410),
            ("64", "USD", 6400),
            ("0", "USD", 0),
            ("0.07", "EUR", 7),
            ("1200", "JPY", 1200),
            ("1.234", "KWD", 1234),
            ("1.2345", "CLF", 12345),
            ("9999999999999.99", "USD", Money::MAX_MINOR),
            ("999999999999999", "JPY", Money::MAX_MINOR),
        ] {
            assert_eq!(money(decimal, code), Some(minor), "{decimal} {code}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for (decimal, code) in [
            ("", "USD"),
            (".5", "USD"),
            ("5.", "USD"),
            ("5.", "JPY"),
            ("-5", "USD"),
            ("+5", "USD"),
            ("1e3", "USD"),
            ("007", "USD"),
            ("00", "USD"),
            ("1,5", "USD"),
            ("1.2.3", "USD"),
            ("64.155", "USD"),
            ("1.0", "JPY"),
            (" 1", "USD"),
            ("١", "USD"),
            ("10000000000000.00", "USD"),
            ("1000000000000000", "JPY"),
            ("99999999999999999999999999", "USD"),
        ] {
            assert_eq!(money(decimal, code), None, "{decimal} {code}");
        }
    }

    #[test]
    fn a_currency_is_three_capitals() {
        for code in ["", "US", "USDX", "usd", "U1D", "U D", "ÄB", "€"] {
            assert_eq!(Currency::new(code), None, "{code}");
        }
        assert_eq!(Currency::new("USD").unwrap().as_str(), "USD");
    }

    #[test]
    fn an_amount_is_written_with_its_currency_and_read_back() {
        let amount = Money { minor: 6410, currency: Currency::new("USD").unwrap() };
        assert_eq!(serde_json::to_string(&amount).unwrap(), "\"64.10 USD\"");
        assert_eq!(serde_json::from_str::<Money>("\"64.1 USD\"").unwrap(), amount);
        for written in ["\"64.1\"", "\"64.155 USD\"", "\"64.1 usd\"", "\"64.1  USD\"", "64.1"] {
            assert!(serde_json::from_str::<Money>(written).is_err(), "{written}");
        }
    }

    #[test]
    fn display_names_the_currency() {
        assert_eq!(Money { minor: 5, currency: Currency::new("USD").unwrap() }.to_string(), "0.05 USD");
    }

    proptest! {
        #[test]
        fn a_printed_amount_is_parsed_back(minor in 0..=Money::MAX_MINOR, code in "USD|JPY|KWD|CLF|[A-Z]{3}") {
            let money = Money { minor, currency: Currency::new(&code).unwrap() };
            prop_assert_eq!(Money::parse(&money.to_decimal(), money.currency), Some(money));
        }

        #[test]
        fn a_parsed_amount_prints_as_an_equal_one(decimal in "[0-9]{0,17}(\\.[0-9]{0,4})?", code in "USD|JPY|KWD|CLF") {
            let currency = Currency::new(&code).unwrap();
            if let Some(money) = Money::parse(&decimal, currency) {
                prop_assert_eq!(Money::parse(&money.to_decimal(), currency), Some(money));
            }
        }
    }
}
