//! The JSON document of an export, and the age file around it.
//!
//! The document is written and read without serde's buffers, so that values are only in buffers that are wiped.

use std::borrow::Cow;
use std::io::{Read, Write};

use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Encryptor, scrypt};
use serde::Deserialize;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::error::ImportError;
use crate::content::record::Record;
use crate::crypto::secret::Secret;
use crate::error::VaultError;

/// The format that a document names.
const FORMAT: &str = "portcullis vault values";
/// The version of the format.
const VERSION: u32 = 1;
/// An upper bound of the bytes of a value's handle, field, binding and keys.
const MOST_AROUND: usize = 1024;

/// A document that is being written, in one buffer that does not grow.
pub(super) struct Writer {
    bytes: Zeroizing<Vec<u8>>,
    first: bool,
}

impl Writer {
    /// Starts a document for values of at most these lengths.
    pub(super) fn new(lengths: impl Iterator<Item = usize>) -> Writer {
        // The longest escape of a byte has six bytes.
        let most: usize = lengths.map(|length| 6 * length + MOST_AROUND).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(most + MOST_AROUND + 2 * CHUNK));
        bytes.extend_from_slice(
            format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"values\":[").as_bytes(),
        );
        Writer { bytes, first: true }
    }

    /// Adds a value.
    pub(super) fn push(&mut self, record: &Record, value: &[u8]) {
        if !self.first {
            self.bytes.push(b',');
        }
        self.first = false;
        self.text("\n{\"handle\":", record.handle.as_bytes());
        self.text(",\"field\":", record.field.as_str().as_bytes());
        self.text(",\"binding\":", record.binding.to_string().as_bytes());
        self.text(",\"value\":", value);
        self.bytes.push(b'}');
    }

    /// Ends the document and pads it to whole chunks, and by one more chunk of white space.
    pub(super) fn finish(mut self) -> Zeroizing<Vec<u8>> {
        self.bytes.extend_from_slice(b"\n]}\n");
        let padded = self.bytes.len().next_multiple_of(CHUNK) + CHUNK;
        self.bytes.resize(padded, b' ');
        self.bytes
    }

    /// The address of the buffer.
    #[cfg(test)]
    pub(super) fn address(&self) -> *const u8 {
        self.bytes.as_ptr()
    }

    fn text(&mut self, key: &str, text: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.push(b'"');
        for byte in text {
            match byte {
                b'"' | b'\\' => self.bytes.extend_from_slice(&[b'\\', *byte]),
                0..0x20 => {
                    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or(b'0');
                    self.bytes.extend_from_slice(b"\\u00");
                    self.bytes.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
                }
                _ => self.bytes.push(*byte),
            }
        }
        self.bytes.push(b'"');
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    #[serde(borrow)]
    format: Cow<'a, str>,
    version: u32,
    #[serde(borrow)]
    values: Vec<Item<'a>>,
}

/// One value of a document that is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item<'a> {
    #[serde(borrow)]
    pub(super) handle: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) field: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) binding: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
}

impl Item<'_> {
    /// Decodes the value, if it is a text.
    pub(super) fn value(&self) -> Option<Secret> {
        let quoted = self.value.get().strip_prefix('"')?.strip_suffix('"')?;
        let mut text = Zeroizing::new(Vec::with_capacity(quoted.len()));
        let mut rest = quoted.chars();
        while let Some(next) = rest.next() {
            let character = if next == '\\' { escaped(&mut rest)? } else { next };
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Some(Secret::new(text.as_slice()))
    }
}

/// Parses an escape after its backslash.
fn escaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let high = unit(rest)?;
            if !(0xd800..0xdc00).contains(&high) {
                return char::from_u32(high);
            }
            let low = (rest.next()? == '\\' && rest.next()? == 'u').then(|| unit(rest)).flatten()?;
            let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + low)
        }
        plain => Some(plain),
    }
}

/// Parses four hexadecimal digits.
fn unit(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| Some(unit << 4 | rest.next()?.to_digit(16)?))
}

/// Reads a document. Of serde's error only the place is passed on, since its message repeats what it read.
pub(super) fn read(document: &[u8]) -> Result<Vec<Item<'_>>, ImportError> {
    let document: Document<'_> = serde_json::from_slice(document)
        .map_err(|error| ImportError::NotADocument { line: error.line(), column: error.column() })?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(ImportError::NotADocument { line: 0, column: 0 });
    }
    Ok(document.values)
}

/// The number of bytes that `age` encrypts at a time, in a buffer that it does not wipe.
pub(super) const CHUNK: usize = 64 * 1024;

/// Copies the passphrase into the type of `age`, which wipes it.
fn passphrase_of(passphrase: &Secret) -> Option<SecretString> {
    // Its length is its capacity, so that it is never reallocated.
    let bytes = Zeroizing::new(passphrase.expose().to_vec());
    std::str::from_utf8(&bytes).ok().map(|text| SecretString::from(text.to_owned()))
}

/// Encrypts a document, whose last [`CHUNK`] bytes are padding. `age` collects every chunk in the same buffer, so
/// the padding overwrites the values in it.
pub(super) fn seal(
    document: Zeroizing<Vec<u8>>,
    passphrase: &Secret,
    log_n: u8,
) -> Result<Vec<u8>, VaultError> {
    let passphrase = passphrase_of(passphrase).ok_or(VaultError::ExportPassphraseNotText)?;
    let mut recipient = scrypt::Recipient::new(passphrase);
    recipient.set_work_factor(log_n);
    let encryptor = Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
        .map_err(|_| VaultError::OutOfMemory)?;
    let mut file = Vec::with_capacity(document.len() + CHUNK);
    let written = encryptor.wrap_output(&mut file).and_then(|mut writer| {
        writer.write_all(&document)?;
        writer.finish().map(|_| ())
    });
    written.map_err(|_| VaultError::OutOfMemory)?;
    Ok(file)
}

/// Decrypts a document whose cost is at most 2 to the power of `most`.
pub(super) fn open(bytes: &[u8], passphrase: &Secret, most: u8) -> Result<Zeroizing<Vec<u8>>, ImportError> {
    let decryptor = Decryptor::new(bytes).map_err(|_| ImportError::NotAnExport)?;
    if !decryptor.is_scrypt() {
        return Err(ImportError::NotAnExport);
    }
    let mut identity = scrypt::Identity::new(passphrase_of(passphrase).ok_or(ImportError::WrongPassphrase)?);
    identity.set_max_work_factor(most);
    let reader = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity));
    let mut reader = reader.map_err(|error| match error {
        DecryptError::ExcessiveWork { .. } => ImportError::TooCostly,
        DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed | DecryptError::NoMatchingKeys => {
            ImportError::WrongPassphrase
        }
        _ => ImportError::Damaged,
    })?;
    // A document is shorter than its file, so this buffer is never reallocated.
    let mut document = Zeroizing::new(vec![0; bytes.len()]);
    let mut length = 0;
    while let Some(free) = document.get_mut(length..).filter(|free| !free.is_empty()) {
        match reader.read(free).map_err(|_| ImportError::Damaged)? {
            0 => break,
            read => length += read,
        }
    }
    document.truncate(length);
    Ok(document)
}
