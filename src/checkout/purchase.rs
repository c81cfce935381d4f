//! A purchase's id, and the key made from it.

use sha2::{Digest, Sha256};

/// The id of one purchase that the user agreed to. A repeated run uses the same id and so charges nothing more; another
/// purchase has another id of fresh random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PurchaseId(pub [u8; 16]);

impl PurchaseId {
    /// The key under which the bank knows this purchase.
    pub fn key(&self) -> IdempotencyKey {
        let mut hash = Sha256::new();
        hash.update(b"portcullis/purchase/1\0");
        hash.update(self.0);
        IdempotencyKey(hex(&hash.finalize()))
    }

    /// The id in hexadecimal.
    pub(super) fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// Reads the output of [`PurchaseId::to_hex`].
    pub(super) fn from_hex(text: &str) -> Option<PurchaseId> {
        let digits = text.as_bytes();
        let mut id = [0; 16];
        if digits.len() != 32 || digits.iter().any(|d| !matches!(d, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(PurchaseId(id))
    }
}

/// The key by which the bank recognises a purchase that it already knows. It is no secret: without the guard's access to
/// the bank it is of no use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key: 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::PurchaseId;

    #[test]
    fn known_key() {
        // printf 'portcullis/purchase/1\0<16 zero bytes>' | sha256sum
        let key = PurchaseId([0; 16]).key();
        assert_eq!(key.as_str(), "b4fe625c3ce86a1f3de0237179efea76ddc39273c7dba3beea7c6179e3053c43");
    }

    proptest! {
        #[test]
        fn hexadecimal_round_trip(id: [u8; 16]) {
            prop_assert_eq!(PurchaseId::from_hex(&PurchaseId(id).to_hex()), Some(PurchaseId(id)));
        }

        #[test]
        fn other_ids_have_other_keys(a: [u8; 16], b: [u8; 16]) {
            prop_assert_eq!(a == b, PurchaseId(a).key() == PurchaseId(b).key());
        }

        #[test]
        fn nothing_else_is_read(text in ".{0,40}") {
            if let Some(id) = PurchaseId::from_hex(&text) {
                prop_assert_eq!(id.to_hex(), text);
            }
        }
    }
}
