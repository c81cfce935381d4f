//! Attributes: weighted automata over tokens.

use classifier::TokenAttribute;

use super::error::AttributeError;
use crate::Token;

/// The state after a token, and the logarithm of the token's weight (at most 0; minus infinity forbids).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The next state.
    pub to: usize,
    /// The log weight.
    pub log_weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct State {
    /// The edge of every token that is not an exception.
    otherwise: Edge,
    /// Sorted by token.
    exceptions: Vec<(Token, Edge)>,
    /// Log weight of a text that ends here.
    log_final: f64,
}

/// A deterministic weighted automaton over tokens. It gives every text a weight in [0, 1]: the product of the weights
/// of its edges and of its last state.
///
/// The weight is interpreted as `p(the text has the attribute | text)`. One state is TRACE's token-factored classifier
/// (Yidou-Weng et al. 2025, section 3.2); weights 0 and 1 are Ctrl-G's automaton (Zhang et al. 2024, section 3);
/// patterns over several tokens lie between. A state stores only the tokens that differ from the rest, so that its size
/// does not depend on the vocabulary.
///
/// ```
/// use hmm_control::Attribute;
///
/// let polite = Attribute::from_weights(50_257, [(1_234, -2.5), (77, f64::NEG_INFINITY)])?;
/// assert_eq!(polite.log_weight(&[5, 1_234]), -2.5);
/// # Ok::<(), hmm_control::AttributeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    vocabulary: usize,
    states: Vec<State>,
    start: usize,
}

/// The most states of an automaton.
pub(crate) const MOST_STATES: usize = 4096;

/// Builds an [`Attribute`] state by state.
#[derive(Debug, Clone)]
pub struct AttributeBuilder {
    vocabulary: usize,
    states: Vec<State>,
}

impl AttributeBuilder {
    /// Adds a state: the edge of all tokens without an edge of their own ([`AttributeBuilder::edge`]), and the log weight
    /// of a text that ends in it. Returns its number, counted from 0; edges may lead to states that are added later.
    pub fn state(&mut self, otherwise: Edge, log_final: f64) -> usize {
        self.states.push(State { otherwise, exceptions: Vec::new(), log_final });
        self.states.len() - 1
    }

    /// Sets the edge of one token in a state; a later edge replaces an earlier one. A missing state is ignored here, and
    /// [`AttributeBuilder::build`] reports the edges that lead to it.
    pub fn edge(&mut self, state: usize, token: Token, edge: Edge) {
        if let Some(state) = self.states.get_mut(state) {
            state.exceptions.push((token, edge));
        }
    }

    /// The automaton.
    ///
    /// # Errors
    /// When it has no state or too many, an edge leads nowhere, a token is outside the vocabulary, or a log weight is
    /// above 0 or not a number.
    pub fn build(mut self, start: usize) -> Result<Attribute, AttributeError> {
        let count = self.states.len();
        if count > MOST_STATES {
            return Err(AttributeError::TooLarge { limit: MOST_STATES });
        }
        if start >= count {
            return Err(AttributeError::State { state: start, states: count });
        }
        for (number, state) in self.states.iter_mut().enumerate() {
            // Stable, so that the last of several edges of a token stays last.
            state.exceptions.sort_by_key(|(token, _)| *token);
            state.exceptions.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    *earlier = *later;
                }
                same
            });
            let otherwise = state.otherwise;
            state.exceptions.retain(|(_, edge)| *edge != otherwise);
            let weights = state.exceptions.iter().map(|(token, edge)| (Some(*token), edge.log_weight));
            for (token, weight) in
                weights.chain([(None, state.otherwise.log_weight), (None, state.log_final)])
            {
                if weight.is_nan() || weight > 0.0 {
                    return Err(AttributeError::Weight { state: number, token, weight });
                }
            }
            for (token, edge) in &state.exceptions {
                if *token as usize >= self.vocabulary {
                    return Err(AttributeError::Token { token: *token, vocabulary: self.vocabulary });
                }
                check_target(edge, count)?;
            }
            check_target(&state.otherwise, count)?;
        }
        Ok(Attribute { vocabulary: self.vocabulary, states: self.states, start })
    }
}

fn check_target(edge: &Edge, states: usize) -> Result<(), AttributeError> {
    if edge.to < states { Ok(()) } else { Err(AttributeError::State { state: edge.to, states }) }
}

impl Attribute {
    /// An empty builder.
    pub fn builder(vocabulary: usize) -> AttributeBuilder {
        AttributeBuilder { vocabulary, states: Vec::new() }
    }

    /// One state: each token has a log weight, 0 where none is given.
    ///
    /// # Errors
    /// When a token is outside the vocabulary, or a log weight is above 0 or not a number.
    pub fn from_weights(
        vocabulary: usize,
        weights: impl IntoIterator<Item = (Token, f64)>,
    ) -> Result<Attribute, AttributeError> {
        let mut builder = Attribute::builder(vocabulary);
        let only = builder.state(Edge { to: 0, log_weight: 0.0 }, 0.0);
        for (token, log_weight) in weights {
            builder.edge(only, token, Edge { to: only, log_weight });
        }
        builder.build(only)
    }

    /// One state with the log weights of a token-factored attribute, a trained one of `classifier` say.
    ///
    /// # Errors
    /// When a log weight is above 0 or not a number.
    ///
    /// ```
    /// use classifier::SparseAttribute;
    /// use hmm_control::Attribute;
    ///
    /// let polite = Attribute::from_tokens(&SparseAttribute::new(50_257, [(1_234, -2.5)])?)?;
    /// assert_eq!(polite.log_weight(&[5, 1_234]), -2.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_tokens(attribute: &dyn TokenAttribute) -> Result<Attribute, AttributeError> {
        let vocabulary = attribute.vocabulary();
        let tokens = 0..Token::try_from(vocabulary).unwrap_or(Token::MAX);
        let weights = tokens.map(|token| (token, f64::from(attribute.log_weight(token))));
        Attribute::from_weights(vocabulary, weights.filter(|(_, weight)| *weight != 0.0))
    }

    /// Size of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The state before the first token.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The edge of the tokens of a state that are not exceptions.
    pub fn otherwise(&self, state: usize) -> Edge {
        self.states
            .get(state)
            .map_or(Edge { to: state, log_weight: f64::NEG_INFINITY }, |state| state.otherwise)
    }

    /// The tokens of a state that differ from the rest, in rising order.
    pub fn exceptions(&self, state: usize) -> &[(Token, Edge)] {
        self.states.get(state).map_or(&[], |state| &state.exceptions)
    }

    /// The edges of all tokens in a state, in rising order.
    pub fn edges(&self, state: usize) -> impl Iterator<Item = (Token, Edge)> + Clone + '_ {
        let otherwise = self.otherwise(state);
        let mut exceptions = self.exceptions(state).iter().peekable();
        (0..self.vocabulary as Token).map(move |token| {
            let exception = exceptions.next_if(|(exception, _)| *exception == token);
            (token, exception.map_or(otherwise, |(_, edge)| *edge))
        })
    }

    /// The next states of a state, in rising order.
    pub fn targets(&self, state: usize) -> Vec<usize> {
        let exceptions = self.exceptions(state).iter().map(|(_, edge)| edge.to);
        let mut targets: Vec<usize> = exceptions.chain([self.otherwise(state).to]).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// Log weight of a text that ends in a state.
    pub fn log_final(&self, state: usize) -> f64 {
        self.states.get(state).map_or(f64::NEG_INFINITY, |state| state.log_final)
    }

    /// The edge of a token in a state. A token outside the vocabulary has the edge of the others.
    pub fn step(&self, state: usize, token: Token) -> Edge {
        let exceptions = self.exceptions(state);
        match exceptions.binary_search_by_key(&token, |(token, _)| *token) {
            Ok(place) => exceptions.get(place).map_or(self.otherwise(state), |(_, edge)| *edge),
            Err(_) => self.otherwise(state),
        }
    }

    /// The log weight of a whole text.
    pub fn log_weight(&self, text: &[Token]) -> f64 {
        let mut state = self.start;
        let mut sum = 0.0;
        for &token in text {
            let edge = self.step(state, token);
            sum += edge.log_weight;
            state = edge.to;
        }
        sum + self.log_final(state)
    }

    /// Every weight raised to a power: `strength` 0 makes all texts equal, 2 squares the weights.
    ///
    /// # Errors
    /// When the strength is negative or not a finite number.
    pub fn raised(&self, strength: f64) -> Result<Attribute, AttributeError> {
        if !strength.is_finite() || strength < 0.0 {
            return Err(AttributeError::Strength { given: strength });
        }
        // 0 times minus infinity is not a number, and a forbidden token stays forbidden.
        let raise = |weight: f64| if weight == f64::NEG_INFINITY { weight } else { weight * strength };
        let mut raised = self.clone();
        for state in &mut raised.states {
            state.log_final = raise(state.log_final);
            state.otherwise.log_weight = raise(state.otherwise.log_weight);
            state.exceptions.iter_mut().for_each(|(_, edge)| edge.log_weight = raise(edge.log_weight));
        }
        Ok(raised)
    }

    /// The conjunction: a text's weight is the product of its two weights. Only reachable states are built.
    ///
    /// # Errors
    /// When the vocabularies differ, or the product has too many states.
    pub fn and(&self, other: &Attribute) -> Result<Attribute, AttributeError> {
        if self.vocabulary != other.vocabulary {
            return Err(AttributeError::Vocabulary { left: self.vocabulary, right: other.vocabulary });
        }
        let mut numbers = std::collections::HashMap::from([((self.start, other.start), 0)]);
        let mut order = vec![(self.start, other.start)];
        let mut builder = Attribute::builder(self.vocabulary);
        let mut next = 0;
        while let Some(&(left, right)) = order.get(next) {
            next += 1;
            let mut joined = |first: Edge, second: Edge| {
                let log_weight = first.log_weight + second.log_weight;
                // Nothing follows a forbidden token, so its next state need not exist.
                if log_weight == f64::NEG_INFINITY {
                    return Edge { to: 0, log_weight };
                }
                let pair = (first.to, second.to);
                let to = *numbers.entry(pair).or_insert_with(|| {
                    order.push(pair);
                    order.len() - 1
                });
                Edge { to, log_weight }
            };
            let otherwise = joined(self.otherwise(left), other.otherwise(right));
            let mut tokens: Vec<Token> = self
                .exceptions(left)
                .iter()
                .chain(other.exceptions(right))
                .map(|(token, _)| *token)
                .collect();
            tokens.sort_unstable();
            tokens.dedup();
            let state = builder.state(otherwise, self.log_final(left) + other.log_final(right));
            for token in tokens {
                builder.edge(state, token, joined(self.step(left, token), other.step(right, token)));
            }
            if order.len() > MOST_STATES {
                return Err(AttributeError::TooLarge { limit: MOST_STATES });
            }
        }
        builder.build(0)
    }
}
