//! What the browser says about a page, and nothing else.
//!
//! The core has no I/O: it defines the [`Snapshot`], a set of facts each of which is known or unknown,
//! and [`Observed`], the mark that only a bridge can put on one. The feature `playwright` adds the
//! bridge to a real Chromium.
//!
//! | module | subject |
//! |---|---|
//! | [`fact`] | known or unknown |
//! | [`origin`] | exact origins |
//! | [`site`] | a registrable domain, as a wider binding than an origin |
//! | [`lookalike`] | what a person should know of a host before saying yes |
//! | [`container`] | the three tiers of browser contexts |
//! | [`id`] | the browser's names of containers, documents, frames |
//! | [`snapshot`] | controls, sinks, TLS, and all that is known of one document |
//! | [`observed`] | evidence, numbered in rising order |
//! | [`seal`] | commands that carry a secret from the vault to the bridge |
//! | [`verb`] | what an agent may do |
//! | [`outline`] | a page's text with the bridge's words and the page's kept apart |
//! | [`text_guard`] | the filter of page text |
//! | [`egress`] | the judge of outgoing requests |
//! | [`meaning`] | what a control or a button is about, by its words |
//! | [`sink`] | what a form is for, by its structure |
//! | [`address`] | which hosts are private |
//! | `playwright` | the bridge, with the feature of that name |
//! | `extension` | the bridge of a browser extension, with the feature of that name, on Unix |

pub mod address;
pub mod container;
pub mod egress;
#[cfg(all(feature = "extension", unix))]
pub mod extension;
pub mod fact;
#[cfg(any(feature = "playwright", all(feature = "extension", unix)))]
mod facts;
pub mod id;
pub mod lookalike;
pub mod meaning;
pub mod observed;
pub mod origin;
pub mod outline;
#[cfg(feature = "playwright")]
pub mod playwright;
pub mod seal;
pub mod sink;
pub mod site;
pub mod snapshot;
pub mod text_guard;
pub mod verb;

pub use container::Container;
pub use egress::{Blocked, EgressGuard, OutgoingRequest};
pub use fact::Fact;
pub use id::{ContainerId, DocumentId, FrameId};
pub use lookalike::HostWarning;
pub use observed::Observed;
pub use origin::Origin;
pub use outline::Outline;
pub use seal::{SealedFill, SealedValue, SealedWire, Shape, WireField};
pub use site::{Site, SiteError};
pub use snapshot::{Control, Destination, FormId, NodeId, Sink, Snapshot, TlsState};
pub use text_guard::{TextGuard, TextWithheld};
pub use verb::{ElementRef, Verb};
