//! Snapshots: the state of one document at one moment, as the browser reported it.

use std::sync::Arc;

use super::page_words::{ControlWords, FormWords};
use crate::{Container, ContainerId, DocumentId, Fact, FrameId, Origin};

/// The browser's id of a node (CDP `backendNodeId`), unique within its document's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub i64);

/// The node of a form element; controls without a form have none.
pub type FormId = NodeId;

/// The state of the connection, from the browser's own security state (never `isSecureContext`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TlsState {
    /// A valid certificate and a modern protocol.
    Valid,
    /// A certificate error, overridden or not, or mixed content.
    Broken,
    /// Plain http.
    Insecure,
    /// Plain http to `127.0.0.1`, `[::1]` or `localhost` with a port that the user listed, which the guard's proxy
    /// connected to a loopback address. Without that proxy it is `Insecure`.
    Loopback,
}

/// The purpose of a form or control, by its structure. It is only a hint: the destination decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sink {
    /// Asks for card data.
    PaymentForm,
    /// Asks for a postal address.
    AddressForm,
    /// Asks for a password.
    LoginForm,
    /// A chat, a comment, a search: anything that takes free text.
    FreeText,
    /// None of these, or several.
    Other,
}

/// The destination of a form, as the browser resolves it. Copies share their texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The origin of the action.
    pub origin: Origin,
    /// The path of the action, without query.
    pub path: Arc<str>,
    /// `GET` or `POST`.
    pub method: Arc<str>,
}

/// One form control, read in an isolated world through prototype getters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// The node.
    pub node: NodeId,
    /// The form that owns it.
    pub form: Option<FormId>,
    /// The tag: `input`, `select`, `textarea`, `button`, or another for an editable element.
    pub tag: String,
    /// The `type` of an input, else empty.
    pub input_type: String,
    /// The `autocomplete` attribute, as the page wrote it.
    pub autocomplete: String,
    /// The `name` attribute, as the page wrote it.
    pub name: String,
    /// The accessible label, as the page wrote it.
    pub label: String,
    /// Whether it is rendered with a size and not hidden.
    pub visible: Fact<bool>,
    /// Whether a click at its centre would hit it.
    pub hit: Fact<bool>,
    /// Whether it takes input: neither disabled nor read-only.
    pub editable: bool,
    /// Whether it holds a value. The value itself is never read.
    pub filled: bool,
    /// Further texts and attributes by which the page describes the control.
    pub words: ControlWords,
}

/// The state of one document, and of the control or form that a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The container's tier.
    pub container: Fact<Container>,
    /// The browser context.
    pub container_id: ContainerId,
    /// The frame that the facts are about.
    pub frame: FrameId,
    /// The document loaded in that frame.
    pub document: Fact<DocumentId>,
    /// The document loaded in the top frame (the same, for a top frame).
    pub top_document: Fact<DocumentId>,
    /// The frame's origin; unknown for opaque origins.
    pub origin: Fact<Origin>,
    /// The path of the document's address, as it is now; unknown for documents without an address of their own.
    pub path: Fact<Arc<str>>,
    /// The top frame's origin.
    pub top_origin: Fact<Origin>,
    /// The origins of the frame's ancestors, parent first; empty for a top frame.
    pub ancestors: Fact<Vec<Origin>>,
    /// True if the document is in a sandbox. The frame's element or the response can set one.
    pub sandboxed: Fact<bool>,
    /// The connection, by the browser's security state.
    pub tls: Fact<TlsState>,
    /// Whether the browser calls it a secure context. Not evidence of TLS.
    pub secure_context: Fact<bool>,
    /// The form that the decision is about.
    pub form: Option<FormId>,
    /// The destination of that form.
    pub destination: Fact<Destination>,
    /// The purpose of that form, or of the target.
    pub sink: Fact<Sink>,
    /// The control that a verb is aimed at, if it is aimed at one.
    pub target: Option<Control>,
    /// The controls of that form, in document order.
    pub controls: Vec<Control>,
    /// The texts and attributes by which the page describes the form.
    pub words: FormWords,
}
