//! Fuzz targets: functions that take any bytes and panic if a guarantee of the workspace is broken.
//!
//! `cargo xtask fuzz` runs them under libFuzzer; `cargo test` runs them over their seeds. A new target is a
//! module here with a line in [`TARGETS`], and a folder of seeds, `corpus/<name>`; a dictionary,
//! `dictionaries/<name>.txt`, is optional. An input that broke a guarantee becomes a seed once the fault is fixed.
//!
//! | module | subject |
//! |---|---|
//! | [`audit_log`] | segments of an audit log: reading, verifying, writing again |
//! | [`consent_messages`] | messages of the consent page's script |
//! | [`decoder`] | hidden text: encoded, spelled out, written backwards |
//! | [`detectors`] | personal data and secrets: places, masking, normal forms |
//! | `extension_messages` | framed messages of an extension, an agent and a user to the service (Unix) |
//! | [`hmm_checkpoint`] | checkpoints of a distillation: resuming, writing again |
//! | [`hmm_file`] | model files: reading our format and the published ones, writing again |
//! | [`hmm_shard`] | counts of a part of a distillation: reading, merging, learning, writing again |
//! | [`normaliser`] | folding a text, and mapping places back |
//! | [`policy_bytes`] | policy bytes: reading, writing, checking a table that was not compiled |
//! | [`policy_text`] | policy text: parsing, printing, compiling, proving |
//! | [`scrubber`] | the rendered text of a page with any content |
//! | [`sirl_stream`] | blocks and plans in pieces of a stream |
//! | [`sirl_text`] | blocks and replies: parsing, finding, printing, errors |
//! | [`vault_file`] | vault files: reading, writing, decrypted content |
//! | [`input`] | conversion of bytes to text, and to a file with consistent lengths |
#![allow(clippy::panic, reason = "a target reports a fault by a panic")]

pub mod audit_log;
pub mod consent_messages;
pub mod decoder;
pub mod detectors;
#[cfg(unix)]
pub mod extension_messages;
pub mod hmm_checkpoint;
pub mod hmm_file;
pub mod hmm_shard;
pub mod input;
pub mod normaliser;
pub mod policy_bytes;
pub mod policy_text;
pub mod scrubber;
pub mod sirl_stream;
pub mod sirl_text;
pub mod vault_file;

/// A target: its name and its function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target. The name is also that of its folder of seeds.
pub const TARGETS: &[Target] = &[
    ("audit_log", audit_log::run),
    ("consent_messages", consent_messages::run),
    ("decoder", decoder::run),
    ("detectors", detectors::run),
    #[cfg(unix)]
    ("extension_messages", extension_messages::run),
    ("hmm_checkpoint", hmm_checkpoint::run),
    ("hmm_file", hmm_file::run),
    ("hmm_shard", hmm_shard::run),
    ("normaliser", normaliser::run),
    ("policy_bytes", policy_bytes::run),
    ("policy_text", policy_text::run),
    ("scrubber", scrubber::run),
    ("sirl_stream", sirl_stream::run),
    ("sirl_text", sirl_text::run),
    ("vault_file", vault_file::run),
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(other, _)| *other == name).map(|(_, run)| *run)
}
