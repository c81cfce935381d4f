//! What is wrong with a policy text, and where.

use std::ops::Range;

/// One thing that is wrong with a policy text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in one lower-case sentence.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
    /// The place, in bytes of the text.
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

/// A policy text that cannot be used. Holds at least one problem, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    problems: Vec<Problem>,
}

impl PolicyError {
    pub(crate) fn new(text: &str, mut faults: Vec<Fault>) -> PolicyError {
        faults.sort_by_key(|fault| fault.span.start);
        let locate = |fault: Fault| {
            let before = text.get(..fault.span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            Problem {
                line: before.matches('\n').count() + 1,
                column: before.get(line_start..).unwrap_or("").chars().count() + 1,
                message: fault.message,
                help: fault.help,
                span: fault.span,
            }
        };
        PolicyError { problems: faults.into_iter().map(locate).collect() }
    }

    /// The place of the first problem.
    pub fn span(&self) -> Range<usize> {
        self.problems.first().map_or(0..0, |problem| problem.span.clone())
    }

    /// Every problem found, in the order of the text.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl std::fmt::Display for PolicyError {
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

impl std::error::Error for PolicyError {}

/// A problem before its line is known.
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

    /// "did you mean", where one of `names` is close to `word`; else the list of them.
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

/// How many letters have to be put in, left out, changed, or swapped with a neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(40).collect(), b.chars().take(40).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let at = |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX / 2);
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
    fn distance_counts_single_slips() {
        assert_eq!(distance("emial", "email"), 1);
        assert_eq!(distance("orgin", "origin"), 1);
        assert_eq!(distance("adress", "address"), 1);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance("", "abc"), 3);
    }
}
