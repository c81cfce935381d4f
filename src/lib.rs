//! Portcullis lets a language model drive a real browser with a person's data, without trusting the
//! model or the page.
//!
//! A [`Guard`] holds what outlives a task: the checked policy, the vault, the audit log, the payment
//! handler. A [`Session`] is one task: it reads the user's first prompt, seals the task, opens a
//! container in the browser, and from then on decides every verb and every request of the agent.
//!
//! | module | subject |
//! |---|---|
//! | [`intake`] | the user's first prompt: values become handles, and the task is sealed |
//! | [`session`] | one task: observe, decide, ask, release, answer, record |
//! | [`consent`] | prompts, answerers, standing consents |
//! | [`audit`] | the value-free, hash-chained record |
//! | [`egress`] | the checks of all that leaves a container, and the proxy that it passes |
//! | [`page_text`] | the text of a page for the model: attacks withheld, values masked |
//! | [`safety`] | the safety of a page to act on |
//! | [`checkout`] | purchases through the browser's payment interface |
//! | [`orders`] | orders that the guard places by the protocol that a shop speaks |
//! | [`guard`] | policy, vault, audit and payment handler together; placement of fields, taint, agent actions |
//! | [`observe`] | observation of an agent that blocks nothing: no guard |
//! | `service` | the guard as a service, for the user's own browser with the extension (Unix) |
//! | [`storage`] | files that survive a crash; the vault's file, and locking the vault |
//! | `system` | random bytes, the time of day, loopback listeners, and [`process`] protections |
//!
//! Without the feature `browser`, which is on unless turned off, there are [`Action`], `audit`, `consent` (no asking),
//! `process`, `storage` and the protocol of `service`: the parts that a program needs to read an audit log. The feature `scrub` adds
//! `page_text` without masking, and `schema` the JSON schemas of a model's tools.
//!
//! One task, from the user's prompt to its end:
//!
//! ```no_run
//! use portcullis::audit::FolderLog;
//! use portcullis::consent::TerminalAnswerer;
//! use portcullis::guard::SystemEntropy;
//! use portcullis::signals::playwright::{Browser, BrowserSettings};
//! use portcullis::signals::Verb;
//! use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
//!
//! # async fn task(prompt: &str) -> Result<(), Box<dyn std::error::Error>> {
//! let opened = FolderLog::open("audit".as_ref())?;
//! for release in &opened.unfinished {
//!     println!("the outcome of this release is unknown: {release}");
//! }
//! let log = Box::new(opened.log);
//! let guard = Guard::new(DEFAULT_POLICY, log, Box::new(TerminalAnswerer::default()), Box::new(SystemEntropy))?;
//! let browser = Browser::launch_on_pipe(BrowserSettings::new("/usr/bin/chromium")).await?;
//! let mut session = Session::begin(guard, &browser, prompt).await?;
//! // The prompt for the model, and then its loop: an action in, an outcome out, whose text the model reads.
//! println!("{}", session.prompt());
//! session.act(Action::Verb(Verb::Open { url: "https://shop.example/".to_owned() })).await;
//! let page = session.act(Action::Verb(Verb::Read)).await;
//! let asked = session.act(Action::Request("REQ.address\nREQ.end".to_owned())).await;
//! println!("{page}\n{}", session.with_next_steps(&asked));
//! assert!(asked.granted().count() == 1 || !asked.reasons().is_empty());
//! let (report, guard) = session.finish().await;
//! # Ok(()) }
//! ```

mod action;
pub mod audit;
#[cfg(feature = "browser")]
pub mod checkout;
pub mod consent;
#[cfg(feature = "browser")]
pub mod egress;
#[cfg(feature = "browser")]
pub mod guard;
#[cfg(feature = "browser")]
pub mod intake;
#[cfg(feature = "browser")]
pub mod observe;
#[cfg(feature = "browser")]
pub mod orders;
#[cfg(feature = "scrub")]
pub mod page_text;
#[cfg(feature = "scrub")]
pub mod safety;
#[cfg(unix)]
pub mod service;
#[cfg(feature = "browser")]
pub mod session;
pub mod storage;
mod system;

pub use action::Action;
#[cfg(feature = "browser")]
pub use guard::{Guard, GuardError, placement, pointing, stored_head};
#[cfg(feature = "browser")]
pub use session::{Session, SessionReport};
/// For the servers of this workspace, whose ports no page may reach.
#[cfg(feature = "browser")]
#[doc(hidden)]
pub use system::own_ports;
pub use system::process;

pub use browser_signals as signals;
#[cfg(feature = "scrub")]
pub use classifier;
pub use policy_dfa as policy;
pub use {hmm_control, sirl, vault};

/// The policy of approach A, as shipped in `policies/approach_a.policy`.
pub const APPROACH_A_POLICY: &str = include_str!("../policies/approach_a.policy");

/// Approach A with values told to the model, for experiments, as shipped in `policies/approach_a_told.policy`.
pub const APPROACH_A_TOLD_POLICY: &str = include_str!("../policies/approach_a_told.policy");

/// The policy of approach C, as shipped in `policies/approach_c.policy`.
pub const APPROACH_C_POLICY: &str = include_str!("../policies/approach_c.policy");

/// The policy of approach B, as shipped in `policies/default.policy`.
pub const DEFAULT_POLICY: &str = include_str!("../policies/default.policy");

/// The program in the README compiles.
#[cfg(all(doctest, feature = "browser"))]
#[doc = include_str!("../README.md")]
mod readme {}
