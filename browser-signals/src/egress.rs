//! The judge of what leaves a container.

use crate::{FrameId, Origin};

/// A request that a page, a worker or a navigation is about to send.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingRequest<'a> {
    /// The address, as the browser resolved it.
    pub url: &'a str,
    /// The method, such as `GET`.
    pub method: &'a str,
    /// The headers that the page or the browser set, as far as the browser says them before it sends: name and
    /// value. Cookies are not among them.
    pub headers: &'a [(String, String)],
    /// The body, if there is one and the browser could give all of it.
    pub body: Option<&'a [u8]>,
    /// The frame that asks; none for workers.
    pub frame: Option<&'a FrameId>,
    /// The origin of the document that asks, where the browser said it.
    pub from: Option<&'a Origin>,
    /// The browser's word for the kind of resource: `Document`, `XHR`, `Fetch`, `Image`, `Ping`.
    pub resource_type: &'a str,
    /// Whether it navigates the top frame.
    pub main_navigation: bool,
}

/// Why a request may not leave: one word of a closed list, never a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request was blocked: {reason}")]
pub struct Blocked {
    /// The word.
    pub reason: &'static str,
}

impl Blocked {
    /// A refusal for the given reason.
    pub const fn new(reason: &'static str) -> Blocked {
        Blocked { reason }
    }
}

/// Decides about each request of a container. It is asked for every redirect hop again, and must answer
/// quickly: the browser waits for it.
pub trait EgressGuard: Send + Sync {
    /// Lets the request go, or names why not.
    fn judge(&self, request: &OutgoingRequest<'_>) -> Result<(), Blocked>;

    /// Whether an allowed request waits until the user has seen what it may carry. The browser keeps it paused until
    /// the session lets it go or stops it. `has_body` also holds of a body that the browser does not give.
    fn holds(&self, _request: &OutgoingRequest<'_>, _has_body: bool) -> bool {
        false
    }
}
