//! The problems of a policy text.

use std::ops::Range;

/// One problem of a policy text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The problem, in one lower-case sentence.
    pub message: String,
    /// A remedy, where one is known.
    pub help: Option<String>,
    /// The location, in bytes of the text.
    pub span: Range<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// The error of a policy text that cannot be used. It holds at least one problem, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    problems: Vec<Problem>,
}

impl PolicyError {
    pub(crate) fn new(text: &str, mut faults: Vec<Fault>) -> PolicyError {
        faults.sort_by_key(|fault| fault.span.start);
        let locate = |fault: Fault| {
            let (line, column) = line_and_column(text, fault.span.start);
            Problem { line, column, message: fault.message, help: fault.help, span: fault.span }
        };
        PolicyError { problems: faults.into_iter().map(locate).collect() }
    }

    /// The location of the first problem.
    pub fn span(&self) -> Range<usize> {
        self.problems.first().map_or(0..0, |problem| problem.span.clone())
    }

    /// Every problem, in the order of the text.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl std::fmt::Display for PolicyError {
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

impl std::error::Error for PolicyError {}

/// The line and the column, in characters, of a byte of a text. Both count from 1.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before.get(line_start..).unwrap_or("").chars().count() + 1)
}

/// A problem whose line is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) span: Range<usize>,
}

impl Fault {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { message: message.into(), help: None, span }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }

    /// A word that a policy has twice.
    pub(crate) fn repeated(word: &str, span: Range<usize>) -> Fault {
        Fault::new(span, format!("`{word}` is said twice")).help("keep one of the two")
    }

    /// Adds the help "did you mean", where one of `names` is close to `word`; else the list of `names`.
    pub(crate) fn suggest<'a>(self, word: &str, names: impl IntoIterator<Item = &'a str>) -> Fault {
        let names: Vec<&str> = names.into_iter().collect();
        let near = names.iter().map(|name| (distance(word, name), *name)).min();
        match near {
            Some((steps, name)) if steps <= 1 + word.len() / 4 => {
                self.help(format!("did you mean `{name}`?"))
            }
            _ => self.help(format!("write one of: {}", names.join(", "))),
        }
    }
}

/// The Damerau-Levenshtein distance (optimal string alignment) of the first 40 characters.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(40).collect(), b.chars().take(40).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let change = at(&row, j) + usize::from(x != y);
            let mut best = change.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    at(&row, b.len())
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(distance("emial", "email"), 1);
        assert_eq!(distance("orgin", "origin"), 1);
        assert_eq!(distance("adress", "address"), 1);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance("", "abc"), 3);
    }
}
