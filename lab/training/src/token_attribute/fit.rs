//! The log-linear fit of TRACE.

use classifier::{AttributeFileError, SparseAttribute};

/// A text with the probability that it keeps the attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The text.
    pub tokens: Vec<u32>,
    /// The probability that the text keeps the attribute, in `[0, 1]`: of a classifier, or 0 and 1 for labels.
    pub kept: f64,
    /// The weight of the text, above 0.
    pub weight: f64,
}

/// Options for fitting weights.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// The number of tokens of the vocabulary.
    pub vocabulary: usize,
    /// The cost of each unit of `-log w`: with a larger one, fewer tokens have a weight. It is at least 0.
    pub penalty: f64,
    /// The smallest probability: a text that certainly lost the attribute has this one, since the logarithm of 0
    /// cannot be reached. It is above 0 and below 1.
    pub floor: f64,
    /// The smallest number of texts with a token that has a weight.
    pub fewest_texts: usize,
    /// The tolerance: the largest amount by which a condition of the optimum may be violated.
    pub tolerance: f64,
    /// The largest number of rounds over the tokens.
    pub rounds: usize,
}

impl FitOptions {
    /// Settings that suit a few thousand labelled texts.
    pub fn new(vocabulary: usize) -> FitOptions {
        FitOptions { vocabulary, penalty: 1e-4, floor: 0.01, fewest_texts: 3, tolerance: 1e-7, rounds: 2_000 }
    }
}

/// The weights, with a report of the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The weights.
    pub attribute: SparseAttribute,
    /// The report of the fit.
    pub report: FitReport,
}

/// The report of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitReport {
    /// The number of rounds over the tokens.
    pub rounds: usize,
    /// The largest violation of a condition of the optimum.
    pub violation: f64,
    /// The minimised value: half the weighted mean of squared errors of `log p`, plus the penalty.
    pub objective: f64,
    /// The number of tokens with a weight.
    pub weighted: usize,
}

/// The error of weights that cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// There are no texts.
    #[error("there are no texts to fit on")]
    Empty,
    /// An option outside its range.
    #[error("{option} is {value}, and must be {range}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// The range that it must be in.
        range: &'static str,
    },
    /// A text whose numbers are outside their range.
    #[error(
        "text {text} has the probability {kept} and the weight {weight}: they must be in [0, 1] and above 0"
    )]
    Example {
        /// The number of the text, from 0.
        text: usize,
        /// Its probability.
        kept: f64,
        /// Its weight.
        weight: f64,
    },
    /// The weights are not an attribute; a token is outside the vocabulary, for example.
    #[error(transparent)]
    Attribute(#[from] AttributeFileError),
}

/// Returns a classifier's probability made sharper, as TRACE does before fitting: `σ(slope · (logit p − offset))`;
/// its authors use a slope of 10 and an offset of 3. Probabilities are kept slightly away from 0 and 1.
pub fn sharpened(probability: f64, slope: f64, offset: f64) -> f64 {
    let probability = probability.clamp(1e-12, 1.0 - 1e-12);
    let logit = (probability / (1.0 - probability)).ln();
    1.0 / (1.0 + (-slope * (logit - offset)).exp())
}

/// Fits one weight for each token, so that the product over a text comes close to the probability that the text keeps
/// the attribute (TRACE, Yidou-Weng et al. 2025, section 4, and its published code: a non-negative Lasso without
/// intercept on the counts of tokens).
///
/// With counts `x`, weights `u = -log w`, targets `t = -log max(p, floor)` and weights `v` of the texts that sum to
/// one, it minimises `½ Σ v (x·u − t)² + penalty · Σ u` for `u >= 0`, by coordinate descent in the order of the
/// tokens. The problem is convex, and the report has the violation of the conditions of its optimum. The same texts
/// give the same bytes.
///
/// ```
/// use classifier_training::token_attribute::{Example, FitOptions, fit};
/// use classifier::TokenAttribute;
///
/// let text = |tokens: &[u32], kept| Example { tokens: tokens.to_vec(), kept, weight: 1.0 };
/// let texts = [text(&[1, 2], 1.0), text(&[1, 3], 0.5), text(&[3, 3], 0.25)];
/// let options = FitOptions { penalty: 0.0, fewest_texts: 1, ..FitOptions::new(10) };
/// let fitted = fit(&texts, &options)?;
/// assert!((fitted.attribute.log_weight(3) - 0.5_f32.ln()).abs() < 1e-3);
/// assert!(fitted.attribute.log_weight(1).abs() < 1e-6);
/// # Ok::<(), classifier_training::token_attribute::FitError>(())
/// ```
///
/// # Errors
/// When there is no text, or a number is outside its range.
pub fn fit(examples: &[Example], options: &FitOptions) -> Result<Fit, FitError> {
    check(examples, options)?;
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    let shares: Vec<f64> = examples.iter().map(|example| example.weight / total).collect();
    let targets = examples.iter().map(|example| -example.kept.max(options.floor).ln());
    // The part of each text's target that the weights do not explain yet.
    let mut residuals: Vec<f64> = targets.collect();
    let mut columns = columns(examples, &shares, options.fewest_texts);
    let mut rounds = 0;
    while rounds < options.rounds {
        rounds += 1;
        let worst = columns.iter_mut().map(|column| column.improve(&mut residuals, &shares, options.penalty));
        if worst.fold(0.0, f64::max) <= options.tolerance {
            break;
        }
    }
    let violation = columns.iter().map(|column| column.violation(&residuals, &shares, options.penalty));
    let violation = violation.fold(0.0, f64::max);
    let squares: f64 =
        residuals.iter().zip(&shares).map(|(residual, share)| share * residual * residual).sum();
    let sum: f64 = columns.iter().map(|column| column.value).sum();
    let weights = columns.iter().filter(|column| column.value > 0.0);
    let attribute =
        SparseAttribute::new(options.vocabulary, weights.map(|column| (column.token, -column.value as f32)))?;
    let report = FitReport {
        rounds,
        violation,
        objective: squares / 2.0 + options.penalty * sum,
        weighted: attribute.weights().len(),
    };
    Ok(Fit { attribute, report })
}

fn check(examples: &[Example], options: &FitOptions) -> Result<(), FitError> {
    if examples.is_empty() {
        return Err(FitError::Empty);
    }
    let option = |good: bool, option, value, range| {
        if good { Ok(()) } else { Err(FitError::Option { option, value, range }) }
    };
    option(options.penalty >= 0.0 && options.penalty.is_finite(), "penalty", options.penalty, "0 or above")?;
    option(options.floor > 0.0 && options.floor < 1.0, "floor", options.floor, "above 0 and below 1")?;
    option(options.tolerance > 0.0, "tolerance", options.tolerance, "above 0")?;
    for (text, Example { kept, weight, tokens }) in examples.iter().enumerate() {
        let is_sound = (0.0..=1.0).contains(kept) && *weight > 0.0 && weight.is_finite();
        if !is_sound {
            return Err(FitError::Example { text, kept: *kept, weight: *weight });
        }
        if let Some(token) = tokens.iter().find(|token| **token as usize >= options.vocabulary) {
            let vocabulary = options.vocabulary as u32;
            return Err(AttributeFileError::Token { token: *token, vocabulary }.into());
        }
    }
    Ok(())
}

/// A token with the texts that contain it, and its current `-log w`.
struct Column {
    token: u32,
    counts: Vec<(usize, f64)>,
    /// The weighted sum of squared counts.
    curvature: f64,
    value: f64,
}

impl Column {
    /// Returns the negative derivative of the error with respect to the value.
    fn slope(&self, residuals: &[f64], shares: &[f64]) -> f64 {
        let terms = self
            .counts
            .iter()
            .filter_map(|(text, count)| Some(shares.get(*text)? * count * residuals.get(*text)?));
        terms.sum()
    }

    /// Moves the value to its optimum for the other ones, and returns the violation before.
    fn improve(&mut self, residuals: &mut [f64], shares: &[f64], penalty: f64) -> f64 {
        let slope = self.slope(residuals, shares);
        let missed = self.missed(slope, penalty);
        let best = ((slope - penalty) / self.curvature + self.value).max(0.0);
        let step = best - self.value;
        if step != 0.0 {
            for (text, count) in &self.counts {
                if let Some(residual) = residuals.get_mut(*text) {
                    *residual -= count * step;
                }
            }
            self.value = best;
        }
        missed
    }

    fn violation(&self, residuals: &[f64], shares: &[f64], penalty: f64) -> f64 {
        self.missed(self.slope(residuals, shares), penalty)
    }

    /// Returns the violation of the condition of the optimum: the slope equals the penalty, or does not exceed it at
    /// 0.
    fn missed(&self, slope: f64, penalty: f64) -> f64 {
        if self.value > 0.0 { (slope - penalty).abs() } else { (slope - penalty).max(0.0) }
    }
}

/// Returns the tokens of the texts, in rising order.
fn columns(examples: &[Example], shares: &[f64], fewest_texts: usize) -> Vec<Column> {
    let mut places: Vec<(u32, usize)> = Vec::new();
    for (text, example) in examples.iter().enumerate() {
        places.extend(example.tokens.iter().map(|token| (*token, text)));
    }
    places.sort_unstable();
    let mut columns: Vec<Column> = Vec::new();
    for (token, text) in places {
        if columns.last().is_none_or(|column| column.token != token) {
            columns.push(Column { token, counts: Vec::new(), curvature: 0.0, value: 0.0 });
        }
        let Some(column) = columns.last_mut() else { continue };
        match column.counts.last_mut() {
            Some((last, count)) if *last == text => *count += 1.0,
            _ => column.counts.push((text, 1.0)),
        }
    }
    columns.retain(|column| column.counts.len() >= fewest_texts);
    for column in &mut columns {
        let terms = column.counts.iter().filter_map(|(text, count)| Some(shares.get(*text)? * count * count));
        column.curvature = terms.sum();
    }
    // A text whose share rounds to zero does not count.
    columns.retain(|column| column.curvature > 0.0);
    columns
}
