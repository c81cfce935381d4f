//! Released values in the texts of a page, also in several pieces.

use sirl::Field;

use super::whole::{Match, SearchedParts, is_among};
use super::word::is_whole_word;
use super::{search, words};
use crate::release::error::ReleaseError;
use crate::store::vault::Vault;

impl Vault {
    /// Finds every place of one of the `released` values, or of most of one, in `segments`: texts that a reader
    /// sees one after another, such as the lines of a page. A value that begins in one and ends in another, with
    /// only separators between, gives a match in each of them. So does a number of nine digits or more whose digits
    /// are in several segments, with any words between; of one with twelve or more, any eight digits in a row are
    /// enough, and of another T2 value that is no password or code, three quarters. Values of fewer than six
    /// characters are not searched for here.
    ///
    /// It also finds the parts that a page shows by themselves: each word of four letters or more of a name, the
    /// local part of an e-mail address, and a street, under any word for its kind, with any house number next to
    /// it. A word that is also a common word (`Will`, `Price`) is found with a capital letter only, and never as a
    /// local part, where it may be an office (`info@`).
    ///
    /// The result pairs the number of a segment with a match in it, in order. Time and memory are linear in the
    /// segments' length together.
    ///
    /// # Errors
    /// Those of [`Vault::scan`].
    ///
    /// ```no_run
    /// # fn lines(vault: &vault::Vault, released: &[(&str, sirl::Field)]) -> Result<(), vault::ReleaseError> {
    /// let found = vault.scan_segments_released(&["card", "4111 1111", "1111 1111"], released)?;
    /// assert!(found.iter().all(|(segment, _)| *segment > 0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn scan_segments_released<S: AsRef<str>>(
        &self,
        segments: &[&str],
        released: &[(S, Field)],
    ) -> Result<Vec<(usize, Match)>, ReleaseError> {
        let (owners, finder) = self.finder(SearchedParts::Shown, |record| is_among(record, released))?;
        let together = zeroize::Zeroizing::new(segments.join("\n"));
        let mut starts = Vec::with_capacity(segments.len());
        let mut start = 0;
        for segment in segments {
            starts.push(start);
            start += segment.len() + 1;
        }
        let mut pieces: Vec<Piece> = Vec::new();
        search::each_apart(&together, &finder, &mut |hit, view, range| {
            if !hit.long {
                return;
            }
            let house_number = match hit.word {
                None => 0..0,
                Some(word) => match words::counts(&together, &view.origin(range.clone()), word) {
                    Some(number) => number,
                    None => return,
                },
            };
            for origin in view.origins(range).chain(house_number.map(|byte| byte..byte + 1)) {
                let segment = starts.partition_point(|start| *start <= origin.start).saturating_sub(1);
                let (Some(start), Some(text)) = (starts.get(segment), segments.get(segment)) else {
                    continue;
                };
                let piece = Piece {
                    segment,
                    value: hit.value,
                    start: origin.start - start,
                    end: (origin.end - start).min(text.len()),
                };
                match pieces.last_mut() {
                    Some(last) if last.continues_with(&piece) => last.end = last.end.max(piece.end),
                    // An encoded value may end between two segments.
                    _ if piece.start >= piece.end => {}
                    _ => pieces.push(piece),
                }
            }
        });
        pieces.sort_unstable_by_key(|piece| (piece.segment, piece.value, piece.start));
        pieces.dedup_by(|next, last| {
            let same = last.continues_with(next);
            if same {
                last.end = last.end.max(next.end);
            }
            same
        });
        pieces.sort_unstable_by_key(|piece| (piece.segment, piece.start));
        let matches = pieces.into_iter().filter_map(|piece| {
            let ((handle, field), text) = (owners.get(piece.value)?, segments.get(piece.segment)?);
            let span = piece.start..piece.end;
            let whole_word = is_whole_word(text, &span);
            Some((piece.segment, Match { span, handle: (*handle).to_owned(), field: *field, whole_word }))
        });
        Ok(matches.collect())
    }
}

/// The part of a value in one segment.
struct Piece {
    segment: usize,
    value: usize,
    start: usize,
    end: usize,
}

impl Piece {
    /// Tells if `next`, which begins no earlier, continues this piece of the same value.
    fn continues_with(&self, next: &Piece) -> bool {
        (self.segment, self.value) == (next.segment, next.value)
            && (self.start..=self.end + GAP).contains(&next.start)
    }
}

/// The most bytes between two characters of one piece.
const GAP: usize = 3;
