//! Made-up secrets in the styles of many issuers, and strings that look like secrets and are none.
//!
//! Nothing here opens anything: every secret is drawn by chance from the alphabet and length of its style. The rules
//! are written from what issuers publish of their formats, apart from the rules of the detectors, so that the two can
//! disagree.
//!
//! A vector with a secret is *found* when a finding of a secret kind covers at least half of the secret. Every finding
//! of a secret kind that touches no secret is *wrong*, wherever it stands. Recall is the share of secrets found,
//! precision the share of findings that are not wrong.

mod negatives;
mod positives;

use std::ops::Range;

use classifier::Detector;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A piece of text, and where in it the secret stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    /// The style: the issuer, or what the string only looks like.
    pub style: &'static str,
    /// The text.
    pub text: String,
    /// The secret; `None` where there is none.
    pub secret: Option<Range<usize>>,
}

/// Vectors with a secret and vectors without, `each` of every style; the same for the same seed.
pub fn vectors(each: usize, seed: u64) -> Vec<Vector> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all = positives::draw(each, &mut random);
    all.extend(negatives::draw(each, &mut random));
    all
}

/// How well secrets are told from what looks like them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// How many secrets there are.
    pub secrets: usize,
    /// How many of them were found.
    pub found: usize,
    /// How many findings are wrong.
    pub wrong: usize,
    /// What was missed and what was wrong, by vector and by place.
    pub mistakes: Vec<(Vector, Option<Range<usize>>)>,
}

impl Verdict {
    /// The share of secrets that were found.
    pub fn recall(&self) -> f64 {
        self.found as f64 / self.secrets.max(1) as f64
    }

    /// The share of findings that are right.
    pub fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.wrong).max(1) as f64
    }
}

/// Judges a detector on vectors.
pub fn judge(detector: &dyn Detector, vectors: &[Vector]) -> Verdict {
    let mut verdict = Verdict::default();
    for vector in vectors {
        let findings = detector.detect(&vector.text);
        let secrets = findings.iter().filter(|finding| finding.kind.is_secret());
        let mut covered = 0;
        for finding in secrets {
            let shared = vector.secret.as_ref().map_or(0, |secret| {
                finding.span.end.min(secret.end).saturating_sub(finding.span.start.max(secret.start))
            });
            covered += shared;
            if shared == 0 {
                verdict.wrong += 1;
                verdict.mistakes.push((vector.clone(), Some(finding.span.clone())));
            }
        }
        if let Some(secret) = &vector.secret {
            verdict.secrets += 1;
            if covered * 2 >= secret.len() {
                verdict.found += 1;
            } else {
                verdict.mistakes.push((vector.clone(), None));
            }
        }
    }
    verdict
}

const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

/// The characters of a class, by the letter that names it in a form.
fn class(name: &str) -> Vec<char> {
    let all = match name {
        "d" => DIGITS.to_owned(),
        "h" => format!("{DIGITS}abcdef"),
        "H" => format!("{DIGITS}ABCDEF"),
        "a" => SMALL.to_owned(),
        "A" => CAPITALS.to_owned(),
        "an" => format!("{DIGITS}{SMALL}"),
        "AN" => format!("{DIGITS}{CAPITALS}"),
        "b32" => format!("{CAPITALS}234567"),
        "b62" => format!("{DIGITS}{CAPITALS}{SMALL}"),
        "b64" => format!("{DIGITS}{CAPITALS}{SMALL}+/"),
        _ => format!("{DIGITS}{CAPITALS}{SMALL}-_"),
    };
    all.chars().collect()
}

/// A form filled in: `{b62:36}` stands for 36 characters of a class, drawn by chance.
fn fill(form: &str, random: &mut dyn Rng) -> String {
    let mut text = String::new();
    let mut rest = form;
    while let Some((plain, behind)) = rest.split_once('{') {
        text.push_str(plain);
        let Some((slot, behind)) = behind.split_once('}') else { break };
        match slot.split_once(':') {
            Some((name, count)) => {
                let class = class(name);
                for _ in 0..count.parse::<usize>().unwrap_or(0) {
                    text.extend(pick(&class, random));
                }
            }
            // A brace that stands for itself.
            None => text.push_str(&format!("{{{slot}}}")),
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

fn pick<T: Copy>(from: &[T], random: &mut dyn Rng) -> Option<T> {
    let at = random.random_range(0..from.len().max(1));
    from.get(at).copied()
}
