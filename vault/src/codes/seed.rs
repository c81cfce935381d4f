//! The seed of one-time codes by time (TOTP, RFC 6238).

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use zeroize::{Zeroize, Zeroizing};

use crate::crypto::secret::Secret;

/// The most bytes of a key.
const LONGEST_KEY: usize = 128;
/// The fewest bytes of a key. Services show keys of 10 bytes, although RFC 4226 asks for 16.
const SHORTEST_KEY: usize = 10;
/// The periods that a seed may have, in seconds.
const PERIODS: std::ops::RangeInclusive<u64> = 15..=120;
/// The letters of Base32 (RFC 4648), in the order of their values.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// The letters of a code of Steam, in the order of their values.
const STEAM: &[u8; 26] = b"23456789BCDFGHJKMNPQRTVWXY";
/// The letters of a code of Steam.
const STEAM_LENGTH: usize = 5;
/// The beginning of every seed's text, as the vault writes it.
const BEGINNING: &str = "otpauth://totp/?secret=";
/// The most bytes of that text.
const LONGEST_TEXT: usize = BEGINNING.len() + LONGEST_KEY.div_ceil(5) * 8 + 64;

/// Why a text is no seed of one-time codes. No message holds a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// The text is neither an address of a seed nor a secret.
    #[error(
        "this is no seed of one-time codes: give the `otpauth://totp/` address, or the secret that the site shows"
    )]
    NotASeed,
    /// The codes count uses.
    #[error("these codes count their uses (`otpauth://hotp/`), and the vault makes codes by time alone")]
    Counter,
    /// The algorithm is unknown.
    #[error("the algorithm of a seed is SHA1, SHA256 or SHA512")]
    Algorithm,
    /// The code would be too short or too long.
    #[error("a one-time code has 6, 7 or 8 digits")]
    Digits,
    /// The period is too short or too long.
    #[error("the period of a seed is 15 to 120 seconds")]
    Period,
    /// The secret is not written in Base32, or is too short or too long.
    #[error("the secret of a seed is 10 to 128 bytes in Base32")]
    Secret,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Sha1,
    Sha256,
    Sha512,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Digits(u32),
    Steam,
}

/// A key at the beginning of a buffer of fixed length. The buffer is in locked memory, so that a moved key leaves no copy behind.
struct Key {
    buffer: Secret,
    length: usize,
}

impl Key {
    fn bytes(&self) -> &[u8] {
        self.buffer.expose().get(..self.length).unwrap_or_default()
    }

    /// Reads Base32 as sites show it: in any case, with blanks or hyphens between groups, with or without padding.
    fn from_base32(text: &str) -> Result<Key, SeedError> {
        let mut decoded = Err(SeedError::Secret);
        let buffer = Secret::filled(LONGEST_KEY, |out| decoded = decode_base32(text, out));
        let length = decoded?;
        if length < SHORTEST_KEY { Err(SeedError::Secret) } else { Ok(Key { buffer, length }) }
    }

    fn write_base32(&self, out: &mut String) {
        let (mut waiting, mut bits) = (0_u32, 0_u32);
        let mut push = |value: u32| {
            let letter = usize::try_from(value & 31).ok().and_then(|at| BASE32.get(at)).copied();
            out.push(char::from(letter.unwrap_or(b'A')));
        };
        for byte in self.bytes() {
            waiting = (waiting << 8) | u32::from(*byte);
            bits += 8;
            while bits >= 5 {
                bits -= 5;
                push(waiting >> bits);
                waiting &= (1 << bits) - 1;
            }
        }
        if bits > 0 {
            push(waiting << (5 - bits));
        }
        waiting.zeroize();
    }
}

/// Decodes Base32 into a buffer, and returns the number of bytes.
fn decode_base32(text: &str, out: &mut [u8]) -> Result<usize, SeedError> {
    let (mut waiting, mut bits, mut length) = (0_u32, 0_u32, 0);
    let letters = text.trim_end_matches('=').bytes().filter(|byte| !matches!(byte, b' ' | b'-' | b'+'));
    for byte in letters {
        let letter = byte.to_ascii_uppercase();
        let value = BASE32.iter().position(|known| *known == letter).ok_or(SeedError::Secret)?;
        waiting = (waiting << 5) | u32::try_from(value).map_err(|_| SeedError::Secret)?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            let [low, ..] = waiting.checked_shr(bits).unwrap_or_default().to_le_bytes();
            *out.get_mut(length).ok_or(SeedError::Secret)? = low;
            length += 1;
            waiting &= (1 << bits) - 1;
        }
    }
    waiting.zeroize();
    Ok(length)
}

/// A seed: a key, and how codes are made with it.
pub(crate) struct CodeSeed {
    key: Key,
    algorithm: Algorithm,
    form: Form,
    period: u64,
}

impl CodeSeed {
    /// Reads an `otpauth://totp/` address, a `steam://` address, or a secret alone, which is for SHA-1, six digits and 30 seconds.
    pub(crate) fn parse(text: &str) -> Result<CodeSeed, SeedError> {
        let text = text.trim();
        let of = |key: &str, form| {
            Ok(CodeSeed { key: Key::from_base32(key)?, algorithm: Algorithm::Sha1, form, period: 30 })
        };
        if let Some(secret) = after(text, "steam://") {
            return of(secret, Form::Steam);
        }
        if after(text, "otpauth://hotp/").is_some() {
            return Err(SeedError::Counter);
        }
        let Some(rest) = after(text, "otpauth://totp/") else {
            return of(text, Form::Digits(6)).map_err(|_| SeedError::NotASeed);
        };
        let query = rest.split_once('?').ok_or(SeedError::Secret)?.1;
        let query = query.split('#').next().unwrap_or(query);
        let (mut key, mut algorithm, mut form, mut period) = (None, Algorithm::Sha1, Form::Digits(6), 30);
        for (name, value) in query.split('&').filter_map(|part| part.split_once('=')) {
            match name.to_ascii_lowercase().as_str() {
                "secret" => key = Some(Key::from_base32(&decoded(value))?),
                "algorithm" => algorithm = algorithm_of(value)?,
                "digits" => {
                    let digits: u32 = value.parse().map_err(|_| SeedError::Digits)?;
                    if !(6..=8).contains(&digits) {
                        return Err(SeedError::Digits);
                    }
                    form = Form::Digits(digits);
                }
                "period" => {
                    period = value.parse().ok().filter(|p| PERIODS.contains(p)).ok_or(SeedError::Period)?;
                }
                "encoder" if value.eq_ignore_ascii_case("steam") => form = Form::Steam,
                _ => {}
            }
        }
        Ok(CodeSeed { key: key.ok_or(SeedError::Secret)?, algorithm, form, period })
    }

    /// The seed as the vault writes it, without the names of the account and the site.
    pub(crate) fn to_text(&self) -> Secret {
        let mut text = Zeroizing::new(String::with_capacity(LONGEST_TEXT));
        text.push_str(BEGINNING);
        self.key.write_base32(&mut text);
        text.push_str(match self.algorithm {
            Algorithm::Sha1 => "&algorithm=SHA1",
            Algorithm::Sha256 => "&algorithm=SHA256",
            Algorithm::Sha512 => "&algorithm=SHA512",
        });
        match self.form {
            Form::Digits(digits) => text.push_str(&format!("&digits={digits}")),
            Form::Steam => text.push_str("&encoder=steam"),
        }
        text.push_str(&format!("&period={}", self.period));
        let bytes = text.as_bytes();
        Secret::filled(bytes.len(), |out| out.copy_from_slice(bytes))
    }

    /// The number of the step that a time is in, and the seconds that are left of it.
    pub(crate) fn step(&self, unix_seconds: u64) -> (u64, u64) {
        let within = unix_seconds.checked_rem(self.period).unwrap_or_default();
        (unix_seconds.checked_div(self.period).unwrap_or_default(), self.period - within)
    }

    /// A name of the seed, by which used steps are noted. It reveals nothing about the key.
    pub(crate) fn name(&self) -> [u8; 8] {
        let hash =
            Sha256::new().chain_update(b"portcullis code seed").chain_update(self.key.bytes()).finalize();
        let mut name = [0; 8];
        name.iter_mut().zip(hash).for_each(|(out, byte)| *out = byte);
        name
    }

    /// The code of a step (RFC 4226, 5.3 and 5.4).
    pub(crate) fn code(&self, step: u64) -> Zeroizing<String> {
        let counter = step.to_be_bytes();
        let truncated = match self.algorithm {
            Algorithm::Sha1 => truncated::<Hmac<Sha1>>(self.key.bytes(), &counter),
            Algorithm::Sha256 => truncated::<Hmac<Sha256>>(self.key.bytes(), &counter),
            Algorithm::Sha512 => truncated::<Hmac<Sha512>>(self.key.bytes(), &counter),
        };
        match self.form {
            Form::Digits(digits) => {
                let code = truncated.checked_rem(10_u32.pow(digits)).unwrap_or_default();
                let width = usize::try_from(digits).unwrap_or_default();
                Zeroizing::new(format!("{code:0width$}"))
            }
            Form::Steam => {
                let mut left = truncated;
                let mut code = Zeroizing::new(String::with_capacity(STEAM_LENGTH));
                for _ in 0..STEAM_LENGTH {
                    let at = usize::try_from(left % 26).unwrap_or_default();
                    code.push(char::from(STEAM.get(at).copied().unwrap_or(b'2')));
                    left /= 26;
                }
                code
            }
        }
    }
}

/// The secret in a seed's text, as the vault writes it.
pub(crate) fn secret_of(text: &str) -> Option<&str> {
    text.strip_prefix(BEGINNING)?.split('&').next()
}

fn truncated<M: Mac + KeyInit>(key: &[u8], counter: &[u8]) -> u32 {
    // HMAC takes a key of any length.
    let Ok(mac) = <M as KeyInit>::new_from_slice(key) else { return 0 };
    let hash = mac.chain_update(counter).finalize().into_bytes();
    let offset = usize::from(hash.last().copied().unwrap_or_default() & 0xf);
    let mut bytes = [0; 4];
    bytes.iter_mut().zip(hash.iter().skip(offset)).for_each(|(out, byte)| *out = *byte);
    u32::from_be_bytes(bytes) & 0x7fff_ffff
}

fn algorithm_of(name: &str) -> Result<Algorithm, SeedError> {
    match name.to_ascii_uppercase().replace('-', "").as_str() {
        "SHA1" | "HMACSHA1" => Ok(Algorithm::Sha1),
        "SHA256" | "HMACSHA256" => Ok(Algorithm::Sha256),
        "SHA512" | "HMACSHA512" => Ok(Algorithm::Sha512),
        _ => Err(SeedError::Algorithm),
    }
}

/// The rest of a text after a beginning, which may be written in any case.
fn after<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    let head = text.get(..beginning.len())?;
    head.eq_ignore_ascii_case(beginning).then(|| text.get(beginning.len()..)).flatten()
}

/// A value of a query without its percent signs, which stand for blanks and padding.
fn decoded(value: &str) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(value.len()));
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        let code = behind.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push('%');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}
