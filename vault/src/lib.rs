//! Encrypted records that only a grant opens.
//!
//! The vault holds a user's values, encrypted in memory and at rest. It has no I/O: a file is bytes, and time and
//! entropy are arguments. Seven methods release values, each of which consumes a [`policy_dfa::Grant`] and takes a
//! fresh snapshot of the page: [`Vault::open_fill`], [`Vault::open_wire`], [`Vault::open_payment`], [`Vault::open_order_data`],
//! [`Vault::open_mandate`], [`Vault::open_login`] and, for experiments, [`Vault::open_to_the_model`]. [`Vault::scan`] finds the places of values in a text and never shows
//! the values.
//!
//! ```
//! use policy_dfa::{EXAMPLE_POLICY, Policy, authority};
//! use sirl::Field;
//! use vault::{Binding, KdfParams, Secret, Vault};
//!
//! # let mut entropy = |out: &mut [u8]| out.fill(7); // a program takes the operating system's
//! # let checked = || Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap().check().unwrap();
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
//! | [`release`] | releasing values for a grant, and the choice of the record that supplies a field |
//! | [`made`] | passwords that the guard makes for new accounts |
//! | [`codes`] | one-time codes that the guard makes from a seed |
//! | [`logins`] | saved logins, which a grant puts into a fresh container |
//! | [`sources`] | the user's password managers, from which a grant fetches values |
//! | [`scan`] | finding stored values in a text |
//! | `export` | a copy of the values that other programs can read; with the feature of that name |
//!
//! Inside, each module using those after it: `store` (making, opening, changing and saving a vault), `file` (the
//! bytes of a vault file), `content` (records, states, signing key and bindings), `crypto` (keys, encryption, locked
//! memory), `error` and `state_name`.

pub mod codes;
mod content;
mod crypto;
mod error;
#[cfg(feature = "export")]
pub mod export;
mod file;
pub mod logins;
pub mod made;
pub mod release;
pub mod scan;
mod shape;
pub mod sources;
mod state_name;
mod store;

pub use browser_signals::Site;
pub use browser_signals::site::SiteError;
pub use codes::{CodeError, SeedError};
pub use content::binding::{Binding, BindingError};
pub use crypto::cipher::Entropy;
pub use crypto::kdf::KdfParams;
pub use crypto::memory::Protection;
pub use crypto::secret::Secret;
pub use error::{Section, VaultError};
#[cfg(feature = "export")]
pub use export::{ExportCost, ImportError, Imported};
pub use file::header::Meta;
pub use made::{MakeError, NewPasswordRules, Recipe, WEAK_BELOW};
pub use release::supply::{is_shared, may_supply, record_kind};
pub use release::{
    ExposedCard, ExposedOrderData, ReleaseError, SealedCard, SealedMandate, SealedOrderData, ValuesForModel,
    WIRE_VALID_MS,
};
pub use scan::{Match, Outgoing, Sent, SentForm};
pub use shape::{boxes_of, field_among, field_of};
pub use state_name::StateName;
pub use store::task::TaskSlot;
pub use store::unlock_key::UnlockKey;
pub use store::values::Entry;
pub use store::vault::Vault;

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
