//! A run of digits with separators, as groups.

use std::ops::Range;

/// Digits that stand together, and what stands between them and the group before.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Where the digits are in the folded text.
    pub(crate) span: Range<usize>,
    /// Where the digits are in [`Run::digits`].
    pub(crate) digits: Range<usize>,
}

/// A run of digits in a folded text, cut into groups by its separators.
#[derive(Debug)]
pub(crate) struct Run<'t> {
    /// The whole folded text, for what stands before and after the run.
    pub(crate) text: &'t str,
    /// The groups in order.
    pub(crate) groups: Vec<Group>,
    /// The values of all digits of the run.
    pub(crate) digits: Vec<u8>,
}

impl<'t> Run<'t> {
    /// The groups of the run at `span`; characters that are no ASCII digits separate.
    pub(crate) fn new(text: &'t str, span: Range<usize>) -> Run<'t> {
        let mut run = Run { text, groups: Vec::new(), digits: Vec::new() };
        let mut previous_end = None;
        for (offset, byte) in text.get(span.clone()).unwrap_or_default().bytes().enumerate() {
            if !byte.is_ascii_digit() {
                continue;
            }
            let at = span.start + offset;
            let count = run.digits.len();
            run.digits.push(byte - b'0');
            match run.groups.last_mut() {
                Some(group) if previous_end == Some(at) => {
                    group.span.end = at + 1;
                    group.digits.end = count + 1;
                }
                _ => run.groups.push(Group { span: at..at + 1, digits: count..count + 1 }),
            }
            previous_end = Some(at + 1);
        }
        run
    }

    /// Where a range of groups is in the folded text; none when the range is empty.
    pub(crate) fn span(&self, groups: Range<usize>) -> Option<Range<usize>> {
        let groups = self.groups.get(groups)?;
        Some(groups.first()?.span.start..groups.last()?.span.end)
    }

    /// What stands between a group and the group before it; empty for the first group.
    pub(crate) fn separator_before(&self, group: usize) -> &'t str {
        let before = group.checked_sub(1).and_then(|index| self.groups.get(index));
        match (before, self.groups.get(group)) {
            (Some(before), Some(after)) => {
                self.text.get(before.span.end..after.span.start).unwrap_or_default()
            }
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_the_separators() {
        let text = "x (030) 12-345";
        let run = Run::new(text, 3..text.len());
        let parts: Vec<&str> = run.groups.iter().map(|group| &text[group.span.clone()]).collect();
        assert_eq!(parts, ["030", "12", "345"]);
        assert_eq!(run.digits, [0, 3, 0, 1, 2, 3, 4, 5]);
        assert_eq!(
            [run.separator_before(0), run.separator_before(1), run.separator_before(2)],
            ["", ") ", "-"]
        );
    }
}
