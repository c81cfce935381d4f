//! Clauses that have to pass before anybody sees them, for a model of which only the text is there.

use super::clauses::{After, Before, Splitter};
use super::gate::{ClausePolicy, Next, Verdict};
use super::rate::RateMeter;
use super::utf8::Decoder;
use crate::Token;
use std::collections::VecDeque;

/// Says how good a text is: higher is better, compared with [`ClausePolicy::threshold`]; not a number fails.
///
/// Any `FnMut(&str) -> f64` is one.
pub trait Scorer {
    /// The score of a window of text: the clause to be judged, after some of what was shown before it. It has to
    /// depend on the text alone, or the gate's answers depend on more than the stream.
    fn score(&mut self, text: &str) -> f64;
}

impl<F: FnMut(&str) -> f64> Scorer for F {
    fn score(&mut self, text: &str) -> f64 {
        self(text)
    }
}

/// Asks for another wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// What to tell the model, in plain language.
    pub instruction: String,
    /// Which rewrite of this clause it is, counted from 1.
    pub attempt: usize,
}

/// Shows a clause of a stream of text only when it is finished and has passed; asks for a rewrite when it fails.
///
/// For a model behind an interface that gives text and no logits. Feed it the bytes as they come, split anywhere. A
/// finished clause is scored together with up to `context` characters of what was shown before it. When it fails,
/// the rest of the stream is ignored until [`StreamGate::resume`]: stop the stream, give the model the instruction, and
/// feed the new stream. A clause that failed once more than [`ClausePolicy::rewinds`] stops the gate for good.
///
/// What is released, and what is asked for, depends on the bytes and not on how they were split. Withdrawn text is
/// never released. At most [`ClausePolicy::longest`] bytes (and one character) are held back; the policy's
/// raise is not used.
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
    /// The last characters that were released, at most `context` of them.
    shown: VecDeque<char>,
    /// The unfinished clause.
    held: String,
    /// Bytes of `held` up to where a clause may have ended.
    perhaps: Option<usize>,
    decoder: Decoder,
    splitter: Splitter,
    failed: usize,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// A clause failed, and the model has not started anew.
    Withdrawn,
    Stopped,
}

impl<S: Scorer> StreamGate<S> {
    /// A gate before the first byte. `context`: characters of what was shown that a clause is scored with.
    pub fn new(policy: ClausePolicy, scorer: S, context: usize) -> StreamGate<S> {
        StreamGate {
            policy,
            scorer,
            context,
            shown: VecDeque::new(),
            held: String::new(),
            perhaps: None,
            decoder: Decoder::default(),
            splitter: Splitter::new(),
            failed: 0,
            phase: Phase::Open,
        }
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Takes in the next bytes of the stream. Those that come after a failed clause, before
    /// [`StreamGate::resume`], are ignored.
    pub fn push(&mut self, bytes: &[u8]) -> Verdict<Rewrite> {
        let mut text = String::new();
        self.decoder.push(bytes, &mut text);
        self.read(&text)
    }

    /// The stream ended: the last clause is judged. After a [`Next::Rewrite`] of it, resume and feed the rewrite.
    pub fn finish(&mut self) -> Verdict<Rewrite> {
        let mut text = String::new();
        self.decoder.finish(&mut text);
        let mut verdict = self.read(&text);
        if self.phase == Phase::Open {
            verdict.next = self.judge(self.held.len(), &mut verdict.released);
        }
        verdict
    }

    /// The model starts anew after a [`Next::Rewrite`]; what is fed from here on is the new wording.
    pub fn resume(&mut self) {
        if self.phase == Phase::Withdrawn {
            self.phase = Phase::Open;
            self.decoder = Decoder::default();
        }
    }

    fn read(&mut self, text: &str) -> Verdict<Rewrite> {
        let mut released = String::new();
        let mut next = self.standing();
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
            let perhaps = self.perhaps.take();
            if let (Before::Boundary, Some(cut)) = (before, perhaps) {
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
        if after == After::Perhaps {
            self.perhaps = Some(self.held.len());
        }
        Next::Continue
    }

    /// Releases the first `cut` bytes of what is held, or withdraws all of it.
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
        self.perhaps = None;
        self.failed = 0;
        Next::Continue
    }

    fn fail(&mut self) -> Next<Rewrite> {
        self.held.clear();
        self.perhaps = None;
        // What was withdrawn is no part of the next wording.
        self.splitter = Splitter::new();
        if self.failed >= self.policy.rewinds {
            self.phase = Phase::Stopped;
        } else {
            self.phase = Phase::Withdrawn;
        }
        self.failed += 1;
        self.standing()
    }

    /// What holds while nothing is read.
    fn standing(&self) -> Next<Rewrite> {
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

/// Scores text by a look-ahead: the window is read as a text from its start, and the lowest of its rates is taken
/// ([`RateMeter::of_text`]).
///
/// `tokenize` turns text into the tokens of the model that the look-ahead was distilled from, which need not be the one
/// that writes.
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
