//! Sealed commands: a secret on its way from the vault to the bridge.
//!
//! A closure cannot await, so the vault's door hands out a complete command instead. It cannot be read,
//! printed, cloned or serialised; it is used up by the bridge and wiped when dropped.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{ContainerId, Destination, DocumentId, FormId, FrameId, NodeId, Origin};

/// One secret value, in a buffer of its own that is wiped when dropped.
///
/// Anyone may put a secret in; only the bridge can take it out.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SealedValue {
    bytes: Box<[u8]>,
}

impl SealedValue {
    /// Copies `plaintext` into a buffer that is wiped when dropped. The caller wipes its own copy.
    pub fn new(plaintext: &[u8]) -> SealedValue {
        SealedValue { bytes: plaintext.into() }
    }

    /// The secret. The one door, and it is the bridge's.
    #[cfg(any(feature = "playwright", test))]
    #[allow(dead_code, reason = "the bridge uses it")]
    pub(crate) fn expose(&self) -> &[u8] {
        &self.bytes
    }
}

/// A fill of named controls of one form, in one document, to be carried out once.
#[must_use = "a sealed fill does nothing until the bridge consumes it"]
pub struct SealedFill {
    /// The browser context the fill is for.
    pub container_id: ContainerId,
    /// The frame.
    pub frame: FrameId,
    /// The document: another one in the same frame refuses the fill.
    pub document: DocumentId,
    /// The frame's origin.
    pub origin: Origin,
    /// The form that must own every control.
    pub form: Option<FormId>,
    /// Where the form must go, when filled and again when submitted.
    pub destination: Destination,
    /// The controls and what goes into each.
    pub values: Vec<(NodeId, SealedValue)>,
}
