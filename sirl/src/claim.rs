//! What the model says it sees.

use crate::{Money, Tier};

/// The model's view of the page: the `ctx` of a request.
///
/// A claim is never evidence. Its one use is to be compared with what the browser says: a claim that
/// contradicts the browser is a reason to deny.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claim {
    /// `origin`: the origin the model believes it is on, as written.
    pub origin: Option<String>,
    /// `top_origin`: the origin of the top frame, as written.
    pub top_origin: Option<String>,
    /// `origin_request`: a word of the paper's examples; kept, never compared.
    pub origin_request: Option<String>,
    /// `container`: the tier the model believes it is in.
    pub container: Option<Tier>,
    /// `tls`: whether the model believes the connection to be secure.
    pub tls: Option<bool>,
    /// `sink`: what the model believes the form to be.
    pub sink: Option<String>,
    /// `purpose`: why it asks.
    pub purpose: Option<String>,
    /// `control`: the element the model believes to be the shop's pay button, such as `e12`. A hint for
    /// where to click, never evidence.
    pub control: Option<String>,
    /// `total` and `currency`: the amount the model expects to pay.
    pub total: Option<Money>,
}

/// A key of `ctx`. The list is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClaimKey {
    /// `origin`
    Origin,
    /// `top_origin`
    TopOrigin,
    /// `origin_request`
    OriginRequest,
    /// `container`
    Container,
    /// `tls`
    Tls,
    /// `sink`
    Sink,
    /// `purpose`
    Purpose,
    /// `control`
    Control,
    /// `total`
    Total,
    /// `currency`
    Currency,
}

impl ClaimKey {
    /// Every key, in the order of the canonical print.
    pub const ALL: [ClaimKey; 10] = [
        ClaimKey::Origin,
        ClaimKey::TopOrigin,
        ClaimKey::OriginRequest,
        ClaimKey::Container,
        ClaimKey::Tls,
        ClaimKey::Sink,
        ClaimKey::Purpose,
        ClaimKey::Control,
        ClaimKey::Total,
        ClaimKey::Currency,
    ];

    /// The word used in the text form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ClaimKey::Origin => "origin",
            ClaimKey::TopOrigin => "top_origin",
            ClaimKey::OriginRequest => "origin_request",
            ClaimKey::Container => "container",
            ClaimKey::Tls => "tls",
            ClaimKey::Sink => "sink",
            ClaimKey::Purpose => "purpose",
            ClaimKey::Control => "control",
            ClaimKey::Total => "total",
            ClaimKey::Currency => "currency",
        }
    }

    /// The key with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ClaimKey> {
        ClaimKey::ALL.into_iter().find(|key| key.as_str() == name)
    }
}

impl Claim {
    /// Whether nothing is claimed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Claim::default()
    }
}
