//! The targets of a client of the proxy.

use axum::http::Uri;
use browser_signals::Origin;
use url::Url;

/// The mode in which the proxy connects a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyMode {
    /// The proxy forwards a request in clear: `http`.
    Forward,
    /// The proxy opens a tunnel, whose content it cannot read: `https`, `wss` and `ws`.
    Tunnel,
}

/// A host and a port, and the mode of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    mode: ProxyMode,
    host: String,
    port: u16,
}

impl Target {
    /// The target of a request in absolute form; none where the scheme is not `http`, the authority contains a user name,
    /// or the host is invalid.
    pub fn of_forward(uri: &Uri) -> Option<Target> {
        if uri.scheme_str() != Some("http") {
            return None;
        }
        let authority = uri.authority()?.as_str();
        Target::read(ProxyMode::Forward, authority)
    }

    /// The target of `CONNECT`: a host and a port and nothing else.
    pub fn of_tunnel(uri: &Uri) -> Option<Target> {
        let authority = uri.authority()?;
        if uri.scheme().is_some() || uri.path_and_query().is_some() || authority.port_u16().is_none() {
            return None;
        }
        Target::read(ProxyMode::Tunnel, authority.as_str())
    }

    fn read(mode: ProxyMode, authority: &str) -> Option<Target> {
        if authority.contains(['@', '/', '?', '#', '\\', '%']) {
            return None;
        }
        // This parser follows the browser's rules: it normalises every spelling of a number, and the case of letters.
        let url = Url::parse(&format!("http://{authority}/")).ok()?;
        let (host, port) = (url.host_str()?.to_owned(), url.port_or_known_default()?);
        (port != 0 && url.path() == "/").then_some(Target { mode, host, port })
    }

    /// The mode of the connection.
    pub fn mode(&self) -> ProxyMode {
        self.mode
    }

    /// The host in lower-case ASCII; an IPv6 address keeps its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// An address for the rules. Its scheme is always `http`, also for a tunnel.
    pub fn url(&self) -> Option<Url> {
        Url::parse(&format!("http://{}:{}/", self.host, self.port)).ok()
    }

    /// Whether the target is the origin, in the mode of the origin's scheme. A socket to an `http` origin is a tunnel, and
    /// so it does not count.
    pub fn is_of(&self, origin: &Origin) -> bool {
        let mode = if origin.scheme() == "http" { ProxyMode::Forward } else { ProxyMode::Tunnel };
        self.mode == mode && self.host == origin.host() && self.port == origin.port()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tunnel(authority: &str) -> Option<(String, u16)> {
        let target = Target::of_tunnel(&authority.parse().ok()?)?;
        Some((target.host().to_owned(), target.port()))
    }

    fn forward(uri: &str) -> Option<(String, u16)> {
        let target = Target::of_forward(&uri.parse().ok()?)?;
        Some((target.host().to_owned(), target.port()))
    }

    #[test]
    fn one_host_has_one_spelling() {
        for (text, host) in [
            ("shop.example:443", "shop.example"),
            ("SHOP.example:443", "shop.example"),
            ("shop.example.:443", "shop.example."),
            ("0x7f.1:443", "127.0.0.1"),
            ("2130706433:443", "127.0.0.1"),
            ("127.0.0.1.:443", "127.0.0.1"),
            ("[::1]:443", "[::1]"),
            ("[0:0::0:1]:443", "[::1]"),
            ("[::ffff:127.0.0.1]:443", "[::ffff:7f00:1]"),
        ] {
            assert_eq!(tunnel(text), Some((host.to_owned(), 443)), "{text}");
        }
        assert_eq!(forward("http://shop.example/a?b"), Some(("shop.example".to_owned(), 80)));
        assert_eq!(forward("http://shop.example:8080"), Some(("shop.example".to_owned(), 8080)));
    }

    #[test]
    fn text_that_is_not_exactly_a_host_and_a_port_is_refused() {
        for text in [
            "shop.example",
            "shop.example:0",
            "shop.example:65536",
            "user@shop.example:443",
            "user:word@shop.example:443",
            "https://shop.example:443",
            "/shop.example:443",
            "*",
            "shop.example:443/path",
            "[::1:443",
            "::1:443",
            "sh%6fp.example:443",
            ":443",
        ] {
            assert_eq!(tunnel(text), None, "{text}");
        }
        for text in [
            "https://shop.example/",
            "ftp://shop.example/",
            "http://a@shop.example/",
            "/path",
            "ws://a.example/",
        ] {
            assert_eq!(forward(text), None, "{text}");
        }
    }

    #[test]
    fn an_origin_is_reached_in_the_mode_of_its_scheme_alone() {
        let (secure, plain) =
            (Origin::parse("https://shop.example"), Origin::parse("http://shop.example:443"));
        let (secure, plain) = (secure.unwrap(), plain.unwrap());
        let tunnel = Target::of_tunnel(&"shop.example:443".parse().unwrap()).unwrap();
        let forward = Target::of_forward(&"http://shop.example:443/".parse().unwrap()).unwrap();
        assert!(tunnel.is_of(&secure) && !forward.is_of(&secure));
        assert!(forward.is_of(&plain) && !tunnel.is_of(&plain));
        for other in ["shop.example:8443", "shop.example.:443", "a.shop.example:443", "shop.example.evil:443"]
        {
            assert!(!Target::of_tunnel(&other.parse().unwrap()).unwrap().is_of(&secure), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived_and_a_target_parses_to_itself(text in "\\PC{0,40}") {
            if let Some((host, port)) = tunnel(&text) {
                prop_assert_eq!(tunnel(&format!("{host}:{port}")), Some((host, port)));
            }
        }
    }
}
