//! What a user can say.

use std::fmt;

use policy_dfa::ConsentScope;

/// The answer to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// No. The same is not asked again in this task, unless the policy wants a question every time.
    No,
    /// No, here and from now on: the same is refused without a question until the user takes it back.
    Never,
    /// Yes, this once.
    Once,
    /// Yes, for the rest of this task.
    Session,
    /// Yes, on this site from now on, until it runs out or the user takes it back.
    Site,
}

impl Answer {
    /// Every answer, in the order in which they are offered.
    pub const ALL: [Answer; 5] = [Answer::No, Answer::Once, Answer::Session, Answer::Site, Answer::Never];

    /// Whether it is a yes.
    pub fn agrees(self) -> bool {
        matches!(self, Answer::Once | Answer::Session | Answer::Site)
    }

    /// The answer as one word: `no`, `never`, `once`, `session`, `site`.
    pub fn as_str(self) -> &'static str {
        match self {
            Answer::No => "no",
            Answer::Never => "never",
            Answer::Once => "once",
            Answer::Session => "session",
            Answer::Site => "site",
        }
    }

    /// The answer of this word.
    pub fn from_word(word: &str) -> Option<Answer> {
        Answer::ALL.into_iter().find(|answer| answer.as_str() == word)
    }

    /// The answer as far as a policy lets it stand: a yes for longer than that is a yes for that long.
    ///
    /// ```
    /// use portcullis::consent::Answer;
    /// use portcullis::policy::ConsentScope;
    ///
    /// assert_eq!(Answer::Site.within(ConsentScope::EveryTime), Answer::Once);
    /// assert_eq!(Answer::Never.within(ConsentScope::EveryTime), Answer::Never);
    /// ```
    #[must_use]
    pub fn within(self, scope: ConsentScope) -> Answer {
        match (self, scope) {
            (Answer::Session | Answer::Site, ConsentScope::EveryTime) => Answer::Once,
            (Answer::Site, ConsentScope::Session) => Answer::Session,
            (answer, _) => answer,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::No => "no",
            Answer::Never => "no, never on this site",
            Answer::Once => "yes, this once",
            Answer::Session => "yes, for this task",
            Answer::Site => "yes, on this site from now on",
        })
    }
}
