//! A linear model as bytes.
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `PCLINEAR` |
//! | 1 | version, 2 (in version 1 the length of a window counted with the exponent 1/2) |
//! | 1 | bits: there are `2^bits` weights |
//! | 1 | how many thresholds |
//! | 1 | 0 |
//! | 4 each | bias, scale, dilution, then one number for each place (`f32`) |
//! | 8 each | quarantine, calibration error, then rate and risk of each threshold (`f64`) |
//! | 1 each | the weights (`i8`) |
//! | 8 | FNV-1a of everything before (`u64`): against accidents, not against forgery |

use super::{LinearClassifier, Parameters};
use crate::{Features, Place};

const MAGIC: &[u8; 8] = b"PCLINEAR";
const VERSION: u8 = 2;

/// Why bytes or parts are not a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The bytes do not begin as a model does.
    #[error("this is not a linear model of Portcullis: it does not begin with PCLINEAR")]
    NotAModel,
    /// The version is another.
    #[error("the model is of version {found}, and version 2 is read: train it again with this release")]
    Version {
        /// The version found.
        found: u8,
    },
    /// Bytes or weights are missing or too many.
    #[error("the model should have {expected} bytes or weights and has {found}: take a fresh copy")]
    Length {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A number is outside its range.
    #[error("the model's {name} is outside its range: take a fresh copy")]
    Range {
        /// The number's name.
        name: &'static str,
    },
    /// The bytes were changed.
    #[error("the model's check sum is wrong: take a fresh copy")]
    CheckSum,
}

impl Parameters {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let range = |good: bool, name| if good { Ok(()) } else { Err(ModelError::Range { name }) };
        let share = |value: f64| (0.0..=1.0).contains(&value);
        range(self.bias.is_finite(), "bias")?;
        range(self.scale.is_finite() && self.scale >= 0.0, "scale")?;
        range(self.dilution.is_finite() && self.dilution >= 0.0, "dilution")?;
        range(self.places.iter().all(|place| place.is_finite()), "place")?;
        range(share(self.quarantine), "quarantine")?;
        range(share(self.calibration_error), "calibration error")?;
        range(self.thresholds.len() <= usize::from(u8::MAX), "number of thresholds")?;
        range(self.thresholds.iter().all(|(rate, risk)| share(*rate) && share(*risk)), "threshold")
    }
}

impl LinearClassifier {
    /// Reads a model. Any bytes may be given.
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
        if version != VERSION {
            return Err(ModelError::Version { found: version });
        }
        if !Features::BITS.contains(&u32::from(bits)) {
            return Err(ModelError::Range { name: "number of bits" });
        }
        if zero != 0 {
            return Err(ModelError::Range { name: "reserved byte" });
        }
        let features = Features::new(u32::from(bits));
        let places = Place::ALL.len();
        let expected = 12 + 4 * (3 + places) + 8 * (2 + 2 * usize::from(thresholds)) + features.buckets() + 8;
        if bytes.len() != expected {
            return Err(ModelError::Length { expected, found: bytes.len() });
        }
        let (body, sum) = bytes.split_at_checked(expected - 8).ok_or_else(short)?;
        if sum != check_sum(body).to_le_bytes() {
            return Err(ModelError::CheckSum);
        }
        let mut single = || rest.array().map(f32::from_le_bytes).ok_or_else(short);
        let (bias, scale, dilution) = (single()?, single()?, single()?);
        let mut places = [0.0; Place::ALL.len()];
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
        LinearClassifier::new(features, weights, parameters)
    }

    /// The model as bytes, which [`LinearClassifier::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parameters = &self.parameters;
        let mut bytes = Vec::with_capacity(self.weights.len() + 256);
        bytes.extend_from_slice(MAGIC);
        let bits = self.features.buckets().trailing_zeros() as u8;
        bytes.extend([VERSION, bits, parameters.thresholds.len() as u8, 0]);
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
        bytes.extend(check_sum(&bytes).to_le_bytes());
        bytes
    }
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
