//! The file format of a linear model.
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `PCLINEAR` |
//! | 1 | version: 2, or 3 with classes of words (version 1 used the exponent 1/2 for the length of a window) |
//! | 1 | bits: there are `2^bits` weights |
//! | 1 | how many thresholds |
//! | 1 | 0 |
//! | 4 each | bias, scale, dilution, then one number for each place (`f32`) |
//! | 8 each | quarantine, calibration error, then rate and risk of each threshold (`f64`) |
//! | 1 each | the weights (`i8`) |
//! | 4 | version 3: how many words have a class (`u32`) |
//! | 7 each | version 3: a word's number (`u32`), greater than the one before, its fine class (`u16`) and its coarse one (`u8`) |
//! | 8 | FNV-1a of everything before (`u64`): against accidents, not against forgery |

use std::sync::Arc;

use super::{LinearClassifier, ModelError, Parameters};
use crate::judge::features::Features;
use crate::judge::window::WindowPlace;
use crate::judge::word::{WordClass, WordClasses};

const MAGIC: &[u8; 8] = b"PCLINEAR";
/// The versions without and with classes of words.
const PLAIN: u8 = 2;
const CLASSED: u8 = 3;
/// The number of bytes of a word and its class.
const WORD: usize = 7;

impl LinearClassifier {
    /// Reads a model. It accepts any bytes.
    ///
    /// # Errors
    /// When the bytes are not exactly a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<LinearClassifier, ModelError> {
        let mut rest = Reader { bytes };
        if rest.take(8) != Some(MAGIC) {
            return Err(ModelError::NotAModel);
        }
        let short = || ModelError::Length { expected: bytes.len() + 1, found: bytes.len() };
        let head: [u8; 4] = rest.array().ok_or_else(short)?;
        let [version, bits, thresholds, zero] = head;
        if ![PLAIN, CLASSED].contains(&version) {
            return Err(ModelError::Version { found: version });
        }
        if !Features::BITS.contains(&u32::from(bits)) {
            return Err(ModelError::Range { name: "number of bits" });
        }
        if zero != 0 {
            return Err(ModelError::Range { name: "reserved byte" });
        }
        let features = Features::new(u32::from(bits));
        let places = WindowPlace::ALL.len();
        let plain = 12 + 4 * (3 + places) + 8 * (2 + 2 * usize::from(thresholds)) + features.buckets();
        let words = if version == CLASSED {
            let count = bytes.get(plain..).and_then(|bytes| Reader { bytes }.array().map(u32::from_le_bytes));
            WORD.saturating_mul(count.ok_or_else(short)? as usize).saturating_add(4)
        } else {
            0
        };
        let expected = plain.saturating_add(words).saturating_add(8);
        if bytes.len() != expected {
            return Err(ModelError::Length { expected, found: bytes.len() });
        }
        let (body, sum) = bytes.split_at_checked(expected - 8).ok_or_else(short)?;
        if sum != check_sum(body).to_le_bytes() {
            return Err(ModelError::CheckSum);
        }
        let mut single = || rest.array().map(f32::from_le_bytes).ok_or_else(short);
        let (bias, scale, dilution) = (single()?, single()?, single()?);
        let mut places = [0.0; WindowPlace::ALL.len()];
        for place in &mut places {
            *place = single()?;
        }
        let mut double = || rest.array().map(f64::from_le_bytes).ok_or_else(short);
        let (quarantine, calibration_error) = (double()?, double()?);
        let thresholds =
            (0..thresholds).map(|_| Ok((double()?, double()?))).collect::<Result<Vec<_>, ModelError>>()?;
        let weights: Box<[i8]> =
            rest.take(features.buckets()).ok_or_else(short)?.iter().map(|byte| byte.cast_signed()).collect();
        let parameters =
            Parameters { bias, scale, dilution, places, thresholds, quarantine, calibration_error };
        let features = if version == CLASSED {
            let words = rest.take(words).and_then(|bytes| bytes.get(4..)).ok_or_else(short)?;
            features.with_classes(Arc::new(read_classes(words)?))
        } else {
            features
        };
        LinearClassifier::new(features, weights, parameters)
    }

    /// Returns the model as bytes, which [`LinearClassifier::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parameters = &self.parameters;
        let mut bytes = Vec::with_capacity(self.weights.len() + 256);
        bytes.extend_from_slice(MAGIC);
        let bits = self.features.buckets().trailing_zeros() as u8;
        let classes = self.features.classes();
        let version = if classes.is_some() { CLASSED } else { PLAIN };
        bytes.extend([version, bits, parameters.thresholds.len() as u8, 0]);
        let singles = [parameters.bias, parameters.scale, parameters.dilution];
        for number in singles.iter().chain(&parameters.places) {
            bytes.extend(number.to_le_bytes());
        }
        for number in [parameters.quarantine, parameters.calibration_error] {
            bytes.extend(number.to_le_bytes());
        }
        for (rate, risk) in &parameters.thresholds {
            bytes.extend(rate.to_le_bytes());
            bytes.extend(risk.to_le_bytes());
        }
        bytes.extend(self.weights.iter().map(|weight| weight.cast_unsigned()));
        if let Some(classes) = classes {
            bytes.extend((classes.entries().len() as u32).to_le_bytes());
            for (number, class) in classes.entries() {
                bytes.extend(number.to_le_bytes());
                bytes.extend(class.fine.to_le_bytes());
                bytes.push(class.coarse);
            }
        }
        bytes.extend(check_sum(&bytes).to_le_bytes());
        bytes
    }
}

/// Reads words and their classes.
fn read_classes(bytes: &[u8]) -> Result<WordClasses, ModelError> {
    let mut entries = Vec::with_capacity(bytes.len() / WORD);
    let mut least = 0;
    for word in bytes.chunks_exact(WORD) {
        let mut rest = Reader { bytes: word };
        let (Some(number), Some(fine), Some([coarse])) = (rest.array(), rest.array(), rest.array()) else {
            break;
        };
        let number = u32::from_le_bytes(number);
        if u64::from(number) < least {
            return Err(ModelError::Range { name: "order of words" });
        }
        least = u64::from(number) + 1;
        entries.push((number, WordClass { fine: u16::from_le_bytes(fine), coarse }));
    }
    Ok(WordClasses::new(entries))
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
fn check_sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
}
