//! The choice of length and characters for a new password, and its making.

use browser_signals::password_rules::CharacterSet;
use zeroize::Zeroizing;

use super::automaton::{Automaton, Choice, LONGEST, Rules};
use super::pattern::{self, Part};
use super::rules::NewPasswordRules;
use crate::crypto::cipher::Entropy;
use crate::crypto::secret::Secret;

/// The most bytes that are drawn for one character. At least 128 of 256 are in use, so that more are needed once in 2^1000 characters.
const MOST_DRAWS: usize = 1_000;

/// A password of less entropy is weak, in bits. The user is told before one is made.
pub const WEAK_BELOW: u32 = 64;

/// The entropy that is enough, in bits.
const ENOUGH: f64 = 100.0;

/// The length where the page states none.
const USUAL: usize = 20;

/// The usual form, which a person can read and type: three groups of six.
const IN_GROUPS: &str = "[A-Za-z0-9]{6}-[A-Za-z0-9]{6}-[A-Za-z0-9]{6}";

/// Marks that sites accept, the plainest first.
const MARKS: [&str; 2] = ["-", "-_.!@#$%&*+?="];

/// Marks for a pattern that is not known: those that most sites name.
const MARKS_OF_MOST: &str = "!@#$%&*?";

/// How to make a password by the rules of a form: each password that they accept, with the chosen length and characters, is as likely as
/// any other.
pub struct Recipe {
    automaton: Automaton,
    length: usize,
    bits: f64,
}

impl Recipe {
    /// The recipe for these rules; none where no password meets them.
    ///
    /// ```
    /// use vault::{NewPasswordRules, Recipe};
    ///
    /// let recipe = Recipe::of(&NewPasswordRules::default()).unwrap();
    /// assert!(recipe.bits() >= 100 && recipe.length() == 20);
    /// ```
    pub fn of(rules: &NewPasswordRules) -> Option<Recipe> {
        let least = usize::try_from(rules.least).unwrap_or(usize::MAX).max(1);
        let most =
            rules.most.and_then(|most| usize::try_from(most).ok()).map_or(LONGEST, |most| most.min(LONGEST));
        if least > most {
            return None;
        }
        let expressed: Vec<Option<Vec<Part>>> =
            rules.patterns.iter().map(|pattern| pattern::parts(pattern)).collect();
        let is_known = expressed.iter().all(Option::is_some);
        let parts: Vec<Part> = expressed.into_iter().flatten().flatten().collect();
        let in_groups = pattern::parts(IN_GROUPS).unwrap_or_default();
        let letters = CharacterSet::UPPER.or(CharacterSet::LOWER).or(CharacterSet::DIGIT);
        let within = |marks: &str| {
            let wanted = letters.or(CharacterSet::of(marks));
            rules.allowed.map_or(wanted, |allowed| allowed.and(wanted))
        };
        // What a page allows besides is used where it says so. A space at an end would be cut by some sites.
        let says = rules.allowed.is_some() || !rules.patterns.is_empty();
        let printable = rules.allowed.unwrap_or(CharacterSet::PRINTABLE).and(CharacterSet::VISIBLE);
        let alphabets = MARKS.map(within).into_iter().chain(says.then_some(printable));
        let alphabets = (!is_known).then(|| within(MARKS_OF_MOST)).into_iter().chain(alphabets);
        let mut best: Option<Recipe> = None;
        for (at, alphabet) in alphabets.enumerate() {
            let with = |is_mixed: bool, form: &[Part]| {
                let required = required(rules, alphabet, is_mixed);
                let all = Rules {
                    alphabet,
                    required: &required,
                    max_consecutive: rules.max_consecutive,
                    parts: parts.iter().chain(form).collect(),
                };
                Recipe::with(&all, least, most)
            };
            let in_groups = (at == 0 && is_known).then(|| with(true, &in_groups)).flatten();
            let found = in_groups
                .filter(|found| found.bits >= ENOUGH)
                .or_else(|| with(true, &[]))
                .or_else(|| with(false, &[]));
            let Some(found) = found else { continue };
            if found.bits >= ENOUGH {
                return Some(found);
            }
            if best.as_ref().is_none_or(|best| found.bits > best.bits) {
                best = Some(found);
            }
        }
        best
    }

    /// The recipe with these characters: the shortest length from the usual one on that is enough, or else the best one.
    fn with(rules: &Rules<'_>, least: usize, most: usize) -> Option<Recipe> {
        let automaton = Automaton::of(rules)?;
        let bits = |length: usize| automaton.count(length).log2();
        let is_enough = |length: &usize| bits(*length) >= ENOUGH;
        let usual = (least.max(USUAL)..=most).find(is_enough);
        let length = usual.or_else(|| (least..=most).rev().max_by(|a, b| bits(*a).total_cmp(&bits(*b))))?;
        let bits = bits(length);
        bits.is_finite().then_some(Recipe { automaton, length, bits })
    }

    /// The entropy of a password, in whole bits.
    pub fn bits(&self) -> u32 {
        self.bits as u32
    }

    /// Whether a password is weaker than one that a person should be content with.
    pub fn is_weak(&self) -> bool {
        self.bits() < WEAK_BELOW
    }

    /// The number of characters.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Makes a password.
    pub(crate) fn make(&self, entropy: &mut dyn Entropy) -> Secret {
        Secret::filled(self.length, |out| {
            let mut random = Random(entropy);
            let (mut state, mut last, mut left) = (0, 0, out.len());
            for slot in out {
                let Some((choice, to)) = self.step(state, left, &mut random) else { return };
                last = match choice {
                    Choice::Again => last,
                    Choice::Any(group) => random.pick(self.automaton.group(group), None),
                    Choice::Other(group) => random.pick(self.automaton.group(group), Some(last)),
                };
                *slot = last;
                (state, left) = (to, left - 1);
            }
        })
    }

    /// Draws a step by the share of each.
    fn step(&self, state: usize, left: usize, random: &mut Random<'_>) -> Option<(Choice, usize)> {
        let total: f64 = self.automaton.steps(state, left).map(|(_, share)| share).sum();
        let mut rest = random.fraction() * total;
        let mut drawn = None;
        for (step, share) in self.automaton.steps(state, left).filter(|(_, share)| *share > 0.0) {
            drawn = Some((step.choice, step.to));
            if rest < share {
                break;
            }
            rest -= share;
        }
        drawn
    }
}

/// The sets of which one character must be used: those of the page, and where `is_mixed`, a letter of each case, a digit and a mark as far as
/// the characters have them.
fn required(rules: &NewPasswordRules, alphabet: CharacterSet, is_mixed: bool) -> Vec<CharacterSet> {
    let mut required: Vec<CharacterSet> = rules.required.iter().map(|set| set.and(alphabet)).collect();
    let usual = [CharacterSet::LOWER, CharacterSet::UPPER, CharacterSet::DIGIT, CharacterSet::SPECIAL];
    for set in usual.map(|set| set.and(alphabet)) {
        if is_mixed && !set.is_empty() && !required.contains(&set) {
            required.push(set);
        }
    }
    required
}

/// Random numbers for one password.
struct Random<'e>(&'e mut dyn Entropy);

impl Random<'_> {
    /// A fraction of at least 0 and below 1, with 53 bits.
    fn fraction(&mut self) -> f64 {
        let mut bytes = Zeroizing::new([0; 8]);
        self.0.fill(bytes.as_mut());
        let [high, low] = [u64::from_le_bytes(*bytes) >> 32, u64::from_le_bytes(*bytes) >> 11 & 0x1f_ffff];
        let part = |bits: u64| f64::from(u32::try_from(bits).unwrap_or_default());
        (part(high) + part(low) / f64::from(1 << 21)) / (f64::from(u32::MAX) + 1.0)
    }

    /// One of these characters, each as likely as any other, and never `but`. There are at least one and at most 95.
    fn pick(&mut self, from: &[u8], but: Option<u8>) -> u8 {
        let size = from.len().max(1);
        let mut byte = Zeroizing::new([0]);
        for _ in 0..MOST_DRAWS {
            self.0.fill(byte.as_mut());
            let drawn = usize::from(u8::from_le_bytes(*byte));
            // Above the largest multiple the first characters would be more likely.
            if drawn >= 256 - 256 % size {
                continue;
            }
            if let Some(picked) = from.get(drawn % size).copied().filter(|picked| but != Some(*picked)) {
                return picked;
            }
        }
        // Only a source that is not random gets here.
        from.iter().copied().find(|other| but != Some(*other)).unwrap_or_default()
    }
}
