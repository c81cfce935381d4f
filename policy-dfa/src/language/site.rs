//! `site` rules, and their patterns: hosts, and paths below them.

use browser_signals::Origin;

use crate::vocabulary::event::{EventKind, Root};

/// The most `site` rules of a policy.
pub(crate) const MAX_SITES: usize = 1_024;

/// A host, or every host below a domain (`*.shop.example`). Hosts are compared in their ASCII form, whole
/// labels at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    below: bool,
    host: String,
}

/// The reason why a text is not a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostPatternError {
    /// Letters outside ASCII.
    #[error("write the host in its ASCII form, such as xn--bcher-kva.example")]
    NotAscii,
    /// Capital letters.
    #[error("write the host in small letters")]
    Capitals,
    /// A star that is not alone in front of the first dot.
    #[error("a star stands alone in front of the first dot: *.shop.example")]
    Star,
    /// Not a host.
    #[error("write a host such as shop.example or *.shop.example, without scheme or port")]
    NotAHost,
    /// Not a path.
    #[error("write a path such as /account or /account/*, as the browser shows it, without query or escapes")]
    Path,
}

impl HostPattern {
    /// Parses `shop.example` or `*.shop.example`.
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
        if inner.is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok()) {
            // The form of an origin differs from that of the standard library for addresses such as ::ffff:127.0.0.1.
            let origin = Origin::parse(&format!("http://{host}")).map_err(|_| HostPatternError::NotAHost)?;
            return Ok(HostPattern { below, host: origin.host().to_owned() });
        }
        if host.len() <= 253 && host.split('.').all(label) {
            Ok(HostPattern { below, host: host.to_owned() })
        } else {
            Err(HostPatternError::NotAHost)
        }
    }

    /// The host, or the domain that the hosts are below.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Whether it means every host below the domain, and not the host alone.
    pub(crate) fn is_below(&self) -> bool {
        self.below
    }

    /// Whether the pattern matches `host`, in its ASCII form. A pattern with a star does not match the domain itself.
    pub fn matches(&self, host: &str) -> bool {
        if !self.below {
            return host == self.host;
        }
        host.strip_suffix(self.host.as_str())
            .and_then(|rest| rest.strip_suffix('.'))
            .is_some_and(|labels| !labels.is_empty())
    }

    /// Whether this pattern matches every host that `other` matches.
    pub fn covers(&self, other: &HostPattern) -> bool {
        self == other || (self.below && self.matches(&other.host))
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.below { "*." } else { "" }, self.host)
    }
}

/// A path, or every path with a prefix (`/account/*`). Paths are compared byte by byte, without query and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    prefix: bool,
    path: String,
}

impl PathPattern {
    /// Parses `/account` or `/account/*`.
    ///
    /// # Errors
    /// The text does not begin with a slash, has a star that is not at its end, or has something that a resolved
    /// path never has in this form: a blank, an escape, an empty segment, a question mark.
    pub fn parse(text: &str) -> Result<PathPattern, HostPatternError> {
        let (prefix, path) = match text.strip_suffix('*') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-._~!$&'()+,;=:@".contains(&b);
        let segments = path.strip_prefix('/').ok_or(HostPatternError::Path)?;
        let dots = segments.split('/').any(|segment| matches!(segment, "." | ".."));
        if !path.bytes().all(plain) || path.contains("//") || dots || path.len() > 512 {
            return Err(HostPatternError::Path);
        }
        Ok(PathPattern { prefix, path: path.to_owned() })
    }

    /// Whether the pattern matches a path, as the browser resolved it.
    pub fn matches(&self, path: &str) -> bool {
        if self.prefix { path.starts_with(&self.path) } else { path == self.path }
    }

    /// Whether this pattern matches every path that `other` matches.
    pub fn covers(&self, other: &PathPattern) -> bool {
        self == other || (self.prefix && other.path.starts_with(&self.path))
    }
}

impl std::fmt::Display for PathPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.path, if self.prefix { "*" } else { "" })
    }
}

/// Hosts, with or without a path on them: `*.shop.example/account/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePattern {
    /// The hosts.
    pub hosts: HostPattern,
    /// The paths; with none, every path.
    pub path: Option<PathPattern>,
}

impl SitePattern {
    /// Parses a host pattern, with or without a path pattern after it.
    ///
    /// # Errors
    /// One of the two cannot be parsed.
    pub fn parse(text: &str) -> Result<SitePattern, HostPatternError> {
        let (host, path) = match text.find('/') {
            Some(slash) => text.split_at(slash),
            None => (text, ""),
        };
        // A scheme is a common mistake, so it gets the message about hosts and not the one about paths.
        if host.ends_with(':') {
            return Err(HostPatternError::NotAHost);
        }
        let hosts = HostPattern::parse(host)?;
        Ok(SitePattern { hosts, path: if path.is_empty() { None } else { Some(PathPattern::parse(path)?) } })
    }

    /// Whether this pattern matches every address that `other` matches.
    pub fn covers(&self, other: &SitePattern) -> bool {
        let paths = match (&self.path, &other.path) {
            (None, _) => true,
            (Some(mine), Some(theirs)) => mine.covers(theirs),
            (Some(_), None) => false,
        };
        paths && self.hosts.covers(&other.hosts)
    }
}

impl std::fmt::Display for SitePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.hosts.fmt(f)?;
        self.path.as_ref().map_or(Ok(()), |path| path.fmt(f))
    }
}

/// The effect of a `site` rule on the addresses that its pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SiteEffect {
    /// The events never happen there.
    Never,
    /// The events happen only there, and where other `only` rules allow them.
    Only,
}

impl SiteEffect {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            SiteEffect::Never => "never",
            SiteEffect::Only => "only",
        }
    }
}

/// A rule on the events that never happen, or only happen, on some sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SiteRule {
    pub(crate) pattern: SitePattern,
    pub(crate) effect: SiteEffect,
    /// In canonical order, each at most once.
    pub(crate) events: Vec<EventKind>,
}

impl SiteRule {
    pub(crate) fn names(&self, root: Root) -> bool {
        self.events.contains(&EventKind::of(root))
    }

    /// Whether this rule names every event that `other` names, on every address that `other` matches.
    pub(crate) fn covers(&self, other: &SiteRule) -> bool {
        self.pattern.covers(&other.pattern) && other.events.iter().all(|event| self.events.contains(event))
    }
}

#[cfg(test)]
mod tests {
    use super::{HostPattern, HostPatternError, Origin, SitePattern};

    fn pattern(text: &str) -> HostPattern {
        HostPattern::parse(text).unwrap()
    }

    /// An address has the form of an origin, also where the standard library writes another one.
    #[test]
    fn addresses_match_their_origins() {
        for text in ["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[2001:db8:0:0:1::1]"] {
            let origin = Origin::parse(&format!("http://{text}/")).unwrap();
            let pattern = HostPattern::parse(text).unwrap();
            assert!(pattern.matches(origin.host()), "{pattern} and {origin}");
            assert_eq!(HostPattern::parse(&pattern.to_string()), Ok(pattern), "{text}");
        }
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
    fn a_star_matches_whole_labels() {
        let below = pattern("*.bank.example");
        assert!(below.matches("a.bank.example") && below.matches("a.b.bank.example"));
        for other in ["bank.example", ".bank.example", "evilbank.example", "a.bank.example.test"] {
            assert!(!below.matches(other), "{other}");
        }
        assert!(pattern("*.example").covers(&below) && !below.covers(&pattern("bank.example")));
    }

    #[test]
    fn malformed_patterns_are_refused() {
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

    #[test]
    fn a_path_is_exact_or_a_prefix() {
        let site = |text: &str| SitePattern::parse(text);
        let account = site("*.shop.example/account/*").unwrap();
        let path = account.path.clone().unwrap();
        assert!(path.matches("/account/") && path.matches("/account/x") && !path.matches("/account"));
        assert!(account.covers(&site("a.shop.example/account/x").unwrap()));
        assert!(!account.covers(&site("a.shop.example").unwrap()));
        assert!(site("*.shop.example").unwrap().covers(&account));
        assert_eq!(account.to_string(), "*.shop.example/account/*");
        for text in [
            "a.example/a*b",
            "a.example/%41",
            "a.example//b",
            "a.example/../b",
            "a.example/a?b",
            "a.example/a b",
        ] {
            assert_eq!(site(text), Err(HostPatternError::Path), "{text}");
        }
        assert_eq!(site("https://a.example/"), Err(HostPatternError::NotAHost));
    }
}
