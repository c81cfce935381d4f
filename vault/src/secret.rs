//! A value on its way into the vault.

use std::io::{Error, ErrorKind, Read};

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::memory::{Buffer, Protection};

/// One secret in memory of its own: locked, not dumped, wiped when dropped; see [`crate::memory`].
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
    /// Copies a buffer into memory of its own and wipes the buffer. From a borrowed value the caller wipes
    /// the original.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Secret {
        let mut bytes: Vec<u8> = bytes.into();
        let secret = Secret::filled(bytes.len(), |out| out.copy_from_slice(&bytes));
        bytes.zeroize();
        secret
    }

    /// A secret of `length` bytes that `fill` writes in place, so that no other buffer ever holds it.
    pub fn filled(length: usize, fill: impl FnOnce(&mut [u8])) -> Secret {
        let mut buffer = Buffer::new(length);
        fill(buffer.bytes_mut());
        Secret { buffer, length }
    }

    /// One line of `reader`, without its end (`\n` or `\r\n`); at the end of the input, what there is.
    ///
    /// The line is read byte by byte into the secret's own memory, so nothing is taken from `reader` beyond
    /// it. Give a reader without a buffer of its own, such as a [`std::fs::File`]: a buffered one keeps a
    /// copy, and so does the standard input of the standard library.
    ///
    /// # Errors
    /// What `reader` says; [`ErrorKind::UnexpectedEof`] where it had nothing at all;
    /// [`ErrorKind::InvalidData`] for a line of more than `limit` bytes.
    ///
    /// ```
    /// let mut input = &b"open sesame\r\nsecond line"[..];
    /// let passphrase = vault::Secret::read_line(&mut input, 1024)?;
    /// assert_eq!(input, b"second line");
    /// # drop(passphrase);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read_line(reader: &mut impl Read, limit: usize) -> std::io::Result<Secret> {
        // Two bytes more than the limit: for the line's end.
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

    /// Whether two secrets are the same text. Takes as long for any two of the same length: a program compares
    /// what was typed twice, and nothing else.
    pub fn is_same(&self, other: &Secret) -> bool {
        let (one, other) = (self.expose(), other.expose());
        let differing = one.iter().zip(other).fold(0, |bits, (a, b)| bits | (a ^ b));
        one.len() == other.len() && std::hint::black_box(differing) == 0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What the system granted to its memory.
    pub fn protection(&self) -> Protection {
        self.buffer.protection()
    }

    /// The secret, for this crate alone.
    pub(crate) fn expose(&self) -> &[u8] {
        self.buffer.bytes().get(..self.length).unwrap_or(&[])
    }

    /// The buffer, for decrypting in place.
    pub(crate) fn expose_mut(&mut self) -> &mut [u8] {
        let length = self.length;
        self.buffer.bytes_mut().split_at_mut(length).0
    }
}
