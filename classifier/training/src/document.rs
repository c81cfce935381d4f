//! What models are trained on and judged by.

use std::ops::Range;

use classifier::TextPlace;

/// Which part of a corpus a document belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CorpusPart {
    /// Weights are fitted to it.
    Training,
    /// Settings, calibration and thresholds are chosen on it.
    Development,
    /// Only measured on.
    Test,
}

impl CorpusPart {
    /// The part of everything that shares a name: 70 % of names are for training, 15 % for each of the others. What
    /// shares a goal or a carrier must share a part, so the name is the goal's or the carrier's.
    pub fn of(name: &str) -> CorpusPart {
        match hash(name) % 100 {
            0..70 => CorpusPart::Training,
            70..85 => CorpusPart::Development,
            _ => CorpusPart::Test,
        }
    }
}

/// One way of many to part a corpus. Splits with other seeds share no more than chance has it, so settings can be chosen
/// on some and judged on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    seed: u64,
}

impl Split {
    /// The split of this seed.
    pub(crate) fn new(seed: u64) -> Split {
        Split { seed }
    }

    /// The part of everything that shares a name, in the shares of [`CorpusPart::of`].
    pub(crate) fn part(self, name: &str) -> CorpusPart {
        CorpusPart::of(&self.salted(name))
    }

    /// The same for our own lines, which are there to teach: most are for training, some show whether what they
    /// teach goes beyond them.
    pub(crate) fn part_of_line(self, line: &str) -> CorpusPart {
        match hash(&self.salted(line)) % 100 {
            0..84 => CorpusPart::Training,
            84..92 => CorpusPart::Development,
            _ => CorpusPart::Test,
        }
    }

    fn salted(self, name: &str) -> String {
        format!("parts {}/{name}", self.seed)
    }
}

/// A number from a name, the same on every machine (FNV-1a with a final mixing).
pub fn hash(name: &str) -> u64 {
    let mixed = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// A text and what is known of it.
#[derive(Debug, Clone)]
pub struct Document {
    /// The corpus and the kind in it, for instance `bipia/email`.
    pub source: String,
    /// Where it belongs.
    pub part: CorpusPart,
    /// Its words.
    pub text: String,
    /// Where it stands.
    pub place: TextPlace,
    /// The harmful part, in bytes of the text; `None` where all is harmless.
    pub harmful: Option<Range<usize>>,
    /// How much it counts in fitting; 1 for most.
    pub weight: f32,
}

impl Document {
    /// A text that is harmless throughout.
    pub fn harmless(source: &str, part: CorpusPart, text: impl Into<String>) -> Document {
        let (source, text) = (source.to_owned(), text.into());
        Document { source, part, text, place: TextPlace::Unknown, harmful: None, weight: 1.0 }
    }

    /// A text that is harmful throughout.
    pub fn harmful(source: &str, part: CorpusPart, text: impl Into<String>) -> Document {
        let text = text.into();
        Document { harmful: Some(0..text.len()), ..Document::harmless(source, part, text) }
    }

    /// A harmful text within a harmless one, where `before` ends.
    pub fn inserted(source: &str, part: CorpusPart, before: &str, harmful: &str, after: &str) -> Document {
        let text = format!("{before}{harmful}{after}");
        let span = before.len()..before.len() + harmful.len();
        Document { harmful: Some(span), ..Document::harmless(source, part, text) }
    }

    /// The same, with another weight.
    #[must_use]
    pub fn weighing(mut self, weight: f32) -> Document {
        self.weight = weight;
        self
    }

    /// What a window of the text is: harmful, harmless, or neither clearly.
    pub(crate) fn label(&self, window: &Range<usize>) -> Option<bool> {
        let Some(span) = &self.harmful else { return Some(false) };
        let shared = window.end.min(span.end).saturating_sub(window.start.max(span.start));
        if shared == 0 {
            return Some(false);
        }
        let enough = shared * 10 >= span.len() * 7 || shared >= 100;
        (enough && shared * 3 >= window.len()).then_some(true)
    }
}
