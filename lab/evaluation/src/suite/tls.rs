//! A certificate authority for one run, and its installation in a browser's trust store.

use std::io;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// The reason why there is no trusted connection.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate could not be made.
    #[error("a certificate could not be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A certificate was made and the TLS library refuses it.
    #[error("the TLS library refuses the certificate: {0}")]
    Refused(#[from] rustls::Error),
    /// `certutil` is not installed.
    #[error("`certutil` was not found; install it with: apt-get install libnss3-tools")]
    NoCertutil,
    /// `certutil` ran and failed.
    #[error("`certutil {step}` failed: {message}")]
    Certutil {
        /// The step that was run.
        step: &'static str,
        /// The output of `certutil`.
        message: String,
    },
    /// A file or folder could not be written.
    #[error("the trust store could not be written: {0}")]
    Io(#[from] io::Error),
}

/// A certificate authority whose key is in memory only and disappears with it.
///
/// ```
/// let authority = evaluation::tls::Authority::new()?;
/// let config = authority.server_config(&["shop.test"])?;
/// # Ok::<(), evaluation::tls::TlsError>(())
/// ```
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    /// Makes an authority with a fresh key.
    ///
    /// # Errors
    /// [`TlsError::Certificate`] where the system gives no entropy.
    pub fn new() -> Result<Authority, TlsError> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "Portcullis evaluation, one run");
        let key = KeyPair::generate()?;
        let pem = params.self_signed(&key)?.pem();
        Ok(Authority { issuer: Issuer::new(params, key), pem })
    }

    /// The authority's own certificate.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A TLS configuration for `hosts`, with one certificate for all of them.
    ///
    /// # Errors
    /// [`TlsError::Certificate`] where a host is not a DNS name or an IP address.
    pub fn server_config(&self, hosts: &[&str]) -> Result<Arc<ServerConfig>, TlsError> {
        configured(hosts, &self.issuer, &[])
    }

    /// As [`Authority::server_config`], with a certificate of an intermediate authority that the server does not send.
    /// A browser that wants to validate it has to fetch the intermediate certificate from `issuer`, an `http` address,
    /// and may ask `status` whether the certificate was revoked.
    ///
    /// # Errors
    /// As for [`Authority::server_config`], and if an address is longer than a hundred bytes.
    pub fn incomplete_config(
        &self,
        hosts: &[&str],
        issuer: &str,
        status: &str,
    ) -> Result<Arc<ServerConfig>, TlsError> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, "Portcullis evaluation, in between");
        let between = Issuer::new(params, KeyPair::generate()?);
        configured(hosts, &between, &[(ISSUER, issuer), (STATUS, status)])
    }
}

/// The last bytes of the object identifiers of the two access methods: the issuer's certificate, and its revocation
/// status.
const ISSUER: u8 = 2;
const STATUS: u8 = 1;

/// A server certificate of this issuer that names these addresses.
fn configured(
    hosts: &[&str],
    issuer: &Issuer<'static, KeyPair>,
    places: &[(u8, &str)],
) -> Result<Arc<ServerConfig>, TlsError> {
    let names: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(names)?;
    params.use_authority_key_identifier_extension = true;
    if !places.is_empty() {
        params.custom_extensions.push(more_is_told_at(places)?);
    }
    let leaf = params.signed_by(&key, issuer)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The extension "authority information access" (RFC 5280, 4.2.2.1) in DER.
fn more_is_told_at(places: &[(u8, &str)]) -> Result<CustomExtension, TlsError> {
    let mut all = Vec::new();
    for (kind, address) in places {
        // The object identifier 1.3.6.1.5.5.7.48.`kind`, and a general name that is an address.
        let name =
            [&[6, 8, 43, 6, 1, 5, 5, 7, 48, *kind], tagged(0x86, address.as_bytes())?.as_slice()].concat();
        all.extend(tagged(0x30, &name)?);
    }
    Ok(CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], tagged(0x30, &all)?))
}

/// A DER element: tag, length and content.
fn tagged(tag: u8, content: &[u8]) -> Result<Vec<u8>, TlsError> {
    let long = || {
        TlsError::Io(io::Error::new(io::ErrorKind::InvalidInput, "an address of a certificate is too long"))
    };
    let length = u8::try_from(content.len()).map_err(|_| long())?;
    let head = if length < 0x80 { vec![tag, length] } else { vec![tag, 0x81, length] };
    Ok([head, content.to_vec()].concat())
}

/// Makes a browser that runs with `HOME` set to `home` trust `ca_pem`, through the NSS database in `home/.pki/nssdb`.
/// Chromium on Linux reads no other trust store if that folder exists.
///
/// # Errors
/// [`TlsError::NoCertutil`] where the tool is missing, [`TlsError::Certutil`] where it fails,
/// [`TlsError::Io`] where `home` cannot be written.
pub fn install_nss(home: &Path, ca_pem: &str) -> Result<(), TlsError> {
    let folder = home.join(".pki/nssdb");
    std::fs::create_dir_all(&folder)?;
    let database = format!("sql:{}", folder.display());
    let pem = home.join("authority.pem");
    std::fs::write(&pem, ca_pem)?;
    if !folder.join("cert9.db").exists() {
        certutil("-N", Command::new("certutil").args(["-d", &database, "-N", "--empty-password"]))?;
    }
    let name = "portcullis-evaluation";
    let add = ["-d", &database, "-A", "-t", "C,,", "-n", name, "-i"];
    certutil("-A", Command::new("certutil").args(add).arg(&pem))
}

fn certutil(step: &'static str, command: &mut Command) -> Result<(), TlsError> {
    let Output { status, stderr, stdout } = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => TlsError::NoCertutil,
        _ => TlsError::Io(error),
    })?;
    if status.success() {
        return Ok(());
    }
    let said = if stderr.is_empty() { stdout } else { stderr };
    Err(TlsError::Certutil { step, message: String::from_utf8_lossy(&said).trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_certutil_names_the_package() {
        let missing = Command::new("certutil-that-is-not-there").output().map(|_| ());
        assert!(missing.is_err());
        let error = certutil("-N", &mut Command::new("certutil-that-is-not-there")).unwrap_err();
        assert!(error.to_string().contains("libnss3-tools"));
    }

    #[test]
    fn the_output_of_a_failing_certutil_is_reported() {
        let error = install_nss(tempfile::tempdir().unwrap().path(), "not a certificate").unwrap_err();
        assert!(matches!(error, TlsError::Certutil { step: "-A", .. }), "{error}");
    }

    #[test]
    fn a_host_with_a_space_is_refused() {
        assert!(Authority::new().unwrap().server_config(&["höst .test"]).is_err());
    }
}
