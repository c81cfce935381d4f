//! Name resolution: host rules, and the system's resolver.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;

/// The future of [`Resolver::resolve`].
pub type Resolved<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Finds the addresses of a host.
pub trait Resolver: Send + Sync {
    /// The addresses of a name, with the port. The host is not an IP address.
    fn resolve<'a>(&'a self, name: &'a str, port: u16) -> Resolved<'a>;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str, port: u16) -> Resolved<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
    }
}

/// One rule that maps hosts to another host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MapRule {
    pattern: String,
    /// The host; none for `~NOTFOUND`.
    host: Option<String>,
    port: Option<u16>,
}

/// Rules that map names to other hosts, in the syntax of Chromium's `--host-resolver-rules`.
///
/// The proxy needs them, since the browser resolves no name itself. The rules are `MAP pattern host`,
/// `MAP pattern host:port`, `MAP pattern ~NOTFOUND` and `EXCLUDE pattern`, separated by commas. A `*` in a pattern matches
/// any text, and a pattern with a port is compared with host and port. An exclusion takes precedence over every map; among
/// maps the first match counts.
///
/// ```
/// use portcullis::egress::proxy::HostRules;
///
/// let rules = HostRules::parse("MAP shop.test 127.0.0.1:8443, MAP * ~NOTFOUND, EXCLUDE localhost")?;
/// assert_eq!(rules.map("shop.test", 443), Some(("127.0.0.1".to_owned(), 8443)));
/// assert_eq!(rules.map("elsewhere.test", 443), None);
/// assert_eq!(rules.map("localhost", 443), Some(("localhost".to_owned(), 443)));
/// # Ok::<(), portcullis::egress::proxy::BadHostRule>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostRules {
    excluded: Vec<String>,
    maps: Vec<MapRule>,
}

/// The error of a rule that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the host rule `{0}` cannot be read; write such as `MAP shop.example 127.0.0.1:8443` or `EXCLUDE localhost`"
)]
pub struct BadHostRule(String);

impl HostRules {
    /// Parses rules.
    ///
    /// # Errors
    /// [`BadHostRule`] for an unknown rule. Chromium ignores such a rule; here that could connect a host to an address
    /// that the author of the rules did not intend.
    pub fn parse(text: &str) -> Result<HostRules, BadHostRule> {
        let mut rules = HostRules::default();
        for rule in text.split(',').map(str::trim).filter(|rule| !rule.is_empty()) {
            let words: Vec<&str> = rule.split_ascii_whitespace().collect();
            match words.as_slice() {
                [word, pattern] if word.eq_ignore_ascii_case("EXCLUDE") => {
                    rules.excluded.push(pattern.to_ascii_lowercase());
                }
                [word, pattern, to] if word.eq_ignore_ascii_case("MAP") => {
                    let (host, port) = read_target(to).ok_or_else(|| BadHostRule(rule.to_owned()))?;
                    rules.maps.push(MapRule { pattern: pattern.to_ascii_lowercase(), host, port });
                }
                _ => return Err(BadHostRule(rule.to_owned())),
            }
        }
        Ok(rules)
    }

    /// The host and port that a host and port are mapped to; none where a rule maps them to `~NOTFOUND`.
    pub fn map(&self, host: &str, port: u16) -> Option<(String, u16)> {
        let with_port = format!("{host}:{port}");
        let fits = |pattern: &str| matches(pattern, host) || matches(pattern, &with_port);
        if self.excluded.iter().any(|pattern| fits(pattern)) {
            return Some((host.to_owned(), port));
        }
        match self.maps.iter().find(|map| fits(&map.pattern)) {
            None => Some((host.to_owned(), port)),
            Some(map) => Some((map.host.clone()?, map.port.unwrap_or(port))),
        }
    }

    /// The addresses of a host by these rules and then by `resolver`.
    pub(crate) async fn addresses(
        &self,
        host: &str,
        port: u16,
        resolver: &dyn Resolver,
    ) -> io::Result<Vec<SocketAddr>> {
        let Some((host, port)) = self.map(host, port) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(address) => Ok(vec![SocketAddr::new(address, port)]),
            Err(_) => resolver.resolve(&host, port).await,
        }
    }
}

/// Parses the target of a map rule. The outer none is a parse error.
fn read_target(text: &str) -> Option<(Option<String>, Option<u16>)> {
    if text.eq_ignore_ascii_case("~NOTFOUND") {
        return Some((None, None));
    }
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address has its colons within brackets.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let fits = !host.is_empty() && !host.contains(['~', '*', '/', '@']);
    fits.then(|| (Some(host.to_ascii_lowercase()), port))
}

/// Whether a text matches a pattern with `*`. Both are short.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part).and_then(|at| rest.get(at + part.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mapped(rules: &str, host: &str, port: u16) -> Option<(String, u16)> {
        HostRules::parse(rules).unwrap().map(host, port)
    }

    #[test]
    fn hosts_are_mapped_as_the_browser_maps_them() {
        let rules = "MAP shop.test 127.0.0.1:8443, MAP *.test 127.0.0.2 ,map plain.example:80 [::1]:81, MAP * ~NOTFOUND, EXCLUDE localhost";
        for (host, port, to) in [
            ("shop.test", 443, Some(("127.0.0.1", 8443))),
            ("a.test", 443, Some(("127.0.0.2", 443))),
            ("plain.example", 80, Some(("[::1]", 81))),
            ("plain.example", 443, None),
            ("test", 443, None),
            ("localhost", 1, Some(("localhost", 1))),
            ("a.localhost", 1, None),
        ] {
            assert_eq!(
                mapped(rules, host, port),
                to.map(|(host, port)| (host.to_owned(), port)),
                "{host}:{port}"
            );
        }
        assert_eq!(mapped("", "shop.test", 1), Some(("shop.test".to_owned(), 1)));
    }

    #[test]
    fn other_rules_are_refused() {
        for rule in
            ["MAP a", "MAP a b c", "EXCLUDE", "EXCLUDE a b", "LEAD a b", "MAP a b:x", "MAP a :1", "MAP a ~X"]
        {
            let refused = HostRules::parse(&format!("MAP x y, {rule}"));
            assert_eq!(refused, Err(BadHostRule(rule.to_owned())));
        }
    }

    /// A slow reference implementation.
    fn fits(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                fits(rest, text) || text.split_first().is_some_and(|(_, after)| fits(pattern, after))
            }
            (Some((a, pattern)), Some((b, text))) => a == b && fits(pattern, text),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_the_reference_does(pattern in "[ab*]{0,8}", text in "[ab]{0,8}") {
            prop_assert_eq!(matches(&pattern, &text), fits(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn any_rules_are_survived(text in "\\PC{0,60}", host in "[a-z.]{0,12}") {
            if let Ok(rules) = HostRules::parse(&text) {
                let _ = rules.map(&host, 443);
            }
        }
    }
}
