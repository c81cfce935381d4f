//! The bridge to a real Chromium, over a pipe (feature `pipe`) or Playwright's server (feature `playwright-server`).
//!
//! One [`Browser`] is one process; one [`Tab`] is one page of a container, which begins with one. A tab offers typed verbs;
//! there is no debugging port and no raw CDP.
//!
//! | module | subject |
//! |---|---|
//! | [`browser`] | the browser process: settings, launch, temporary folders, the guard's own window |
//! | `cdp` | sessions of the browser's protocol, targets as they attach, and their events |
//! | [`tab`] | one container: its state, its frames, navigation |
//! | [`observation`] | snapshots, TLS, pictures, boxes, elements by selector or point |
//! | [`text`] | the text for the model |
//! | `visibility` | which of that text a person sees, by the browser's layout |
//! | [`action`] | click, type, select, check, press, submit, and sealed fills |
//! | [`developer_tools`] | the console, requests and scripts of a page |
//! | [`login`] | the state of a login, taken from a container and put into another |
//! | [`network`] | egress: judging requests, the container's proxy, sealed wires |
//! | `pipe` | Chromium on a pipe of the bridge's own, with the feature `pipe` |
//! | [`error`] | why a step failed |
//!
//! `scripts/` holds what runs in the isolated world of a page; the browser extension uses the same files.

#![allow(clippy::disallowed_methods, reason = "a bridge waits for a real browser")]

#[cfg(not(any(feature = "playwright-server", all(feature = "pipe", unix))))]
compile_error!("nothing starts the browser: enable the feature `pipe` on Unix, or `playwright-server`");

pub mod action;
pub mod browser;
pub mod developer_tools;
pub mod error;
pub mod login;
pub mod network;
pub mod observation;
pub mod tab;
pub mod text;

#[cfg(all(feature = "pipe", unix))]
mod pipe;
mod visibility;

/// The browser's protocol: sessions within the one browser session; targets as they attach (frames, workers, refused
/// popups), and the events of their sessions.
mod cdp {
    mod attach;
    mod refusal;
    pub(crate) mod session;
}

pub use action::fill::FillReport;
#[cfg(feature = "inspection")]
pub use browser::settings::NetworkBarrier;
#[cfg(unix)]
pub use browser::throwaway::ThrowawayFolder;
pub use browser::window::{OwnBrowser, OwnWindow};
pub use browser::{Browser, settings::BrowserSettings};
pub use error::{BridgeError, LoadFailure};
pub use network::proxy::ContainerProxy;
pub use observation::ObservationTarget;
pub use observation::boxes::ElementBox;
pub use observation::picture::{Picture, PictureForm, PictureSettings};
pub use tab::Tab;
pub use tab::choosers::{FileChooser, FileChoosers};
pub use tab::dialogs::{DialogKind, PageDialog};
pub use tab::downloads::{Download, DownloadEnd};
pub use tab::events::{PageEvent, WireEnd};
pub use tab::pages::PageLabel;
pub use tab::state::{HeldRequest, Leaving};
pub use text::PageText;
