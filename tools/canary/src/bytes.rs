//! The search for values in bytes: plain, without separators, in UTF-16, and any part of twelve characters.
//!
//! ASCII letters are compared without case. [`crate::text`] searches for encodings such as Base64.

use std::collections::HashMap;
use std::io::Read;

use crate::{Canaries, Encoding};

/// The length of the parts that are searched for, in characters.
pub const WINDOW: usize = 12;

/// One form of a canary in bytes.
struct Pattern {
    name: String,
    bytes: Vec<u8>,
    /// The length of a part, in bytes, or the pattern's own length if it is shorter.
    part: usize,
    whole: Encoding,
}

/// A place of a value in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The canary's name.
    pub name: String,
    /// The offset of its first byte.
    pub offset: u64,
    /// The number of its bytes.
    pub length: usize,
    /// The encoding.
    pub encoding: Encoding,
}

/// A search for every part of every canary at once.
///
/// ```
/// use canary::{Canaries, Encoding};
/// use canary::bytes::Finder;
/// let mut canaries = Canaries::default();
/// canaries.add("password", "Xy7!kkq2Pw9$zzt");
/// let finder = Finder::new(&canaries);
/// let hits = finder.in_bytes(b"\x00\x01Xy7!kkq2Pw9$zzt\x02");
/// assert_eq!((hits[0].offset, hits[0].encoding), (2, Encoding::Plain));
/// assert_eq!(finder.in_bytes(b"....7!kkq2Pw9$zz....")[0].encoding, Encoding::Part);
/// assert!(finder.in_bytes(b"....kkq2Pw9$z....").is_empty());
/// ```
pub struct Finder {
    patterns: Vec<Pattern>,
    /// The patterns with the start of a part in them, by the first four bytes of the part.
    parts: HashMap<[u8; 4], Vec<(usize, usize)>>,
    /// A bit for the hash of the first four bytes of each part.
    begins: Vec<u64>,
    longest: usize,
}

/// The slot of four bytes in the table: a word and the bit in it.
fn slot(four: [u8; 4]) -> (usize, u32) {
    let mixed = u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> 14;
    ((mixed >> 6) as usize, mixed & 63)
}

/// The length of the common prefix, without letter case.
fn common_prefix(data: &[u8], pattern: &[u8]) -> usize {
    data.iter().zip(pattern).take_while(|(a, b)| a.to_ascii_lowercase() == **b).count()
}

impl Finder {
    /// Makes a search for these canaries.
    pub fn new(canaries: &Canaries) -> Finder {
        let mut patterns: Vec<Pattern> = Vec::new();
        for canary in canaries.iter() {
            let mut add = |bytes: Vec<u8>, width: usize, whole| {
                let part = bytes.len().min(WINDOW * width);
                if part >= 4 && !patterns.iter().any(|other| other.bytes == bytes) {
                    patterns.push(Pattern { name: canary.name().to_owned(), bytes, part, whole });
                }
            };
            let Some(text) = canary.text() else {
                add(canary.bytes().to_ascii_lowercase(), 1, Encoding::Plain);
                continue;
            };
            let text = text.to_ascii_lowercase();
            let bare: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
            let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
            for (text, whole) in [(&text, Encoding::Plain), (&bare, Encoding::Separators)] {
                add(text.as_bytes().to_vec(), 1, whole);
                add(wide(text), 2, Encoding::Utf16);
            }
        }
        let mut parts: HashMap<[u8; 4], Vec<(usize, usize)>> = HashMap::new();
        let mut begins = vec![0; 1 << 12];
        for (number, pattern) in patterns.iter().enumerate() {
            for (start, window) in pattern.bytes.windows(pattern.part).enumerate() {
                let Some(four) = window.first_chunk::<4>() else { continue };
                parts.entry(*four).or_default().push((number, start));
                let (word, bit) = slot(*four);
                if let Some(word) = begins.get_mut(word) {
                    *word |= 1 << bit;
                }
            }
        }
        let longest = patterns.iter().map(|pattern| pattern.bytes.len()).max().unwrap_or(0);
        Finder { patterns, parts, begins, longest }
    }

    /// Finds the longest part of a canary at the start of `data`.
    fn at(&self, data: &[u8]) -> Option<(&Pattern, usize)> {
        let four = data.first_chunk::<4>()?.map(|byte| byte.to_ascii_lowercase());
        let (word, bit) = slot(four);
        if self.begins.get(word).is_none_or(|word| word >> bit & 1 == 0) {
            return None;
        }
        let runs = self.parts.get(&four)?.iter().filter_map(|(number, start)| {
            let pattern = self.patterns.get(*number)?;
            let length = common_prefix(data, pattern.bytes.get(*start..)?);
            (length >= pattern.part).then_some((pattern, length))
        });
        runs.max_by_key(|(_, length)| *length)
    }

    /// Finds every place of a canary in `data`, or of a part of one; of overlapping parts, the first.
    pub fn in_bytes(&self, data: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.search(data, 0, data.len(), 0, &mut hits);
        hits
    }

    /// Does the same as [`Finder::in_bytes`] for all of `reader`, in pieces of a mebibyte. A value over the end of a
    /// piece is found too.
    ///
    /// # Errors
    /// The error of `reader`.
    pub fn in_reader(&self, reader: &mut impl Read) -> std::io::Result<Vec<Hit>> {
        self.in_pieces(reader, 1 << 20)
    }

    /// Does the same as [`Finder::in_reader`], in pieces of `piece` bytes.
    ///
    /// # Errors
    /// The error of `reader`.
    pub fn in_pieces(&self, reader: &mut impl Read, piece: usize) -> std::io::Result<Vec<Hit>> {
        let mut hits = Vec::new();
        let mut data = Vec::with_capacity(piece + self.longest);
        // The offset of the first byte of `data`, and the number of its bytes that were searched.
        let (mut offset, mut from) = (0_u64, 0);
        loop {
            let read = reader.by_ref().take(piece.max(1) as u64).read_to_end(&mut data)?;
            // A canary that begins after this may continue in the next piece.
            let until = if read == 0 { data.len() } else { data.len().saturating_sub(self.longest) };
            let end = self.search(&data, from, until, offset, &mut hits);
            if read == 0 {
                return Ok(hits);
            }
            let done = end.min(data.len());
            data.drain(..done);
            offset += done as u64;
            from = end - done;
        }
    }

    /// Searches for canaries that begin in `from..until`, and returns the place to continue.
    fn search(&self, data: &[u8], from: usize, until: usize, offset: u64, hits: &mut Vec<Hit>) -> usize {
        let mut place = from;
        while place < until {
            let Some((pattern, length)) = data.get(place..).and_then(|data| self.at(data)) else {
                place += 1;
                continue;
            };
            let encoding = if length == pattern.bytes.len() { pattern.whole } else { Encoding::Part };
            hits.push(Hit { name: pattern.name.clone(), offset: offset + place as u64, length, encoding });
            place += length;
        }
        place
    }
}
