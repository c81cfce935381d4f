//! Exact amounts of money.

/// A three-letter ISO 4217 currency code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Takes exactly three ASCII capitals.
    pub fn new(code: &str) -> Option<Currency> {
        let bytes: [u8; 3] = code.as_bytes().try_into().ok()?;
        bytes.iter().all(u8::is_ascii_uppercase).then_some(Currency(bytes))
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("")
    }

    /// How many digits stand after the decimal point in this currency (ISO 4217: 0, 2 or 3).
    pub fn minor_digits(self) -> u32 {
        match &self.0 {
            b"BIF" | b"CLP" | b"DJF" | b"GNF" | b"ISK" | b"JPY" | b"KMF" | b"KRW" | b"PYG" | b"RWF" | b"UGX"
            | b"UYI" | b"VND" | b"VUV" | b"XAF" | b"XOF" | b"XPF" => 0,
            b"BHD" | b"IQD" | b"JOD" | b"KWD" | b"LYD" | b"OMR" | b"TND" => 3,
            _ => 2,
        }
    }
}

/// An amount in the minor unit of its currency (cents for USD); never a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    /// The amount in minor units.
    pub minor: u64,
    /// The currency.
    pub currency: Currency,
}

impl Money {
    /// Reads a decimal literal such as `64.15`: no sign, no exponent, no more digits after the point than
    /// the currency has, at most 15 digits in all.
    pub fn parse(decimal: &str, currency: Currency) -> Option<Money> {
        let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
        let digits = currency.minor_digits() as usize;
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !plain(whole) || !plain(fraction) || whole.len() + fraction.len() > 15 {
            return None;
        }
        if (decimal.contains('.') && fraction.is_empty()) || fraction.len() > digits {
            return None;
        }
        let minor = format!("{whole}{fraction:0<digits$}").parse().ok()?;
        Some(Money { minor, currency })
    }

    /// The amount as a decimal literal with all minor digits, such as `64.15`.
    pub fn to_decimal(&self) -> String {
        let digits = self.currency.minor_digits() as usize;
        if digits == 0 {
            return self.minor.to_string();
        }
        let scale = 10u64.pow(digits as u32);
        format!("{}.{:0digits$}", self.minor / scale, self.minor % scale)
    }
}

impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.to_decimal(), self.currency.as_str())
    }
}
