//! What may leave a container.
//!
//! Two questions are answered here. What the *agent* types and opens is compared with the detectors and
//! with every value of the vault. What the *page* sends is compared only with values that were released
//! into that container: comparing it with others would tell a page what the vault holds (I13).

use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::egress::{Blocked, EgressGuard, OutgoingRequest};
use browser_signals::{Destination, Origin};
use classifier::{Detector, Detectors, Finding, SensitiveKind};
use sirl::{Field, Tier};
use url::Url;
use vault::{ReleaseError, Vault};

/// One value that was released: which, and where it may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The handle of the record.
    pub handle: String,
    /// The field.
    pub field: Field,
    /// The only place it may go.
    pub destination: Destination,
}

/// What was released into one container, shared by those who watch it.
#[derive(Debug, Clone, Default)]
pub struct Releases(Arc<Mutex<Vec<Release>>>);

impl Releases {
    /// Notes a release. It must be noted before the value goes.
    pub fn note(&self, release: Release) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&release) {
            all.push(release);
        }
    }

    /// A copy of the list.
    pub fn all(&self) -> Vec<Release> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The released entries, as the vault names them.
    pub fn entries(&self) -> Vec<(String, Field)> {
        self.all().into_iter().map(|release| (release.handle, release.field)).collect()
    }
}

/// Why text of the agent may not go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextVerdict {
    /// Nothing protected in it.
    Clean,
    /// It has the form of something protected; a made-up value is treated alike.
    Typed,
    /// It holds a value of the vault of this tier.
    Exact(Tier),
}

/// Judges text that the agent wants to type, or an address that it wants to open.
///
/// The form of a value is looked at first, so that the vault's own card and one that was made up are refused
/// in the same words. Addresses are full of numbers that look like phone numbers; those pass.
///
/// # Errors
/// The vault is locked or damaged: then nothing is known about the text, and it must not go out.
pub fn judge_text(
    text: &str,
    is_address: bool,
    detectors: &Detectors,
    vault: &Vault,
) -> Result<TextVerdict, ReleaseError> {
    let pairs = url::form_urlencoded::parse(text.as_bytes());
    let decoded: String = pairs.map(|(k, v)| format!("{k} {v} ")).collect();
    let counts = |finding: &Finding| !(is_address && finding.kind == SensitiveKind::Phone);
    let typed = |text: &str| detectors.detect(text).iter().any(counts);
    if typed(text) || typed(&decoded) {
        return Ok(TextVerdict::Typed);
    }
    let exact = vault.scan(text)?.into_iter().map(|found| found.field.tier()).max();
    Ok(exact.map_or(TextVerdict::Clean, TextVerdict::Exact))
}

/// Watches what a container of tier T1 or T2 sends.
pub struct ContainerEgress {
    task: Vec<Origin>,
    payment: Vec<Origin>,
    releases: Releases,
    vault: Arc<Mutex<Vault>>,
}

impl ContainerEgress {
    /// A watch over a container of the given task origins; `payment` are the origins of the guard's own
    /// payment handler.
    pub fn new(
        task: Vec<Origin>,
        payment: Vec<Origin>,
        releases: Releases,
        vault: Arc<Mutex<Vault>>,
    ) -> Self {
        ContainerEgress { task, payment, releases, vault }
    }
}

impl EgressGuard for ContainerEgress {
    fn judge(&self, request: &OutgoingRequest<'_>) -> Result<(), Blocked> {
        let releases = self.releases.all();
        let url = Url::parse(request.url).map_err(|_| Blocked::new("address"))?;
        if matches!(url.scheme(), "data" | "blob" | "about") && !request.main_navigation {
            return Ok(());
        }
        let origin = Origin::of(&url).map_err(|_| Blocked::new("address"))?;
        let at_home = self.task.contains(&origin) || self.payment.contains(&origin);
        if request.main_navigation && !at_home {
            return Err(Blocked::new("navigation"));
        }
        if releases.is_empty() {
            return Ok(());
        }
        if !at_home {
            return Err(Blocked::new("origin"));
        }
        let entries: Vec<(&str, Field)> = releases.iter().map(|r| (r.handle.as_str(), r.field)).collect();
        let vault = self.vault.lock().map_err(|_| Blocked::new("vault"))?;

        let body = String::from_utf8_lossy(request.body.unwrap_or(&[]));
        let scan = |text: &str| vault.scan_released(text, &entries).map_err(|_| Blocked::new("vault"));
        let (in_address, in_body) = (scan(request.url)?, scan(&body)?);
        let goes_home = |handle: &str, field: Field| {
            releases.iter().any(|release| {
                release.handle == handle
                    && release.field == field
                    && release.destination.origin == origin
                    && *release.destination.path == *url.path()
                    && release.destination.method.eq_ignore_ascii_case(request.method)
            })
        };
        // A form that was granted with the method GET carries its values in the address.
        let mut carried = in_address.iter().chain(&in_body);
        if carried.all(|found| goes_home(&found.handle, found.field)) {
            Ok(())
        } else {
            Err(Blocked::new("value"))
        }
    }
}
