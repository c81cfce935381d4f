//! The names that the shop gives, which nobody can guess.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Gives 16 random bytes.
pub(crate) type Entropy<'a> = dyn FnMut() -> [u8; 16] + 'a;

/// A name of 128 random bits.
pub(crate) fn name(prefix: &str, entropy: &mut Entropy<'_>) -> String {
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(entropy()))
}

/// The hash of a mandate that nobody made.
pub(crate) fn foreign_hash(entropy: &mut Entropy<'_>) -> String {
    URL_SAFE_NO_PAD.encode([entropy(), entropy()].concat())
}
