//! Where a value may go: anywhere, to one exact origin, or to one site.
//!
//! A binding narrows what a grant can do and never widens it: the policy, the user and the page are asked as
//! before, and a value whose binding does not admit the page's origin is not there for it.

use browser_signals::Origin;
use browser_signals::origin::OriginError;
use sirl::{Field, Tier};

use crate::VaultError;
use crate::handle::kind_of;
use browser_signals::Site;
use browser_signals::site::SiteError;

/// The longest text form of a binding, in bytes. Hosts on the web have at most 253.
pub(crate) const LONGEST_BINDING: usize = 320;

/// Which origins a value may go to.
///
/// The exact origin is the right choice for what belongs to one place. A site is wider: who can put a page on
/// any of its subdomains gets what is bound to it.
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
    /// Wherever the policy and the user let it go.
    Anywhere,
    /// To this scheme, host and port.
    Origin(Origin),
    /// To every https origin on the default port of this registrable domain.
    Site(Site),
}

/// Why a text is not a binding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// None of the three forms.
    #[error(
        "write anywhere, an origin such as https://shop.example, or site and a domain such as site shop.example"
    )]
    NotABinding,
    /// The origin does not read.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The site does not read.
    #[error(transparent)]
    Site(#[from] SiteError),
}

impl Binding {
    /// Reads the text form: `anywhere`, a web address (its origin counts), or `site` and a domain.
    ///
    /// # Errors
    /// [`BindingError`] says which form was meant and what is wrong with it.
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

    /// The binding for who names none: this origin for what is of use at one place alone (logins, passwords,
    /// one-time codes), anywhere for all else.
    pub fn usual(handle: &str, field: Field, origin: &Origin) -> Binding {
        if needs_place(handle, field) { Binding::Origin(origin.clone()) } else { Binding::Anywhere }
    }

    /// Whether a value with this binding may go to `origin`.
    pub fn admits(&self, origin: &Origin) -> bool {
        match self {
            Binding::Anywhere => true,
            Binding::Origin(bound) => bound == origin,
            Binding::Site(site) => site.contains(origin),
        }
    }

    /// How narrow the binding is: what is bound to a place goes there before what goes anywhere.
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

/// Whether a value is of use at one place alone, and a danger at every other.
pub(crate) fn needs_place(handle: &str, field: Field) -> bool {
    matches!(kind_of(handle), "login" | "otp") || matches!(field, Field::Password | Field::OneTimeCode)
}
