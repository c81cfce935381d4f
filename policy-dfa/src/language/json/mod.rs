//! The JSON form of a policy, lossless both ways with the text.
//!
//! Reading translates the JSON to policy text, and parses that text. Every word of the JSON is one of a closed
//! list, a number, a host or a name without quotes. So one parser decides what a policy may say, and refuses the
//! same in both forms, with the same message; a source map turns its locations into those of the JSON. The price
//! is a second pass over a short text.

mod node;
mod read;
mod session;
mod text_writer;
mod write;

use std::ops::Range;

use super::error::{Fault, line_and_column};
use super::parse::lexer::MAX_TEXT;
use super::policy::Policy;
use node::Node;
use text_writer::TextWriter;

/// The longest JSON form that is read, in bytes. It is a multiple of the longest text, since JSON has more
/// punctuation.
const MAX_JSON: usize = 8 * MAX_TEXT;

/// One problem of the JSON form of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonProblem {
    /// The problem, in one lower-case sentence.
    pub message: String,
    /// A remedy, where one is known.
    pub help: Option<String>,
    /// The path of keys and indexes, such as `requests.address.clauses[2]`; empty for the whole.
    pub path: String,
    /// The location, in bytes of the JSON.
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

/// The error of a JSON form that is no policy. It holds at least one problem, in the order of the JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    problems: Vec<JsonProblem>,
}

impl JsonError {
    fn new(json: &str, root: Option<&Node<'_>>, mut faults: Vec<Fault>) -> JsonError {
        faults.sort_by_key(|fault| fault.span.start);
        let locate = |fault: Fault| {
            let (line, column) = line_and_column(json, fault.span.start);
            JsonProblem {
                path: root.map_or_else(String::new, |root| root.path_to(fault.span.start)),
                line,
                column,
                message: fault.message,
                help: fault.help,
                span: fault.span,
            }
        };
        JsonError { problems: faults.into_iter().map(locate).collect() }
    }

    /// Every problem, in the order of the JSON.
    pub fn problems(&self) -> &[JsonProblem] {
        &self.problems
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
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
    /// described in `spec/policy.md`. It has no comments.
    ///
    /// ```
    /// use policy_dfa::{EXAMPLE_POLICY, Policy};
    ///
    /// let policy = Policy::parse(EXAMPLE_POLICY).unwrap();
    /// assert_eq!(Policy::from_json(&policy.to_json()).unwrap(), policy);
    /// ```
    pub fn to_json(&self) -> String {
        write::json(self)
    }

    /// Parses the JSON form of a policy. The keys of an object may be in any order. The locations of rules in
    /// messages about this policy are bytes of the JSON.
    ///
    /// # Errors
    /// Every problem with its location: malformed JSON, unknown, repeated or missing keys, names that do not
    /// exist, and everything that [`Policy::parse`] refuses.
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
        let mut writer = TextWriter::default();
        writer.policy(&root);
        let (text, source_map) = writer.finish(&root).map_err(refused)?;
        let mut policy = Policy::parse(&text).map_err(|error| {
            let faults = error.problems().iter().map(|problem| Fault {
                message: problem.message.clone(),
                help: problem.help.clone(),
                span: source_map.source_of(&problem.span),
            });
            refused(faults.collect())
        })?;
        policy.spans = policy.spans.mapped(|span| source_map.source_of(&span));
        Ok(policy)
    }
}
