//! The visible letters of a document's texts.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::area::{Area, LEAST};
use super::boxes::{Boxes, LayoutBox, area_of, index_in};
use super::captured::Captured;
use super::painters::Painters;
use super::visible_text::{Position, SeenText, Stretch, VisibleText};

/// The smallest legible size of letters, in pixels as they are drawn.
const SMALLEST: f64 = 4.0;
/// The smallest side of a control or a frame with visible words: the smallest letters, and borders around them.
const LEAST_CONTROL: f64 = 10.0;
/// The visible share from which on a clipped piece of text counts as a whole.
const MOST: f64 = 0.5;
/// Letters that take less than this share of their size are drawn over one another.
const PUSHED: f64 = 0.08;
/// The sampled points of a line of text, as shares of its length.
const SAMPLES: [f64; 3] = [0.1, 0.5, 0.9];

/// One line of one text, as it is laid out.
struct Run {
    start: usize,
    length: usize,
    area: Area,
}

pub(super) fn read(captured: &Captured<'_>, boxes: &Boxes, visible: &mut VisibleText) {
    let painters = Painters::new(boxes);
    let texts = captured.list("/layout/text");
    let mut runs = runs(captured);
    let mut breaks = 0;
    for (index, layout) in boxes.boxes.iter().enumerate() {
        let Some(node) = visible.nodes.get(layout.node).copied() else { continue };
        breaks += usize::from(layout.breaks);
        if !layout.is_text {
            let least = if layout.is_relevant { LEAST_CONTROL } else { LEAST };
            let seen = layout.seen.width().min(layout.seen.height()) >= least;
            let shows = layout.drawn && seen && layout.inherited.opacity >= 0.1;
            visible.boxes.entry(node).or_insert_with(|| {
                shows && !(layout.is_relevant && hidden_by_others(&painters, layout, index, &layout.area))
            });
            continue;
        }
        if layout.breaks {
            // The line feed of a `br` is what separates the texts around it.
            continue;
        }
        let words = captured.string(texts.get(index));
        let runs = runs.remove(&index).unwrap_or_default();
        let position = Position {
            block: layout.inherited.block,
            cell: layout.inherited.cell,
            breaks,
            first: runs.first().map(|run| run.area),
            last: runs.last().map(|run| run.area),
            size: layout.font_size,
        };
        let words = with_line_ends(words, layout.keeps_lines);
        let stretches = stretches(&words, &runs, |run| seen_part(&painters, layout, index, run));
        visible.texts.push(SeenText {
            node,
            at: layout.node,
            stretches,
            editable: layout.inherited.editable,
            position,
        });
    }
}

fn runs(captured: &Captured<'_>) -> HashMap<usize, Vec<Run>> {
    let number = |values: &[Value], at: usize| values.get(at).and_then(index_in).unwrap_or(0);
    let (starts, lengths) = (captured.list("/textBoxes/start"), captured.list("/textBoxes/length"));
    let bounds = captured.list("/textBoxes/bounds");
    let mut runs: HashMap<usize, Vec<Run>> = HashMap::new();
    for (at, layout) in captured.list("/textBoxes/layoutIndex").iter().enumerate() {
        let Some(layout) = index_in(layout) else { continue };
        runs.entry(layout).or_default().push(Run {
            start: number(starts, at),
            length: number(lengths, at),
            area: bounds.get(at).map_or(Area::NOWHERE, area_of),
        });
    }
    runs.values_mut().for_each(|runs| runs.sort_by_key(|run| run.start));
    runs
}

/// The words of a text whose line feeds are line ends to a person, and no other character is one.
fn with_line_ends(words: &str, keeps: bool) -> Cow<'_, str> {
    let is_other = |c: char| c == '\t' || c == '\r' || (c == '\n' && !keeps);
    if words.contains(is_other) { Cow::Owned(words.replace(is_other, " ")) } else { Cow::Borrowed(words) }
}

/// White space that a person sees: a line end, or a space.
fn white_space(text: &str) -> &'static str {
    if text.contains('\n') { "\n" } else { " " }
}

fn is_seen(area: &Area) -> bool {
    area.width() >= LEAST && area.height() >= LEAST
}

/// The visible part of a run, as shares of its length; none where nothing is visible.
fn seen_part(painters: &Painters<'_>, layout: &LayoutBox, index: usize, run: &Run) -> Option<(f64, f64)> {
    let (width, height) = (run.area.width(), run.area.height());
    let letters = run.length as f64;
    if run.length == 0 || !layout.drawn || layout.font_size < SMALLEST {
        return None;
    }
    // Lines may be vertical; a single letter may be narrow.
    let (size, length) = if height > width && letters > 2.0 { (width, height) } else { (height, width) };
    if size < SMALLEST || (run.length > 3 && length < PUSHED * size.min(layout.font_size) * letters) {
        return None;
    }
    if layout.inherited.opacity < 0.1 || hidden_by_others(painters, layout, index, &run.area) {
        return None;
    }
    let seen = run.area.within(&layout.inherited.clip);
    let share = (seen.width() * seen.height()) / (width * height);
    if share >= MOST {
        return Some((0.0, 1.0));
    }
    if !is_seen(&seen) || seen.height() < MOST * height {
        return None;
    }
    Some(((seen.left - run.area.left) / width, (seen.right - run.area.left) / width))
}

/// Whether something is painted over a box, or a text has the colour of its background.
fn hidden_by_others(painters: &Painters<'_>, layout: &LayoutBox, index: usize, area: &Area) -> bool {
    let around = if layout.is_text { &layout.inherited.clip } else { &layout.seen };
    let area = area.within(around);
    let mut hidden = 0;
    for share in SAMPLES {
        let x = area.left + share * area.width();
        let y = area.top + 0.5 * area.height();
        let Some(point) = painters.at(layout, index, x, y) else { return false };
        let faint = |colour: super::colour::Colour| {
            let colour = colour.faded(layout.inherited.opacity);
            colour.is_faint() || point.backdrop.is_some_and(|below| colour.over(below).looks_like(below))
        };
        let same = layout.is_text && !layout.decorated && layout.colour.is_some_and(faint);
        hidden += usize::from(point.covered || same);
    }
    hidden * 2 > SAMPLES.len()
}

/// The words of a text, by visibility. White space that was not laid out is kept: it is at the end of a line.
fn stretches(words: &str, runs: &[Run], seen: impl Fn(&Run) -> Option<(f64, f64)>) -> Vec<Stretch> {
    let units = Units::of(words);
    let mut out: Vec<Stretch> = Vec::new();
    let mut add = |text: &str, shown: bool| {
        if text.is_empty() {
            return;
        }
        match out.last_mut() {
            Some(last) if last.shown == shown => last.words.push_str(text),
            _ => out.push(Stretch { words: text.to_owned(), shown }),
        }
    };
    // White space shows nothing by itself, so that it has no visibility of its own.
    let gap = |text: &str, add: &mut dyn FnMut(&str, bool)| match text.trim().is_empty() {
        true if text.is_empty() => {}
        true => add(white_space(text), true),
        false => add(text, false),
    };
    let mut from = 0;
    for run in runs {
        if run.start > from {
            gap(units.slice(from, run.start), &mut add);
        }
        let end = run.start.saturating_add(run.length);
        match seen(run) {
            _ if units.slice(run.start.max(from), end).trim().is_empty() => {
                gap(units.slice(run.start.max(from), end), &mut add);
            }
            None => add(units.slice(run.start.max(from), end), false),
            Some((left, right)) => {
                let unit =
                    |share: f64| run.start + (share.clamp(0.0, 1.0) * run.length as f64).round() as usize;
                let (first, last) = (unit(left).max(from), unit(right));
                add(units.slice(run.start.max(from), first), false);
                add(units.slice(first, last), true);
                add(units.slice(last, end), false);
            }
        }
        from = from.max(end);
    }
    gap(units.slice(from, usize::MAX), &mut add);
    out
}

/// A text that is sliced by UTF-16 units, as the browser counts.
struct Units<'a> {
    text: &'a str,
    /// The byte at which each unit begins, unless all are ASCII.
    starts: Option<Vec<usize>>,
}

impl<'a> Units<'a> {
    fn of(text: &'a str) -> Units<'a> {
        let starts = (!text.is_ascii()).then(|| {
            text.char_indices().flat_map(|(at, c)| std::iter::repeat_n(at, c.len_utf16())).collect()
        });
        Units { text, starts }
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        let byte = |unit: usize| match &self.starts {
            None => unit.min(self.text.len()),
            Some(starts) => starts.get(unit).copied().unwrap_or(self.text.len()),
        };
        self.text.get(byte(from)..byte(to).max(byte(from))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: usize, length: usize) -> Run {
        Run { start, length, area: Area::new(0.0, 0.0, 100.0, 10.0) }
    }

    fn shown(words: &str, runs: &[Run], seen: impl Fn(&Run) -> Option<(f64, f64)>) -> Vec<(String, bool)> {
        stretches(words, runs, seen).into_iter().map(|it| (it.words, it.shown)).collect()
    }

    #[test]
    fn spaces_at_line_ends_are_visible_and_words_without_layout_are_not() {
        let whole = |_: &Run| Some((0.0, 1.0));
        let text = shown("some  words ", &[run(0, 4), run(6, 5)], whole);
        assert_eq!(text, [("some words ".to_owned(), true)]);
        let text = shown("some secret words", &[run(0, 5), run(12, 5)], whole);
        assert_eq!(
            text,
            [("some ".to_owned(), true), ("secret ".to_owned(), false), ("words".to_owned(), true)]
        );
        assert_eq!(shown("nowhere", &[], whole), [("nowhere".to_owned(), false)]);
        assert_eq!(shown("  ", &[], whole), [(" ".to_owned(), true)]);
    }

    #[test]
    fn line_feeds_are_line_ends_where_the_page_keeps_them() {
        let lines = |text: &str, keeps| with_line_ends(text, keeps).into_owned();
        assert_eq!(lines("one\ttwo\r\nthree", true), "one two \nthree");
        assert_eq!(lines("one\ntwo", false), "one two");
        // The line end itself is laid out without a size.
        let seen = |run: &Run| (run.length > 1).then_some((0.0, 1.0));
        let text = shown("one\ntwo", &[run(0, 3), run(3, 1), run(4, 3)], seen);
        assert_eq!(text, [("one\ntwo".to_owned(), true)]);
        let text = shown("one \n\n two", &[run(0, 3), run(7, 3)], seen);
        assert_eq!(text, [("one\ntwo".to_owned(), true)]);
    }

    #[test]
    fn a_clipped_line_is_visible_in_part() {
        let text = shown("0123456789", &[run(0, 10)], |_| Some((0.0, 0.3)));
        assert_eq!(text, [("012".to_owned(), true), ("3456789".to_owned(), false)]);
        let text = shown("ä𝒳cd", &[run(0, 3), run(3, 2)], |run| (run.start == 0).then_some((0.0, 1.0)));
        assert_eq!(text, [("ä𝒳".to_owned(), true), ("cd".to_owned(), false)]);
        assert_eq!(shown("ab", &[run(9, 9)], |_| Some((0.0, 1.0))), [("ab".to_owned(), false)]);
    }
}
