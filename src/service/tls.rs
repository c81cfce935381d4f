//! What is known of a connection that the guard does not see.
//!
//! No interface of an extension says whether a page came over a verified connection. So the service makes one of its
//! own to the same origin, and verifies the certificate. That proves that *now*, from *this machine*, whoever answers
//! for the name has a certificate that leads to a known root. It does not prove that the page in the tab came over
//! such a connection: a browser that was told to trust another root, or to go on in spite of an error, or that goes
//! through a proxy of its own, can have been served by somebody else. Where the service sees no connection, it says
//! that nothing is known, and the policy denies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use browser_signals::{Fact, Origin, TlsState};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::egress_proxy::{HostRules, SystemResolver};

/// How long one handshake may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// How long what was found is known.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// The most addresses of one name that are tried.
const MOST_ADDRESSES: usize = 4;

/// Why no connection can be judged.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A file with roots cannot be read.
    #[error("the certificates cannot be read: {0}")]
    Pem(String),
    /// The TLS library refuses what it is given.
    #[error("the certificates are refused: {0}")]
    Refused(#[from] rustls::Error),
}

/// Makes connections of its own, and remembers for a moment how they ended.
pub struct TlsProbe {
    config: Arc<ClientConfig>,
    rules: HostRules,
    found: Mutex<HashMap<Origin, (Instant, Fact<TlsState>)>>,
}

/// What is known of some origins.
#[derive(Debug, Clone, Default)]
pub struct Known(HashMap<Origin, Fact<TlsState>>);

impl Known {
    /// What is known of one.
    pub fn of(&self, origin: &Origin) -> Fact<TlsState> {
        self.0.get(origin).copied().unwrap_or(Fact::Unknown)
    }
}

impl TlsProbe {
    /// A probe that trusts Mozilla's roots and those in `pem`. `rules` lead names elsewhere, as those that the browser
    /// was started with.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub fn new(pem: &[u8], rules: HostRules) -> Result<TlsProbe, ProbeError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for certificate in CertificateDer::pem_slice_iter(pem) {
            roots.add(certificate.map_err(|error| ProbeError::Pem(error.to_string()))?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsProbe { config: Arc::new(config), rules, found: Mutex::default() })
    }

    /// What is known of the connections to these origins, by a handshake each, or one of a moment ago.
    pub async fn of(&self, origins: &[Origin]) -> Known {
        let mut known = Known::default();
        for origin in origins {
            let earlier = {
                let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.get(origin).filter(|(at, _)| at.elapsed() < KNOWN_FOR).map(|(_, fact)| *fact)
            };
            let fact = match earlier {
                Some(fact) => fact,
                None => {
                    let fact = self.try_one(origin).await;
                    let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.insert(origin.clone(), (Instant::now(), fact));
                    fact
                }
            };
            known.0.insert(origin.clone(), fact);
        }
        known
    }

    async fn try_one(&self, origin: &Origin) -> Fact<TlsState> {
        if origin.scheme() != "https" {
            return Fact::Known(TlsState::Insecure);
        }
        tokio::time::timeout(PATIENCE, self.handshake(origin)).await.unwrap_or(Fact::Unknown)
    }

    async fn handshake(&self, origin: &Origin) -> Fact<TlsState> {
        let name = origin.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let Ok(name) = ServerName::try_from(name) else { return Fact::Unknown };
        let addresses = self.rules.addresses(origin.host(), origin.port(), &SystemResolver).await;
        for address in addresses.unwrap_or_default().into_iter().take(MOST_ADDRESSES) {
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
    async fn where_nobody_answers_nothing_is_known() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = silent.local_addr().unwrap().port();
        drop(silent);
        let probe = TlsProbe::new(b"", HostRules::parse("MAP *.test 127.0.0.1").unwrap()).unwrap();
        assert_eq!(found(&probe, &format!("https://shop.test:{port}")).await, Fact::Unknown);
        let nowhere = TlsProbe::new(b"", HostRules::parse("MAP * ~NOTFOUND").unwrap()).unwrap();
        assert_eq!(found(&nowhere, "https://shop.test").await, Fact::Unknown);
        assert_eq!(Known::default().of(&Origin::parse("https://shop.test").unwrap()), Fact::Unknown);
    }
}
