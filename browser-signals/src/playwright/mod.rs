//! The bridge to a real Chromium, over Playwright's CDP session.
//!
//! One [`Browser`] is one process; one [`Tab`] is one container with one page. A tab offers typed verbs
//! and nothing else: no script evaluation, no debugging port, no raw CDP.
//!
//! | module | subject |
//! |---|---|
//! | [`settings`] | what to launch |
//! | [`launch`] | the browser process |
//! | `environment` | what the browser finds of this machine: no program that opens addresses |
//! | `folder` | folders that outlive nobody |
//! | `session` | CDP sessions within the one browser session |
//! | [`tab`] | one container |
//! | `attach` | targets as they attach: frames, workers, refused popups |
//! | `frames` | the tree of frames, and isolated worlds |
//! | `navigate` | open, back, wait |
//! | [`read`] | the text for the model |
//! | `handles` | names of elements, which stay with them |
//! | `query` | elements by selector |
//! | [`picture`] | pictures of the page |
//! | `tree` | the accessibility tree as lines |
//! | `sight` | what a person sees of it, by the browser's layout |
//! | [`observe`] | snapshots |
//! | `connection` | what the browser says of TLS |
//! | `act` | click, type, select, check, press, submit |
//! | [`fill`] | sealed fills |
//! | `network` | requests on their way out |
//! | `wire` | sealed wires: values put into a request on its way out |
//! | [`events`] | what was refused |
//! | `shared` | a second program in the same browser, with the feature `relay` |
//! | [`window`] | a browser of the guard's own, for pages that the agent must not reach |
//! | [`proxy`] | a container whose every connection goes through a proxy |
//! | [`error`] | why a step failed |

pub mod error;
pub mod events;
pub mod fill;
pub mod launch;
pub mod observe;
pub mod picture;
pub mod proxy;
pub mod read;
pub mod settings;
pub mod tab;
pub mod window;

mod act;
mod attach;
mod connection;
mod environment;
#[cfg(unix)]
mod folder;
mod frames;
mod handles;
#[cfg(feature = "inspection")]
mod inspection;
mod navigate;
mod network;
mod query;
mod session;
#[cfg(all(feature = "relay", unix))]
mod shared;
mod sight;
mod tree;
mod wire;

pub use error::BridgeError;
pub use events::{PageEvent, WireEnd};
pub use fill::FillReport;
#[cfg(unix)]
pub use folder::ThrowawayFolder;
pub use launch::Browser;
pub use observe::About;
pub use picture::{Picture, PictureForm, PictureSettings};
pub use proxy::ContainerProxy;
pub use read::PageText;
pub use settings::BrowserSettings;
#[cfg(feature = "inspection")]
pub use settings::FirstLine;
#[cfg(all(feature = "relay", unix))]
pub use shared::SecondProgram;
pub use tab::{HeldRequest, Tab};
pub use window::{OwnBrowser, OwnWindow};
