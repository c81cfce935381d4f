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
//! | [`container`] | the three tiers of browser contexts |
//! | [`snapshot`] | documents, frames, controls, sinks, TLS |
//! | [`observed`] | evidence, numbered in rising order |
//! | [`seal`] | commands that carry a secret from the vault to the bridge |
//! | [`verb`] | what an agent may do |

pub mod container;
pub mod fact;
pub mod observed;
pub mod origin;
pub mod seal;
pub mod snapshot;
pub mod verb;

pub use container::{Container, ContainerId};
pub use fact::Fact;
pub use observed::Observed;
pub use origin::Origin;
pub use seal::{SealedFill, SealedValue};
pub use snapshot::{Control, Destination, DocumentId, FormId, FrameId, NodeId, Sink, Snapshot, TlsState};
pub use verb::{ElementRef, Verb};
