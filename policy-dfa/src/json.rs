//! The JSON form of a policy, lossless both ways with the text.
//!
//! Reading transcribes: every word of the JSON is looked up in a closed list, or is a number, a host or a
//! name without quotes; what it stands for is written down as policy text, and that text is parsed. So there
//! is one reader that decides what a policy may say, and what it refuses is refused in JSON as well, with
//! the same words and with the place in the JSON. The price is a second pass over a short text.

mod node;
mod read;
mod scribe;
mod session;
mod write;

use std::ops::Range;

use crate::error::Fault;
use crate::lexer::MAX_TEXT;
use crate::policy::Policy;
use node::Node;
use scribe::Scribe;

/// The longest JSON form that is read, in bytes: some times the longest text, since it has more marks.
const MAX_JSON: usize = 8 * MAX_TEXT;

/// One thing that is wrong with the JSON form of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonProblem {
    /// What is wrong, in one lower-case sentence.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
    /// The keys and places that lead there, such as `requests.address.clauses[2]`; empty for the whole.
    pub path: String,
    /// The place, in bytes of the JSON.
    pub span: Range<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl std::fmt::Display for JsonProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

/// A JSON form that is no policy. Holds at least one problem, in the order of the JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    problems: Vec<JsonProblem>,
}

impl JsonError {
    fn new(json: &str, root: Option<&Node<'_>>, mut faults: Vec<Fault>) -> JsonError {
        faults.sort_by_key(|fault| fault.span.start);
        let locate = |fault: Fault| {
            let before = json.get(..fault.span.start).unwrap_or(json);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            JsonProblem {
                path: root.map_or_else(String::new, |root| root.path_to(fault.span.start)),
                line: before.matches('\n').count() + 1,
                column: before.get(line_start..).unwrap_or("").chars().count() + 1,
                message: fault.message,
                help: fault.help,
                span: fault.span,
            }
        };
        JsonError { problems: faults.into_iter().map(locate).collect() }
    }

    /// Every problem found, in the order of the JSON.
    pub fn problems(&self) -> &[JsonProblem] {
        &self.problems
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, problem) in self.problems.iter().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for JsonError {}

impl Policy {
    /// The policy in JSON, in a fixed order and layout: equal policies give equal bytes. The form is
    /// described in `spec/policy.md`. Comments of the text are not kept.
    ///
    /// ```
    /// # let text = include_str!("../../policies/default.policy");
    /// use policy_dfa::Policy;
    ///
    /// let policy = Policy::parse(text).unwrap();
    /// assert_eq!(Policy::from_json(&policy.to_json()).unwrap(), policy);
    /// ```
    pub fn to_json(&self) -> String {
        write::json(self)
    }

    /// Reads the JSON form of a policy. Keys may stand in any order. The places of rules, as proofs tell
    /// them, are then bytes of the JSON.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place: what is no JSON, unknown, doubled or missing keys,
    /// names that do not exist, and all that [`Policy::parse`] refuses.
    ///
    /// ```
    /// use policy_dfa::Policy;
    ///
    /// let json = r#"{ "policy": "mine", "version": 1, "tiers": { "T1": ["emial"] } }"#;
    /// let error = Policy::from_json(json).unwrap_err();
    /// let first = &error.problems()[0];
    /// assert_eq!((first.path.as_str(), first.column), ("tiers.T1[0]", 53));
    /// assert_eq!(first.help.as_deref(), Some("did you mean `email`?"));
    /// ```
    pub fn from_json(json: &str) -> Result<Policy, JsonError> {
        if json.len() > MAX_JSON {
            let message = format!("the JSON is longer than {MAX_JSON} bytes");
            return Err(JsonError::new("", None, vec![Fault::new(0..0, message)]));
        }
        let root = Node::read(json).map_err(|fault| JsonError::new(json, None, vec![fault]))?;
        let refused = |faults| JsonError::new(json, Some(&root), faults);
        let mut scribe = Scribe::default();
        scribe.policy(&root);
        let (text, places) = scribe.finish(&root).map_err(refused)?;
        let mut policy = Policy::parse(&text).map_err(|error| {
            let faults = error.problems().iter().map(|problem| Fault {
                message: problem.message.clone(),
                help: problem.help.clone(),
                span: places.of(&problem.span),
            });
            refused(faults.collect())
        })?;
        policy.spans = policy.spans.moved(|span| places.of(&span));
        Ok(policy)
    }
}
