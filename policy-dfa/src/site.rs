//! Host patterns of `site` rules.

/// A host, or every host below a domain (`*.shop.example`). Hosts are compared in their ASCII form, whole
/// labels at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    below: bool,
    host: String,
}

/// Why a text is not a host pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostPatternError {
    /// Letters outside ASCII.
    #[error("write the host in its ASCII form, such as xn--bcher-kva.example")]
    NotAscii,
    /// Capital letters.
    #[error("write the host in small letters")]
    Capitals,
    /// A star elsewhere than alone in front.
    #[error("a star stands alone in front of the first dot: *.shop.example")]
    Star,
    /// Not a host.
    #[error("write a host such as shop.example or *.shop.example, without scheme, port or path")]
    NotAHost,
}

impl HostPattern {
    /// Reads `shop.example` or `*.shop.example`.
    pub fn parse(text: &str) -> Result<HostPattern, HostPatternError> {
        if !text.is_ascii() {
            return Err(HostPatternError::NotAscii);
        }
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(HostPatternError::Capitals);
        }
        let (below, host) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if host.contains('*') {
            return Err(HostPatternError::Star);
        }
        let label = |part: &str| {
            (1..=63).contains(&part.len())
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        };
        let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).filter(|_| !below);
        if let Some(address) = inner.and_then(|inner| inner.parse::<std::net::Ipv6Addr>().ok()) {
            // As origins write it.
            return Ok(HostPattern { below, host: format!("[{address}]") });
        }
        if host.len() <= 253 && host.split('.').all(label) {
            Ok(HostPattern { below, host: host.to_owned() })
        } else {
            Err(HostPatternError::NotAHost)
        }
    }

    /// Whether `host`, in its ASCII form, is meant. A pattern with a star does not mean the domain itself.
    pub fn matches(&self, host: &str) -> bool {
        if !self.below {
            return host == self.host;
        }
        host.strip_suffix(self.host.as_str())
            .and_then(|rest| rest.strip_suffix('.'))
            .is_some_and(|labels| !labels.is_empty())
    }

    /// Whether every host that `other` means is meant by this pattern too.
    pub fn covers(&self, other: &HostPattern) -> bool {
        self == other || (self.below && self.matches(&other.host))
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.below { "*." } else { "" }, self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::{HostPattern, HostPatternError};

    fn pattern(text: &str) -> HostPattern {
        HostPattern::parse(text).unwrap()
    }

    #[test]
    fn a_plain_host_is_exact() {
        assert!(pattern("bank.example").matches("bank.example"));
        for other in ["my.bank.example", "bank.example.evil.test", "xbank.example", ""] {
            assert!(!pattern("bank.example").matches(other), "{other}");
        }
        assert!(pattern("[::1]").matches("[::1]") && pattern("[0:0::1]").matches("[::1]"));
    }

    #[test]
    fn a_star_means_whole_labels_below() {
        let below = pattern("*.bank.example");
        assert!(below.matches("a.bank.example") && below.matches("a.b.bank.example"));
        for other in ["bank.example", ".bank.example", "evilbank.example", "a.bank.example.test"] {
            assert!(!below.matches(other), "{other}");
        }
        assert!(pattern("*.example").covers(&below) && !below.covers(&pattern("bank.example")));
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, error) in [
            ("bücher.example", HostPatternError::NotAscii),
            ("Bank.example", HostPatternError::Capitals),
            ("a.*.example", HostPatternError::Star),
            ("*bank.example", HostPatternError::Star),
            ("https://bank.example", HostPatternError::NotAHost),
            ("bank.example:443", HostPatternError::NotAHost),
            ("bank..example", HostPatternError::NotAHost),
            ("", HostPatternError::NotAHost),
            ("[::g]", HostPatternError::NotAHost),
        ] {
            assert_eq!(HostPattern::parse(text), Err(error), "{text}");
        }
    }
}
