//! Encrypted records that only a grant opens.
//!
//! The vault holds a person's values, encrypted in memory and at rest. It has no I/O: a file is bytes,
//! time and entropy are arguments. Values leave through four doors, each of which consumes a
//! [`policy_dfa::Grant`] and a fresh look at the page: [`Vault::open_fill`], [`Vault::open_wire`] and
//! [`Vault::open_payment`] and, for experiments, [`Vault::open_to_the_model`]. [`Vault::scan`] tells *where* a value
//! stands in a text and never what it is.
//!
//! ```
//! use policy_dfa::{Policy, authority};
//! use sirl::Field;
//! use vault::{Binding, KdfParams, Secret, Vault};
//!
//! # let policy = include_str!("../../policies/default.policy");
//! # let mut entropy = |out: &mut [u8]| out.fill(7); // a program takes the operating system's
//! # let checked = || Policy::parse(policy).unwrap().compile().unwrap().check().unwrap();
//! let (_, verifier) = authority(checked(), [1; 16]);
//! let passphrase = Secret::new("correct horse battery staple");
//! let mut vault = Vault::create(&passphrase, &mut entropy, KdfParams::FLOOR, verifier)?;
//! vault.insert("contact:me", Field::Email, Secret::new("ana@mail.example"), &Binding::Anywhere, &mut entropy)?;
//! let file = vault.to_bytes(&mut entropy)?;
//!
//! let (_, verifier) = authority(checked(), [2; 16]);
//! let vault = Vault::unlock(&file, &passphrase, verifier)?;
//! assert!(vault.entries().map(|entry| (entry.handle, entry.field)).eq([("contact:me", Field::Email)]));
//! assert_eq!(vault.scan("write to ANA%40mail.example")?.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`handed`] | values in the open, for a model |
//! | [`secret`] | a value on its way in |
//! | [`entropy`] | randomness as an argument |
//! | [`memory`] | locked pages for secrets, and whether the system granted them |
//! | [`meta`] | what a file says of itself without its passphrase |
//! | [`kdf`] | from a passphrase to a key |
//! | [`error`] | what can go wrong with a vault |
//! | [`store`] | making, unlocking, saving and locking a vault |
//! | [`keys`] | another passphrase, another data key, a key that is kept outside |
//! | [`values`] | putting values in, for good or for one task |
//! | [`binding`] | where a value may go |
//! | [`supply`] | which record supplies a field |
//! | [`release`] | the three doors |
//! | [`card`] | a card on its way to the guard's own checkout |
//! | [`scan`] | where a stored value stands in a text |
//! | [`state`] | what the guard keeps beside the values |
//! | [`signing`] | the vault's signing key |
//! | `export` | a copy of the values that other programs can read; with the feature of that name |
//!
//! Inside: `cipher` (keys and authenticated encryption), `padded` (texts sealed at a padded length), `file`
//! (the layout), `handle` (names of records), `placeholder` (what
//! stands in a form for a value), `record` (one encrypted value).

pub mod binding;
pub mod card;
mod cipher;
pub mod entropy;
pub mod error;
#[cfg(feature = "export")]
pub mod export;
mod file;
pub mod handed;
mod handle;
pub mod kdf;
pub mod keys;
pub mod memory;
pub mod meta;
mod padded;
mod placeholder;
mod record;
pub mod release;
pub mod scan;
pub mod secret;
pub mod signing;
pub mod state;
pub mod store;
pub mod supply;
pub mod values;

pub use binding::{Binding, BindingError};
pub use browser_signals::Site;
pub use browser_signals::site::SiteError;
pub use card::{ExposedCard, SealedCard};
pub use entropy::Entropy;
pub use error::{Section, VaultError};
#[cfg(feature = "export")]
pub use export::{ExportCost, ImportError, Imported};
pub use handed::HandedValues;
pub use kdf::KdfParams;
pub use keys::UnlockKey;
pub use memory::Protection;
pub use meta::Meta;
pub use release::{ReleaseError, WIRE_STANDS_MS};
pub use scan::{Match, Outgoing, Sent, SentForm};
pub use secret::Secret;
pub use state::StateName;
pub use store::Vault;
pub use values::Entry;
