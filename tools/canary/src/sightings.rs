//! Canaries in texts, files, folders and memory images.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::bytes::{Finder, Hit};
use crate::text::find;
use crate::{Canaries, Encoding};

/// A canary that was found, with its place and without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The canary's name.
    pub name: String,
    /// The place: the caller's name for the text, or a file, and the byte if it is known.
    pub place: String,
    /// The encoding of the value.
    pub encoding: Encoding,
}

impl fmt::Display for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the canary `{}` in {} ({:?})", self.name, self.place, self.encoding)
    }
}

/// The most sightings that a message lists.
const LISTED: usize = 20;

/// Panics if a canary was found. The message names canaries and places.
///
/// ```
/// canary::assert_none(&[]);
/// ```
#[track_caller]
pub fn assert_none(sightings: &[Sighting]) {
    let listed: Vec<String> = sightings.iter().take(LISTED).map(Sighting::to_string).collect();
    assert!(sightings.is_empty(), "{} values leaked:\n{}", sightings.len(), listed.join("\n"));
}

/// The length of the pieces of a long text, in bytes.
const PIECE: usize = 256 * 1024;
/// The end of a piece that the next piece repeats, in bytes. An encoded value that is longer may be missed.
const REPEATED: usize = 4096;

impl Canaries {
    /// Finds the canaries in a text named `place`, in any encoding that [`find`] knows.
    pub fn in_text(&self, place: &str, text: &str) -> Vec<Sighting> {
        let seen =
            |encoding, name: &str| Sighting { name: name.to_owned(), place: place.to_owned(), encoding };
        let texts = self.iter().filter_map(|canary| Some((canary.name(), canary.text()?)));
        texts.filter_map(|(name, value)| Some(seen(find(text, value)?, name))).collect()
    }

    /// Finds the canaries in bytes named `place`: plain, without separators, in UTF-16, and parts.
    pub fn in_bytes(&self, place: &str, bytes: &[u8]) -> Vec<Sighting> {
        Finder::new(self).in_bytes(bytes).into_iter().map(|hit| at_byte(hit, place)).collect()
    }

    /// Finds the canaries in a memory image or another binary file, which is read in pieces.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn in_image(&self, path: &Path) -> std::io::Result<Vec<Sighting>> {
        let hits = Finder::new(self).in_reader(&mut File::open(path)?)?;
        let place = path.display().to_string();
        Ok(hits.into_iter().map(|hit| at_byte(hit, &place)).collect())
    }

    /// Finds the canaries in every file under a folder, and in their names. All files are searched as bytes, and UTF-8
    /// in any encoding of a text. Links are not followed, and memory is bounded.
    ///
    /// # Errors
    /// The folder or a file in it cannot be read, since a file that was not searched must not count as clean.
    ///
    /// ```no_run
    /// use canary::{Canaries, assert_none};
    /// # fn test() -> std::io::Result<()> {
    /// let canaries = Canaries::from_seed(7);
    /// assert_none(&canaries.in_folder("target/demo".as_ref())?);
    /// # Ok(()) }
    /// ```
    pub fn in_folder(&self, folder: &Path) -> std::io::Result<Vec<Sighting>> {
        let finder = Finder::new(self);
        let mut seen = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                let path = entry.path();
                let place = path.display().to_string();
                seen.extend(self.in_text("a file's name", &entry.file_name().to_string_lossy()));
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    let hits = finder.in_reader(&mut File::open(&path)?)?;
                    seen.extend(hits.into_iter().map(|hit| at_byte(hit, &place)));
                    self.in_text_file(&place, &mut File::open(&path)?, &mut seen)?;
                }
            }
        }
        Ok(seen)
    }

    /// Searches the UTF-8 pieces of a file for encodings.
    fn in_text_file(
        &self,
        place: &str,
        file: &mut impl Read,
        seen: &mut Vec<Sighting>,
    ) -> std::io::Result<()> {
        let mut data = Vec::new();
        loop {
            let read = file.by_ref().take(PIECE as u64).read_to_end(&mut data)?;
            if read == 0 {
                return Ok(());
            }
            if let Some(text) = whole_characters(&data) {
                let new = self.in_text(place, text);
                // A plain value was already found in the bytes, or in the repeated part.
                let known =
                    |one: &Sighting| seen.iter().any(|s| s.name == one.name && s.place.starts_with(place));
                let new: Vec<Sighting> = new.into_iter().filter(|one| !known(one)).collect();
                seen.extend(new);
            }
            data.drain(..data.len().saturating_sub(REPEATED));
        }
    }
}

/// The text without characters that are cut at either end; `None` if it is not UTF-8.
fn whole_characters(data: &[u8]) -> Option<&str> {
    let start = data.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    let data = data.get(start..)?;
    match std::str::from_utf8(data) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            data.get(..error.valid_up_to()).and_then(|text| std::str::from_utf8(text).ok())
        }
        Err(_) => None,
    }
}

fn at_byte(hit: Hit, place: &str) -> Sighting {
    let place = format!("{place} at byte {:#x}, {} bytes", hit.offset, hit.length);
    Sighting { name: hit.name, place, encoding: hit.encoding }
}
