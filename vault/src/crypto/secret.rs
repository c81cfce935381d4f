//! A secret that a caller gives to the vault: a value or a passphrase.

use std::io::{Error, ErrorKind, Read};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::memory::{Buffer, Protection};

/// One secret in memory of its own: locked, not dumped, wiped when dropped; see [`Protection`].
///
/// It cannot be read outside this crate, printed, cloned, compared or serialised.
///
/// ```
/// let passphrase = vault::Secret::new(String::from("correct horse battery staple"));
/// drop(passphrase); // wiped here
/// ```
pub struct Secret {
    buffer: Buffer,
    length: usize,
}

impl ZeroizeOnDrop for Secret {}

impl Secret {
    /// Copies a buffer into memory of its own and wipes the buffer. The caller wipes the original of a borrowed
    /// value.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Secret {
        let mut bytes: Vec<u8> = bytes.into();
        let secret = Secret::filled(bytes.len(), |out| out.copy_from_slice(&bytes));
        bytes.zeroize();
        secret
    }

    /// Makes a secret of `length` bytes that `fill` writes in place, so that no other buffer ever holds it.
    pub fn filled(length: usize, fill: impl FnOnce(&mut [u8])) -> Secret {
        let mut buffer = Buffer::new(length);
        fill(buffer.bytes_mut());
        Secret { buffer, length }
    }

    /// Reads one line of `reader`, without its end (`\n` or `\r\n`). The last line needs no end.
    ///
    /// The line is read byte by byte into the secret's own memory, so nothing beyond it is taken from `reader`.
    /// Give a reader without a buffer of its own, such as a [`std::fs::File`]: a buffered one keeps a
    /// copy, and so does the standard input of the standard library.
    ///
    /// # Errors
    /// The error of `reader`; [`ErrorKind::UnexpectedEof`] if the input is empty; [`ErrorKind::InvalidData`] for a
    /// line of more than `limit` bytes.
    ///
    /// ```
    /// let mut input = &b"open sesame\r\nsecond line"[..];
    /// let passphrase = vault::Secret::read_line(&mut input, 1024)?;
    /// assert_eq!(input, b"second line");
    /// # drop(passphrase);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read_line(reader: &mut impl Read, limit: usize) -> std::io::Result<Secret> {
        // The line's end takes two bytes more.
        let mut buffer = Buffer::new(limit.saturating_add(2));
        let mut length = 0;
        let ended = loop {
            let Some(slot) = buffer.bytes_mut().get_mut(length..=length) else { break false };
            match reader.read(slot) {
                Ok(0) if length == 0 => return Err(Error::from(ErrorKind::UnexpectedEof)),
                Ok(0) => break false,
                Ok(_) if *slot == *b"\n" => break true,
                Ok(_) => length += 1,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let ends_in_return = length.checked_sub(1).and_then(|last| buffer.bytes().get(last)) == Some(&b'\r');
        length -= usize::from(ended && ends_in_return);
        if length > limit {
            return Err(Error::new(ErrorKind::InvalidData, format!("the line is longer than {limit} bytes")));
        }
        Ok(Secret { buffer, length })
    }

    /// Compares two secrets in constant time for their length, such as a new passphrase that was typed twice.
    pub fn is_same(&self, other: &Secret) -> bool {
        let (one, other) = (self.expose(), other.expose());
        let differing = one.iter().zip(other).fold(0, |bits, (a, b)| bits | (a ^ b));
        one.len() == other.len() && std::hint::black_box(differing) == 0
    }

    /// Tells if the secret has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The protection that the system granted to its memory.
    pub fn protection(&self) -> Protection {
        self.buffer.protection()
    }

    /// The secret's bytes. Only this crate can read them.
    pub(crate) fn expose(&self) -> &[u8] {
        self.buffer.bytes().get(..self.length).unwrap_or(&[])
    }

    /// The secret's bytes, to be encrypted or decrypted in place.
    pub(crate) fn expose_mut(&mut self) -> &mut [u8] {
        let length = self.length;
        self.buffer.bytes_mut().split_at_mut(length).0
    }
}
