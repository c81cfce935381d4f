//! Approach B with parts of it taken away, to measure what they do.
//!
//! Parts cover for each other, so that one that is taken away alone may show nothing. The experiment therefore takes away every set of the
//! three parts that keep values and words in their place.

use portcullis::DEFAULT_POLICY;

/// A part of the guard that keeps values and words in their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Words of a page that look like instructions are withheld, and so is invisible text.
    Scrubbing,
    /// The agent's text and the requests of pages are compared with the user's values, and connections are closed after a fill. Without it,
    /// the bridge still keeps documents and bodies from other origins after a fill.
    Egress,
    /// The agent's prompt has handles in place of the user's values.
    Handles,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Scrubbing, Part::Egress, Part::Handles];

    /// Its name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Part::Scrubbing => "scrubbing",
            Part::Egress => "checks of what leaves",
            Part::Handles => "handles",
        }
    }
}

/// What is missing of approach B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ablation {
    /// Scrubbing alone.
    Scrubbing,
    /// The checks of what leaves alone.
    Egress,
    /// Handles alone.
    Handles,
    /// Scrubbing and the checks of what leaves.
    ScrubbingEgress,
    /// Scrubbing and handles.
    ScrubbingHandles,
    /// The checks of what leaves, and handles.
    EgressHandles,
    /// All three parts: the policy, its automaton and the questions are left.
    AllParts,
    /// No yes is remembered: each release is asked about every time.
    RememberedYes,
}

impl Ablation {
    /// All of them.
    pub const ALL: [Ablation; 8] = [
        Ablation::Scrubbing,
        Ablation::Egress,
        Ablation::Handles,
        Ablation::ScrubbingEgress,
        Ablation::ScrubbingHandles,
        Ablation::EgressHandles,
        Ablation::AllParts,
        Ablation::RememberedYes,
    ];

    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Ablation::Scrubbing => "B-without-scrubbing",
            Ablation::Egress => "B-without-egress",
            Ablation::Handles => "B-without-handles",
            Ablation::ScrubbingEgress => "B-without-scrubbing-and-egress",
            Ablation::ScrubbingHandles => "B-without-scrubbing-and-handles",
            Ablation::EgressHandles => "B-without-egress-and-handles",
            Ablation::AllParts => "B-without-the-three",
            Ablation::RememberedYes => "B-ask-always",
        }
    }

    /// The parts that it takes away.
    pub const fn missing(self) -> &'static [Part] {
        match self {
            Ablation::Scrubbing => &[Part::Scrubbing],
            Ablation::Egress => &[Part::Egress],
            Ablation::Handles => &[Part::Handles],
            Ablation::ScrubbingEgress => &[Part::Scrubbing, Part::Egress],
            Ablation::ScrubbingHandles => &[Part::Scrubbing, Part::Handles],
            Ablation::EgressHandles => &[Part::Egress, Part::Handles],
            Ablation::AllParts => &Part::ALL,
            Ablation::RememberedYes => &[],
        }
    }

    /// Whether it takes this part away.
    pub fn lacks(self, part: Part) -> bool {
        self.missing().contains(&part)
    }

    /// The text of its policy.
    pub fn policy(self) -> String {
        if self != Ablation::RememberedYes {
            return DEFAULT_POLICY.to_owned();
        }
        let shorter = ["consent once per session", "consent once per site", "consent none"].into_iter();
        shorter.fold(DEFAULT_POLICY.to_owned(), |text, shorter| text.replace(shorter, "consent every time"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use portcullis::policy::Policy;

    use super::*;

    #[test]
    fn the_policies_hold_and_one_asks_every_time() {
        for ablation in Ablation::ALL {
            let text = ablation.policy();
            assert!(
                Policy::parse(&text).unwrap().compile().unwrap().check().is_ok(),
                "{}",
                ablation.as_str()
            );
        }
        let asking = Ablation::RememberedYes.policy();
        let consents = asking.lines().filter(|line| line.trim().starts_with("consent "));
        assert!(consents.clone().count() > 5 && consents.into_iter().all(|line| line.contains("every time")));
    }

    #[test]
    fn every_set_of_parts_is_taken_away_once() {
        let sets: BTreeSet<&[Part]> = Ablation::ALL.into_iter().map(Ablation::missing).collect();
        assert_eq!(sets.len(), 1 << Part::ALL.len());
    }
}
