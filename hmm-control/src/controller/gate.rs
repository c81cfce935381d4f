//! Clauses that have to pass before anybody sees them, for a model that can be rewound.

use super::clauses::{After, Before, Splitter};
use super::utf8::Decoder;

/// When a clause fails, and what is done about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClausePolicy {
    /// The lowest rate that passes, as [`crate::Threshold`] calibrates it.
    pub threshold: f64,
    /// What the strength is multiplied with at each rewind of the same clause; the next clause starts with the
    /// strength as it was. At 1 the model draws from the same distribution again.
    pub raise: f64,
    /// How often one clause is written anew before the text stops. A text of `t` tokens thus costs at most
    /// `(rewinds + 1) * t` steps of the model.
    pub rewinds: usize,
    /// A clause of this many bytes is judged and shown as if it ended there, which bounds what is held back.
    pub longest: usize,
    /// The rule in the user's words, for the notice: `never ask for a password`.
    pub rule: String,
}

impl ClausePolicy {
    /// At most 3 rewinds of a clause, each doubling the strength; clauses of at most 600 bytes.
    pub fn new(threshold: f64, rule: impl Into<String>) -> ClausePolicy {
        ClausePolicy { threshold, raise: 2.0, rewinds: 3, longest: 600, rule: rule.into() }
    }

    /// Not a number does not pass.
    pub(crate) fn passes(&self, rate: f64) -> bool {
        rate >= self.threshold
    }

    pub(crate) fn notice(&self, attempts: usize) -> String {
        let times = if attempts == 1 { "once".to_owned() } else { format!("{attempts} times") };
        format!(
            "The rest of this answer is withheld. It was written {times}, and never kept to the rule: {}.",
            self.rule
        )
    }
}

/// What to do after a token or a piece of text.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<R> {
    /// Go on.
    Continue,
    /// Withdraw what was not released and write it anew, as said inside.
    Rewrite(R),
    /// Write no more; tell the user this.
    Stop {
        /// A sentence for the user. Holds nothing of what was withdrawn.
        notice: String,
    },
}

/// What a gate says.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the released text is nowhere else"]
pub struct Verdict<R> {
    /// Text that may be shown now; often empty. Released once, in order.
    pub released: String,
    /// How it goes on.
    pub next: Next<R>,
}

/// A place to go back to: the caller's own, and the reading of the text up to there.
#[derive(Debug, Clone, PartialEq)]
struct Fork<P> {
    place: P,
    decoder: Decoder,
    splitter: Splitter,
}

/// Shows a clause only when it is finished and has passed; sends the model back to its beginning when it fails.
///
/// A state machine without I/O. It is given every token's text, the place after it (`P`: whatever the caller needs to
/// go back there, such as [`crate::Progress`] and the model's own state), and a rate. It keeps one place at the last
/// boundary and at most one more where a boundary may turn out to be. When a rate is below the threshold (or not a
/// number) it answers with the place to go back to, and the strength is raised ([`ClauseGate::strength_factor`]); when a
/// clause failed once more than the policy allows, it stops for good. What was withdrawn is never released.
///
/// Clauses end at sentence ends, `;`, `:`, line ends, and commas before a conjunction; not inside numbers, e-mail or web
/// addresses. A boundary inside a token counts at the token's end.
///
/// ```
/// use hmm_control::{ClauseGate, ClausePolicy, Next};
///
/// // The place is the number of tokens here; the rates are made up.
/// let mut gate = ClauseGate::new(ClausePolicy::new(0.5, "be kind"), 0_usize);
/// assert_eq!(gate.push(b"Hello.", &1, |_| 0.9).released, "");
/// assert_eq!(gate.push(b" You", &2, |_| 0.8).released, "Hello.");
/// assert_eq!(gate.push(b" fool", &3, |_| 0.1).next, Next::Rewrite(1));
/// assert_eq!(gate.push(b" there", &2, |since| if *since == 1 { 0.9 } else { 0.0 }).next, Next::Continue);
/// assert_eq!(gate.finish(|_| 1.0).released, " there");
/// ```
#[derive(Debug, Clone)]
pub struct ClauseGate<P> {
    policy: ClausePolicy,
    /// Where the unfinished clause began.
    boundary: Fork<P>,
    /// Bytes of `held` up to the token that may have ended a clause, and the place after that token.
    perhaps: Option<(usize, Fork<P>)>,
    held: String,
    decoder: Decoder,
    splitter: Splitter,
    /// Times that this clause was written and withdrawn.
    failed: usize,
    stopped: bool,
}

impl<P: Clone> ClauseGate<P> {
    /// A gate before the first token; `place` is where the text starts.
    pub fn new(policy: ClausePolicy, place: P) -> ClauseGate<P> {
        let boundary = Fork { place, decoder: Decoder::default(), splitter: Splitter::new() };
        ClauseGate {
            policy,
            perhaps: None,
            held: String::new(),
            decoder: boundary.decoder.clone(),
            splitter: boundary.splitter.clone(),
            boundary,
            failed: 0,
            stopped: false,
        }
    }

    /// What the strength is to be multiplied with for the next token: 1, raised for each time that this clause failed.
    pub fn strength_factor(&self) -> f64 {
        let raises = i32::try_from(self.failed).unwrap_or(i32::MAX);
        self.policy.raise.powi(raises)
    }

    /// The place where the unfinished clause began.
    pub fn boundary(&self) -> &P {
        &self.boundary.place
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Takes in a token that was drawn: its text (any bytes, also a part of a character), the place after it, and its
    /// rate, which is asked for with the place where its clause began.
    pub fn push(&mut self, text: &[u8], here: &P, rate: impl FnOnce(&P) -> f64) -> Verdict<P> {
        if self.stopped {
            return self.stop(String::new());
        }
        let known = self.held.len();
        self.decoder.push(text, &mut self.held);
        let (mut released, mut ends_here, mut may_end_here) = (String::new(), false, false);
        let mut closed = None;
        for c in self.held.get(known..).unwrap_or_default().chars() {
            let (before, after) = self.splitter.feed(c);
            match before {
                Before::Boundary if may_end_here => ends_here = true,
                Before::Boundary => closed = self.perhaps.take(),
                Before::Nothing => self.perhaps = None,
                Before::Undecided => {}
            }
            may_end_here &= before == Before::Undecided;
            ends_here |= after == After::Boundary;
            may_end_here |= after == After::Perhaps;
        }
        if let Some((cut, fork)) = closed {
            released.extend(self.held.drain(..cut));
            self.begin_clause(fork);
        }
        if !self.policy.passes(rate(&self.boundary.place)) {
            return self.fail(released);
        }
        if ends_here || self.held.len() >= self.policy.longest.max(1) {
            released.push_str(&std::mem::take(&mut self.held));
            self.splitter.settle();
            self.begin_clause(self.fork(here));
        } else if may_end_here {
            self.perhaps = Some((self.held.len(), self.fork(here)));
        }
        Verdict { released, next: Next::Continue }
    }

    /// The clause cannot go on (nothing may follow): as if its rate were zero.
    pub fn dead_end(&mut self) -> Verdict<P> {
        self.fail(String::new())
    }

    /// The text ended: the last clause is judged by the rate of the whole of it, and released or withdrawn.
    pub fn finish(&mut self, rate: impl FnOnce(&P) -> f64) -> Verdict<P> {
        if self.stopped || !self.policy.passes(rate(&self.boundary.place)) {
            return self.fail(String::new());
        }
        self.decoder.finish(&mut self.held);
        self.perhaps = None;
        Verdict { released: std::mem::take(&mut self.held), next: Next::Continue }
    }

    fn fork(&self, here: &P) -> Fork<P> {
        let mut splitter = self.splitter.clone();
        // A clause begins here: a blank line that is written after a rewind is no clause of its own.
        splitter.settle();
        Fork { place: here.clone(), decoder: self.decoder.clone(), splitter }
    }

    fn begin_clause(&mut self, fork: Fork<P>) {
        self.boundary = fork;
        self.perhaps = None;
        self.failed = 0;
    }

    fn fail(&mut self, released: String) -> Verdict<P> {
        self.held.clear();
        self.perhaps = None;
        self.decoder = self.boundary.decoder.clone();
        self.splitter = self.boundary.splitter.clone();
        if self.stopped || self.failed >= self.policy.rewinds {
            return self.stop(released);
        }
        self.failed += 1;
        Verdict { released, next: Next::Rewrite(self.boundary.place.clone()) }
    }

    fn stop(&mut self, released: String) -> Verdict<P> {
        self.stopped = true;
        Verdict { released, next: Next::Stop { notice: self.policy.notice(self.failed + 1) } }
    }
}
