//! The boxes that are painted below and above a point.

use std::collections::HashMap;

use super::area::Area;
use super::boxes::{Boxes, LayoutBox};
use super::colour::Colour;

/// The height of the bands that boxes are sorted into, in pixels.
const BAND: f64 = 256.0;
/// Boxes over more bands than this are in a list of their own, so that tall pages do not cost memory.
const TALL: i64 = 64;
/// How many boxes are examined for one document. The rest of the text of a page that needs more counts as visible.
const BUDGET: u64 = 30_000_000;
/// The alpha from which on a colour hides the text below it.
const OPAQUE: f64 = 0.9;
/// The share of the window that a fixed box must fill to count as covering the text that scrolls below it.
const WHOLE_WINDOW: f64 = 0.95;

/// The boxes of a document that paint a background, by position.
pub(super) struct Painters<'a> {
    boxes: &'a Boxes,
    bands: HashMap<i64, Vec<usize>>,
    tall: Vec<usize>,
    budget: std::cell::Cell<u64>,
}

/// The surroundings of a point of some text.
pub(super) struct Point {
    /// Whether something opaque is painted over it.
    pub(super) covered: bool,
    /// The colour below it, if it is known.
    pub(super) backdrop: Option<Colour>,
}

impl<'a> Painters<'a> {
    pub(super) fn new(boxes: &'a Boxes) -> Painters<'a> {
        let mut painters =
            Painters { boxes, bands: HashMap::new(), tall: Vec::new(), budget: std::cell::Cell::new(BUDGET) };
        for (index, painter) in boxes.boxes.iter().enumerate() {
            let paints = painter.background.is_some() || painter.pictured;
            if !paints || !painter.drawn || painter.seen.width() <= 0.0 || painter.seen.height() <= 0.0 {
                continue;
            }
            let (first, last) = (band(painter.seen.top), band(painter.seen.bottom));
            if last.saturating_sub(first) > TALL {
                painters.tall.push(index);
                continue;
            }
            for band in first..=last {
                painters.bands.entry(band).or_default().push(index);
            }
        }
        painters
    }

    /// The surroundings of a point of `text`; none where the budget is used up.
    pub(super) fn at(&self, text: &LayoutBox, index: usize, x: f64, y: f64) -> Option<Point> {
        let near = self.bands.get(&band(y)).map_or(&[][..], Vec::as_slice);
        let cost = (near.len() + self.tall.len()) as u64;
        self.budget.set(self.budget.get().checked_sub(cost)?);
        let mut below: Vec<(u64, usize)> = Vec::new();
        let mut covered = false;
        for painter_index in near.iter().chain(&self.tall).copied() {
            let Some(painter) = self.boxes.boxes.get(painter_index) else { continue };
            if !painter.seen.holds(x, y) || (painter.is_inline && !self.boxes.is_within(index, painter_index))
            {
                continue;
            }
            if self.is_above(painter, painter_index, text, index) {
                covered |= self.covers(painter, text);
            } else {
                below.push((painter.paint, painter_index));
            }
        }
        below.sort_unstable();
        let mut backdrop = self.boxes.canvas;
        for painter in below.iter().filter_map(|(_, index)| self.boxes.boxes.get(*index)) {
            let colour = painter.background.map(|it| it.faded(painter.inherited.opacity));
            backdrop = match (colour, backdrop) {
                _ if painter.pictured => None,
                (Some(colour), _) if colour.alpha >= 1.0 => Some(colour),
                (Some(colour), Some(below)) => Some(colour.over(below)),
                (_, below) => below,
            };
        }
        Some(Point { covered, backdrop })
    }

    /// Whether a box paints its background after the text.
    fn is_above(&self, painter: &LayoutBox, painter_index: usize, text: &LayoutBox, index: usize) -> bool {
        if let Some((lowered, context)) = text.inherited.below
            && painter.inherited.below.is_none_or(|(other, _)| other != lowered)
        {
            // The text is below its stacking context: only boxes around that context are below the text.
            return !self.boxes.is_within(context, painter_index);
        }
        painter.paint > text.paint && !self.boxes.is_within(index, painter_index)
    }

    fn covers(&self, painter: &LayoutBox, text: &LayoutBox) -> bool {
        let opaque = painter.background.is_some_and(|it| it.faded(painter.inherited.opacity).alpha >= OPAQUE);
        // Text scrolls out from under a bar, but not from under a box that fills the window.
        let stays = painter.inherited.fixed && !text.inherited.fixed;
        opaque && (!stays || fills(&painter.seen, &self.boxes.window))
    }
}

fn fills(area: &Area, window: &Area) -> bool {
    let both = area.within(window);
    both.width() * both.height() >= WHOLE_WINDOW * window.width() * window.height()
}

fn band(y: f64) -> i64 {
    (y / BAND).floor().clamp(-1e9, 1e9) as i64
}
