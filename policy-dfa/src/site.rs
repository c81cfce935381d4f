//! The patterns of `site` rules: hosts, and paths below them.

use sirl::Kind;

use crate::VerbKind;
use crate::table::Root;

/// A host, or every host below a domain (`*.shop.example`). Hosts are compared in their ASCII form, whole
/// labels at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    below: bool,
    host: String,
}

/// Why a text is not a pattern.
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
    #[error("write a host such as shop.example or *.shop.example, without scheme or port")]
    NotAHost,
    /// Not a path.
    #[error("write a path such as /account or /account/*, as the browser shows it, without query or escapes")]
    Path,
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

/// A path, or every path that begins so (`/account/*`). Compared byte by byte, without query and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    prefix: bool,
    path: String,
}

impl PathPattern {
    /// Reads `/account` or `/account/*`.
    ///
    /// # Errors
    /// What does not begin with a slash, has a star elsewhere than at the end, or has a character that no
    /// resolved address shows so: a blank, an escape, an empty segment, a question mark.
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

    /// Whether a path, as the browser resolved it, is meant.
    pub fn matches(&self, path: &str) -> bool {
        if self.prefix { path.starts_with(&self.path) } else { path == self.path }
    }

    /// Whether every path that `other` means is meant by this pattern too.
    pub fn covers(&self, other: &PathPattern) -> bool {
        self == other || (self.prefix && other.path.starts_with(&self.path))
    }
}

impl std::fmt::Display for PathPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.path, if self.prefix { "*" } else { "" })
    }
}

/// Hosts, and where it matters a path on them: `*.shop.example/account/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePattern {
    /// The hosts.
    pub hosts: HostPattern,
    /// The paths; with none, all of them.
    pub path: Option<PathPattern>,
}

impl SitePattern {
    /// Reads a host pattern, with a path pattern behind it or not.
    ///
    /// # Errors
    /// Where one of the two cannot be read.
    pub fn parse(text: &str) -> Result<SitePattern, HostPatternError> {
        let (host, path) = match text.find('/') {
            Some(slash) => text.split_at(slash),
            None => (text, ""),
        };
        // A scheme is the usual slip, and is better told as one.
        if host.ends_with(':') {
            return Err(HostPatternError::NotAHost);
        }
        let hosts = HostPattern::parse(host)?;
        Ok(SitePattern { hosts, path: if path.is_empty() { None } else { Some(PathPattern::parse(path)?) } })
    }

    /// Whether every place that `other` means is meant by this pattern too.
    pub fn covers(&self, other: &SitePattern) -> bool {
        let paths = match (&self.path, &other.path) {
            (None, _) => true,
            (Some(mine), Some(theirs)) => mine.covers(theirs),
            (Some(_), None) => false,
        };
        paths && self.hosts.covers(&other.hosts)
    }

    /// A regular expression for the hosts, written backwards, and then either any path or this one.
    pub(crate) fn expression(&self, with_path: bool) -> String {
        let escaped = |c: char| match c {
            c if c.is_ascii_alphanumeric() => c.to_string(),
            c => format!("\\x{:02x}", u32::from(c)),
        };
        let host: String = self.hosts.host.chars().rev().map(escaped).collect();
        let below = if self.hosts.below { "\\.[^/]+" } else { "" };
        let path = match &self.path {
            Some(path) if with_path => {
                let fixed: String = path.path.chars().map(escaped).collect();
                fixed + if path.prefix { ".*" } else { "" }
            }
            _ => "(?:/.*)?".to_owned(),
        };
        format!("(?s-u)\\A{host}{below}{path}\\z")
    }
}

impl std::fmt::Display for SitePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.hosts.fmt(f)?;
        self.path.as_ref().map_or(Ok(()), |path| path.fmt(f))
    }
}

/// What a `site` rule says of the places that its pattern means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SiteEffect {
    /// The events never happen there.
    Never,
    /// The events happen nowhere but there, and where other such rules allow them.
    Only,
}

/// What never, or only, happens on some sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SiteRule {
    pub(crate) place: SitePattern,
    pub(crate) effect: SiteEffect,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) verbs: Vec<VerbKind>,
}

impl SiteRule {
    pub(crate) fn names(&self, root: Root) -> bool {
        match root {
            Root::Request(kind, _) => self.kinds.contains(&kind),
            Root::Verb(verb) => self.verbs.contains(&verb),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HostPattern, HostPatternError, SitePattern};

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

    #[test]
    fn a_path_is_exact_or_a_beginning() {
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
