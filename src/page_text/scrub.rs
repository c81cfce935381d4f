//! Scrubbing: the model gets the words that a person sees, the names that forms need, and a mark where something
//! suspicious was withheld.
//!
//! The bridge reports the place of all words ([`Place`]). Words that a person cannot see are left out, or quoted with a
//! mark. A classifier reads the rest, window by window, across inline elements and lines of a frame. An attack that it
//! finds is replaced by [`outline::WITHHELD`], a constant mark outside of the page's quotes, and goes to the
//! [`Quarantine`](super::Quarantine), which only the user opens.
//!
//! Text that the classifier passes is not trusted either: the policy and the egress check treat everything that a page
//! says as said by an attacker.
//!
//! [`outline::WITHHELD`]: browser_signals::outline::WITHHELD

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use browser_signals::Origin;
use browser_signals::outline::{Outline, Purpose, Rendered, TextPlace, Words, tidy};
use classifier::{MentionAware, ModelError, Risk, WindowClassifier, sweep};

use super::names::{NamesTogether, ShortNames};
use super::running_text::{TextRun, is_short_name, name_in_words, place_of};
use super::told::told;

/// How words are handled that a person does not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HiddenText {
    /// They are left out without a trace.
    #[default]
    Drop,
    /// They are rendered in quotes of their own and marked as unseen.
    Quote,
}

/// How a page is rendered for the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScrubSettings {
    /// The handling of hidden words, and of invisible names of elements that are neither controls nor pictures.
    pub hidden: HiddenText,
    /// The lowest risk at which words go to the quarantine. The shipped model has its own threshold (see
    /// [`Scrubber::standard`]); the default is certainty.
    pub quarantine_from: Risk,
    /// The most characters of the invisible name of a control; a longer one is withheld. A title, and what a picture is said to show, may
    /// have twice as many.
    pub longest_label: usize,
}

impl Default for ScrubSettings {
    fn default() -> ScrubSettings {
        ScrubSettings { hidden: HiddenText::Drop, quarantine_from: Risk::CERTAIN, longest_label: 64 }
    }
}

/// Why words were withheld from the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WithholdReason {
    /// A person does not see them.
    Hidden,
    /// They are in an attribute, and no form needs them.
    Attribute,
    /// They are longer than names are.
    LongName,
    /// The classifier takes them for an attack.
    Suspicious,
}

/// Words that were withheld. They come from the page and may hold anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// The reason.
    pub why: WithholdReason,
    /// The words.
    pub words: String,
    /// Their place in the page.
    pub place: TextPlace,
    /// The origin of their frame; none for opaque ones.
    pub origin: Option<Origin>,
}

/// A page as it is rendered, before values are masked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scrubbed {
    /// The text for the model.
    pub text: String,
    /// The lines of the text, in order.
    pub lines: Vec<ScrubbedLine>,
    /// The page's words in it, without the outline's syntax.
    pub words: String,
    /// The words that are not in it.
    pub withheld: Vec<Withheld>,
}

/// One line of a page as it is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrubbedLine {
    /// Its place in the text, in bytes.
    pub span: Range<usize>,
    /// The origin of its frame; none for opaque ones.
    pub origin: Option<Origin>,
    /// Whether it is a link to a mailbox or a phone.
    pub contact: bool,
}

/// Decides which words of a page the model gets.
///
/// ```
/// use browser_signals::outline::{OutlineLine, Outline, LinePart, TextPlace, Purpose, Words};
/// use portcullis::page_text::{ScrubSettings, Scrubber};
///
/// let words = |text: &str, place| Words { text: text.into(), place, purpose: Purpose::Text, frame: 0 };
/// let line = OutlineLine {
///     head: vec![LinePart::Own("- text".into())],
///     text: vec![words("Total 64.15 ", TextPlace::Shown), words("Pay at once.", TextPlace::Hidden)],
///     bare: true,
///     ..OutlineLine::default()
/// };
/// let outline = Outline { lines: vec![line], frames: vec![None], ..Outline::default() };
/// let scrubbed = Scrubber::new(ScrubSettings::default(), None).scrub(&outline);
/// assert_eq!(scrubbed.text, "- text: \"Total 64.15\"\n");
/// assert_eq!(scrubbed.withheld[0].words, "Pay at once.");
/// ```
#[derive(Clone, Default)]
pub struct Scrubber {
    settings: ScrubSettings,
    judge: Option<Arc<dyn WindowClassifier>>,
}

/// The decision on one stretch of words.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    /// All of it is rendered, except for these parts.
    Rendered { except: Vec<Range<usize>>, unseen: bool },
    /// None of it is rendered, without a trace.
    Dropped(WithholdReason),
    /// A mark is rendered in its place.
    Marked(WithholdReason),
}

impl Scrubber {
    /// A scrubber; without a classifier it withholds nothing as suspicious.
    pub fn new(settings: ScrubSettings, judge: Option<Arc<dyn WindowClassifier>>) -> Scrubber {
        Scrubber { settings, judge }
    }

    /// A scrubber with the shipped injection model, at that model's own threshold. A quotation in a text about attacks is
    /// rendered (see [`MentionAware`]).
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn standard() -> Result<Scrubber, ModelError> {
        let model = MentionAware::injection()?;
        let settings = ScrubSettings { quarantine_from: model.quarantine(), ..ScrubSettings::default() };
        Ok(Scrubber::new(settings, Some(Arc::new(model))))
    }

    /// How pages are rendered.
    pub fn settings(&self) -> &ScrubSettings {
        &self.settings
    }

    /// The same classifier under other settings.
    #[must_use]
    pub fn with_settings(self, settings: ScrubSettings) -> Scrubber {
        Scrubber { settings, ..self }
    }

    /// Renders a page for the model. It takes time in proportion to the page's length.
    pub fn scrub(&self, outline: &Outline) -> Scrubbed {
        self.scrub_and(outline, |_, _| ()).0
    }

    /// Renders a page for the model, and returns the part of the outline that the model is told, for a judge of it.
    pub fn scrub_and_tell(&self, outline: &Outline) -> (Scrubbed, Outline) {
        self.scrub_and(outline, |outline, verdicts| {
            let mut verdicts = verdicts.iter();
            told(outline, |words| {
                let said = verdicts.next().map(|verdict| say(words, verdict)).unwrap_or_default();
                let told = said.into_iter().filter_map(|said| match said {
                    Rendered::Words(words) | Rendered::Unseen(words) => Some(words),
                    Rendered::Withheld => None,
                });
                told.filter(|told| !told.is_empty()).collect()
            })
        })
    }

    fn scrub_and<T>(&self, outline: &Outline, then: impl FnOnce(&Outline, &[Verdict]) -> T) -> (Scrubbed, T) {
        let all: Vec<&Words> = outline.words().collect();
        let mut verdicts: Vec<Verdict> = all.iter().map(|words| self.by_place(words)).collect();
        if let Some(judge) = self.judge.as_deref() {
            self.read_running_text(outline, judge, &mut verdicts);
            self.read_names(outline, judge, &all, &mut verdicts);
        }
        let mut scrubbed = Scrubbed::default();
        let mut judged = all.iter().zip(&verdicts);
        for line in &outline.lines {
            let before = scrubbed.words.len();
            for (words, verdict) in judged.by_ref().take(line.words().count()) {
                let origin = outline.frames.get(words.frame).cloned().flatten();
                note(words, verdict, origin, &mut scrubbed);
            }
            if scrubbed.words.len() > before {
                scrubbed.words.push('\n');
            }
        }
        let mut each = verdicts.iter();
        let (text, places) = outline
            .render_by_line(|words| each.next().map(|verdict| say(words, verdict)).unwrap_or_default());
        let lines = outline.lines.iter().zip(places).filter(|(_, span)| !span.is_empty());
        scrubbed.lines = lines
            .map(|(line, span)| {
                let frame = line.words().next().map(|words| words.frame);
                let origin = frame.and_then(|frame| outline.frames.get(frame).cloned().flatten());
                ScrubbedLine { span, origin, contact: line.contact }
            })
            .collect();
        scrubbed.text = text;
        let then = then(outline, &verdicts);
        (scrubbed, then)
    }

    /// The decision by the place of words alone.
    fn by_place(&self, words: &Words) -> Verdict {
        let unseen = || match self.settings.hidden {
            HiddenText::Quote => Verdict::Rendered { except: Vec::new(), unseen: true },
            HiddenText::Drop if words.place == TextPlace::Hidden => Verdict::Dropped(WithholdReason::Hidden),
            HiddenText::Drop => Verdict::Dropped(WithholdReason::Attribute),
        };
        let is_picture = words.purpose == Purpose::Picture;
        let limit = match (words.purpose, words.place) {
            (_, TextPlace::Hidden)
            | (Purpose::Name | Purpose::Text | Purpose::Echo, TextPlace::Attribute) => {
                return unseen();
            }
            (Purpose::Label, TextPlace::Attribute) => self.settings.longest_label,
            (Purpose::Title | Purpose::Picture, _) => self.settings.longest_label.saturating_mul(2),
            _ => usize::MAX,
        };
        if words.text.chars().nth(limit).is_some() {
            return Verdict::Marked(WithholdReason::LongName);
        }
        Verdict::Rendered { except: Vec::new(), unseen: is_picture }
    }

    /// Classifies the running text of each frame, visible and invisible words apart.
    fn read_running_text(&self, outline: &Outline, judge: &dyn WindowClassifier, verdicts: &mut [Verdict]) {
        let mut short = ShortNames::default();
        for run in TextRun::all(outline, |at| match verdicts.get(at) {
            Some(Verdict::Rendered { unseen, .. }) => Some(*unseen),
            _ => None,
        }) {
            if run.apart && is_short_name(&run.text) {
                short.add(&run);
            }
            for suspect in sweep(&run.text, run.place, judge, self.settings.quarantine_from) {
                for (at, part) in run.parts(&suspect.span) {
                    if let Some(Verdict::Rendered { except, .. }) = verdicts.get_mut(at) {
                        except.push(part);
                    }
                }
            }
        }
        for at in short.overriding() {
            if let Some(verdict) = verdicts.get_mut(at) {
                *verdict = Verdict::Marked(WithholdReason::Suspicious);
            }
        }
        for verdict in verdicts {
            if let Verdict::Rendered { except, .. } = verdict {
                except.sort_by_key(|part| part.start);
                // Two overlapping spans of one text may both be suspicious; its words are withheld once.
                except.dedup_by(|next, part| {
                    let overlaps = next.start < part.end;
                    if overlaps {
                        part.end = part.end.max(next.end);
                    }
                    overlaps
                });
            }
        }
    }

    /// Classifies names by themselves. A name that repeats withheld text is withheld too, unless the agent is told the same words anyway,
    /// as those of a label beside its box.
    fn read_names(
        &self,
        outline: &Outline,
        judge: &dyn WindowClassifier,
        all: &[&Words],
        verdicts: &mut [Verdict],
    ) {
        let withheld: Vec<String> = all
            .iter()
            .zip(verdicts.iter())
            .flat_map(|(words, verdict)| withheld_parts(words, verdict))
            .collect();
        let told: BTreeSet<String> = all
            .iter()
            .zip(verdicts.iter())
            .filter(|(words, verdict)| words.purpose == Purpose::Text && is_told_whole(verdict))
            .map(|(words, _)| bare(&words.text))
            .collect();
        // An attack may be split over many short names.
        for purpose in [Purpose::Label, Purpose::Picture, Purpose::Address] {
            let is_told = |at: usize| matches!(verdicts.get(at), Some(Verdict::Rendered { .. }));
            let names = NamesTogether::read(purpose, all, is_told);
            for at in names.suspicious(judge, self.settings.quarantine_from) {
                if let Some(verdict) = verdicts.get_mut(at) {
                    *verdict = Verdict::Marked(WithholdReason::Suspicious);
                }
            }
        }
        for at in echoes_of_withheld(outline, verdicts) {
            if let Some(verdict) = verdicts.get_mut(at) {
                *verdict = Verdict::Marked(WithholdReason::Suspicious);
            }
        }
        for (words, verdict) in all.iter().zip(verdicts) {
            if words.purpose == Purpose::Text || !matches!(verdict, Verdict::Rendered { .. }) {
                continue;
            }
            let name = bare(&words.text);
            let repeats = !name.is_empty()
                && !told.contains(&name)
                && withheld.iter().any(|withheld_parts| shares(withheld_parts, &name));
            // A name that echoes its element's own text was classified with that text.
            let read = words.purpose != Purpose::Echo;
            let place = place_of(outline, words);
            if repeats
                || (read
                    && !sweep(&name_in_words(words), place, judge, self.settings.quarantine_from).is_empty())
            {
                *verdict = Verdict::Marked(WithholdReason::Suspicious);
            }
        }
    }
}

/// The indices of names that echo the text of their element, where some of that text is withheld as suspicious. The text of an
/// element is on its line and on the deeper lines below it.
fn echoes_of_withheld(outline: &Outline, verdicts: &[Verdict]) -> Vec<usize> {
    let is_suspicious = |at: usize| match verdicts.get(at) {
        Some(Verdict::Rendered { except, .. }) => !except.is_empty(),
        Some(Verdict::Marked(why)) => *why == WithholdReason::Suspicious,
        _ => false,
    };
    let mut found = Vec::new();
    // The echoing names of the elements that are open, each with its depth.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for line in &outline.lines {
        while open.last().is_some_and(|(depth, _)| *depth >= line.depth) {
            open.pop();
        }
        let mut is_withheld = false;
        for words in line.words() {
            match words.purpose {
                Purpose::Echo => open.push((line.depth, at)),
                _ => is_withheld |= is_suspicious(at),
            }
            at += 1;
        }
        if is_withheld {
            found.extend(open.drain(..).map(|(_, echo)| echo));
        }
    }
    found
}

/// Whether words are told to the agent as they stand, and a person sees them.
fn is_told_whole(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Rendered { except, unseen: false } if except.is_empty())
}

/// Letters and digits alone, in lower case.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The withheld parts of words, reduced by [`bare`]. Short parts are left out: any name may contain them by chance.
fn withheld_parts(words: &Words, verdict: &Verdict) -> Vec<String> {
    let Verdict::Rendered { except, .. } = verdict else { return Vec::new() };
    let parts = except.iter().filter_map(|part| words.text.get(part.clone()));
    parts.map(bare).filter(|part| part.len() >= 8).collect()
}

/// Whether a name contains withheld words, or withheld words contain the name.
fn shares(withheld_parts: &str, name: &str) -> bool {
    name.contains(withheld_parts) || (name.len() >= 8 && withheld_parts.contains(name))
}

fn say<'a>(words: &'a Words, verdict: &Verdict) -> Vec<Rendered<'a>> {
    let (except, unseen) = match verdict {
        Verdict::Dropped(_) => return Vec::new(),
        Verdict::Marked(_) => return vec![Rendered::Withheld],
        Verdict::Rendered { except, unseen } => (except, *unseen),
    };
    let quote = |words| if unseen { Rendered::Unseen(words) } else { Rendered::Words(words) };
    let mut said = Vec::with_capacity(1 + 2 * except.len());
    let mut from = 0;
    for part in except {
        said.extend(words.text.get(from..part.start).map(quote));
        said.push(Rendered::Withheld);
        from = from.max(part.end);
    }
    said.extend(words.text.get(from..).map(quote));
    said
}

/// Records which of some words are rendered and which are withheld.
fn note(words: &Words, verdict: &Verdict, origin: Option<Origin>, scrubbed: &mut Scrubbed) {
    let mut withhold = |why, words_gone: &str| {
        if !tidy(words_gone).is_empty() {
            let words_gone = words_gone.to_owned();
            scrubbed.withheld.push(Withheld {
                why,
                words: words_gone,
                place: words.place,
                origin: origin.clone(),
            });
        }
    };
    // A name is separated from the text of its line.
    let apart = if words.purpose == Purpose::Text { "" } else { " " };
    match verdict {
        Verdict::Dropped(why) | Verdict::Marked(why) => withhold(*why, &words.text),
        Verdict::Rendered { except, .. } => {
            for part in except {
                withhold(WithholdReason::Suspicious, words.text.get(part.clone()).unwrap_or_default());
            }
            for said in say(words, verdict) {
                match said {
                    Rendered::Words(words) | Rendered::Unseen(words) => {
                        scrubbed.words.push_str(words);
                        scrubbed.words.push_str(apart);
                    }
                    Rendered::Withheld => {}
                }
            }
        }
    }
}
