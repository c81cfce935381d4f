//! An attribute that few tokens speak against, and its bytes.

use super::TokenAttribute;

/// How the bytes begin.
const MAGIC: [u8; 8] = *b"PCTOKAT1";

/// Bytes before the first entry, and of each.
const HEADER: usize = 16;
const ENTRY: usize = 8;

/// An attribute for a vocabulary of any size of which few tokens have a weight.
///
/// # As bytes
/// Numbers are little-endian. `PCTOKAT1`; the size of the vocabulary as `u32`; the number of entries as `u32`; then
/// the entries, each a token as `u32` and its log weight as `f32`, with rising tokens. Nothing follows. Log weights
/// are below 0; minus infinity forbids a token.
///
/// ```
/// use classifier::{SparseAttribute, TokenAttribute};
///
/// let polite = SparseAttribute::new(50_257, [(1_234, -2.5), (77, f32::NEG_INFINITY)])?;
/// assert_eq!(polite.log_weight_of(&[5, 1_234, 1_234]), -5.0);
/// assert_eq!(SparseAttribute::from_bytes(&polite.to_bytes())?, polite);
/// # Ok::<(), classifier::AttributeFileError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseAttribute {
    vocabulary: u32,
    /// With rising tokens, and weights below 0.
    weights: Vec<(u32, f32)>,
}

/// Why weights, or bytes, are not an attribute.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum AttributeFileError {
    /// The bytes begin with something else.
    #[error("these bytes are no attribute: they do not begin with PCTOKAT1")]
    Magic,
    /// There are fewer or more bytes than the number of entries asks for.
    #[error(
        "an attribute with {entries} entries has {expected} bytes, and here are {found}: was the file cut?"
    )]
    Length {
        /// Entries that are announced.
        entries: u32,
        /// Bytes that they take.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The vocabulary is larger than token numbers go.
    #[error("a vocabulary of {size} tokens is larger than token numbers go")]
    Vocabulary {
        /// The size.
        size: usize,
    },
    /// A token outside the vocabulary.
    #[error("token {token} is outside the vocabulary of {vocabulary} tokens")]
    Token {
        /// The token.
        token: u32,
        /// How many tokens there are.
        vocabulary: u32,
    },
    /// A token that is there twice, or after a larger one.
    #[error("token {token} stands after token {before}: tokens must rise")]
    Order {
        /// The token before.
        before: u32,
        /// The token.
        token: u32,
    },
    /// A log weight above 0 or not a number; in bytes also one of 0, which says nothing.
    #[error("token {token} has the log weight {weight}, and a log weight is below 0")]
    Weight {
        /// The token.
        token: u32,
        /// Its log weight.
        weight: f32,
    },
}

impl SparseAttribute {
    /// An attribute from log weights, in any order. Weights of 0 are left out.
    ///
    /// # Errors
    /// When a token is outside the vocabulary or is given twice, or a log weight is above 0 or not a number.
    pub fn new(
        vocabulary: usize,
        weights: impl IntoIterator<Item = (u32, f32)>,
    ) -> Result<SparseAttribute, AttributeFileError> {
        let vocabulary =
            u32::try_from(vocabulary).map_err(|_| AttributeFileError::Vocabulary { size: vocabulary })?;
        let mut weights: Vec<(u32, f32)> = weights.into_iter().filter(|(_, weight)| *weight != 0.0).collect();
        weights.sort_by_key(|(token, _)| *token);
        SparseAttribute { vocabulary, weights }.checked()
    }

    /// Reads an attribute. Memory is at most that of the bytes.
    ///
    /// # Errors
    /// When the bytes are not as [`SparseAttribute`] says.
    pub fn from_bytes(bytes: &[u8]) -> Result<SparseAttribute, AttributeFileError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(AttributeFileError::Magic)?;
        let cut = |entries| AttributeFileError::Length {
            entries,
            expected: (HEADER + ENTRY * entries as usize) as u64,
            found: bytes.len() as u64,
        };
        let (vocabulary, rest) = rest.split_first_chunk().ok_or(cut(0))?;
        let (entries, rest) = rest.split_first_chunk().ok_or(cut(0))?;
        let (vocabulary, entries) = (u32::from_le_bytes(*vocabulary), u32::from_le_bytes(*entries));
        let (pairs, rest) = rest.as_chunks::<ENTRY>();
        if pairs.len() as u64 != u64::from(entries) || !rest.is_empty() {
            return Err(cut(entries));
        }
        let entry = |[a, b, c, d, e, f, g, h]: &[u8; ENTRY]| {
            (u32::from_le_bytes([*a, *b, *c, *d]), f32::from_le_bytes([*e, *f, *g, *h]))
        };
        SparseAttribute { vocabulary, weights: pairs.iter().map(entry).collect() }.checked()
    }

    /// The attribute as bytes; equal attributes have equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + ENTRY * self.weights.len());
        bytes.extend(MAGIC);
        bytes.extend(self.vocabulary.to_le_bytes());
        // There are at most as many entries as tokens.
        bytes.extend((self.weights.len() as u32).to_le_bytes());
        for (token, weight) in &self.weights {
            bytes.extend(token.to_le_bytes());
            bytes.extend(weight.to_le_bytes());
        }
        bytes
    }

    /// The tokens that have a weight, in rising order, with their log weights.
    pub fn weights(&self) -> &[(u32, f32)] {
        &self.weights
    }

    fn checked(self) -> Result<SparseAttribute, AttributeFileError> {
        let vocabulary = self.vocabulary;
        let mut before = None;
        for (token, weight) in self.weights.iter().copied() {
            if token >= vocabulary {
                return Err(AttributeFileError::Token { token, vocabulary });
            }
            if let Some(before) = before.filter(|before| *before >= token) {
                return Err(AttributeFileError::Order { before, token });
            }
            // Written so that what is not a number is refused.
            if !matches!(weight.partial_cmp(&0.0), Some(std::cmp::Ordering::Less)) {
                return Err(AttributeFileError::Weight { token, weight });
            }
            before = Some(token);
        }
        Ok(self)
    }
}

impl TokenAttribute for SparseAttribute {
    fn vocabulary(&self) -> usize {
        self.vocabulary as usize
    }

    fn log_weight(&self, token: u32) -> f32 {
        let place = self.weights.binary_search_by_key(&token, |(token, _)| *token).ok();
        place.and_then(|place| self.weights.get(place)).map_or(0.0, |(_, weight)| *weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> SparseAttribute {
        SparseAttribute::new(10, [(7, -0.5), (2, -3.0), (5, 0.0), (9, f32::NEG_INFINITY)]).unwrap()
    }

    #[test]
    fn weights_are_found_again() {
        let sample = sample();
        let all: Vec<f32> = (0..12).map(|token| sample.log_weight(token)).collect();
        assert_eq!(all, [0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 0.0, -0.5, 0.0, f32::NEG_INFINITY, 0.0, 0.0]);
        assert_eq!(sample.weights().len(), 3);
        assert_eq!(sample.log_weight_of(&[2, 7, 7, 0, 99]), -4.0);
        assert_eq!(sample.vocabulary(), 10);
    }

    #[test]
    fn what_is_no_attribute_is_refused() {
        use AttributeFileError as Error;
        assert_eq!(SparseAttribute::new(3, [(3, -1.0)]), Err(Error::Token { token: 3, vocabulary: 3 }));
        assert_eq!(
            SparseAttribute::new(3, [(1, -1.0), (1, -2.0)]),
            Err(Error::Order { before: 1, token: 1 })
        );
        assert_eq!(SparseAttribute::new(3, [(1, 0.5)]), Err(Error::Weight { token: 1, weight: 0.5 }));
        assert!(matches!(SparseAttribute::new(3, [(1, f32::NAN)]), Err(Error::Weight { .. })));
        assert!(matches!(SparseAttribute::new(usize::MAX, []), Err(Error::Vocabulary { .. })));
    }

    #[test]
    fn every_cut_and_every_changed_field_is_refused() {
        let bytes = sample().to_bytes();
        assert_eq!(bytes.len(), 16 + 3 * 8);
        for length in 0..bytes.len() {
            assert!(SparseAttribute::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
        let with = |at: usize, new: &[u8]| {
            let mut changed = bytes.clone();
            changed[at..at + new.len()].copy_from_slice(new);
            SparseAttribute::from_bytes(&changed)
        };
        use AttributeFileError as Error;
        assert_eq!(with(0, b"X"), Err(Error::Magic));
        assert_eq!(with(8, &[9]), Err(Error::Token { token: 9, vocabulary: 9 }));
        assert_eq!(with(12, &[2]), Err(Error::Length { entries: 2, expected: 32, found: 40 }));
        assert_eq!(with(12, &[4]), Err(Error::Length { entries: 4, expected: 48, found: 40 }));
        let huge = Error::Length { entries: u32::MAX, expected: 16 + 8 * u64::from(u32::MAX), found: 40 };
        assert_eq!(with(12, &[255; 4]), Err(huge));
        assert_eq!(with(16, &[7]), Err(Error::Order { before: 7, token: 7 }));
        assert_eq!(with(16, &[8]), Err(Error::Order { before: 8, token: 7 }));
        assert_eq!(with(20, &0.0_f32.to_le_bytes()), Err(Error::Weight { token: 2, weight: 0.0 }));
        assert!(matches!(with(20, &f32::NAN.to_le_bytes()), Err(Error::Weight { token: 2, .. })));
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(matches!(SparseAttribute::from_bytes(&longer), Err(Error::Length { .. })));
    }

    proptest! {
        #[test]
        fn bytes_lead_back(weights in proptest::collection::btree_map(0_u32..5000, -40.0_f32..-1e-6, 0..40)) {
            let attribute = SparseAttribute::new(5000, weights).unwrap();
            prop_assert_eq!(SparseAttribute::from_bytes(&attribute.to_bytes()).unwrap(), attribute);
        }

        #[test]
        fn bytes_that_are_read_are_written_alike(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut file = MAGIC.to_vec();
            file.extend(bytes);
            if let Ok(attribute) = SparseAttribute::from_bytes(&file) {
                prop_assert_eq!(attribute.to_bytes(), file);
            }
        }
    }
}
