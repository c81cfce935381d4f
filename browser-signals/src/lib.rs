//! Facts about a page, as the browser reports them, and the bridges that ask it.
//!
//! The core has no I/O: it defines the [`Snapshot`], a set of facts each of which is known or unknown,
//! and [`Observed`], the mark that only a bridge can put on one. The features `playwright` and `extension` add
//! the bridges to a real Chromium.
//!
//! | room | modules | subject |
//! |---|---|---|
//! | `evidence` | [`fact`], [`id`], [`snapshot`], [`page_words`] | facts, the browser's ids, and all that is known of one document |
//! | `host` | [`origin`], [`site`], [`lookalike`], [`address`] | exact origins, registrable domains, warnings about a host, private hosts |
//! | `form` | [`matching`], [`meaning`], [`sink`], [`password_rules`], `facts` | the field of each control, the subject of its words, the purpose of a form, rules about a new password |
//! | `text` | [`outline`], [`rendered`], [`text_guard`], [`web_address`] | a page's text with the bridge's words and the page's kept apart, its filter, and the part of an address that is told |
//! | `command` | [`verb`], [`seal`], `tool` | an agent's verbs, sealed commands that carry a secret to a bridge, and, with the feature `schema`, a model's tools for verbs |
//! | | [`egress`] | the judge of outgoing requests |
//! | | [`login`] | the state of a login: cookies and storage |
//! | | `playwright` | the bridge over CDP, with the feature of that name |
//! | | `extension` | the bridge of a browser extension, with the feature of that name, on Unix |

pub mod egress;
#[cfg(all(feature = "extension", unix))]
pub mod extension;
#[cfg(any(feature = "playwright", all(feature = "extension", unix)))]
mod json;
pub mod login;
#[cfg(feature = "playwright")]
pub mod playwright;

/// Commands to a bridge.
mod command {
    pub mod key;
    pub mod seal;
    #[cfg(feature = "schema")]
    pub mod tool;
    pub mod verb;
    #[cfg(feature = "serde")]
    mod written;
}

/// Evidence: what a bridge has seen.
mod evidence {
    pub mod fact;
    pub mod id;
    pub mod page_words;
    #[cfg(feature = "simulated")]
    mod simulated;
    pub mod snapshot;
}

/// Forms and their controls, by the page's words and structure.
mod form {
    #[cfg(any(feature = "playwright", all(feature = "extension", unix)))]
    pub(crate) mod facts;
    pub mod matching;
    pub mod meaning;
    pub mod password_rules;
    pub mod sink;
    mod words;
}

/// Hosts: whose page it is.
mod host {
    pub mod address;
    pub mod lookalike;
    pub mod origin;
    mod public_suffix;
    pub mod site;
    pub mod this_machine;
}

/// The text of a page, before it is shown to the model.
mod text {
    pub mod outline;
    pub mod rendered;
    pub mod text_guard;
    pub mod web_address;
}

#[cfg(feature = "schema")]
pub use command::tool;
pub use command::{key, seal, verb};
pub use egress::{Blocked, EgressGuard, OutgoingRequest};
pub use evidence::{fact, id, page_words, snapshot};
pub use fact::{Fact, Observed};
pub use form::{matching, meaning, password_rules, sink};
pub use host::{address, lookalike, origin, site, this_machine};
pub use id::{Container, ContainerId, DocumentId, FrameId};
pub use key::WritingKey;
pub use lookalike::HostWarning;
pub use origin::Origin;
pub use outline::Outline;
pub use page_words::{ControlWords, FormWords};
pub use seal::{EmbeddedFill, SealedFill, SealedValue, SealedWire, Shape, WireField};
pub use site::{Site, SiteError};
pub use snapshot::{Control, Destination, FormId, NodeId, Sink, Snapshot, TlsState};
pub use text::{outline, rendered, text_guard, web_address};
pub use text_guard::{TextGuard, TextWithheld};
pub use verb::{ClickManner, ElementRef, HeldKeys, MouseButton, PlaceInElement, TypeManner, Verb};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
