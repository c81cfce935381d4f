//! The origins that a value may go to: any, one exact origin, or those of one site.
//!
//! A binding narrows a grant and never widens it: policy, user and page decide as before, and a value whose
//! binding does not admit the page's origin is missing for that page.

use browser_signals::origin::OriginError;
use browser_signals::site::SiteError;
use browser_signals::{Origin, Site};
use sirl::{Field, Tier};

use super::handle::kind_of;
use crate::error::VaultError;

/// The longest text form of a binding, in bytes. Hosts on the web have at most 253.
pub(crate) const LONGEST_BINDING: usize = 320;

/// The origins that a value may go to.
///
/// The exact origin is the right choice for a value that belongs to one place. A site is wider: anyone who
/// controls a page on one of its subdomains can get the value.
///
/// ```
/// use browser_signals::Origin;
/// use vault::Binding;
///
/// let shop = Binding::parse("https://shop.example")?;
/// assert!(shop.admits(&Origin::parse("https://shop.example/login")?));
/// assert!(!shop.admits(&Origin::parse("https://www.shop.example")?));
/// let site = Binding::parse("site shop.example")?;
/// assert!(site.admits(&Origin::parse("https://www.shop.example")?));
/// assert_eq!(site.to_string(), "site shop.example");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Binding {
    /// Every origin that the policy and the user allow.
    Anywhere,
    /// This scheme, host and port.
    Origin(Origin),
    /// Every https origin on the default port of this registrable domain.
    Site(Site),
}

/// Why a text is not a binding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindingError {
    /// The text has none of the three forms.
    #[error(
        "write anywhere, an origin such as https://shop.example, or site and a domain such as site shop.example"
    )]
    NotABinding,
    /// The origin cannot be parsed.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The site cannot be parsed.
    #[error(transparent)]
    Site(#[from] SiteError),
}

impl Binding {
    /// Parses the text form: `anywhere`, a web address (its origin counts), or `site` and a domain.
    ///
    /// # Errors
    /// [`BindingError`] names the form and its fault.
    pub fn parse(text: &str) -> Result<Binding, BindingError> {
        let text = text.trim();
        if text == "anywhere" {
            Ok(Binding::Anywhere)
        } else if let Some(site) = text.strip_prefix("site ") {
            Ok(Binding::Site(Site::parse(site.trim_start())?))
        } else if text.contains("://") {
            Ok(Binding::Origin(Origin::parse(text)?))
        } else {
            Err(BindingError::NotABinding)
        }
    }

    /// The default binding: this origin for a value that is of use in one place only (logins, passwords, one-time
    /// codes), anywhere for every other.
    pub fn usual(handle: &str, field: Field, origin: &Origin) -> Binding {
        if needs_place(handle, field) { Binding::Origin(origin.clone()) } else { Binding::Anywhere }
    }

    /// Tells if a value with this binding may go to `origin`.
    pub fn admits(&self, origin: &Origin) -> bool {
        match self {
            Binding::Anywhere => true,
            Binding::Origin(bound) => bound == origin,
            Binding::Site(site) => site.contains(origin),
        }
    }

    /// The rank of the binding, higher for a narrower one. A value that is bound to a place is preferred there.
    pub(crate) fn narrowness(&self) -> u8 {
        match self {
            Binding::Anywhere => 0,
            Binding::Site(_) => 1,
            Binding::Origin(_) => 2,
        }
    }

    /// Checks that `field` of the record `handle` may have this binding.
    pub(crate) fn check(&self, handle: &str, field: Field) -> Result<(), VaultError> {
        match self {
            Binding::Anywhere if needs_place(handle, field) => Err(VaultError::NeedsBinding(field)),
            Binding::Anywhere => Ok(()),
            Binding::Site(_) if field.tier() == Tier::T2 => Err(VaultError::NeverToASite(field)),
            _ if self.to_string().len() > LONGEST_BINDING => Err(VaultError::BindingTooLong),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for Binding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Binding::Anywhere => f.write_str("anywhere"),
            Binding::Origin(origin) => write!(f, "{origin}"),
            Binding::Site(site) => write!(f, "site {site}"),
        }
    }
}

/// Tells if a value is of use in one place only and a danger in every other.
pub(crate) fn needs_place(handle: &str, field: Field) -> bool {
    matches!(kind_of(handle), "login" | "otp") || matches!(field, Field::Password | Field::OneTimeCode)
}
