//! Attributes of a text that are a product over its tokens.

/// An attribute that a look-ahead can predict: the probability that a text has it is close to the product of one
/// weight per token (TRACE, Yidou-Weng et al. 2025, section 4).
///
/// Weights are logarithms, at most 0; a token that is no evidence for or against the attribute has 0.
pub trait TokenAttribute {
    /// Returns the number of tokens of the vocabulary.
    fn vocabulary(&self) -> usize;

    /// Returns the log weight of a token, at most 0; 0 outside the vocabulary.
    fn log_weight(&self, token: u32) -> f32;

    /// Returns the log weight of a text: the sum over its tokens.
    fn log_weight_of(&self, tokens: &[u32]) -> f64 {
        tokens.iter().map(|token| f64::from(self.log_weight(*token))).sum()
    }
}

/// The first bytes of a file.
const MAGIC: [u8; 8] = *b"PCTOKAT1";

/// The number of bytes before the first entry, and of each entry.
const HEADER: usize = 16;
const ENTRY: usize = 8;

/// An attribute with weights for few tokens, for a vocabulary of any size.
///
/// # As bytes
/// Numbers are little-endian. The file has `PCTOKAT1`, the size of the vocabulary as `u32`, the number of entries as
/// `u32`, and then the entries: each has a token as `u32` and its log weight as `f32`, in the order of the tokens.
/// Log weights are below 0; minus infinity forbids a token.
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
    /// Sorted by token; the weights are below 0.
    weights: Vec<(u32, f32)>,
}

/// The error of weights or bytes that are not an attribute.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AttributeFileError {
    /// The bytes begin with something else.
    #[error("these bytes are not an attribute: they do not begin with PCTOKAT1")]
    Magic,
    /// There are fewer or more bytes than the number of entries requires.
    #[error(
        "an attribute with {entries} entries has {expected} bytes, and here are {found}: was the file cut?"
    )]
    Length {
        /// The number of entries in the header.
        entries: u32,
        /// The number of bytes that they take.
        expected: u64,
        /// The number of bytes that there are.
        found: u64,
    },
    /// The vocabulary is larger than token numbers allow.
    #[error("a vocabulary of {size} tokens is larger than token numbers allow")]
    Vocabulary {
        /// The size.
        size: usize,
    },
    /// A token is outside the vocabulary.
    #[error("token {token} is outside the vocabulary of {vocabulary} tokens")]
    Token {
        /// The token.
        token: u32,
        /// The number of tokens.
        vocabulary: u32,
    },
    /// A token occurs twice, or after a larger one.
    #[error("token {token} is after token {before}: tokens must be in rising order")]
    Order {
        /// The token before.
        before: u32,
        /// The token.
        token: u32,
    },
    /// A log weight is above 0 or not a number; in bytes, one of 0 is refused too.
    #[error("token {token} has the log weight {weight}, and a log weight is below 0")]
    Weight {
        /// The token.
        token: u32,
        /// Its log weight.
        weight: f32,
    },
}

impl SparseAttribute {
    /// Returns an attribute from log weights, in any order. Weights of 0 are left out.
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

    /// Reads an attribute. It takes no more memory than the bytes.
    ///
    /// # Errors
    /// When the bytes are not in the format of [`SparseAttribute`].
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

    /// Returns the attribute as bytes; equal attributes have equal bytes.
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

    /// Returns the tokens with a weight, in rising order, with their log weights.
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
            // The comparison is written so that NaN is refused.
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
    fn wrong_weights_are_refused() {
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
