//! Sealed commands: a secret on its way from the vault to the bridge.
//!
//! A closure cannot await, so the vault returns a complete command instead. It cannot be read, printed, cloned
//! or serialised; the bridge consumes it, and it is wiped when dropped.

use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{ContainerId, Destination, DocumentId, FormId, FrameId, NodeId, Origin};

/// Memory that holds one secret and is wiped when dropped.
trait Holder: AsRef<[u8]> + ZeroizeOnDrop + Send + Sync {}

impl<T: AsRef<[u8]> + ZeroizeOnDrop + Send + Sync> Holder for T {}

/// One secret value, in a buffer of its own that is wiped when dropped.
///
/// Anyone may put a secret in; only the bridge can take it out.
pub struct SealedValue {
    #[cfg_attr(
        not(any(feature = "playwright", feature = "extension", test)),
        allow(dead_code, reason = "the bridge uses it")
    )]
    holder: Box<dyn Holder>,
}

impl SealedValue {
    /// Copies `plaintext` into a heap buffer that is wiped when dropped. The caller wipes its own copy.
    pub fn new(plaintext: &[u8]) -> SealedValue {
        SealedValue::held(Zeroizing::new(plaintext.to_vec()))
    }

    /// Takes over the memory that a secret is in, such as the vault's locked pages, so that no copy is made.
    pub fn held(holder: impl AsRef<[u8]> + ZeroizeOnDrop + Send + Sync + 'static) -> SealedValue {
        SealedValue { holder: Box::new(holder) }
    }

    /// The secret. This is the only access to it, and only the bridges have it.
    #[cfg(any(feature = "playwright", feature = "extension", test))]
    #[allow(dead_code, reason = "the bridge uses it")]
    pub(crate) fn expose(&self) -> &[u8] {
        (*self.holder).as_ref()
    }
}

/// A fill of given controls of one form, in one document, to be carried out once.
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
    /// The destination that the form must have, when it is filled and again when it is submitted.
    pub destination: Destination,
    /// For the frame of a payment provider, the page around it.
    pub embedded: Option<EmbeddedFill>,
    /// The controls and their values.
    pub values: Vec<(NodeId, SealedValue)>,
    /// The controls among them that take a password which was made for them. Their own validation must accept it.
    pub made: Vec<NodeId>,
}

/// The page around a frame that is filled. The frame must still be a child of this document, in no sandbox, and seen whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedFill {
    /// The top document.
    pub top_document: DocumentId,
    /// Its origin.
    pub top_origin: Origin,
}

/// The ways in which a page may rewrite a placeholder so that it is still recognised, and in which the value is
/// then written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Unchanged; the value is sent as it is stored.
    Text,
    /// Digits, with separators wherever the page puts them. The value is sent without separators where the page has
    /// none, and in the page's groups where it has as many digits.
    Digits,
    /// A month and a year: `MM/YY`, and with other separators, a year of four digits, or the year first. The
    /// value is sent in the same order.
    Expiry,
}

/// One field of a sealed wire.
pub struct WireField {
    /// The control that shows the placeholder.
    pub node: NodeId,
    /// The control's name: the only name in a body under which the value is sent.
    pub name: String,
    /// The text in the page. It is made without the value and reveals nothing of it.
    pub placeholder: String,
    /// The ways in which the page may rewrite it.
    pub shape: Shape,
    /// The value that is sent in its place.
    pub value: SealedValue,
}

/// Placeholders for given controls of one form, and the values that replace them in one request: the document's
/// next `POST` to the destination that has a body of a supported format and holds every placeholder as the value of
/// its own field.
#[must_use = "a sealed wire does nothing until the bridge consumes it"]
pub struct SealedWire {
    /// A number of the caller's, which the final event returns.
    pub request: u64,
    /// The browser context.
    pub container_id: ContainerId,
    /// The frame.
    pub frame: FrameId,
    /// The document: another one in the same frame ends the wire.
    pub document: DocumentId,
    /// The frame's origin.
    pub origin: Origin,
    /// The form that must own every control.
    pub form: Option<FormId>,
    /// The destination that the request must have.
    pub destination: Destination,
    /// The fields: either all of them are sent, or none.
    pub fields: Vec<WireField>,
    /// The lifetime of the placeholders, in milliseconds from the fill.
    pub lifetime_ms: u64,
}
