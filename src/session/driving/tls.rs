//! A TLS probe of the task's sites, for connections that the guard does not see.
//!
//! Extensions have no interface that says whether a page came over a verified connection. So the service makes a
//! connection of its own to the same origin, and verifies the certificate. This proves that *now*, from *this machine*,
//! the server of that name has a certificate under a known root. It does not prove that the page in the tab came over
//! such a connection: another server can have sent it if the browser trusts another root, ignored an error, or uses a
//! proxy. If the probe cannot connect, the state is unknown, and the policy denies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use browser_signals::{Fact, Origin, TlsState};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::egress::proxy::{HostRules, SystemResolver};
use crate::system::tls::{RootsError, trusting};

/// The time limit of one handshake.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(4);

/// The time that a result is valid.
const VALID_FOR: Duration = Duration::from_secs(10);

/// The maximum number of addresses that are tried for one name.
const MAX_ADDRESSES: usize = 4;

/// Probes origins by connections of its own, and caches the results briefly.
pub struct TlsProbe {
    config: Arc<ClientConfig>,
    rules: HostRules,
    found: Mutex<HashMap<Origin, (Instant, Fact<TlsState>)>>,
}

/// The TLS states of some origins.
#[derive(Debug, Clone, Default)]
pub struct TlsStates(HashMap<Origin, Fact<TlsState>>);

impl TlsStates {
    /// The state of one origin.
    pub fn of(&self, origin: &Origin) -> Fact<TlsState> {
        self.0.get(origin).copied().unwrap_or(Fact::Unknown)
    }
}

impl TlsProbe {
    /// A probe that trusts Mozilla's roots and those in `pem`. `rules` map host names, and should be those of the browser.
    ///
    /// # Errors
    /// [`RootsError`].
    pub fn new(pem: &[u8], rules: HostRules) -> Result<TlsProbe, RootsError> {
        let config = trusting(pem, &[b"h2", b"http/1.1"])?;
        Ok(TlsProbe { config, rules, found: Mutex::default() })
    }

    /// The TLS states of these origins, by one handshake each or from the cache.
    pub async fn of(&self, origins: &[Origin]) -> TlsStates {
        let mut known = TlsStates::default();
        for origin in origins {
            let earlier = {
                let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.get(origin).filter(|(at, _)| at.elapsed() < VALID_FOR).map(|(_, fact)| *fact)
            };
            let fact = match earlier {
                Some(fact) => fact,
                None => {
                    let fact = self.probe(origin).await;
                    let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.insert(origin.clone(), (Instant::now(), fact));
                    fact
                }
            };
            known.0.insert(origin.clone(), fact);
        }
        known
    }

    async fn probe(&self, origin: &Origin) -> Fact<TlsState> {
        if origin.scheme() != "https" {
            return Fact::Known(TlsState::Insecure);
        }
        tokio::time::timeout(HANDSHAKE_WITHIN, self.handshake(origin)).await.unwrap_or(Fact::Unknown)
    }

    async fn handshake(&self, origin: &Origin) -> Fact<TlsState> {
        let name = origin.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let Ok(name) = ServerName::try_from(name) else { return Fact::Unknown };
        let addresses = self.rules.addresses(origin.host(), origin.port(), &SystemResolver).await;
        for address in addresses.unwrap_or_default().into_iter().take(MAX_ADDRESSES) {
            let Ok(stream) = TcpStream::connect(address).await else { continue };
            let connected = TlsConnector::from(Arc::clone(&self.config)).connect(name.clone(), stream).await;
            return match connected {
                Ok(_) => Fact::Known(TlsState::Valid),
                Err(error) if is_about_the_certificate(&error) => Fact::Known(TlsState::Broken),
                Err(_) => Fact::Unknown,
            };
        }
        Fact::Unknown
    }
}

fn is_about_the_certificate(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use evaluation::tls::Authority;
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// A server of this machine that shows a certificate for `shop.test`; its port.
    async fn server(authority: &Authority) -> u16 {
        let acceptor = TlsAcceptor::from(authority.server_config(&["shop.test"]).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _refused = acceptor.accept(stream).await;
            }
        });
        port
    }

    async fn found(probe: &TlsProbe, origin: &str) -> Fact<TlsState> {
        let origin = Origin::parse(origin).unwrap();
        probe.of(std::slice::from_ref(&origin)).await.of(&origin)
    }

    #[tokio::test]
    async fn a_certificate_is_valid_only_for_its_name_and_from_a_known_root() {
        let authority = Authority::new().unwrap();
        let port = server(&authority).await;
        let rules = || HostRules::parse("MAP *.test 127.0.0.1").unwrap();
        let knows = TlsProbe::new(authority.pem().as_bytes(), rules()).unwrap();
        assert_eq!(found(&knows, &format!("https://shop.test:{port}")).await, Fact::Known(TlsState::Valid));
        assert_eq!(found(&knows, &format!("https://bank.test:{port}")).await, Fact::Known(TlsState::Broken));
        assert_eq!(found(&knows, &format!("http://shop.test:{port}")).await, Fact::Known(TlsState::Insecure));
        let other = Authority::new().unwrap();
        let knows_not = TlsProbe::new(other.pem().as_bytes(), rules()).unwrap();
        assert_eq!(
            found(&knows_not, &format!("https://shop.test:{port}")).await,
            Fact::Known(TlsState::Broken)
        );
    }

    #[tokio::test]
    async fn without_a_server_the_state_is_unknown() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = silent.local_addr().unwrap().port();
        drop(silent);
        let probe = TlsProbe::new(b"", HostRules::parse("MAP *.test 127.0.0.1").unwrap()).unwrap();
        assert_eq!(found(&probe, &format!("https://shop.test:{port}")).await, Fact::Unknown);
        let nowhere = TlsProbe::new(b"", HostRules::parse("MAP * ~NOTFOUND").unwrap()).unwrap();
        assert_eq!(found(&nowhere, "https://shop.test").await, Fact::Unknown);
        assert_eq!(TlsStates::default().of(&Origin::parse("https://shop.test").unwrap()), Fact::Unknown);
    }
}
