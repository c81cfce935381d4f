//! Exact origins: scheme, ASCII host, port.

use smol_str::SmolStr;
use url::Url;

/// A web origin as the browser compares it. Opaque origins (sandboxed or `data:` documents) have no
/// value of this type: where one occurs, the fact is unknown.
///
/// Copies share the host's text where it is long, so that handing an origin on allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    scheme: Scheme,
    /// Short hosts stand in the origin itself, so that comparing two reads no other memory.
    host: SmolStr,
    port: u16,
}

/// The two schemes, in the order of their names. Two of them are compared as numbers, which is quicker than as texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    /// The scheme with this name, in small letters.
    fn named(name: &str) -> Option<Scheme> {
        [Scheme::Https, Scheme::Http].into_iter().find(|scheme| scheme.as_str() == name)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    const fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// Why a text is not an origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OriginError {
    /// Not a URL at all.
    #[error("not a web address; write one such as https://shop.example")]
    NotAUrl,
    /// A scheme other than `http` or `https`.
    #[error("an origin starts with https:// or http://")]
    NotWeb,
    /// User name or password before the host.
    #[error("an address with a user name before the host is refused")]
    UserInfo,
    /// A trailing dot makes a different origin of the same look.
    #[error("a host that ends in a dot is refused")]
    TrailingDot,
}

impl Origin {
    /// Reads the origin of a web address. The host is lower-case ASCII (A-labels), the port explicit.
    pub fn parse(text: &str) -> Result<Origin, OriginError> {
        Origin::of(&Url::parse(text).map_err(|_| OriginError::NotAUrl)?)
    }

    /// The origin of a parsed URL.
    pub fn of(url: &Url) -> Result<Origin, OriginError> {
        let scheme = Scheme::named(url.scheme()).ok_or(OriginError::NotWeb)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OriginError::UserInfo);
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(OriginError::NotAUrl);
        };
        if host.ends_with('.') {
            return Err(OriginError::TrailingDot);
        }
        Ok(Origin { scheme, host: host.into(), port })
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.scheme.as_str()
    }

    /// The host in lower-case ASCII; an IPv6 address keeps its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, explicit also where it is the scheme's default.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns true for `http` on `127.0.0.1`, `[::1]` and `localhost`. A connection may lead elsewhere all the same.
    pub fn is_plain_loopback(&self) -> bool {
        self.scheme == Scheme::Http && super::this_machine::is_loopback_host(&self.host)
    }

    /// Whether [`Origin::parse`] reads this origin from `text`, which may go on with a path and more.
    ///
    /// Usual spellings are compared byte by byte without allocating: scheme and host in any case, with or without the
    /// port. Any other (surrounding spaces, letters outside ASCII, an escaped or numeric host) is parsed, which allocates.
    ///
    /// ```
    /// use browser_signals::Origin;
    ///
    /// let shop = Origin::parse("https://shop.example").unwrap();
    /// assert!(shop.is_written_as("https://Shop.Example:443/cart"));
    /// assert!(!shop.is_written_as("https://shop.example.evil.test"));
    /// ```
    pub fn is_written_as(&self, text: &str) -> bool {
        self.is_printed_as(text)
            || self
                .plainly_written_as(text)
                .unwrap_or_else(|| Origin::parse(text).is_ok_and(|origin| origin == *self))
    }

    /// Returns true for the text that [`Display`](std::fmt::Display) writes, if the port is the scheme's default one. It is the
    /// usual case.
    fn is_printed_as(&self, text: &str) -> bool {
        let rest = text.strip_prefix(self.scheme()).and_then(|rest| rest.strip_prefix("://"));
        rest == Some(self.host()) && self.port == self.scheme.default_port()
    }

    /// The answer, if the bytes alone decide it.
    fn plainly_written_as(&self, text: &str) -> Option<bool> {
        let Some((scheme, rest)) = text.split_once(':') else {
            // Every address has a colon, and parsing maps no other character to one.
            return Some(false);
        };
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            || !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        {
            return None;
        }
        if !scheme.eq_ignore_ascii_case(self.scheme.as_str()) {
            return Some(false);
        }
        let rest = rest.strip_prefix("//")?;
        let authority = rest.split(['/', '?', '#', '\\']).next()?;
        // Parsing maps a parsed host to itself, also in capitals.
        let same = authority.split_at_checked(self.host.len());
        if let Some((_, port)) = same.filter(|(host, _)| host.eq_ignore_ascii_case(&self.host)) {
            match port.strip_prefix(':') {
                None if port.is_empty() => return Some(self.port == self.scheme.default_port()),
                Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                    return Some(match digits {
                        "" => self.port == self.scheme.default_port(),
                        digits => digits.parse() == Ok(self.port),
                    });
                }
                _ => {}
            }
        }
        is_plain(authority).then_some(false)
    }
}

/// Whether parsing changes nothing but the case of a host and a port: letters, digits and hyphens, no encoded label, no
/// IP address. Two such texts that differ in more than case are different hosts, or invalid ones.
fn is_plain(authority: &str) -> bool {
    let host = authority.split(':').next().unwrap_or_default();
    let mut labels = host.split('.');
    labels.clone().all(|label| {
        let encoded = label.as_bytes().get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"xn--"));
        !encoded && !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    }) && labels.next_back().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_alphabetic()))
        && authority.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':'))
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.host)?;
        if self.port == self.scheme.default_port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Origin {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Origin, D::Error> {
        let written = String::deserialize(deserializer)?;
        Origin::parse(&written).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::Origin;

    const ORIGINS: [&str; 10] = [
        "https://shop.example",
        "http://shop.example",
        "https://shop.example:8443",
        "http://shop.example:443",
        "https://a.b-c.d",
        "https://xn--bcher-kva.example",
        "https://127.0.0.1",
        "http://[::1]:8080",
        "https://sh_op.example",
        "https://shop..example",
    ];

    fn origin(text: &str) -> Origin {
        Origin::parse(text).unwrap()
    }

    fn parses_to(origin: &Origin, text: &str) -> bool {
        Origin::parse(text).as_ref() == Ok(origin)
    }

    #[test]
    fn an_origin_is_stored_as_its_text() {
        for text in ORIGINS {
            let stored = serde_json::to_string(&origin(text)).unwrap();
            assert_eq!(stored, format!("{:?}", origin(text).to_string()));
            assert_eq!(serde_json::from_str::<Origin>(&stored).unwrap(), origin(text));
        }
        let error = serde_json::from_str::<Origin>("\"shop.example\"").unwrap_err().to_string();
        assert!(error.starts_with("not a web address; write one such as https://shop.example"), "{error}");
    }

    /// Texts made of parts that parsing treats specially.
    fn spelling() -> impl Strategy<Value = String> {
        let scheme = ["https:", "http:", "HTTPS:", "hTTp:", "ftp:", "ht\ttps:", "https", "httpss:", "1:", ""];
        let slashes = ["//", "//", "//", "/", "", "///", "\\\\", "/\t/"];
        let user = ["", "", "", "", "@", "user@", "user:secret@", ":@", "shop.example:443@", "shop.example@"];
        let host = [
            "shop.example",
            "shop.example",
            "SHOP.example",
            "Shop.Example.",
            "shop.example.evil.test",
            "shop.exampl",
            "shop.examplE",
            "evilshop.example",
            "sh_op.example",
            "shop..example",
            "SHOP..EXAMPLE",
            "xn--bcher-kva.example",
            "XN--bcher-KVA.example",
            "bücher.example",
            "xn--zz--.example",
            "xn--shop.example",
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "0177.0.0.1",
            "2130706433",
            "127.0.0.1.",
            "[::1]",
            "[0:0::1]",
            "[::1",
            "::1",
            "shop%2Eexample",
            "shop。example",
            "sho\tp.example",
            "ｓhop.example",
            "shop\u{ad}.example",
            "a.b-c.d",
            "A.B-c.D",
            "a.b-c.d.",
            "sh op.example",
            "",
            "[::1].shop.example",
        ];
        let port = [
            "", "", ":", ":443", ":80", ":8443", ":8080", ":0443", ":4430", ":99999", ":4x", ":+443",
            ":44\t3", ":443:443", "::",
        ];
        let tail = [
            "",
            "",
            "/",
            "/a:b@c",
            "?q",
            "#f",
            "\\@evil.test",
            " ",
            "\n",
            "@evil.test",
            ".evil.test",
            "/\u{0}",
        ];
        let around = ["", "", "", " ", "\t", "\u{1}"];
        (
            select(around.to_vec()),
            select(scheme.to_vec()),
            select(slashes.to_vec()),
            select(user.to_vec()),
            select(host.to_vec()),
            select(port.to_vec()),
            select(tail.to_vec()),
        )
            .prop_map(|(around, scheme, slashes, user, host, port, tail)| {
                format!("{around}{scheme}{slashes}{user}{host}{port}{tail}")
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn the_comparison_agrees_with_parsing(text in spelling()) {
            for known in ORIGINS.map(origin) {
                prop_assert_eq!(known.is_written_as(&text), parses_to(&known, &text), "{} {:?}", known, text);
            }
        }

        /// One character of a right spelling is inserted, removed or changed.
        #[test]
        fn the_comparison_agrees_with_parsing_after_an_edit(
            known in select(&ORIGINS[..]),
            tail in select(&["", "/path", "?query"][..]),
            at in any::<prop::sample::Index>(),
            keep in 0..3usize,
            put in prop_oneof![any::<char>().prop_map(String::from), "[ -~]", "[a-zA-Z0-9.:/@%\\[\\]\t\n-]", Just(String::new())],
        ) {
            let written: Vec<char> = format!("{known}{tail}").chars().collect();
            let (before, after) = written.split_at(at.index(written.len()));
            let text: String =
                before.iter().copied().chain(put.chars()).chain(after.iter().skip(keep).copied()).collect();
            for known in ORIGINS.map(origin) {
                prop_assert_eq!(known.is_written_as(&text), parses_to(&known, &text), "{} {:?}", known, text);
            }
        }

        /// An origin as it prints is recognised without parsing.
        #[test]
        fn the_printed_origin_is_recognised(
            scheme in "https?",
            host in prop_oneof!["[a-zA-Z0-9._~!$&'()*+,;=-]{1,20}", "\\PC{1,12}", "[a-z]{1,8}\\.[0-9]{1,3}", "(xn--)?[a-z0-9-]{1,12}"],
            port in any::<u16>(),
        ) {
            if let Ok(origin) = Origin::parse(&format!("{scheme}://{host}:{port}/")) {
                for text in [origin.to_string(), origin.to_string().to_ascii_uppercase(), format!("{origin}/cart?x#y")] {
                    prop_assert_eq!(origin.plainly_written_as(&text), Some(true), "{:?}", text);
                    prop_assert!(parses_to(&origin, &text), "{:?}", text);
                }
            }
        }
    }

    #[test]
    fn usual_spellings_need_no_parsing() {
        let shop = origin("https://shop.example");
        for (text, same) in [
            ("https://shop.example", true),
            ("HTTPS://SHOP.EXAMPLE:0443/cart", true),
            ("https://shop.example:", true),
            ("http://shop.example:443", false),
            ("https://shop.example:8443", false),
            ("https://shop.example:70000", false),
            ("https://other.example", false),
            ("https://shop.example.evil.test/", false),
            ("shop.example", false),
            ("shop.example:443", false),
            ("javascript:alert(1)", false),
            ("the shop", false),
            ("", false),
        ] {
            assert_eq!(shop.plainly_written_as(text), Some(same), "{text}");
        }
        for text in [
            "https:shop.example",
            "https://bücher.example",
            "https://u@shop.example",
            "https://xn--zz.example",
            "https://shop.example:1@evil.test",
            " https://shop.example",
        ] {
            assert_eq!(shop.plainly_written_as(text), None, "{text}");
        }
    }
}
