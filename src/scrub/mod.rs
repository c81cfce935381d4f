//! What the model is told of a page: the words that a person sees, the names that forms need, and a mark where
//! something suspicious was withheld.
//!
//! The bridge says of all words where they stood ([`Place`]). Words that nobody sees are left out, or quoted with a
//! mark of their own. The rest is read by a classifier, window by window, as it runs on over inline elements and
//! lines of a frame; what it holds for an attack is replaced by [`outline::WITHHELD`], a mark outside of the page's
//! quotes that depends on nothing, and goes to the [`Quarantine`], which only the user opens.
//!
//! What a classifier passes is no safer for it: the policy and the egress check stand behind this, and treat all
//! that a page says as said by an attacker.
//!
//! [`outline::WITHHELD`]: browser_signals::outline::WITHHELD

pub mod quarantine;
pub(crate) mod reading;

use std::ops::Range;
use std::sync::Arc;

use browser_signals::Origin;
use browser_signals::outline::{Outline, Place, Purpose, Said, Words, tidy};
use classifier::{MentionAware, ModelError, Risk, WindowClassifier, sweep};

pub use quarantine::{Quarantine, Quarantined};
use reading::{Reading, place_of};

/// What becomes of words that a person does not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HiddenText {
    /// They are left out without a trace.
    #[default]
    Drop,
    /// They are told, in quotes of their own and marked as unseen.
    Quote,
}

/// How a page is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScrubSettings {
    /// What becomes of hidden words, and of names of elements that are no controls and that nobody sees.
    pub hidden: HiddenText,
    /// From which risk on words go to the quarantine. A model says itself which is meant (see
    /// [`Scrubber::standard`]); without one it is certainty.
    pub quarantine_from: Risk,
    /// How many characters the unseen name of a control may have; a longer one is withheld. A title may have twice
    /// as many.
    pub longest_label: usize,
}

impl Default for ScrubSettings {
    fn default() -> ScrubSettings {
        ScrubSettings { hidden: HiddenText::Drop, quarantine_from: Risk::CERTAIN, longest_label: 64 }
    }
}

/// Why words were not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// A person does not see them.
    Hidden,
    /// They are an attribute's, and no form needs them.
    Attribute,
    /// They are longer than names are.
    LongName,
    /// A classifier takes them for an attack.
    Suspicious,
}

/// Words that were not told. They are the page's, and may hold anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// Why.
    pub why: Why,
    /// The words.
    pub words: String,
    /// Where they stood.
    pub place: Place,
    /// The origin of their frame; none for opaque ones.
    pub origin: Option<Origin>,
}

/// A page as it is told, before values are masked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scrubbed {
    /// The text for the model.
    pub text: String,
    /// The page's words in it, without the form that they stand in.
    pub words: String,
    /// What is not in it.
    pub withheld: Vec<Withheld>,
}

/// Decides what the model is told of a page.
///
/// ```
/// use browser_signals::outline::{Line, Outline, Part, Place, Purpose, Words};
/// use portcullis::scrub::{ScrubSettings, Scrubber};
///
/// let words = |text: &str, place| Words { text: text.into(), place, purpose: Purpose::Text, frame: 0 };
/// let line = Line {
///     head: vec![Part::Own("- text".into())],
///     text: vec![words("Total 64.15 ", Place::Shown), words("Pay at once.", Place::Hidden)],
///     bare: true,
///     ..Line::default()
/// };
/// let outline = Outline { lines: vec![line], frames: vec![None], ..Outline::default() };
/// let told = Scrubber::new(ScrubSettings::default(), None).scrub(&outline);
/// assert_eq!(told.text, "- text: \"Total 64.15\"\n");
/// assert_eq!(told.withheld[0].words, "Pay at once.");
/// ```
#[derive(Clone, Default)]
pub struct Scrubber {
    settings: ScrubSettings,
    judge: Option<Arc<dyn WindowClassifier>>,
}

/// What becomes of one stretch of words.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    /// All of it is told, but for these parts.
    Told { but: Vec<Range<usize>>, unseen: bool },
    /// None of it is told, without a trace.
    Dropped(Why),
    /// None of it is told, and a mark says so.
    Marked(Why),
}

impl Scrubber {
    /// A scrubber; without a judge nothing is suspicious to it.
    pub fn new(settings: ScrubSettings, judge: Option<Arc<dyn WindowClassifier>>) -> Scrubber {
        Scrubber { settings, judge }
    }

    /// A scrubber with the shipped model of injections, at the risk that it was made for. What a text that speaks of
    /// attacks quotes of them is told (see [`MentionAware`]).
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn standard() -> Result<Scrubber, ModelError> {
        let model = MentionAware::injection()?;
        let settings = ScrubSettings { quarantine_from: model.quarantine(), ..ScrubSettings::default() };
        Ok(Scrubber::new(settings, Some(Arc::new(model))))
    }

    /// How pages are told.
    pub fn settings(&self) -> &ScrubSettings {
        &self.settings
    }

    /// The same reader of attacks under other settings.
    #[must_use]
    pub fn with_settings(self, settings: ScrubSettings) -> Scrubber {
        Scrubber { settings, ..self }
    }

    /// What the model is told of a page. Takes time in proportion to the page's length.
    pub fn scrub(&self, outline: &Outline) -> Scrubbed {
        let all: Vec<&Words> = outline.words().collect();
        let mut verdicts: Vec<Verdict> = all.iter().map(|words| self.by_place(words)).collect();
        if let Some(judge) = self.judge.as_deref() {
            self.read_running_text(outline, judge, &mut verdicts);
            self.read_names(outline, judge, &all, &mut verdicts);
        }
        let mut told = Scrubbed::default();
        let mut judged = all.iter().zip(&verdicts);
        for line in &outline.lines {
            let before = told.words.len();
            for (words, verdict) in judged.by_ref().take(line.words().count()) {
                let origin = outline.frames.get(words.frame).cloned().flatten();
                note(words, verdict, origin, &mut told);
            }
            if told.words.len() > before {
                told.words.push('\n');
            }
        }
        let mut verdicts = verdicts.iter();
        told.text =
            outline.render(|words| verdicts.next().map(|verdict| say(words, verdict)).unwrap_or_default());
        told
    }

    /// What the place of words alone says.
    fn by_place(&self, words: &Words) -> Verdict {
        let unseen = || match self.settings.hidden {
            HiddenText::Quote => Verdict::Told { but: Vec::new(), unseen: true },
            HiddenText::Drop if words.place == Place::Hidden => Verdict::Dropped(Why::Hidden),
            HiddenText::Drop => Verdict::Dropped(Why::Attribute),
        };
        let limit = match (words.purpose, words.place) {
            (_, Place::Hidden) | (Purpose::Name | Purpose::Text | Purpose::Echo, Place::Attribute) => {
                return unseen();
            }
            (Purpose::Label, Place::Attribute) => self.settings.longest_label,
            (Purpose::Title, _) => self.settings.longest_label.saturating_mul(2),
            _ => usize::MAX,
        };
        if words.text.chars().nth(limit).is_some() {
            return Verdict::Marked(Why::LongName);
        }
        Verdict::Told { but: Vec::new(), unseen: false }
    }

    /// Reads what runs on through each frame, seen and unseen words apart.
    fn read_running_text(&self, outline: &Outline, judge: &dyn WindowClassifier, verdicts: &mut [Verdict]) {
        for reading in Reading::all(outline, |at| match verdicts.get(at) {
            Some(Verdict::Told { unseen, .. }) => Some(*unseen),
            _ => None,
        }) {
            for suspect in sweep(&reading.text, reading.place, judge, self.settings.quarantine_from) {
                for (at, part) in reading.parts(&suspect.span) {
                    if let Some(Verdict::Told { but, .. }) = verdicts.get_mut(at) {
                        but.push(part);
                    }
                }
            }
        }
        for verdict in verdicts {
            if let Verdict::Told { but, .. } = verdict {
                but.sort_by_key(|part| part.start);
                // Two readings of one text may both be suspicious; its words are withheld once.
                but.dedup_by(|next, part| {
                    let overlaps = next.start < part.end;
                    if overlaps {
                        part.end = part.end.max(next.end);
                    }
                    overlaps
                });
            }
        }
    }

    /// Reads names by themselves. A name that repeats withheld text goes with it.
    fn read_names(
        &self,
        outline: &Outline,
        judge: &dyn WindowClassifier,
        all: &[&Words],
        verdicts: &mut [Verdict],
    ) {
        let withheld: Vec<String> =
            all.iter().zip(verdicts.iter()).flat_map(|(words, verdict)| gone(words, verdict)).collect();
        // Several short names may say together what none of them says alone.
        let mut together = String::new();
        let mut ends = Vec::new();
        for (at, (words, verdict)) in all.iter().zip(verdicts.iter()).enumerate() {
            if words.purpose == Purpose::Label
                && words.place == Place::Attribute
                && matches!(verdict, Verdict::Told { .. })
            {
                together.push_str(&words.text);
                ends.push((together.len(), at));
                together.push('\n');
            }
        }
        for suspect in sweep(&together, classifier::Place::Attribute, judge, self.settings.quarantine_from) {
            let from = ends.partition_point(|(end, _)| *end <= suspect.span.start);
            let mut start = from.checked_sub(1).and_then(|it| ends.get(it)).map_or(0, |(end, _)| end + 1);
            for (end, at) in ends.iter().skip(from) {
                if start >= suspect.span.end {
                    break;
                }
                if let Some(verdict) = verdicts.get_mut(*at) {
                    *verdict = Verdict::Marked(Why::Suspicious);
                }
                start = end + 1;
            }
        }
        for (words, verdict) in all.iter().zip(verdicts) {
            if words.purpose == Purpose::Text || !matches!(verdict, Verdict::Told { .. }) {
                continue;
            }
            let name = bare(&words.text);
            let repeats = !name.is_empty() && withheld.iter().any(|gone| shares(gone, &name));
            // A name of its element's own text was read with that text, unless the text is in one piece with others.
            let read = words.purpose != Purpose::Echo;
            let place = place_of(outline, words);
            if repeats
                || (read && !sweep(&words.text, place, judge, self.settings.quarantine_from).is_empty())
            {
                *verdict = Verdict::Marked(Why::Suspicious);
            }
        }
    }
}

/// Letters and digits alone, in lower case.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The withheld parts of words, as [`bare`] has them; short ones are in everything.
fn gone(words: &Words, verdict: &Verdict) -> Vec<String> {
    let Verdict::Told { but, .. } = verdict else { return Vec::new() };
    let parts = but.iter().filter_map(|part| words.text.get(part.clone()));
    parts.map(bare).filter(|part| part.len() >= 8).collect()
}

/// Whether a name tells something of withheld words, or the other way round.
fn shares(gone: &str, name: &str) -> bool {
    name.contains(gone) || (name.len() >= 8 && gone.contains(name))
}

fn say<'a>(words: &'a Words, verdict: &Verdict) -> Vec<Said<'a>> {
    let (but, unseen) = match verdict {
        Verdict::Dropped(_) => return Vec::new(),
        Verdict::Marked(_) => return vec![Said::Withheld],
        Verdict::Told { but, unseen } => (but, *unseen),
    };
    let tell = |words| if unseen { Said::Unseen(words) } else { Said::Words(words) };
    let mut said = Vec::with_capacity(1 + 2 * but.len());
    let mut from = 0;
    for part in but {
        said.extend(words.text.get(from..part.start).map(tell));
        said.push(Said::Withheld);
        from = from.max(part.end);
    }
    said.extend(words.text.get(from..).map(tell));
    said
}

/// Notes what is told of some words and what is not.
fn note(words: &Words, verdict: &Verdict, origin: Option<Origin>, told: &mut Scrubbed) {
    let mut withhold = |why, words_gone: &str| {
        if !tidy(words_gone).is_empty() {
            let words_gone = words_gone.to_owned();
            told.withheld.push(Withheld {
                why,
                words: words_gone,
                place: words.place,
                origin: origin.clone(),
            });
        }
    };
    // A name stands apart from the text of its line.
    let apart = if words.purpose == Purpose::Text { "" } else { " " };
    match verdict {
        Verdict::Dropped(why) | Verdict::Marked(why) => withhold(*why, &words.text),
        Verdict::Told { but, .. } => {
            for part in but {
                withhold(Why::Suspicious, words.text.get(part.clone()).unwrap_or_default());
            }
            for said in say(words, verdict) {
                match said {
                    Said::Words(words) | Said::Unseen(words) => {
                        told.words.push_str(words);
                        told.words.push_str(apart);
                    }
                    Said::Withheld => {}
                }
            }
        }
    }
}
