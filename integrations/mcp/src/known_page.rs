//! The page as the agent knows it: what its answers told of it, and what of a later page is new to it.
//!
//! Only text that was masked and scrubbed comes in here, so a comparison tells nothing that the whole page would not.

use std::collections::HashSet;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::rendered::{self, Part};
use crate::target::ref_of;

/// The characters of a page that an answer tells, if the call sets no limit.
pub const DEFAULT_LIMIT: usize = 60_000;

/// A page of this many bytes is told whole after each action, since its changes would hardly be shorter.
const SMALL: usize = 1_500;

/// The heading of the first changes that are told.
const EXPLAINED: &str = "### Changes (+ is new; browser_snapshot tells the whole page)";

/// The most removed elements that an answer names.
const MOST_REMOVED: usize = 20;

/// The text of a container's page that the agent was told. It is forgotten with the page, and when the agent asks for values of the
/// user's.
#[derive(Default)]
pub struct KnownPage {
    /// The whole page as of the last answer about it.
    text: Option<String>,
    /// The rest of the last answer that was cut, with its number.
    rest: Option<(u32, String)>,
    /// The number of answers that were cut.
    cuts: u32,
    /// True once an answer has explained how changes are marked.
    is_explained: bool,
}

impl KnownPage {
    /// Forgets the page, so that the next answer about it is whole.
    pub fn forget(&mut self) {
        self.text = None;
        self.rest = None;
    }

    /// Tells a page after an action: what changed, or the whole page where the agent does not know it or most of it is new.
    pub fn after_action(&mut self, now: &str) -> String {
        let before = self.text.replace(now.to_owned());
        let changed = before.and_then(|before| changes(&before, now));
        match changed {
            Some(changed) if changed.is_empty() => {
                "### Changes\nnone: the page is as it was told before".to_owned()
            }
            Some(changed) => {
                let is_explained = std::mem::replace(&mut self.is_explained, true);
                let heading = if is_explained { "### Changes" } else { EXPLAINED };
                self.told(heading, &changed, None)
            }
            None => self.told("### Snapshot", now, None),
        }
    }

    /// Tells the whole page, in the words of `told`: with what later pages are not compared with.
    pub fn whole(&mut self, now: &str, told: &str, limit: Option<usize>) -> String {
        self.text = Some(now.to_owned());
        self.told("### Snapshot", told, limit)
    }

    /// Tells a part of a page.
    pub fn part(&mut self, part: &str, limit: Option<usize>) -> String {
        self.told("### Snapshot", part, limit)
    }

    /// Tells the lines that a search found.
    pub fn found(&mut self, heading: &str, lines: &str) -> String {
        self.told(heading, lines, None)
    }

    /// Tells what the last answer left out.
    ///
    /// # Errors
    /// If `name` is not the one that the last answer which was cut gave, or the page is forgotten.
    pub fn continued(&mut self, name: &str, limit: Option<usize>) -> Result<String, String> {
        match self.rest.take() {
            Some((number, rest)) if name == format!("c{number}") => {
                Ok(self.told("### Snapshot, continued", &rest, limit))
            }
            other => {
                self.rest = other;
                Err(format!("nothing is left of `{name}`; take a new snapshot without `continuation`"))
            }
        }
    }

    /// A text up to the limit, cut at the end of a line, and the way to the rest.
    fn told(&mut self, heading: &str, text: &str, limit: Option<usize>) -> String {
        self.rest = None;
        let (first, rest) = rendered::cut(text, limit.unwrap_or(DEFAULT_LIMIT));
        if rest.is_empty() {
            return format!("{heading}\n{first}");
        }
        self.cuts += 1;
        self.rest = Some((self.cuts, rest.to_owned()));
        let lines = rest.lines().count();
        format!(
            "{heading}\n{first}\n({lines} more lines: browser_snapshot with continuation=\"c{}\")",
            self.cuts
        )
    }
}

/// The lines that are new, each below the elements that it is in, and those that are gone. `None` where that is not much shorter
/// than the page, or the page is small or of another origin.
fn changes(before: &str, now: &str) -> Option<String> {
    if now.len() <= SMALL || origin(before) != origin(now) {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let (mut is_gone, mut is_new) = (vec![false; old.len()], vec![false; new.len()]);
    for step in capture_diff_slices(Algorithm::Patience, &old, &new) {
        let (tag, gone, come) = step.as_tag_tuple();
        if tag != DiffTag::Equal {
            is_gone.get_mut(gone)?.fill(true);
            is_new.get_mut(come)?.fill(true);
        }
    }
    let shown = rendered::below_their_elements(&new, |line| is_new.get(line) == Some(&true));
    let shown = shown.iter().map(Part::marked);
    let gone = gone(&old, &is_gone, &new);
    let lines: Vec<String> = shown.chain(gone).collect();
    let text = lines.join("\n");
    (text.len() * 2 < now.len()).then_some(text)
}

/// The origin in the first line of a page, and what stands before the title.
fn origin(page: &str) -> &str {
    page.lines().next().unwrap_or_default().split('"').next().unwrap_or_default()
}

/// A line for each element or text that the page has no more; what was in such an element is not listed.
fn gone(old: &[&str], is_gone: &[bool], new: &[&str]) -> Vec<String> {
    let there: HashSet<String> = new.iter().filter_map(|line| ref_of(line)).map(|found| found.0).collect();
    let stays = |line: &str| ref_of(line).is_some_and(|found| there.contains(&found.0));
    let mut lines = Vec::new();
    // The indentation of the removed element that the lines below are in.
    let mut within: Option<usize> = None;
    for (line, is_gone) in old.iter().zip(is_gone) {
        let depth = rendered::indent(line);
        if within.is_some_and(|above| depth > above) {
            continue;
        }
        within = None;
        if *is_gone && !stays(line) {
            lines.push(format!("gone: {}", line.trim_start().trim_start_matches("- ")));
            within = Some(depth);
        }
    }
    let more = lines.len().saturating_sub(MOST_REMOVED);
    lines.truncate(MOST_REMOVED);
    lines.extend((more > 0).then(|| format!("gone: {more} more")));
    lines
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use proptest::prelude::*;

    /// A page with so many rows that its changes are told alone.
    fn page(status: &str, more: &str) -> String {
        let rows = (0..60).map(|row| format!("\n    - row \"item {row}\" [ref=e{}]", row + 10));
        let rows: String = rows.collect();
        format!(
            "- document https://a.example \"A\"\n  - main [ref=e1]:\n    - status [ref=e2]: \"{status}\"{more}\n  \
             - table [ref=e3]:{rows}"
        )
    }

    #[test]
    fn an_action_is_answered_with_what_changed() {
        let mut known = KnownPage::default();
        let first = page("none in the basket", "");
        assert_eq!(known.after_action(&first), format!("### Snapshot\n{first}"));
        assert!(known.after_action(&first).starts_with("### Changes\nnone"));
        let later = page("1 in the basket", "\n    - button \"Pay\" [ref=e90]")
            .replace("    - row \"item 7\" [ref=e17]\n", "");
        assert_eq!(
            known.after_action(&later),
            "### Changes (+ is new; browser_snapshot tells the whole page)\n\
             - document https://a.example \"A\"\n  - main [ref=e1]:\n    + status [ref=e2]: \"1 in the basket\"\n    \
             + button \"Pay\" [ref=e90]\ngone: row \"item 7\" [ref=e17]"
        );
        known.forget();
        assert_eq!(known.after_action(&later), format!("### Snapshot\n{later}"));
        // Another origin's page, a small page, and a page that is mostly new are told whole.
        let other = later.replace("a.example", "b.example");
        assert_eq!(known.after_action(&other), format!("### Snapshot\n{other}"));
        let renamed = other.replace("item", "thing");
        assert_eq!(known.after_action(&renamed), format!("### Snapshot\n{renamed}"));
        let small = "- document https://b.example \"B\"\n  - button \"Pay\" [ref=e1]";
        for _ in 0..2 {
            assert_eq!(known.after_action(small), format!("### Snapshot\n{small}"));
        }
    }

    #[test]
    fn a_long_page_is_told_in_parts() {
        let mut known = KnownPage::default();
        let page = page("none", "");
        let mut told = known.whole(&page, &page, Some(600));
        let mut all = String::new();
        while let Some((text, end)) = told.rsplit_once("\n(") {
            all += text.split_once('\n').unwrap().1;
            all += "\n";
            let name = end.split('"').nth(1).unwrap().to_owned();
            told = known.continued(&name, Some(600)).unwrap();
            assert!(known.continued(&name, None).is_err(), "each part is told once");
        }
        all += told.split_once('\n').unwrap().1;
        assert_eq!(all, page);
        // A page that is forgotten has no further parts.
        let told = known.whole(&page, &page, Some(600));
        let name = told.rsplit('"').nth(1).unwrap().to_owned();
        known.forget();
        assert!(known.continued(&name, None).is_err());
    }

    /// A page of a few elements with texts, and each element's ref after it.
    fn pages() -> impl Strategy<Value = String> {
        prop::collection::vec((0_usize..4, 0_u32..60, "[a-c]{1,3}"), 20..80).prop_map(|rows| {
            let rows = rows.into_iter().enumerate().map(|(at, (depth, number, words))| {
                let indent = "  ".repeat(depth.min(at) + 1);
                format!(
                    "\n{indent}- text [ref=e{number}]: \"{words} and some more words to make the page long\""
                )
            });
            format!("- document https://a.example \"A\"{}", rows.collect::<String>())
        })
    }

    proptest! {
        /// Every line that is new is told, and every line that is said to be gone was there before.
        #[test]
        fn changes_are_complete_and_nothing_else(before in pages(), now in pages()) {
            let mut known = KnownPage::default();
            known.whole(&before, &before, None);
            let told = known.after_action(&now);
            let line_of = |line: &str| line.trim_start().trim_start_matches(['-', '+']).trim_start().to_owned();
            let lines: HashSet<String> = told.lines().map(line_of).collect();
            let old: HashSet<&str> = before.lines().collect();
            for line in now.lines().filter(|line| !old.contains(line)) {
                prop_assert!(lines.contains(&line_of(line)), "{line} is not in\n{told}");
            }
            for line in told.lines().skip(1).filter_map(|line| line.strip_prefix("gone: ")).filter(|line| !line.ends_with("more")) {
                prop_assert!(before.contains(line));
            }
        }
    }
}
