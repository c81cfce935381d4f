//! Memory for secrets: pages of their own that are not swapped, not dumped, and wiped before they are freed.
//!
//! Every buffer is an anonymous mapping of whole pages. The system is asked to lock it (then it is never written
//! to swap), to leave it out of core dumps, and to leave it out of forked processes (Linux). The system may
//! refuse, since it bounds the memory that a process may lock, often to 8 MiB, which is 2048 small buffers. A
//! buffer without protection works all the same, and [`Protection`] reports it.
//!
//! A new buffer costs one page, some system calls and a page fault: about ten microseconds. So an unlocked vault
//! decrypts into buffers of a pool, which keeps a few wiped ones for reuse.

#[cfg(test)]
mod tests;

use std::hint::black_box;
use std::sync::{Arc, Mutex, Weak};

use memmap2::MmapMut;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The protection that the system granted to memory that holds secrets. If one of the two is missing, the
/// program works, but a swap file or a core dump may hold a secret, so the user should be warned.
///
/// ```
/// let secret = vault::Secret::new("correct horse battery staple");
/// let protection = secret.protection();
/// if !protection.locked {
///     eprintln!("secrets may be written to swap: raise `ulimit -l`");
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// The memory is never written to swap.
    pub locked: bool,
    /// The memory is left out of core dumps. Only Linux can do this.
    pub undumped: bool,
}

impl Protection {
    /// Both protections.
    pub const FULL: Protection = Protection { locked: true, undumped: true };
    const NONE: Protection = Protection { locked: false, undumped: false };

    /// The protection that both have.
    pub fn and(self, other: Protection) -> Protection {
        Protection { locked: self.locked && other.locked, undumped: self.undumped && other.undumped }
    }
}

/// The memory of a buffer.
enum Pages {
    Mapped(MmapMut),
    /// The fallback where the system gives no mapping.
    Heap(Box<[u8]>),
}

/// A buffer of a fixed length, zeros at first, wiped when dropped. Moving it only moves a pointer.
pub(crate) struct Buffer {
    pages: Pages,
    length: usize,
    protection: Protection,
}

impl Buffer {
    /// Makes a buffer of `length` zeros.
    pub(crate) fn new(length: usize) -> Buffer {
        // The system refuses a mapping of no bytes.
        match MmapMut::map_anon(length.max(1)) {
            Ok(map) => {
                let protection = protect(&map);
                Buffer { pages: Pages::Mapped(map), length, protection }
            }
            Err(_) => Buffer {
                pages: Pages::Heap(vec![0; length].into_boxed_slice()),
                length,
                protection: Protection::NONE,
            },
        }
    }

    /// The protection that the system granted.
    pub(crate) fn protection(&self) -> Protection {
        self.protection
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        let bytes = match &self.pages {
            Pages::Mapped(map) => map,
            Pages::Heap(bytes) => &**bytes,
        };
        bytes.get(..self.length).unwrap_or(bytes)
    }

    /// The bytes, to be written.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = match &mut self.pages {
            Pages::Mapped(map) => &mut **map,
            Pages::Heap(bytes) => &mut **bytes,
        };
        let length = self.length.min(bytes.len());
        bytes.split_at_mut(length).0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.bytes_mut().zeroize();
    }
}

impl ZeroizeOnDrop for Buffer {}

/// A growing row of bytes. A full buffer is replaced by one of twice its size, and the old one is wiped.
pub(crate) struct GrowingBuffer {
    buffer: Buffer,
    length: usize,
}

impl GrowingBuffer {
    /// Makes an empty one with room for `room` bytes.
    pub(crate) fn with_room(room: usize) -> GrowingBuffer {
        GrowingBuffer { buffer: Buffer::new(room), length: 0 }
    }

    /// Adds a byte at the end.
    pub(crate) fn push(&mut self, byte: u8) {
        if self.length == self.buffer.length {
            let mut larger = Buffer::new((2 * self.length).max(256));
            for (to, from) in larger.bytes_mut().iter_mut().zip(self.buffer.bytes()) {
                *to = *from;
            }
            self.buffer = larger;
        }
        if let Some(slot) = self.buffer.bytes_mut().get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.bytes().get(..self.length).unwrap_or(&[])
    }
}

/// Reusable buffers of one length. They are unmapped when the pool is dropped.
pub(crate) struct Pool {
    length: usize,
    spare: Arc<Mutex<Vec<Buffer>>>,
}

/// The most free buffers that a pool keeps: a form has fewer fields.
const MOST_SPARE: usize = 16;

impl Pool {
    /// Makes an empty pool of buffers of `length` bytes.
    pub(crate) fn new(length: usize) -> Pool {
        Pool { length, spare: Arc::default() }
    }

    /// Takes a buffer. Its content is unspecified and no secret.
    pub(crate) fn take(&self) -> Pooled {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        let buffer = spare.unwrap_or_else(|| Buffer::new(self.length));
        Pooled { buffer: Some(buffer), used: 0, home: Arc::downgrade(&self.spare) }
    }
}

/// A buffer of a pool. When dropped it is wiped and returned, or unmapped if the pool is gone or full.
pub(crate) struct Pooled {
    buffer: Option<Buffer>,
    used: usize,
    home: Weak<Mutex<Vec<Buffer>>>,
}

impl Pooled {
    /// The first `length` bytes; `None` if the buffer is shorter.
    pub(crate) fn bytes(&self, length: usize) -> Option<&[u8]> {
        self.buffer.as_ref()?.bytes().get(..length)
    }

    /// The first `length` bytes, to be written.
    pub(crate) fn bytes_mut(&mut self, length: usize) -> Option<&mut [u8]> {
        self.used = self.used.max(length);
        self.buffer.as_mut()?.bytes_mut().get_mut(..length)
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some(mut buffer) = self.buffer.take() else { return };
        // Bytes beyond `used` were never written.
        let used = self.used.min(buffer.length);
        buffer.bytes_mut().split_at_mut(used).0.zeroize();
        let home = self.home.upgrade();
        if let Some(mut spare) = home.as_ref().and_then(|home| home.lock().ok())
            && spare.len() < MOST_SPARE
        {
            spare.push(buffer);
        }
    }
}

/// Asks for every protection, before the first secret is written.
#[cfg(unix)]
fn protect(map: &MmapMut) -> Protection {
    #[cfg(target_os = "linux")]
    let undumped = {
        use memmap2::Advice;
        // A child process that sees the pages is no weakness of this one, so a refusal is ignored.
        let _ = map.advise(Advice::DontFork);
        map.advise(Advice::DontDump).is_ok()
    };
    #[cfg(not(target_os = "linux"))]
    let undumped = false;
    Protection { locked: map.lock().is_ok(), undumped }
}

#[cfg(not(unix))]
fn protect(_: &MmapMut) -> Protection {
    Protection::NONE
}

/// The most stack that one call of a cipher or a hash function uses, with room to spare, in bytes.
const DEPTH: usize = 8 * 1024;

/// The most stack that a signature uses, with room to spare, in bytes: its tables are large.
const DEEP: usize = 128 * 1024;

/// Does what [`with_clean_stack`] does, for signatures.
#[inline(never)]
pub(crate) fn with_clean_deep_stack<T>(work: impl FnOnce() -> T) -> T {
    let done = run(work);
    overwrite_deep_stack();
    done
}

/// Overwrites [`DEEP`] bytes of the stack below the caller's frame.
#[inline(never)]
fn overwrite_deep_stack() {
    let mut below = [0_u64; DEEP / 8];
    below.zeroize();
    black_box(&mut below);
}

/// Runs `work`, then overwrites the part of the stack that it used, because ciphers leave round keys there and
/// hash functions leave the last block that they read.
#[inline(never)]
pub(crate) fn with_clean_stack<T>(work: impl FnOnce() -> T) -> T {
    let done = run(work);
    overwrite_stack();
    done
}

#[inline(never)]
fn run<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Overwrites [`DEPTH`] bytes of the stack below the caller's frame.
#[inline(never)]
fn overwrite_stack() {
    let mut below = [0_u64; DEPTH / 8];
    below.zeroize();
    black_box(&mut below);
}
