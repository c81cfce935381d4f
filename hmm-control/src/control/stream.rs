//! A gate that shows only clauses that pass, for a model that gives only text.

use super::clauses::{After, Before, Decoder, Splitter};
use super::gate::{ClausePolicy, Next, Verdict};
use super::rate::RateMeter;
use crate::Token;
use std::collections::VecDeque;

/// Scores a text: higher is better, compared with [`ClausePolicy::threshold`]; NaN fails.
///
/// Any `FnMut(&str) -> f64` is a scorer.
pub trait Scorer {
    /// The score of a window of text: the clause to be judged, after some of the shown text before it. It has to depend on
    /// the text alone, so that the gate's results depend on the stream alone.
    fn score(&mut self, text: &str) -> f64;
}

impl<F: FnMut(&str) -> f64> Scorer for F {
    fn score(&mut self, text: &str) -> f64 {
        self(text)
    }
}

/// A request to rewrite a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The instruction for the model, in plain language.
    pub instruction: String,
    /// The number of this rewrite of the clause, counted from 1.
    pub attempt: usize,
}

/// Shows a clause of a stream of text only when it is finished and has passed, and requests a rewrite when it fails.
///
/// It is for a model behind an interface that gives text and no logits. Push the bytes as they arrive, split anywhere. A
/// finished clause is scored together with up to `context` characters of the shown text before it. When it fails, the
/// rest of the stream is ignored until [`StreamGate::resume`]: stop the stream, give the model the instruction, and push
/// the new stream. A clause that failed more often than [`ClausePolicy::rewinds`] stops the gate.
///
/// The results depend on the bytes and not on how they were split. Withdrawn text is never released. At most
/// [`ClausePolicy::longest`] bytes (and one character) are buffered; the policy's raise is not used.
///
/// ```
/// use hmm_control::{ClausePolicy, Next, StreamGate};
///
/// let polite = |window: &str| if window.contains("fool") { 0.0 } else { 1.0 };
/// let mut gate = StreamGate::new(ClausePolicy::new(0.5, "be kind"), polite, 200);
/// let verdict = gate.push(b"Hello. You fo");
/// assert_eq!(verdict.released, "Hello.");
/// let verdict = gate.push(b"ol. Bye. ");
/// assert!(verdict.released.is_empty());
/// assert!(matches!(verdict.next, Next::Rewrite(_)));
/// gate.resume();
/// let mut shown = gate.push(b" You are").released;
/// shown += &gate.push(b" welcome.").released;
/// shown += &gate.finish().released;
/// assert_eq!(shown, " You are welcome.");
/// ```
#[derive(Debug, Clone)]
pub struct StreamGate<S> {
    policy: ClausePolicy,
    scorer: S,
    context: usize,
    /// The last released characters, at most `context` of them.
    shown: VecDeque<char>,
    /// The unfinished clause.
    held: String,
    /// Bytes of `held` up to a possible boundary.
    candidate: Option<usize>,
    decoder: Decoder,
    splitter: Splitter,
    failed: usize,
    failed_in_all: usize,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// A clause failed, and the model has not started its rewrite.
    Withdrawn,
    Stopped,
}

impl<S: Scorer> StreamGate<S> {
    /// A gate before the first byte. A clause is scored with `context` characters of the shown text before it.
    pub fn new(policy: ClausePolicy, scorer: S, context: usize) -> StreamGate<S> {
        StreamGate {
            policy,
            scorer,
            context,
            shown: VecDeque::new(),
            held: String::new(),
            candidate: None,
            decoder: Decoder::default(),
            splitter: Splitter::new(),
            failed: 0,
            failed_in_all: 0,
            phase: Phase::Open,
        }
    }

    /// How many bytes are buffered.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Reads the next bytes of the stream. Bytes between a failed clause and [`StreamGate::resume`] are ignored.
    pub fn push(&mut self, bytes: &[u8]) -> Verdict<Rewrite> {
        let mut text = String::new();
        self.decoder.push(bytes, &mut text);
        self.read(&text)
    }

    /// Ends the stream: the last clause is judged. After a [`Next::Rewrite`], resume and push the rewrite.
    pub fn finish(&mut self) -> Verdict<Rewrite> {
        let mut text = String::new();
        self.decoder.finish(&mut text);
        let mut verdict = self.read(&text);
        if self.phase == Phase::Open {
            verdict.next = self.judge(self.held.len(), &mut verdict.released);
        }
        verdict
    }

    /// Starts the rewrite after a [`Next::Rewrite`]; the bytes from here on belong to it.
    pub fn resume(&mut self) {
        if self.phase == Phase::Withdrawn {
            self.phase = Phase::Open;
            self.decoder = Decoder::default();
        }
    }

    fn read(&mut self, text: &str) -> Verdict<Rewrite> {
        let mut released = String::new();
        let mut next = self.next_action();
        for c in text.chars() {
            if self.phase != Phase::Open {
                break;
            }
            next = self.read_character(c, &mut released);
        }
        Verdict { released, next }
    }

    fn read_character(&mut self, c: char, released: &mut String) -> Next<Rewrite> {
        let (before, after) = self.splitter.feed(c);
        if before != Before::Undecided {
            let candidate = self.candidate.take();
            if let (Before::Boundary, Some(cut)) = (before, candidate) {
                let next = self.judge(cut, released);
                if next != Next::Continue {
                    return next;
                }
            }
        }
        self.held.push(c);
        if after == After::Boundary || self.held.len() >= self.policy.longest.max(1) {
            self.splitter.settle();
            return self.judge(self.held.len(), released);
        }
        if after == After::Possible {
            self.candidate = Some(self.held.len());
        }
        Next::Continue
    }

    /// Releases the first `cut` bytes of the buffer, or withdraws all of it.
    fn judge(&mut self, cut: usize, released: &mut String) -> Next<Rewrite> {
        let clause = self.held.get(..cut).unwrap_or_default();
        if clause.is_empty() {
            return Next::Continue;
        }
        let window: String = self.shown.iter().copied().chain(clause.chars()).collect();
        if !self.policy.passes(self.scorer.score(&window)) {
            return self.fail();
        }
        released.push_str(clause);
        self.shown.extend(clause.chars());
        self.shown.drain(..self.shown.len().saturating_sub(self.context));
        self.held.drain(..cut);
        self.candidate = None;
        self.failed = 0;
        Next::Continue
    }

    fn fail(&mut self) -> Next<Rewrite> {
        self.held.clear();
        self.candidate = None;
        // The withdrawn text is not part of the rewrite.
        self.splitter = Splitter::new();
        if self.policy.is_spent(self.failed, self.failed_in_all) {
            self.phase = Phase::Stopped;
        } else {
            self.phase = Phase::Withdrawn;
        }
        self.failed += 1;
        self.failed_in_all += 1;
        self.next_action()
    }

    /// The next action in the current phase.
    fn next_action(&self) -> Next<Rewrite> {
        match self.phase {
            Phase::Open => Next::Continue,
            Phase::Withdrawn => {
                Next::Rewrite(Rewrite { instruction: self.instruction(), attempt: self.failed })
            }
            Phase::Stopped => Next::Stop { notice: self.policy.notice(self.failed) },
        }
    }

    fn instruction(&self) -> String {
        let rule = &self.policy.rule;
        let delivered = if self.shown.is_empty() {
            "Nothing of your answer has been delivered yet.".to_owned()
        } else {
            "Everything before it has been delivered; do not repeat that.".to_owned()
        };
        format!(
            "The last clause you wrote was withheld, because it does not keep to this rule: {rule}. {delivered} \
             Continue from there: write that clause anew so that it keeps to the rule, or leave it out."
        )
    }
}

/// Scores text by a look-ahead: the window is read as a whole text, and its lowest rate is the score
/// ([`RateMeter::of_text`]).
///
/// `tokenize` turns text into the tokens of the model that the look-ahead was distilled from, which may differ from the
/// model that writes.
#[derive(Clone)]
pub struct TextRate<T> {
    meter: RateMeter,
    tokenize: T,
}

impl<T: FnMut(&str) -> Vec<Token>> TextRate<T> {
    /// A scorer by a meter and a tokenizer.
    pub fn new(meter: RateMeter, tokenize: T) -> TextRate<T> {
        TextRate { meter, tokenize }
    }
}

impl<T: FnMut(&str) -> Vec<Token>> Scorer for TextRate<T> {
    fn score(&mut self, text: &str) -> f64 {
        self.meter.of_text(&self.meter.lookahead().start(), (self.tokenize)(text))
    }
}
