//! Pages of the user's own browser that were there before a task.

use super::prompt::Line;

/// What holds for a task's sites whose pages were open before it. Such a page may have left a program running that lives on
/// for five minutes without a page, and that nobody sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenPages {
    /// Nothing is released to such a site until that program has ended by itself.
    #[default]
    Wait,
    /// The user trusts them.
    Trusted,
}

impl OpenPages {
    /// What the question says that opens a task.
    pub(super) fn lines(self) -> Vec<Line> {
        let loaded = Line::plain(
            "open pages of these sites are loaded again: what you typed there and did not send is lost; their service workers end"
                .to_owned(),
        );
        let earlier = match self {
            OpenPages::Wait => Line::plain(
                "where a page of these sites was open in the last five minutes, nothing is filled in until five minutes have \
                 passed: it may have left a program running that nobody can see"
                    .to_owned(),
            ),
            OpenPages::Trusted => Line::warning(
                "You trust the pages of these sites that were open before. One that was open in the last five minutes may have \
                 left a program running that nobody can see, and could still pass on what is filled in."
                    .to_owned(),
            ),
        };
        vec![loaded, earlier]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::consent::Weight;

    #[test]
    fn the_question_says_which_of_the_two_holds() {
        let said = |pages: OpenPages| pages.lines().pop().unwrap();
        let (wait, trusted) = (said(OpenPages::Wait), said(OpenPages::Trusted));
        assert!(wait.text.contains("until five minutes have passed"), "{wait}");
        assert!(trusted.text.contains("could still pass on"), "{trusted}");
        // Whoever trusts them reads first what that means.
        assert_eq!((wait.weight, trusted.weight), (Weight::Plain, Weight::Warning));
    }
}
