//! The judge of outgoing requests.

use crate::{FrameId, Origin};

/// A request that a page, a worker or a navigation is about to send.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingRequest<'a> {
    /// The address, as the browser resolved it.
    pub url: &'a str,
    /// The method, such as `GET`.
    pub method: &'a str,
    /// The headers that the page or the browser set, with cookies, as name and value, as far as the browser reports them
    /// before it sends the request.
    pub headers: &'a [(String, String)],
    /// The body, if there is one and the browser could give all of it.
    pub body: Option<&'a [u8]>,
    /// The frame that sends it; none for workers.
    pub frame: Option<&'a FrameId>,
    /// The origin of the document that sends it, if the browser reported it.
    pub from: Option<&'a Origin>,
    /// The browser's name for the type of resource: `Document`, `XHR`, `Fetch`, `Image`, `Ping`.
    pub resource_type: &'a str,
    /// Whether it navigates the top frame.
    pub main_navigation: bool,
}

/// Why a request is blocked: a reason of a closed list, never a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request was blocked: {reason}")]
pub struct Blocked {
    /// The reason.
    pub reason: &'static str,
}

impl Blocked {
    /// A refusal for the given reason.
    pub const fn new(reason: &'static str) -> Blocked {
        Blocked { reason }
    }
}

/// Judges each request of a container, and each hop of a redirect. It must answer quickly, since the browser waits
/// for it.
pub trait EgressGuard: Send + Sync {
    /// Allows the request, or gives the reason against it.
    fn judge(&self, request: &OutgoingRequest<'_>) -> Result<(), Blocked>;

    /// Whether an allowed request waits until the user has seen what it may carry. The browser keeps it paused until
    /// the session continues or stops it. `has_body` is also true for a body that the browser does not give.
    fn holds(&self, _request: &OutgoingRequest<'_>, _has_body: bool) -> bool {
        false
    }
}
