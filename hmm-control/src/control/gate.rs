//! A gate that shows only clauses that pass, for a model that can be rewound.

use super::clauses::{After, Before, Decoder, Splitter};

/// When a clause fails, and how often it is rewritten.
#[derive(Debug, Clone, PartialEq)]
pub struct ClausePolicy {
    /// The lowest rate that passes, as [`crate::Threshold`] calibrates it.
    pub threshold: f64,
    /// The factor on the strength at each rewind of the same clause; the next clause starts with the original strength. At
    /// 1 the model draws from the same distribution again.
    pub raise: f64,
    /// How often one clause is rewritten before the text stops. A text of `t` tokens costs at most `(rewinds + 1) * t`
    /// steps of the model.
    pub rewinds: usize,
    /// How often clauses of one text may be withdrawn in all before the text stops: a model that puts a harmless clause
    /// before each rewrite would otherwise never stop.
    pub rewinds_in_all: usize,
    /// A clause of this many bytes is judged and shown as if it ended there, which bounds the buffer.
    pub longest: usize,
    /// The rule in the user's words, for the notice: `never ask for a password`.
    pub rule: String,
}

impl ClausePolicy {
    /// At most 3 rewinds of a clause, each doubling the strength, and 12 of a text; clauses of at most 600 bytes.
    pub fn new(threshold: f64, rule: impl Into<String>) -> ClausePolicy {
        ClausePolicy {
            threshold,
            raise: 2.0,
            rewinds: 3,
            rewinds_in_all: 12,
            longest: 600,
            rule: rule.into(),
        }
    }

    /// True if a clause that failed again may not be rewritten.
    pub(crate) fn is_spent(&self, failed: usize, failed_in_all: usize) -> bool {
        failed >= self.rewinds || failed_in_all >= self.rewinds_in_all
    }

    /// True if a rate passes; NaN does not.
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

/// The next action after a token or a piece of text.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<R> {
    /// Continue.
    Continue,
    /// Withdraw the unreleased text and rewrite it: the place to return to, or the instruction.
    Rewrite(R),
    /// Stop the text and show the user a notice.
    Stop {
        /// A sentence for the user, without any withdrawn text.
        notice: String,
    },
}

/// The result of a gate.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the released text is nowhere else"]
pub struct Verdict<R> {
    /// Text that may be shown now; often empty. Released once, in order.
    pub released: String,
    /// The next action.
    pub next: Next<R>,
}

/// A place to return to: the caller's own, and the state of the decoder and the splitter there.
#[derive(Debug, Clone, PartialEq)]
struct Fork<P> {
    place: P,
    decoder: Decoder,
    splitter: Splitter,
}

/// Shows a clause only when it is finished and has passed, and rewinds the model to the clause's beginning when it fails.
///
/// A state machine without I/O. Its inputs are every token's text, the place after it (`P`: the state that the caller
/// needs to return there, such as [`crate::Progress`] and the model's own state), and a rate. It stores one place at the
/// last boundary, and at most one more at a possible boundary. When a rate is below the threshold (or not a number) it
/// returns the place to rewind to and raises the strength ([`ClauseGate::strength_factor`]); when a clause failed more
/// often than the policy allows, it stops. Withdrawn text is never released.
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
    /// The beginning of the unfinished clause.
    boundary: Fork<P>,
    /// Bytes of `held` up to the token that may have ended a clause, and the place after that token.
    candidate: Option<(usize, Fork<P>)>,
    held: String,
    decoder: Decoder,
    splitter: Splitter,
    /// How often this clause was withdrawn.
    failed: usize,
    /// How often any clause was withdrawn.
    failed_in_all: usize,
    stopped: bool,
}

impl<P: Clone> ClauseGate<P> {
    /// A gate before the first token; `place` is the start of the text.
    pub fn new(policy: ClausePolicy, place: P) -> ClauseGate<P> {
        let boundary = Fork { place, decoder: Decoder::default(), splitter: Splitter::new() };
        ClauseGate {
            policy,
            candidate: None,
            held: String::new(),
            decoder: boundary.decoder.clone(),
            splitter: boundary.splitter.clone(),
            boundary,
            failed: 0,
            failed_in_all: 0,
            stopped: false,
        }
    }

    /// The factor on the strength for the next token: 1, raised for each failure of this clause.
    pub fn strength_factor(&self) -> f64 {
        let raises = i32::try_from(self.failed).unwrap_or(i32::MAX);
        self.policy.raise.powi(raises)
    }

    /// The place at the beginning of the unfinished clause.
    pub fn boundary(&self) -> &P {
        &self.boundary.place
    }

    /// How many bytes are buffered.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Reads a drawn token: its text (any bytes, also a part of a character), the place after it, and a function of its
    /// rate, given the place at the beginning of its clause.
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
                Before::Boundary => closed = self.candidate.take(),
                Before::Nothing => self.candidate = None,
                Before::Undecided => {}
            }
            may_end_here &= before == Before::Undecided;
            ends_here |= after == After::Boundary;
            may_end_here |= after == After::Possible;
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
            self.candidate = Some((self.held.len(), self.fork(here)));
        }
        Verdict { released, next: Next::Continue }
    }

    /// Fails the clause because no token may follow.
    pub fn dead_end(&mut self) -> Verdict<P> {
        self.fail(String::new())
    }

    /// Ends the text: the last clause is judged by its own rate, and released or withdrawn.
    pub fn finish(&mut self, rate: impl FnOnce(&P) -> f64) -> Verdict<P> {
        if self.stopped || !self.policy.passes(rate(&self.boundary.place)) {
            return self.fail(String::new());
        }
        self.decoder.finish(&mut self.held);
        self.candidate = None;
        Verdict { released: std::mem::take(&mut self.held), next: Next::Continue }
    }

    fn fork(&self, here: &P) -> Fork<P> {
        let mut splitter = self.splitter.clone();
        // A clause begins here: a blank line after a rewind is not a clause of its own.
        splitter.settle();
        Fork { place: here.clone(), decoder: self.decoder.clone(), splitter }
    }

    fn begin_clause(&mut self, fork: Fork<P>) {
        self.boundary = fork;
        self.candidate = None;
        self.failed = 0;
    }

    fn fail(&mut self, released: String) -> Verdict<P> {
        self.held.clear();
        self.candidate = None;
        self.decoder = self.boundary.decoder.clone();
        self.splitter = self.boundary.splitter.clone();
        if self.stopped || self.policy.is_spent(self.failed, self.failed_in_all) {
            return self.stop(released);
        }
        self.failed += 1;
        self.failed_in_all += 1;
        Verdict { released, next: Next::Rewrite(self.boundary.place.clone()) }
    }

    fn stop(&mut self, released: String) -> Verdict<P> {
        self.stopped = true;
        Verdict { released, next: Next::Stop { notice: self.policy.notice(self.failed + 1) } }
    }
}
