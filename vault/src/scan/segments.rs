//! Released values that a page shows in several pieces.

use sirl::Field;

use super::{Match, Parts, is_among, places, stands_alone, words};
use crate::Vault;
use crate::release::ReleaseError;

impl Vault {
    /// Every place where one of the `released` values, or most of it, stands in `segments`: texts that a reader
    /// sees one after another, such as the lines of a page. A value that begins in one and ends in another, with
    /// nothing but separators between, gives a match in each of them. So does a number of nine digits or more
    /// whose digits stand in several, whatever other words stand between; of one with twelve or more, any eight
    /// digits in a row are enough, and of another T2 value that is no password or code three quarters. Values of
    /// fewer than six characters are not looked for here.
    ///
    /// And found is what a page shows of a value by itself: each word of four letters or more of a name, the local
    /// part of an e-mail address, and a street, under any word for its kind, with the house number beside it,
    /// whichever number that is. A word that also means something else (`Will`, `Price`) is found where it begins with
    /// a capital letter, and never as a local part, where it may be an office (`info@`).
    ///
    /// The answer pairs the number of a segment with a match in it, in order. Time and memory are linear in the
    /// segments' length together.
    ///
    /// # Errors
    /// As for [`Vault::scan`].
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
        let (owners, finder) = self.finder(Parts::Shown, |record| is_among(record, released))?;
        let together = zeroize::Zeroizing::new(segments.join("\n"));
        let mut starts = Vec::with_capacity(segments.len());
        let mut start = 0;
        for segment in segments {
            starts.push(start);
            start += segment.len() + 1;
        }
        let mut pieces: Vec<Piece> = Vec::new();
        places::each_apart(&together, &finder, &mut |hit, view, range| {
            if !hit.long {
                return;
            }
            let beside = match hit.word {
                None => 0..0,
                Some(word) => match words::counts(&together, &view.origin(range.clone()), word) {
                    Some(number) => number,
                    None => return,
                },
            };
            for origin in view.origins(range).chain(beside.map(|byte| byte..byte + 1)) {
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
                    Some(last) if last.goes_on_with(&piece) => last.end = last.end.max(piece.end),
                    // What a value was decoded from may end between two segments.
                    _ if piece.start >= piece.end => {}
                    _ => pieces.push(piece),
                }
            }
        });
        pieces.sort_unstable_by_key(|piece| (piece.segment, piece.value, piece.start));
        pieces.dedup_by(|next, last| {
            let same = last.goes_on_with(next);
            if same {
                last.end = last.end.max(next.end);
            }
            same
        });
        pieces.sort_unstable_by_key(|piece| (piece.segment, piece.start));
        let matches = pieces.into_iter().filter_map(|piece| {
            let ((handle, field), text) = (owners.get(piece.value)?, segments.get(piece.segment)?);
            let span = piece.start..piece.end;
            let whole_word = stands_alone(text, &span);
            Some((piece.segment, Match { span, handle: (*handle).to_owned(), field: *field, whole_word }))
        });
        Ok(matches.collect())
    }
}

/// What stands of a value in one segment.
struct Piece {
    segment: usize,
    value: usize,
    start: usize,
    end: usize,
}

impl Piece {
    /// Whether another one that begins no earlier is of the same value and joins on.
    fn goes_on_with(&self, next: &Piece) -> bool {
        (self.segment, self.value) == (next.segment, next.value)
            && (self.start..=self.end + GAP).contains(&next.start)
    }
}

/// The most bytes between two characters of a value that are taken for one piece.
const GAP: usize = 3;
