//! The model's claims about the page.

use crate::{Money, Tier};

/// The model's claims about the page: the `ctx` of a request.
///
/// A claim is never evidence. It is only compared with the facts from the browser, and a contradiction is a reason
/// to deny.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claim {
    /// `origin`: the origin that the model believes it is on, as written.
    pub origin: Option<String>,
    /// `top_origin`: the origin of the top frame, as written.
    pub top_origin: Option<String>,
    /// `origin_request`: a key of the paper's examples, which is kept and never compared.
    pub origin_request: Option<String>,
    /// `container`: the tier of the container that the model believes it is in.
    pub container: Option<Tier>,
    /// `tls`: true if the model believes that the connection is secure.
    pub tls: Option<bool>,
    /// `sink`: the kind of form that the model believes it sees.
    pub sink: Option<String>,
    /// `purpose`: the reason for the request.
    pub purpose: Option<String>,
    /// `control`: the ref of the element that the model believes to be the shop's pay button, such as `e12`. It is
    /// a hint where to click, never evidence.
    pub control: Option<String>,
    /// `total` and `currency`: the amount that the model expects to pay.
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

    /// The word in the text form.
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
    /// Tells if nothing is claimed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Claim::default()
    }

    /// The claimed value of a key, as text: `T1`, `true`, `64.15`. For a report; a program compares the fields.
    ///
    /// ```
    /// let block = sirl::parse_block("REQ.address ctx={\"container\":\"T1\"}\nREQ.end")?;
    /// let claim = &block.requests[0].claim;
    /// assert_eq!(claim.text(sirl::ClaimKey::Container).as_deref(), Some("T1"));
    /// assert_eq!(claim.text(sirl::ClaimKey::Origin), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn text(&self, key: ClaimKey) -> Option<String> {
        match key {
            ClaimKey::Origin => self.origin.clone(),
            ClaimKey::TopOrigin => self.top_origin.clone(),
            ClaimKey::OriginRequest => self.origin_request.clone(),
            ClaimKey::Container => self.container.map(|tier| tier.as_str().to_owned()),
            ClaimKey::Tls => self.tls.map(|tls| tls.to_string()),
            ClaimKey::Sink => self.sink.clone(),
            ClaimKey::Purpose => self.purpose.clone(),
            ClaimKey::Control => self.control.clone(),
            ClaimKey::Total => self.total.map(|total| total.to_decimal()),
            ClaimKey::Currency => self.total.map(|total| total.currency.as_str().to_owned()),
        }
    }
}
