//! Messages on a stream: a length of four bytes, then that many bytes of JSON.
//!
//! Browsers write the length in native byte order, and both ends here are on one machine.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use zeroize::Zeroizing;

/// The longest message, in bytes. A browser would accept a megabyte from a host and send 64; nothing here needs that.
pub const MAX_BYTES: usize = 256 * 1024;

/// Why a message could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FramingError {
    /// A message exceeds the limit. Nothing of it was read.
    #[error("a message of {0} bytes was announced; the longest is {MAX_BYTES}")]
    TooLong(usize),
    /// The stream ended within a message, or failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
}

/// Reads one message; none where the stream ended before it. The length is checked before memory is allocated for it,
/// and the memory is wiped when dropped.
///
/// # Errors
/// [`FramingError`].
pub async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Option<Zeroizing<Vec<u8>>>, FramingError> {
    let mut length = [0; 4];
    let first = from.read(&mut length).await?;
    if first == 0 {
        return Ok(None);
    }
    if let Some(rest) = length.get_mut(first..) {
        from.read_exact(rest).await?;
    }
    let length = usize::try_from(u32::from_ne_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_BYTES {
        return Err(FramingError::TooLong(length));
    }
    let mut message = Zeroizing::new(vec![0; length]);
    from.read_exact(&mut message).await?;
    Ok(Some(message))
}

/// Writes one message.
///
/// # Errors
/// [`FramingError`].
pub async fn write(to: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> Result<(), FramingError> {
    let length = u32::try_from(message.len()).ok().filter(|_| message.len() <= MAX_BYTES);
    let length = length.ok_or(FramingError::TooLong(message.len()))?;
    to.write_all(&length.to_ne_bytes()).await?;
    to.write_all(message).await?;
    Ok(to.flush().await?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn framed(length: u32, bytes: &[u8]) -> Vec<u8> {
        [&length.to_ne_bytes()[..], bytes].concat()
    }

    #[tokio::test]
    async fn messages_round_trip_and_a_stream_may_end_between_them() {
        let mut stream = Vec::new();
        write(&mut stream, b"{}").await.unwrap();
        write(&mut stream, b"").await.unwrap();
        let mut stream = stream.as_slice();
        assert_eq!(read(&mut stream).await.unwrap().unwrap().as_slice(), b"{}");
        assert_eq!(read(&mut stream).await.unwrap().unwrap().as_slice(), b"");
        assert!(read(&mut stream).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_length_is_checked_before_memory_is_allocated() {
        let long = u32::try_from(MAX_BYTES).unwrap();
        // Four gigabytes are announced and none follow: allocating them first would fail here.
        for length in [long + 1, u32::MAX] {
            let mut stream = &framed(length, b"{}")[..];
            assert!(matches!(read(&mut stream).await, Err(FramingError::TooLong(_))));
            assert_eq!(stream, b"{}", "nothing of it is read");
        }
        let full = framed(long, &vec![b' '; MAX_BYTES]);
        assert_eq!(read(&mut &full[..]).await.unwrap().unwrap().len(), MAX_BYTES);
        assert!(matches!(
            write(&mut Vec::new(), &vec![0; MAX_BYTES + 1]).await,
            Err(FramingError::TooLong(_))
        ));
    }

    #[tokio::test]
    async fn a_stream_that_ends_within_a_message_is_an_error() {
        for cut in [framed(8, b"{}"), vec![1, 0], vec![1]] {
            assert!(matches!(read(&mut &cut[..]).await, Err(FramingError::Io(_))));
        }
    }
}
