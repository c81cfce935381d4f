//! Automata from phrases, lengths, grammars and patterns of text.

use super::automaton::{Attribute, Edge, MOST_STATES};
use super::error::AttributeError;
use crate::Token;
use regex_automata::Anchored;
use regex_automata::dfa::Automaton;
use regex_automata::dfa::dense;
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_automata::util::syntax;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// The most exceptional edges of an automaton from a function.
const MOST_EDGES: usize = 1 << 26;

impl Attribute {
    /// An automaton from functions: `step(state, token)` gives the next state and the token's log weight,
    /// `log_final(state)` the log weight of a text that ends in a state. States are explored from `start`; each costs one
    /// call per token.
    ///
    /// # Errors
    /// When there are too many states, or a log weight is above 0 or not a number.
    pub fn from_function<S: Clone + Eq + Hash>(
        vocabulary: usize,
        start: S,
        step: impl Fn(&S, Token) -> (S, f64),
        log_final: impl Fn(&S) -> f64,
    ) -> Result<Attribute, AttributeError> {
        let mut found = Numbered::new(start);
        let mut builder = Attribute::builder(vocabulary);
        let mut held = 0_usize;
        while let Some(state) = found.next() {
            let mut edges = Vec::with_capacity(vocabulary);
            for token in 0..vocabulary as Token {
                let (to, log_weight) = step(&state, token);
                // Nothing follows a forbidden token.
                let to = if log_weight == FORBIDDEN { 0 } else { found.number(to)? };
                edges.push(Edge { to, log_weight });
            }
            let usual = most_common(&edges);
            let number = builder.state(usual, log_final(&state));
            for (token, edge) in edges.into_iter().enumerate().filter(|(_, edge)| *edge != usual) {
                builder.edge(number, token as Token, edge);
                held += 1;
            }
            if held > MOST_EDGES {
                return Err(AttributeError::TooLarge { limit: MOST_STATES });
            }
        }
        builder.build(0)
    }

    /// An automaton of weights 0 and 1 from a grammar over tokens: `allowed(state)` gives the allowed tokens and their next
    /// states, and a text may end in an `accepting` state. It turns the token masks of a request language into an
    /// attribute.
    ///
    /// # Errors
    /// When there are too many states, or a token is outside the vocabulary.
    pub fn from_grammar<S: Clone + Eq + Hash>(
        vocabulary: usize,
        start: S,
        allowed: impl Fn(&S) -> Vec<(Token, S)>,
        accepting: impl Fn(&S) -> bool,
    ) -> Result<Attribute, AttributeError> {
        let mut found = Numbered::new(start);
        let mut builder = Attribute::builder(vocabulary);
        while let Some(state) = found.next() {
            let log_final = if accepting(&state) { 0.0 } else { FORBIDDEN };
            let number = builder.state(Edge { to: 0, log_weight: FORBIDDEN }, log_final);
            for (token, to) in allowed(&state) {
                builder.edge(number, token, Edge { to: found.number(to)?, log_weight: 0.0 });
            }
        }
        builder.build(0)
    }

    /// Each occurrence of a phrase multiplies the text's weight by the phrase's: minus infinity bans the phrase, and
    /// phrases of `n` tokens make an n-gram classifier. There is one state, and one more for each proper prefix of a
    /// phrase.
    ///
    /// # Errors
    /// When a phrase is empty, a token outside the vocabulary, a weight above 0, or there are too many states.
    pub fn from_phrases(
        vocabulary: usize,
        phrases: &[(Vec<Token>, f64)],
    ) -> Result<Attribute, AttributeError> {
        // Aho and Corasick's automaton: a state is the longest suffix of the text that is a prefix of a phrase.
        let mut begins: BTreeSet<&[Token]> = BTreeSet::from([&[][..]]);
        let mut weights: BTreeMap<&[Token], f64> = BTreeMap::new();
        for (phrase, log_weight) in phrases {
            if phrase.is_empty() {
                return Err(AttributeError::EmptyPhrase);
            }
            // A whole phrase is weighed on its last edge, so only its proper prefixes need states.
            begins.extend((1..phrase.len()).filter_map(|length| phrase.get(..length)));
            *weights.entry(phrase).or_insert(0.0) += log_weight;
        }
        if begins.len() > MOST_STATES {
            return Err(AttributeError::TooLarge { limit: MOST_STATES });
        }
        let numbers: BTreeMap<&[Token], usize> =
            begins.iter().enumerate().map(|(number, begin)| (*begin, number)).collect();
        let mut used: Vec<Token> = phrases.iter().flat_map(|(phrase, _)| phrase.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let mut builder = Attribute::builder(vocabulary);
        for begin in &begins {
            let state = builder.state(Edge { to: 0, log_weight: 0.0 }, 0.0);
            for &token in &used {
                let text = [begin, &[token][..]].concat();
                let ends = || (0..text.len()).filter_map(|from| text.get(from..));
                let to = ends().find_map(|end| numbers.get(end)).copied().unwrap_or_default();
                let log_weight = ends().filter_map(|end| weights.get(end)).sum();
                builder.edge(state, token, Edge { to, log_weight });
            }
        }
        builder.build(0)
    }

    /// Requires the phrase to occur in the text; weights 0 and 1.
    ///
    /// # Errors
    /// When the phrase is empty or too long, or a token is outside the vocabulary.
    pub fn requiring(vocabulary: usize, phrase: &[Token]) -> Result<Attribute, AttributeError> {
        if phrase.is_empty() {
            return Err(AttributeError::EmptyPhrase);
        }
        let mut builder = Attribute::builder(vocabulary);
        for matched in 0..phrase.len() {
            let state = builder.state(Edge { to: 0, log_weight: 0.0 }, FORBIDDEN);
            for &token in phrase {
                let text = [phrase.get(..matched).unwrap_or_default(), &[token][..]].concat();
                let to = (0..=text.len())
                    .filter_map(|from| text.get(from..))
                    .find(|end| phrase.starts_with(end))
                    .map_or(0, <[Token]>::len);
                builder.edge(state, token, Edge { to, log_weight: 0.0 });
            }
        }
        builder.state(Edge { to: phrase.len(), log_weight: 0.0 }, 0.0);
        builder.build(0)
    }

    /// Requires between `shortest` and `longest` tokens; weights 0 and 1. It has one state for each token of `longest`;
    /// where the text ends with a fixed suffix, [`crate::Constraint`] counts lengths without states.
    ///
    /// # Errors
    /// When no length is allowed, or `longest` is too large.
    pub fn of_length(
        vocabulary: usize,
        shortest: usize,
        longest: usize,
    ) -> Result<Attribute, AttributeError> {
        if shortest > longest {
            return Err(AttributeError::Lengths { shortest, longest });
        }
        let mut builder = Attribute::builder(vocabulary);
        for length in 0..=longest.min(MOST_STATES) {
            let log_weight = if length < longest { 0.0 } else { FORBIDDEN };
            let log_final = if length >= shortest { 0.0 } else { FORBIDDEN };
            builder.state(Edge { to: (length + 1).min(longest), log_weight }, log_final);
        }
        builder.build(0)
    }

    /// The same attribute for texts with an end token: tokens after it have weight 1. The end token has its own weight,
    /// times the final weight of its next state. A text that is cut off before the end token is weighed as it is.
    ///
    /// # Errors
    /// When the token is outside the vocabulary, or there would be too many states.
    pub fn ended_by(&self, end: Token) -> Result<Attribute, AttributeError> {
        let ended = self.states();
        let mut builder = Attribute::builder(self.vocabulary());
        for state in 0..self.states() {
            builder.state(self.otherwise(state), self.log_final(state));
            for (token, edge) in self.exceptions(state) {
                builder.edge(state, *token, *edge);
            }
            let edge = self.step(state, end);
            let log_weight = edge.log_weight + self.log_final(edge.to);
            builder.edge(state, end, Edge { to: ended, log_weight });
        }
        builder.state(Edge { to: ended, log_weight: 0.0 }, 0.0);
        builder.build(self.start())
    }

    /// A text that contains the pattern has the log weight `log_weight`, once: minus infinity bans it. `tokens` are the
    /// vocabulary's tokens as bytes, so that every tokenisation of the text is covered.
    ///
    /// The pattern is a regular expression of the crate `regex-automata`, over UTF-8 text. Keep it small: `\d` of all
    /// scripts or a wide repetition makes thousands of states; `[0-9]` and `(?-u)` make fewer.
    ///
    /// ```
    /// use hmm_control::Attribute;
    ///
    /// let tokens = ["12", "3", "a", " "];
    /// let attribute = Attribute::from_pattern(&tokens, "[0-9]{3}", f64::NEG_INFINITY)?;
    /// assert_eq!(attribute.log_weight(&[0, 2, 1]), 0.0);
    /// assert_eq!(attribute.log_weight(&[2, 0, 1, 3]), f64::NEG_INFINITY);
    /// # Ok::<(), hmm_control::AttributeError>(())
    /// ```
    ///
    /// # Errors
    /// When the pattern is not a regular expression or makes too many states, or the log weight is above 0.
    pub fn from_pattern<T: AsRef<[u8]>>(
        tokens: &[T],
        pattern: &str,
        log_weight: f64,
    ) -> Result<Attribute, AttributeError> {
        let refused = |why: String| AttributeError::Pattern { pattern: pattern.to_owned(), why };
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .minimize(true)
                    .dfa_size_limit(Some(1 << 24))
                    .determinize_size_limit(Some(1 << 26)),
            )
            .thompson(thompson::Config::new().nfa_size_limit(Some(1 << 24)))
            .syntax(syntax::Config::new())
            .build(pattern)
            .map_err(|error| refused(error.to_string()))?;
        let start = dfa
            .start_state(&start::Config::new().anchored(Anchored::No))
            .map_err(|error| refused(error.to_string()))?;
        let found = |state| dfa.is_match_state(state);
        // None: the pattern was found and weighed.
        let step = |state: &Option<_>, token: Token| {
            let Some(mut now) = *state else { return (None, 0.0) };
            for &byte in tokens.get(token as usize).map(AsRef::as_ref).unwrap_or_default() {
                now = dfa.next_state(now, byte);
                if found(now) {
                    return (None, log_weight);
                }
            }
            (Some(now), 0.0)
        };
        let log_final = |state: &Option<_>| match state {
            Some(state) if found(dfa.next_eoi_state(*state)) => log_weight,
            _ => 0.0,
        };
        Attribute::from_function(tokens.len(), Some(start), step, log_final)
    }
}

/// Numbers of states in the order of their discovery.
struct Numbered<S> {
    numbers: HashMap<S, usize>,
    order: Vec<S>,
    explored: usize,
}

impl<S: Clone + Eq + Hash> Numbered<S> {
    fn new(start: S) -> Numbered<S> {
        Numbered { numbers: HashMap::from([(start.clone(), 0)]), order: vec![start], explored: 0 }
    }

    /// The next state that was discovered and not yet explored.
    fn next(&mut self) -> Option<S> {
        let state = self.order.get(self.explored).cloned();
        self.explored += 1;
        state
    }

    fn number(&mut self, state: S) -> Result<usize, AttributeError> {
        if let Some(number) = self.numbers.get(&state) {
            return Ok(*number);
        }
        let number = self.order.len();
        if number >= MOST_STATES {
            return Err(AttributeError::TooLarge { limit: MOST_STATES });
        }
        self.numbers.insert(state.clone(), number);
        self.order.push(state);
        Ok(number)
    }
}

/// The edge of most tokens; of equals the first. Without tokens it is a loop of weight 1.
fn most_common(edges: &[Edge]) -> Edge {
    let mut counts: BTreeMap<(usize, u64), (usize, Edge)> = BTreeMap::new();
    for edge in edges {
        counts.entry((edge.to, edge.log_weight.to_bits())).or_insert((0, *edge)).0 += 1;
    }
    let most = counts.into_values().max_by_key(|(count, _)| *count);
    most.map_or(Edge { to: 0, log_weight: 0.0 }, |(_, edge)| edge)
}
