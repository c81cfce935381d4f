//! Passages: disguised pieces of a sentence, revealed in what stands around them.

use std::ops::Range;

use super::Disguise;
use super::collector::{Collector, Found};
use crate::Normalised;

/// How far what stands around a disguised piece is taken along, in bytes. Pieces nearer than twice that share a
/// passage, so that no two passages overlap.
const AROUND: usize = 120;

/// What a passage must weigh to be kept.
pub(super) const ENOUGH: usize = 4;

/// A disguised piece.
pub(super) struct Piece {
    /// Where it stands in the layer.
    pub(super) at: Range<usize>,
    /// What it says, folded.
    pub(super) says: String,
    /// How little an honest text needs it; see [`ENOUGH`].
    pub(super) weight: usize,
}

/// Reports the passages that the pieces, which come in order, stand in.
pub(super) fn report(collector: &mut Collector<'_>, disguise: Disguise, pieces: &[Piece]) {
    let mut rest = pieces;
    while let Some(first) = rest.first() {
        let mut end = first.at.end;
        let near = rest.iter().take_while(|piece| {
            let near = piece.at.start <= end + 2 * AROUND;
            if near {
                end = piece.at.end;
            }
            near
        });
        let (group, behind) = rest.split_at(near.count());
        rest = behind;
        if group.iter().map(|piece| piece.weight).sum::<usize>() >= ENOUGH {
            let found = reveal(collector.layer(), disguise, first.at.start..end, group);
            collector.passage(found);
        }
    }
}

fn reveal(layer: &Normalised, disguise: Disguise, at: Range<usize>, pieces: &[Piece]) -> Found {
    let text = layer.text();
    let mut revealed = Normalised::empty();
    let mut fresh = Vec::with_capacity(pieces.len());
    let mut copied = word_start(text, at.start.saturating_sub(AROUND), at.start);
    for piece in pieces {
        revealed.append_part(layer, copied..piece.at.start);
        let start = revealed.text().len();
        revealed.append_found(&piece.says, layer.original(piece.at.clone()));
        fresh.push(start..revealed.text().len());
        copied = piece.at.end;
    }
    revealed.append_part(layer, copied..word_end(text, at.end, at.end.saturating_add(AROUND)));
    Found { disguise, at: whole_words(text, at), text: revealed, fresh, telling: true }
}

/// A part widened to the white space on either side, where that is near.
fn whole_words(text: &str, at: Range<usize>) -> Range<usize> {
    let from = text.ceil_char_boundary(at.start.saturating_sub(AROUND));
    let to = text.floor_char_boundary(at.end.saturating_add(AROUND).min(text.len()));
    let before = text.get(from..at.start).unwrap_or_default();
    let after = text.get(at.end..to).unwrap_or_default();
    let start =
        before.char_indices().rfind(|(_, c)| c.is_whitespace()).map(|(place, c)| from + place + c.len_utf8());
    let end = after.find(char::is_whitespace).map(|place| at.end + place);
    let start = start.or((from == 0).then_some(0)).unwrap_or(at.start);
    start..end.or((to == text.len()).then_some(to)).unwrap_or(at.end)
}

/// The first word border from `from` on, at most `to`.
fn word_start(text: &str, from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let from = text.ceil_char_boundary(from);
    let part = text.get(from..to).unwrap_or_default();
    part.find(char::is_whitespace).map_or(from.min(to), |space| from + space)
}

/// The last word border from `from` on, at most `to`.
fn word_end(text: &str, from: usize, to: usize) -> usize {
    if to >= text.len() {
        return text.len();
    }
    let to = text.floor_char_boundary(to).max(from);
    let part = text.get(from..to).unwrap_or_default();
    part.rfind(char::is_whitespace).map_or(to, |space| from + space)
}
