//! The certificates that the guard's own connections trust.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Why certificates cannot be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// A file with roots cannot be read.
    #[error("the certificates cannot be read: {0}")]
    Pem(String),
    /// The TLS library refuses the certificates.
    #[error("the certificates are refused: {0}")]
    Refused(#[from] rustls::Error),
}

/// Settings for connections that trust Mozilla's roots and those in `pem`, and speak one of these protocols, such as `http/1.1`.
pub(crate) fn trusting(pem: &[u8], protocols: &[&[u8]]) -> Result<Arc<ClientConfig>, RootsError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.map_err(|error| RootsError::Pem(error.to_string()))?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}
