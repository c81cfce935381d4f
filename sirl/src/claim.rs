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
    /// `total` and `currency`: the amount the model expects to pay.
    pub total: Option<Money>,
}
