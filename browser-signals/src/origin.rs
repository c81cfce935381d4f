//! Exact origins: scheme, ASCII host, port.

use url::Url;

/// A web origin as the browser compares it. Opaque origins (sandboxed or `data:` documents) have no
/// value of this type: where one occurs, the fact is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

/// Why a text is not an origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
        if !matches!(url.scheme(), "http" | "https") {
            return Err(OriginError::NotWeb);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OriginError::UserInfo);
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(OriginError::NotAUrl);
        };
        if host.ends_with('.') {
            return Err(OriginError::TrailingDot);
        }
        Ok(Origin { scheme: url.scheme().to_owned(), host: host.to_owned(), port })
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host in lower-case ASCII; an IPv6 address keeps its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, explicit also where it is the scheme's default.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let default = if self.scheme == "https" { 443 } else { 80 };
        write!(f, "{}://{}", self.scheme, self.host)?;
        if self.port == default { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}
