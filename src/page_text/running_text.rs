//! The running text of a page's frames in one piece, so that a sentence that is split over elements is classified as a
//! person would read it.
//!
//! Short texts of controls are not part of it, and neither are links outside of sentences: "Pay now", "Support chat",
//! "Message" and "Send message" below one another are a form or a menu, and only together look like an instruction. Such
//! names are classified one by one. Short ones ([`NAME_WORDS`]) are also read together as a canonical override, and do
//! not count for the safety of a page otherwise.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use browser_signals::outline::{Outline, OutlineLine, Purpose, TextPlace, Words, is_control};
use classifier::Safety;

/// A judge of the safety of pages.
pub trait PageSafety: Send + Sync {
    /// The safety of a page by all the text of this outline, visible or not. A guard gives the part that the model is told.
    fn of(&self, outline: &Outline) -> Safety;
}

/// The most characters of a control's text that is classified by itself; a longer one is part of the running text.
const MAX_CONTROL_CHARS: usize = 32;
/// The least words of a name that a model judges. The thresholds of the models were chosen with the same number
/// (`lab/training/src/by_page.rs`).
pub(crate) const NAME_WORDS: usize = 5;
/// The least words of text beside links that make them parts of a sentence.
const SENTENCE_WORDS: usize = 3;

/// Whether a name has too few words for a model.
pub(crate) fn is_short_name(text: &str) -> bool {
    text.split_whitespace().nth(NAME_WORDS - 1).is_none()
}

/// A name as classifiers read it: the parts of an address are words.
pub(crate) fn name_in_words(words: &Words) -> Cow<'_, str> {
    match words.purpose {
        Purpose::Address => Cow::Owned(words.text.replace(|c: char| c.is_ascii_punctuation(), " ")),
        _ => Cow::Borrowed(&words.text),
    }
}

/// Running text of one frame and one place, or the text of one control.
pub(crate) struct TextRun {
    pub(crate) text: String,
    pub(crate) place: classifier::WindowPlace,
    /// Whether it is the short text of a control, or a link outside of a sentence.
    pub(crate) apart: bool,
    /// The beginnings of the outline's words in the text, in order.
    starts: Vec<Start>,
    /// The number of the line that its last words are on.
    line: usize,
}

struct Start {
    /// The offset in the text, in bytes.
    byte: usize,
    /// The number of separator bytes before it.
    gap: usize,
    /// The index of the words in the outline.
    words: usize,
}

impl TextRun {
    /// All running text. For the words of an index, `rendered` returns whether they are rendered as unseen, and none
    /// where they are not rendered.
    pub(crate) fn all(outline: &Outline, rendered: impl Fn(usize) -> Option<bool>) -> Vec<TextRun> {
        let mut runs = TextRuns::default();
        let (mut at, mut place) = (0, 0);
        let links = links_apart(outline);
        for (number, line) in outline.lines.iter().enumerate() {
            place += 1;
            let link = links.get(number).copied().flatten();
            let apart = link.or_else(|| is_control_text(line).then_some(number));
            for words in line.words() {
                if words.purpose == Purpose::Text
                    && let Some(unseen) = rendered(at)
                {
                    runs.add(
                        RunKey { frame: words.frame, place: place_in(outline, words), unseen, apart },
                        words,
                        at,
                        place,
                    );
                }
                // A line end within a line separates the words of every run.
                place += line_ends(words);
                at += 1;
            }
        }
        runs.all
    }

    /// The parts of words that lie in a span of the text.
    pub(super) fn parts(&self, span: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        let from = self.starts.partition_point(|start| start.byte <= span.start).saturating_sub(1);
        let mut parts = Vec::new();
        for (index, start) in self.starts.iter().enumerate().skip(from) {
            if start.byte >= span.end {
                break;
            }
            let next = self.starts.get(index + 1);
            // The line break that was inserted before the next words belongs to no words.
            let end = next.map_or(self.text.len(), |next| next.byte - next.gap);
            let byte = start.byte;
            let part = span.start.max(byte) - byte..span.end.min(end).max(byte) - byte;
            if !part.is_empty() {
                parts.push((start.words, part));
            }
        }
        parts
    }
}

/// For each line the link that it belongs to, if that is not part of a sentence: the text and links beside it have few
/// words besides the links.
fn links_apart(outline: &Outline) -> Vec<Option<usize>> {
    let mut found = vec![None; outline.lines.len()];
    let mut group: Vec<usize> = Vec::new();
    let mut depth = 0;
    for (number, line) in outline.lines.iter().enumerate() {
        let link = group.last().copied().filter(|last| outline.lines.get(*last).is_some_and(is_link));
        if line.depth > depth && link.is_some() {
            continue;
        }
        let beside = line.depth == depth && (is_link(line) || line.role() == Some("text"));
        if !beside {
            mark_links(outline, &group, number, &mut found);
            group.clear();
            depth = line.depth;
        }
        if is_link(line) || line.role() == Some("text") {
            group.push(number);
        }
    }
    mark_links(outline, &group, outline.lines.len(), &mut found);
    found
}

/// Marks the links of a group of lines side by side, and the lines below them, unless the group is a sentence.
fn mark_links(outline: &Outline, group: &[usize], end: usize, found: &mut [Option<usize>]) {
    let line = |number: &usize| outline.lines.get(*number);
    let links = group.iter().filter(|number| line(number).is_some_and(is_link)).count();
    let texts = group.iter().filter_map(line).filter(|line| !is_link(line)).flat_map(OutlineLine::words);
    let words = |words: &Words| {
        let with_letters = |word: &&str| word.contains(char::is_alphabetic);
        words.text.split_whitespace().filter(with_letters).count()
    };
    if links == 0 || texts.map(words).sum::<usize>() >= links.max(SENTENCE_WORDS) {
        return;
    }
    for (at, number) in group.iter().enumerate() {
        if line(number).is_some_and(is_link) {
            let next = group.get(at + 1).copied().unwrap_or(end);
            found.get_mut(*number..next).into_iter().flatten().for_each(|one| *one = Some(*number));
        }
    }
}

fn is_link(line: &OutlineLine) -> bool {
    line.role() == Some("link")
}

/// Whether a line is the short text of a control. Links are decided with the lines beside them.
fn is_control_text(line: &OutlineLine) -> bool {
    let text = line.words().filter(|words| words.purpose == Purpose::Text);
    line.role().is_some_and(|role| role != "link" && is_control(role))
        && text.flat_map(|words| words.text.chars()).nth(MAX_CONTROL_CHARS).is_none()
}

/// The place of words, as the classifier names it.
pub(crate) fn place_of(outline: &Outline, words: &Words) -> classifier::WindowPlace {
    let origin = |frame: usize| outline.frames.get(frame).cloned().flatten();
    match words.place {
        TextPlace::Hidden => classifier::WindowPlace::Hidden,
        TextPlace::Attribute => classifier::WindowPlace::Attribute,
        _ if words.frame != 0 && (origin(words.frame).is_none() || origin(words.frame) != origin(0)) => {
            classifier::WindowPlace::ForeignFrame
        }
        TextPlace::Generated => classifier::WindowPlace::Generated,
        TextPlace::Shown => classifier::WindowPlace::Shown,
    }
}

/// The place of words; generated content is read together with shown text.
fn place_in(outline: &Outline, words: &Words) -> classifier::WindowPlace {
    match place_of(outline, words) {
        classifier::WindowPlace::Generated => classifier::WindowPlace::Shown,
        place => place,
    }
}

/// The words that belong together: those of one frame and one place, with the unseen ones and each control's text apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RunKey {
    frame: usize,
    place: classifier::WindowPlace,
    unseen: bool,
    apart: Option<usize>,
}

#[derive(Default)]
struct TextRuns {
    all: Vec<TextRun>,
    by: HashMap<RunKey, usize>,
}

impl TextRuns {
    fn add(&mut self, key: RunKey, words: &Words, at: usize, line: usize) {
        let index = *self.by.entry(key).or_insert(self.all.len());
        if index == self.all.len() {
            self.all.push(TextRun {
                text: String::new(),
                place: key.place,
                apart: key.apart.is_some(),
                starts: Vec::new(),
                line,
            });
        }
        let Some(run) = self.all.get_mut(index) else { return };
        let new_line = run.line != line;
        if new_line {
            run.text.push('\n');
            run.line = line;
        }
        run.starts.push(Start { byte: run.text.len(), gap: usize::from(new_line), words: at });
        run.text.push_str(&words.text);
        run.line += line_ends(words);
    }
}

/// The line ends in the words of a text; a name has none.
fn line_ends(words: &Words) -> usize {
    if words.purpose == Purpose::Text { words.text.matches('\n').count() } else { 0 }
}
