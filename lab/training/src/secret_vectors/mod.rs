//! Made-up secrets in the styles of many issuers, and strings that look like secrets and are not.
//!
//! No secret is real: each is drawn by chance from the alphabet and length of its style. The styles follow the
//! formats that issuers publish, independently of the rules of the detectors, so that the two can disagree.
//!
//! A vector with a secret is *found* when a finding of a secret kind covers at least half of the secret. Every
//! finding of a secret kind that touches no secret is *wrong*. Recall is the share of secrets found, precision the
//! share of findings that are not wrong.

mod negatives;
mod positives;
mod services;

use std::ops::Range;

use classifier::Detector;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A text with the range of the secret in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    /// The style: the issuer, or the kind of string that it looks like.
    pub style: &'static str,
    /// The text.
    pub text: String,
    /// The secret; `None` if there is none.
    pub secret: Option<Range<usize>>,
}

/// Returns vectors with a secret and vectors without, `each` of every style; the same for the same seed.
pub fn vectors(each: usize, seed: u64) -> Vec<Vector> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all = positives::draw(each, &mut random);
    all.extend(negatives::draw(each, &mut random));
    all
}

/// Returns vectors of more services and places, `each` of every service and of every harmless kind; the same for the same
/// seed. A detector is judged on the two halves of [`is_held_out`] apart.
pub fn service_vectors(each: usize, seed: u64) -> Vec<Vector> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all = services::draw(each, &mut random);
    all.extend(services::draw_harmless(each, &mut random));
    all
}

/// Returns whether a style belongs to the half whose mistakes nobody looks at while the detectors are written.
pub fn is_held_out(style: &str) -> bool {
    crate::hash(style).is_multiple_of(2)
}

/// The results of a detector on vectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The number of secrets.
    pub secrets: usize,
    /// The number of them that were found.
    pub found: usize,
    /// The number of wrong findings.
    pub wrong: usize,
    /// The missed secrets and the wrong findings, by vector and range.
    pub mistakes: Vec<(Vector, Option<Range<usize>>)>,
}

impl Verdict {
    /// Returns the share of secrets that were found.
    pub fn recall(&self) -> f64 {
        self.found as f64 / self.secrets.max(1) as f64
    }

    /// Returns the share of findings that are right.
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

/// Returns the characters of a class, by the letter of the class in a form.
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

/// Fills in a form: `{b62:36}` stands for 36 random characters of a class.
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
            // This brace stands for itself.
            None => text.push_str(&format!("{{{slot}}}")),
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// Inserts a secret at the `@` of a context; `@@` is the secret and then the sign itself.
fn place_in(style: &'static str, place: &str, secret: &str) -> Vector {
    let (before, after) = place.split_once('@').unwrap_or((place, ""));
    let text = format!("{before}{secret}{after}");
    Vector { style, text, secret: Some(before.len()..before.len() + secret.len()) }
}

fn pick<T: Copy>(from: &[T], random: &mut dyn Rng) -> Option<T> {
    let at = random.random_range(0..from.len().max(1));
    from.get(at).copied()
}
