//! Names that are read together, since an attack may be split over many of them.

use std::ops::Range;

use browser_signals::outline::{Purpose, TextPlace, Words};
use classifier::{Risk, WindowClassifier, WindowPlace, sweep};

use super::running_text::{TextRun, name_in_words};

/// Names in attributes, one a line.
pub(super) struct NamesTogether {
    purpose: Purpose,
    together: String,
    /// The place of each name in the text, and the index of its words in the outline.
    places: Vec<(Range<usize>, usize)>,
}

impl NamesTogether {
    /// The names with this purpose among the words of an outline, where `is_told` holds for the index of the words.
    pub(super) fn read(purpose: Purpose, all: &[&Words], is_told: impl Fn(usize) -> bool) -> NamesTogether {
        let mut names = NamesTogether { purpose, together: String::new(), places: Vec::new() };
        for (at, words) in all.iter().enumerate() {
            if words.purpose == purpose && words.place == TextPlace::Attribute && is_told(at) {
                let start = names.together.len();
                names.together.push_str(&name_in_words(words));
                names.places.push((start..names.together.len(), at));
                names.together.push('\n');
            }
        }
        names
    }

    /// The indices of the words that are part of an attack. Addresses side by side are no sentence, so that only canonical
    /// overrides count in them.
    pub(super) fn suspicious(&self, judge: &dyn WindowClassifier, from: Risk) -> Vec<usize> {
        let spans: Vec<Range<usize>> = match self.purpose {
            Purpose::Address => classifier::overrides(&self.together),
            _ => {
                let suspects = sweep(&self.together, WindowPlace::Attribute, judge, from);
                suspects.into_iter().map(|suspect| suspect.span).collect()
            }
        };
        spans.iter().flat_map(|span| self.within(span)).collect()
    }

    fn within(&self, span: &Range<usize>) -> impl Iterator<Item = usize> {
        let from = self.places.partition_point(|(place, _)| place.end <= span.start);
        let begins = move |(place, _): &&(Range<usize>, usize)| place.start < span.end;
        self.places.iter().skip(from).take_while(begins).map(|(_, at)| *at)
    }
}

/// Short names, which one by one say little to a model: together they may be a canonical override.
#[derive(Default)]
pub(super) struct ShortNames {
    together: String,
    /// The end of each name in the text, and the indices of its words in the outline.
    ends: Vec<(usize, Vec<usize>)>,
}

impl ShortNames {
    pub(super) fn add(&mut self, run: &TextRun) {
        self.together.push_str(&run.text);
        let words = run.parts(&(0..run.text.len())).into_iter().map(|(at, _)| at).collect();
        self.ends.push((self.together.len(), words));
        self.together.push('\n');
    }

    /// The indices of the words that are part of an override.
    pub(super) fn overriding(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for span in classifier::overrides(&self.together) {
            let from = self.ends.partition_point(|(end, _)| *end <= span.start);
            let to = self.ends.partition_point(|(end, _)| *end < span.end) + 1;
            found.extend(self.ends.iter().take(to).skip(from).flat_map(|(_, words)| words));
        }
        found
    }
}
