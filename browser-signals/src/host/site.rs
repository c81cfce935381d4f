//! Sites: a registrable domain and all hosts below it.
//!
//! Data is bound to an exact [`Origin`] by default. A [`Site`] is wider, and only for data that a person binds to one on
//! purpose: a page on any subdomain of the site gets it, and a forgotten DNS record is enough to publish such a page.

use std::sync::Arc;

use url::{Host, Url};

use super::origin::Origin;
use super::public_suffix::{self, Owner};

/// The longest host that DNS carries, in bytes.
const LONGEST_HOST: usize = 253;

/// Endings that are not in the public suffix list and cannot be registered (RFC 6761): for tests and examples.
const RESERVED_ENDINGS: [&str; 2] = ["test", "example"];

/// A registrable domain, such as `shop.example`: one label below a public suffix. It covers its own host
/// and every host below it, by https on the default port.
///
/// Suffixes are those of the public suffix list, private ones too: `alice.github.io` is a site of its own and
/// `github.io` is none. An ending that is not in the list is refused, since it is unknown how much below it
/// belongs to one owner; `test` and `example` are the exceptions. Data can still be bound to the exact origin
/// of a refused host.
///
/// The list is compiled into the program: a suffix that is added later needs an update.
///
/// ```
/// use browser_signals::{Origin, Site};
///
/// let shop = Origin::parse("https://www.shop.example/cart")?;
/// let site = Site::of(&shop)?;
/// assert_eq!(site.to_string(), "shop.example");
/// assert!(site.contains(&Origin::parse("https://pay.shop.example")?));
/// assert!(!site.contains(&Origin::parse("https://shop.example.evil.test")?));
/// assert!(Site::parse("127.0.0.1").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    host: Arc<str>,
}

/// Why there is no site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// Not the name of a host at all.
    #[error("\"{0}\" is not the name of a site; write one such as shop.example, without https:// and path")]
    NotAName(String),
    /// Another scheme than https.
    #[error("{0} is not encrypted; only an https origin has a site")]
    NotHttps(Origin),
    /// Another port than 443.
    #[error("{0} is on a port of its own; bind the exact origin")]
    Port(Origin),
    /// An IP address has no registrable domain.
    #[error("{0} is an IP address and has no site; bind the exact origin")]
    Address(String),
    /// A trailing dot makes another host of the same look.
    #[error("\"{0}\" ends in a dot; write it without")]
    TrailingDot(String),
    /// One label, such as `localhost`.
    #[error("{0} is a single name and has no site; bind the exact origin")]
    SingleLabel(String),
    /// It is shared by many owners.
    #[error("{0} is shared by many owners and is no site; name one below it")]
    PublicSuffix(String),
    /// The ending is not in the list.
    #[error("the ending of {0} is not in the public suffix list; bind the exact origin")]
    UnknownEnding(String),
    /// A host within a site.
    #[error("{host} is a host of the site {site}; write the one, or bind the exact origin")]
    Subdomain {
        /// The host that was written.
        host: String,
        /// The site it belongs to.
        site: Site,
    },
}

impl Site {
    /// The site of an origin. Errors where the origin is not https on port 443, or its host has no site.
    pub fn of(origin: &Origin) -> Result<Site, SiteError> {
        if origin.scheme() != "https" {
            return Err(SiteError::NotHttps(origin.clone()));
        }
        if origin.port() != 443 {
            return Err(SiteError::Port(origin.clone()));
        }
        site_of(origin.host())
    }

    /// Reads a site as it prints: a bare name, in any case, internationalised or not. The name of a host
    /// below a site is an error, so that a binding is never wider than its text.
    pub fn parse(text: &str) -> Result<Site, SiteError> {
        let none = || SiteError::NotAName(text.to_owned());
        // With one of these, parsing would read another part of an address, or drop a character.
        let foreign =
            |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | '?' | '#' | '@' | '%');
        if text.contains(foreign) {
            return Err(none());
        }
        let url = Url::parse(&format!("https://{text}")).map_err(|_| none())?;
        let host = url.host_str().ok_or_else(none)?;
        if is_address(host) {
            return Err(SiteError::Address(host.to_owned()));
        }
        if text.contains(':') {
            return Err(none());
        }
        let site = site_of(host)?;
        if *site.host == *host { Ok(site) } else { Err(SiteError::Subdomain { host: host.to_owned(), site }) }
    }

    /// Whether the origin belongs to the site: https, the default port, and exactly this site. A host below it
    /// that is a site of its own, because of a suffix below this site, does not.
    pub fn contains(&self, origin: &Origin) -> bool {
        Site::of(origin).is_ok_and(|site| site == *self)
    }

    /// The registrable domain in lower-case ASCII.
    pub fn host(&self) -> &str {
        &self.host
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.host)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Site {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Site {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Site, D::Error> {
        let written = String::deserialize(deserializer)?;
        Site::parse(&written).map_err(serde::de::Error::custom)
    }
}

/// The site of a parsed host.
fn site_of(host: &str) -> Result<Site, SiteError> {
    let named = || host.to_owned();
    if is_address(host) {
        return Err(SiteError::Address(named()));
    }
    if host.ends_with('.') {
        return Err(SiteError::TrailingDot(named()));
    }
    if host.len() > LONGEST_HOST || host.split('.').any(|label| label.is_empty() || label.len() > 63) {
        return Err(SiteError::NotAName(named()));
    }
    if !host.contains('.') {
        return Err(SiteError::SingleLabel(named()));
    }
    let Some(domain) = public_suffix::domain(host) else {
        return Err(SiteError::PublicSuffix(named()));
    };
    let ending = host.rsplit('.').next().unwrap_or_default();
    if domain.suffix.owner.is_none() && !RESERVED_ENDINGS.contains(&ending) {
        return Err(SiteError::UnknownEnding(named()));
    }
    let registrable = domain.text;
    // A registered name consists of letters, digits and hyphens; a host below it may have an underscore.
    if registrable.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.')) {
        Ok(Site { host: registrable.into() })
    } else {
        Err(SiteError::NotAName(named()))
    }
}

/// Whether a parsed host is an IP address. It has to be checked before the suffix list is, which treats
/// `127.0.0.1` as the name `0.1` below the suffix `1`.
pub(crate) fn is_address(host: &str) -> bool {
    !matches!(Host::parse(host), Ok(Host::Domain(_)) | Err(_))
}

/// The registrable domain of a host by the suffix list alone, even if it is no [`Site`], as the name before
/// the suffix and the suffix. It is for comparing looks, never for a binding.
pub(crate) fn registrable(host: &str) -> Option<(&str, &str)> {
    if is_address(host) {
        return None;
    }
    let Some(domain) = public_suffix::domain(host) else {
        // A company's suffix has a website too.
        return host.split_once('.');
    };
    domain.text.split_once('.')
}

/// A host in two parts: the labels before its registrable domain, and that domain, which says whose the host is. The
/// first part of a host without one, such as an IP address, is empty. It is for showing, never for a binding.
///
/// ```
/// use browser_signals::site::parts_of_host;
///
/// assert_eq!(parts_of_host("bank.example.shop.co.uk"), ("bank.example.", "shop.co.uk"));
/// assert_eq!(parts_of_host("127.0.0.1"), ("", "127.0.0.1"));
/// ```
pub fn parts_of_host(host: &str) -> (&str, &str) {
    let domain = if is_address(host) { None } else { public_suffix::domain(host) };
    let length = domain.map_or(host.len(), |domain| domain.text.len());
    host.len().checked_sub(length).and_then(|at| host.split_at_checked(at)).unwrap_or(("", host))
}

/// Whether the suffix of a host is a private one, which a company gives out below its own name, such as `github.io`.
pub(crate) fn is_private_suffix(host: &str) -> bool {
    public_suffix::suffix(host).is_some_and(|suffix| suffix.owner == Some(Owner::Company))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::{Site, SiteError, registrable};
    use crate::Origin;

    fn of(text: &str) -> Result<String, SiteError> {
        Site::of(&Origin::parse(text).unwrap()).map(|site| site.to_string())
    }

    #[test]
    fn a_site_is_stored_as_its_text() {
        let site = Site::parse("shop.example").unwrap();
        assert_eq!(serde_json::to_string(&site).unwrap(), "\"shop.example\"");
        assert_eq!(serde_json::from_str::<Site>("\"shop.example\"").unwrap(), site);
        assert!(serde_json::from_str::<Site>("\"co.uk\"").is_err(), "a suffix is no site");
    }

    #[test]
    fn a_site_is_one_label_below_a_public_suffix() {
        for (origin, site) in [
            ("https://shop.example", "shop.example"),
            ("https://a.b.shop.example/cart?x#y", "shop.example"),
            ("https://copper-kettle.test", "copper-kettle.test"),
            ("https://www.example.com:443", "example.com"),
            ("https://WWW.Example.COM", "example.com"),
            ("https://www.example.co.uk", "example.co.uk"),
            ("https://alice.github.io", "alice.github.io"),
            ("https://pages.alice.github.io", "alice.github.io"),
            ("https://www.b\u{fc}cher.example", "xn--bcher-kva.example"),
            // Suffixes of letters outside ASCII are looked up by their A-labels.
            ("https://www.shop.\u{516c}\u{53f8}.cn", "shop.xn--55qx5d.cn"),
            ("https://www.shop.\u{440}\u{444}", "shop.xn--p1ai"),
            // Fullwidth letters, a soft hyphen and an ideographic full stop are mapped by parsing.
            ("https://\u{ff45}xample.com", "example.com"),
            ("https://ex\u{ad}ample.com", "example.com"),
            ("https://www\u{3002}example.com", "example.com"),
            ("https://_dmarc.example.com", "example.com"),
        ] {
            assert_eq!(of(origin).as_deref(), Ok(site), "{origin}");
        }
    }

    #[test]
    fn hosts_without_a_site_are_refused_with_the_reason() {
        use SiteError as E;
        let named = |make: fn(String) -> E, host: &str| Err(make(host.to_owned()));
        for (origin, refused) in [
            ("https://127.0.0.1", named(E::Address, "127.0.0.1")),
            ("https://0x7f.1", named(E::Address, "127.0.0.1")),
            ("https://0177.0.0.1", named(E::Address, "127.0.0.1")),
            ("https://2130706433", named(E::Address, "127.0.0.1")),
            ("https://127.1", named(E::Address, "127.0.0.1")),
            ("https://\u{ff11}27.0.0.1", named(E::Address, "127.0.0.1")),
            ("https://[::1]", named(E::Address, "[::1]")),
            ("https://[::ffff:1.2.3.4]", named(E::Address, "[::ffff:102:304]")),
            ("https://github.io", named(E::PublicSuffix, "github.io")),
            ("https://co.uk", named(E::PublicSuffix, "co.uk")),
            ("https://xn--55qx5d.cn", named(E::PublicSuffix, "xn--55qx5d.cn")),
            ("https://com", named(E::SingleLabel, "com")),
            ("https://localhost", named(E::SingleLabel, "localhost")),
            ("https://test", named(E::SingleLabel, "test")),
            ("https://printer.lan", named(E::UnknownEnding, "printer.lan")),
            ("https://shop.localhost", named(E::UnknownEnding, "shop.localhost")),
            ("https://shop..example", named(E::NotAName, "shop..example")),
            ("https://.shop.example", named(E::NotAName, ".shop.example")),
            ("https://sh_op.example", named(E::NotAName, "sh_op.example")),
        ] {
            assert_eq!(of(origin), refused, "{origin}");
        }
        let long = format!("{}.com", ["a"; 127].join("."));
        assert_eq!(of(&format!("https://{long}")), named(E::NotAName, &long));
        for text in ["http://shop.example", "http://shop.example:443"] {
            assert!(matches!(of(text), Err(E::NotHttps(_))), "{text}");
        }
        assert!(matches!(of("https://shop.example:8443"), Err(E::Port(_))));
        let message = of("https://shop.example:8443").unwrap_err().to_string();
        assert_eq!(message, "https://shop.example:8443 is on a port of its own; bind the exact origin");
    }

    /// A text that is no origin has no site either.
    #[test]
    fn deceptive_addresses_are_no_origins() {
        for text in [
            "https://bank.test@evil.test",
            "https://example.com.",
            "https://example.com\u{3002}",
            "blob:https://bank.test/0f6c",
            "data:text/html,bank.test",
            "about:blank",
            "https://",
        ] {
            assert!(Origin::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_site_is_never_wider_than_its_text() {
        for text in ["shop.example", "Shop.Example", "alice.github.io", "example.co.uk"] {
            assert_eq!(Site::parse(text).unwrap().host(), text.to_ascii_lowercase());
        }
        assert_eq!(Site::parse("b\u{fc}cher.example").unwrap().host(), "xn--bcher-kva.example");
        for text in [
            "",
            " ",
            ".",
            "shop.example.",
            "shop.example/",
            "https://shop.example",
            "user@shop.example",
            "shop.example:443",
            "shop.example:",
            "shop example",
            "shop.example\n",
            "shop%2eexample",
            "shop.example?x",
            "shop.example#x",
            "shop.example\\x",
            "sho\tp.example",
            "127.0.0.1",
            "0x7f.1",
            "[::1]",
            "1",
            "localhost",
            "github.io",
            "co.uk",
            "com",
            "*.shop.example",
        ] {
            assert!(Site::parse(text).is_err(), "{text:?}");
        }
        let refused = Site::parse("www.shop.example").unwrap_err().to_string();
        assert_eq!(
            refused,
            "www.shop.example is a host of the site shop.example; write the one, or bind the exact origin"
        );
        assert!(matches!(Site::parse("shop.example."), Err(SiteError::TrailingDot(_))));
        assert!(matches!(Site::parse("0x7f.1"), Err(SiteError::Address(_))));
        assert!(matches!(Site::parse("[::1]"), Err(SiteError::Address(_))));
    }

    #[test]
    fn a_site_contains_its_own_hosts_alone() {
        let contains =
            |site: &str, origin: &str| Site::parse(site).unwrap().contains(&Origin::parse(origin).unwrap());
        assert!(contains("shop.example", "https://shop.example"));
        assert!(contains("shop.example", "https://a.b.shop.example"));
        for origin in [
            "http://shop.example",
            "https://shop.example:8443",
            "https://evilshop.example",
            "https://shop.example.evil.test",
            "https://example",
            "https://shop.test",
            "https://127.0.0.1",
        ] {
            assert!(!contains("shop.example", origin), "{origin}");
        }
        // The list has a suffix below this site: a bucket belongs to its owner, not to the company.
        assert!(contains("amazonaws.com", "https://www.amazonaws.com"));
        assert!(!contains("amazonaws.com", "https://bucket.s3.amazonaws.com"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        /// A site contains the origin that it is the site of, reads back as it prints, and shares no origin with another site.
        #[test]
        fn sites_partition_the_origins(
            labels in prop::collection::vec("[a-z0-9-]{1,8}|xn--bcher-kva|_x", 0..4),
            ending in select(&["com", "co.uk", "github.io", "test", "example", "s3.amazonaws.com", "1", "ck", "www.ck", "compute.amazonaws.com"][..]),
            other in select(&["example.com", "alice.github.io", "a.test", "a.co.uk", "www.ck"][..]),
        ) {
            let host = labels.iter().map(String::as_str).chain([ending]).collect::<Vec<_>>().join(".");
            let Ok(origin) = Origin::parse(&format!("https://{host}")) else { return Ok(()) };
            let Ok(site) = Site::of(&origin) else { return Ok(()) };
            prop_assert!(site.contains(&origin));
            prop_assert_eq!(Site::parse(site.host()), Ok(site.clone()));
            prop_assert!(site.host().contains('.'));
            let below = format!(".{site}");
            prop_assert!(origin.host() == site.host() || origin.host().ends_with(&below));
            let other = Site::parse(other).unwrap();
            prop_assert_eq!(other.contains(&origin), other == site);
            let (name, suffix) = registrable(origin.host()).unwrap();
            prop_assert_eq!(format!("{name}.{suffix}"), site.host());
        }

        /// No spelling of an IPv4 address has a site.
        #[test]
        fn an_address_has_no_site(address in any::<u32>(), form in 0..5usize) {
            let [a, b, c, d] = address.to_be_bytes();
            let host = match form {
                0 => format!("{a}.{b}.{c}.{d}"),
                1 => address.to_string(),
                2 => format!("0x{a:x}.{}", address & 0xff_ffff),
                3 => format!("0{a:o}.{b}.0X{:x}", address & 0xffff),
                _ => format!("[::ffff:{a}.{b}.{c}.{d}]"),
            };
            let origin = Origin::parse(&format!("https://{host}")).unwrap();
            prop_assert!(matches!(Site::of(&origin), Err(SiteError::Address(_))), "{}", host);
            prop_assert!(matches!(Site::parse(&host), Err(SiteError::Address(_))), "{}", host);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,40}") {
            if let Ok(site) = Site::parse(&text) {
                let own = Origin::parse(&format!("https://{site}")).unwrap();
                prop_assert!(site.contains(&own));
            }
        }
    }
}
