//! Trains the attributes that come with the project.

use std::collections::BTreeMap;
use std::path::Path;

use super::secrets;
use super::sources::{DataError, Labelled, dialogues, goals, messages, prompts, reviews, tweets};
use super::{Example, Fit, FitError, FitOptions, FitReport, fit};
use crate::metrics::{Scored, roc_auc};
use classifier::{SparseAttribute, TokenAttribute};

/// An attribute that comes with the project; each is a property that a text should *keep*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shipped {
    /// Free of insults, slurs and threats.
    Toxicity,
    /// Free of scam language: prizes, urgency, premium numbers, links to claim.
    Scam,
    /// The text neither asks for a secret nor states one.
    Secrets,
}

/// The error of an attribute that cannot be trained.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The data cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The weights cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// A trained attribute, with its measures on the held-out texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The weights.
    pub attribute: SparseAttribute,
    /// The measures.
    pub report: TrainingReport,
}

/// The measures of a trained attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingReport {
    /// The report of the fit.
    pub fit: FitReport,
    /// The penalty that was chosen.
    pub penalty: f64,
    /// For each source, the numbers of texts learned from and held out.
    pub texts: BTreeMap<&'static str, (usize, usize)>,
    /// The area under the curve on the held-out texts: for each source of harmful texts, the probability that one has
    /// a lower weight than a harmless one of any source.
    pub area_by_harmful: BTreeMap<&'static str, f64>,
    /// For each source of harmless texts, the probability that one has a higher weight than a harmful one of any
    /// source.
    pub area_by_harmless: BTreeMap<&'static str, f64>,
}

/// The number of parts into which the texts are split.
const FIFTHS: u64 = 5;

impl Shipped {
    /// Every shipped attribute.
    pub const ALL: [Shipped; 3] = [Shipped::Toxicity, Shipped::Scam, Shipped::Secrets];

    /// Returns the name, which is also that of the file.
    pub fn name(self) -> &'static str {
        match self {
            Shipped::Toxicity => "toxicity",
            Shipped::Scam => "scam",
            Shipped::Secrets => "secrets",
        }
    }

    /// Returns the attribute of this name.
    pub fn named(name: &str) -> Option<Shipped> {
        Shipped::ALL.into_iter().find(|shipped| shipped.name() == name)
    }

    /// Returns the labelled texts that it is trained on, from the folder of the data, each with its fifth: texts of
    /// the fifth 0 are held out.
    ///
    /// # Errors
    /// When a file is missing or not as expected.
    pub fn texts(self, data: &Path) -> Result<Vec<(Labelled, u64)>, DataError> {
        let own = match self {
            Shipped::Toxicity => by_text([tweets(data)?, prompts(data)?].concat()),
            Shipped::Scam => by_text([messages(data)?, goals(data)?].concat()),
            // The split is by template, so that no sentence of a learned template is held out.
            Shipped::Secrets => secrets::sentences()
                .into_iter()
                .map(|(template, text)| (text, hash(&template.to_le_bytes()) % FIFTHS))
                .collect(),
        };
        Ok([own, by_text(dialogues(data)?), by_text(reviews(data)?)].concat())
    }

    /// Fits it for a vocabulary, and measures it on the held-out texts. Harmful and harmless texts have the same
    /// total weight, and so do the sources of harmless ones. The penalty is the one that does best on a second fifth,
    /// held out for that, on the mean over the sources of harmless texts.
    ///
    /// # Errors
    /// When the data are missing or not as expected, or a token is outside the vocabulary.
    pub fn train(
        self,
        data: &Path,
        vocabulary: usize,
        encode: &dyn Fn(&str) -> Vec<u32>,
    ) -> Result<Trained, TrainError> {
        let texts: Vec<Text> = self
            .texts(data)?
            .into_iter()
            // The text begins with a space, as the tokens of words within a text do.
            .map(|(text, fifth)| Text { tokens: encode(&format!(" {}", text.text)), label: text, fifth })
            .collect();
        let mut chosen = (f64::NEG_INFINITY, 0.0);
        for penalty in PENALTIES {
            let tried = fitted(&texts, vocabulary, penalty, |fifth| fifth > 1)?;
            let areas = areas(&tried.attribute, &texts, 1, false);
            let mean = areas.values().sum::<f64>() / areas.len().max(1) as f64;
            if mean > chosen.0 {
                chosen = (mean, penalty);
            }
        }
        let fit = fitted(&texts, vocabulary, chosen.1, |fifth| fifth > 0)?;
        let report = report(&fit, chosen.1, &texts);
        Ok(Trained { attribute: fit.attribute, report })
    }
}

/// Penalties that are tried.
const PENALTIES: [f64; 6] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2];

/// A text in tokens.
struct Text {
    label: Labelled,
    tokens: Vec<u32>,
    fifth: u64,
}

fn fitted(
    texts: &[Text],
    vocabulary: usize,
    penalty: f64,
    learnt: impl Fn(u64) -> bool,
) -> Result<Fit, FitError> {
    let texts = || texts.iter().filter(|text| learnt(text.fifth));
    let mut sources: BTreeMap<(bool, &str), f64> = BTreeMap::new();
    let group = |label: &Labelled| (label.harmful, if label.harmful { "" } else { label.source });
    texts().for_each(|text| *sources.entry(group(&text.label)).or_default() += 1.0);
    let harmless = sources.keys().filter(|(harmful, _)| !harmful).count() as f64;
    let examples: Vec<Example> = texts()
        .map(|text| {
            let harmful = text.label.harmful;
            let share = if harmful { 1.0 } else { 1.0 / harmless };
            let size = sources.get(&group(&text.label)).copied().unwrap_or(1.0);
            Example { tokens: text.tokens.clone(), kept: f64::from(u8::from(!harmful)), weight: share / size }
        })
        .collect();
    fit(&examples, &FitOptions { penalty, ..FitOptions::new(vocabulary) })
}

/// Returns the area under the curve on a fifth, for each source of harmful texts against all harmless ones, or for
/// each source of harmless texts against all harmful ones.
fn areas(
    attribute: &SparseAttribute,
    texts: &[Text],
    fifth: u64,
    by_harmful: bool,
) -> BTreeMap<&'static str, f64> {
    let mut weights: BTreeMap<(bool, &'static str), Vec<f64>> = BTreeMap::new();
    for text in texts.iter().filter(|text| text.fifth == fifth) {
        let weight = attribute.log_weight_of(&text.tokens);
        weights.entry((text.label.harmful, text.label.source)).or_default().push(weight);
    }
    let others: Vec<f64> = weights
        .iter()
        .filter(|((harmful, _), _)| *harmful != by_harmful)
        .flat_map(|(_, all)| all.clone())
        .collect();
    let one = weights.iter().filter(|((harmful, _), _)| *harmful == by_harmful);
    one.map(|((_, source), own)| (*source, if by_harmful { area(own, &others) } else { area(&others, own) }))
        .collect()
}

fn report(fit: &Fit, penalty: f64, texts: &[Text]) -> TrainingReport {
    let mut counts: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    for text in texts {
        let (learnt, kept) = counts.entry(text.label.source).or_default();
        *(if text.fifth == 0 { kept } else { learnt }) += 1;
    }
    TrainingReport {
        fit: fit.report,
        penalty,
        texts: counts,
        area_by_harmful: areas(&fit.attribute, texts, 0, true),
        area_by_harmless: areas(&fit.attribute, texts, 0, false),
    }
}

/// Returns the area under the curve: the probability that a number of the first is below one of the second, a tie
/// counting one half; 0 if either is empty.
fn area(below: &[f64], above: &[f64]) -> f64 {
    // The difference is 0 for both zeros, which a comparison of scores tells apart.
    let scored = |harmful| move |number: &f64| Scored { score: 0.0 - number, harmful };
    let scores: Vec<Scored> = below.iter().map(scored(true)).chain(above.iter().map(scored(false))).collect();
    roc_auc(&scores).unwrap_or_default()
}

/// Returns a hash of bytes (FNV-1a), so that the split depends on the text alone.
fn hash(bytes: &[u8]) -> u64 {
    let mixed = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mixed ^ (mixed >> 32)
}

fn by_text(texts: Vec<Labelled>) -> Vec<(Labelled, u64)> {
    let fifth = |text: &Labelled| hash(text.text.as_bytes()) % FIFTHS;
    texts.into_iter().map(|text| (fifth(&text), text)).map(|(fifth, text)| (text, fifth)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_area_is_that_of_counting_pairs() {
        assert_eq!(area(&[-2.0, -1.0], &[0.0, 0.5]), 1.0);
        assert_eq!(area(&[0.0], &[0.0]), 0.5);
        assert_eq!(area(&[-1.0, 2.0], &[0.0, 1.0, 2.0]), (3.0 + 0.5) / 6.0);
        assert_eq!(area(&[], &[]), 0.0);
    }

    #[test]
    fn templates_are_never_split() {
        let mut sides: BTreeMap<usize, BTreeSet<bool>> = BTreeMap::new();
        for (template, _) in secrets::sentences() {
            sides.entry(template).or_default().insert(hash(&template.to_le_bytes()).is_multiple_of(FIFTHS));
        }
        assert!(sides.values().all(|sides| sides.len() == 1));
        let apart = sides.values().filter(|sides| sides.contains(&true)).count();
        assert!(apart * 10 >= sides.len() && apart * 3 <= sides.len(), "{apart} of {}", sides.len());
        assert!(secrets::sentences().iter().all(|(_, text)| !text.text.contains(['{', '['])));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Shipped::Scam.texts(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/scam-sms-spam/sms_dev.jsonl"), "{error}");
        assert_eq!(Shipped::ALL.map(|shipped| Shipped::named(shipped.name())), Shipped::ALL.map(Some));
        assert_eq!(Shipped::named("x"), None);
    }
}
