//! The TLS state of a document's connection, as the browser reports it.

use serde_json::Value;
use url::Url;

use crate::json::text;
use crate::this_machine::ReachedSites;
use crate::{Fact, Origin, TlsState};

/// The stored part of the response that a document came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    /// The browser's `securityState` of the response.
    pub(crate) state: String,
    /// The protocol, such as `TLS 1.3`; empty without TLS.
    pub(crate) protocol: String,
    /// The address that it came from. The frame may have another one: for an error response without a body the browser
    /// shows a page of its own.
    pub(crate) url: Option<Url>,
    /// Its HTTP status.
    pub(crate) status: Option<u16>,
}

impl Response {
    /// Reads `Network.Response`.
    pub(crate) fn read(response: &Value) -> Response {
        let owned = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let details = response.get("securityDetails").unwrap_or(&Value::Null);
        Response {
            state: owned(text(response, "securityState")),
            protocol: owned(text(details, "protocol")),
            url: text(response, "url").and_then(|url| Url::parse(url).ok()),
            status: response
                .get("status")
                .and_then(Value::as_u64)
                .and_then(|status| u16::try_from(status).ok()),
        }
    }

    /// The connection of this response alone.
    fn tls(&self, reached: &ReachedSites) -> Fact<TlsState> {
        let modern = matches!(self.protocol.as_str(), "TLS 1.2" | "TLS 1.3" | "QUIC");
        match (self.url.as_ref().map_or("", Url::scheme), self.state.as_str()) {
            ("http", _) => {
                let site = self.url.as_ref().and_then(|url| Origin::of(url).ok());
                let here = site.is_some_and(|site| reached.has(&site));
                Fact::Known(if here { TlsState::Loopback } else { TlsState::Insecure })
            }
            ("https", "secure") if modern => Fact::Known(TlsState::Valid),
            ("https", "unknown" | "") => Fact::Unknown,
            ("https", _) => Fact::Known(TlsState::Broken),
            _ => Fact::Unknown,
        }
    }
}

/// The page's connection as the address bar shows it.
fn visible_tls(visible: &Value) -> Fact<TlsState> {
    let certificate = visible.get("certificateSecurityState").filter(|state| !state.is_null());
    let error = certificate.and_then(|state| text(state, "certificateNetworkError")).unwrap_or_default();
    match (text(visible, "securityState").unwrap_or_default(), certificate) {
        ("secure", Some(_)) if error.is_empty() => Fact::Known(TlsState::Valid),
        ("insecure-broken", _) => Fact::Known(TlsState::Broken),
        ("secure", Some(_)) => Fact::Known(TlsState::Broken),
        // An https page that mixes in http content is neutral, with a certificate.
        ("neutral" | "insecure", Some(_)) => Fact::Known(TlsState::Broken),
        ("neutral" | "insecure", None) => Fact::Known(TlsState::Insecure),
        _ => Fact::Unknown,
    }
}

/// The TLS state of a document. The page's state, the top document's response and the frame's own response must all be
/// valid; the worst of them counts, and where one is missing the state is unknown. Where there is no TLS at all, the state
/// is `Loopback` only if the proxy reached both documents' sites on this machine.
pub(crate) fn tls(
    visible: Option<&Value>,
    top: Option<&Response>,
    own: Option<&Response>,
    reached: &ReachedSites,
) -> Fact<TlsState> {
    let visible = visible.map_or(Fact::Unknown, visible_tls);
    let (Fact::Known(visible), Some(Fact::Known(top)), Some(Fact::Known(own))) =
        (visible, top.map(|top| top.tls(reached)), own.map(|own| own.tls(reached)))
    else {
        return Fact::Unknown;
    };
    // The address bar and the response are about the same document, so they have to agree on whether there is TLS at all.
    let plain = |state| matches!(state, TlsState::Insecure | TlsState::Loopback);
    if plain(visible) != plain(top) {
        return Fact::Unknown;
    }
    let states = [visible, top, own];
    Fact::Known(if states.contains(&TlsState::Broken) {
        TlsState::Broken
    } else if (top, own) == (TlsState::Loopback, TlsState::Loopback) {
        TlsState::Loopback
    } else if states.into_iter().any(plain) {
        TlsState::Insecure
    } else {
        TlsState::Valid
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn response(scheme: &str, state: &str, protocol: &str) -> Response {
        Response::read(&json!({
            "url": format!("{scheme}://shop.example/"),
            "securityState": state,
            "securityDetails": { "protocol": protocol },
        }))
    }

    #[test]
    fn every_source_must_agree() {
        let good = response("https", "secure", "TLS 1.3");
        let old = response("https", "secure", "TLS 1.0");
        let plain = response("http", "insecure", "");
        let secure =
            json!({ "securityState": "secure", "certificateSecurityState": { "protocol": "TLS 1.3" } });
        let overridden = json!({
            "securityState": "insecure-broken",
            "certificateSecurityState": { "certificateNetworkError": "net::ERR_CERT_AUTHORITY_INVALID" },
        });
        let mixed = json!({ "securityState": "neutral", "certificateSecurityState": {} });
        let neutral = json!({ "securityState": "neutral" });
        let state = |visible, top, own| tls(visible, top, own, &ReachedSites::default());
        assert_eq!(state(Some(&secure), Some(&good), Some(&good)), Fact::Known(TlsState::Valid));
        assert_eq!(state(Some(&overridden), Some(&good), Some(&good)), Fact::Known(TlsState::Broken));
        assert_eq!(state(Some(&secure), Some(&old), Some(&old)), Fact::Known(TlsState::Broken));
        assert_eq!(state(Some(&mixed), Some(&good), Some(&good)), Fact::Known(TlsState::Broken));
        assert_eq!(state(Some(&secure), Some(&good), Some(&plain)), Fact::Known(TlsState::Insecure));
        assert_eq!(state(Some(&neutral), Some(&plain), Some(&plain)), Fact::Known(TlsState::Insecure));
        assert_eq!(state(Some(&secure), Some(&plain), Some(&plain)), Fact::Unknown);
        assert_eq!(state(None, Some(&good), Some(&good)), Fact::Unknown);
        assert_eq!(state(Some(&secure), None, None), Fact::Unknown);
    }

    #[test]
    fn plain_http_is_loopback_only_where_the_proxy_reached_both_sites_on_this_machine() {
        let at = |url: &str| Response::read(&json!({ "url": url, "securityState": "insecure" }));
        let secure =
            json!({ "securityState": "secure", "certificateSecurityState": { "protocol": "TLS 1.3" } });
        let neutral = json!({ "securityState": "neutral" });
        let good = response("https", "secure", "TLS 1.3");
        let (here, other) = (at("http://localhost:3000/in"), at("http://localhost:3001/"));
        let named = at("http://x.localhost:3000/");
        let reached = ReachedSites::default();
        let state = |visible, top, own| tls(Some(visible), Some(top), Some(own), &reached);
        assert_eq!(state(&neutral, &here, &here), Fact::Known(TlsState::Insecure), "not reached yet");
        for text in ["http://localhost:3000", "http://x.localhost:3000"] {
            reached.note(&Origin::parse(text).unwrap());
        }
        assert_eq!(state(&neutral, &here, &here), Fact::Known(TlsState::Loopback));
        for (visible, top, own) in [
            (&neutral, &other, &other),
            (&neutral, &named, &named),
            (&neutral, &here, &other),
            (&neutral, &other, &here),
            (&neutral, &here, &good),
            (&secure, &good, &here),
        ] {
            assert_eq!(state(visible, top, own), Fact::Known(TlsState::Insecure), "{top:?} {own:?}");
        }
        assert_eq!(state(&secure, &here, &here), Fact::Unknown);
    }
}
