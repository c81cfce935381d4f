//! How often the user is asked, from never to always, for question RQ2.
//!
//! The levels are policies that ship or differ from one in one thing, so each is run in the browser. Only the first is no policy: the guard
//! proves of every policy that no card and no street is released without a yes, so that nothing can be built that never asks. There a
//! user who says yes to everything stands for not being asked.

use portcullis::{APPROACH_C_POLICY, DEFAULT_POLICY};

use super::ablation::Ablation;
use super::approach::Approach;
use super::arm::{Arm, Payment, Score};

/// A level of asking that no other experiment has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Asking {
    /// Approach B with a user who says yes to everything, which counts as no prompt.
    Never,
    /// Approach C, whose mandate and remembered answers end below a safety of 0.90 (0.80 for a name or a phone).
    Below90,
    /// The same below 0.99 (0.98).
    Below99,
}

impl Asking {
    /// All of them.
    pub const ALL: [Asking; 3] = [Asking::Never, Asking::Below90, Asking::Below99];

    /// The levels of question RQ2, from never to always.
    pub const LEVELS: [Approach; 7] = [
        Approach::Asking(Asking::Never),
        Approach::Arm(Arm { score: Score::Off, payment: Payment::Mandate, scrubbed: true }),
        Approach::C,
        Approach::Asking(Asking::Below90),
        Approach::Asking(Asking::Below99),
        Approach::B,
        Approach::Without(Ablation::RememberedYes),
    ];

    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Asking::Never => "ask-never",
            Asking::Below90 => "ask-below-0.90",
            Asking::Below99 => "ask-below-0.99",
        }
    }

    /// The text of its policy.
    pub fn policy(self) -> String {
        let below = |thresholds: &str| {
            let named = APPROACH_C_POLICY.replace("\"approach C\"", &format!("\"{}\"", self.as_str()));
            named.replace("T1 0.50 T2 0.60", thresholds)
        };
        match self {
            Asking::Never => DEFAULT_POLICY.to_owned(),
            Asking::Below90 => below("T1 0.80 T2 0.90"),
            Asking::Below99 => below("T1 0.98 T2 0.99"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use portcullis::policy::Policy;

    use super::*;

    #[test]
    fn every_level_has_a_name_and_a_policy_that_holds() {
        let names: BTreeSet<&str> = Asking::LEVELS.iter().map(|level| level.as_str()).collect();
        assert_eq!(names.len(), Asking::LEVELS.len());
        for level in Asking::LEVELS {
            let text = level.policy().unwrap();
            assert!(Policy::parse(&text).unwrap().compile().unwrap().check().is_ok(), "{}", level.as_str());
            assert_eq!(Approach::from_name(level.as_str()), Some(level));
        }
    }

    #[test]
    fn thresholds_are_those_of_the_names() {
        assert!(Asking::Below90.policy().contains("threshold T0 0.20 T1 0.80 T2 0.90"));
        assert!(Asking::Below99.policy().contains("threshold T0 0.20 T1 0.98 T2 0.99"));
    }

    /// This is why the first level is a user and no policy.
    #[test]
    fn a_policy_that_asks_nothing_holds_no_proof() {
        let mut text = DEFAULT_POLICY.to_owned();
        for asks in ["consent once per session", "consent once per site", "consent every time"] {
            text = text.replace(asks, "consent none");
        }
        let text = text.replace(", naming payee and amount", "");
        let unstated = text.lines().filter(|line| !line.contains("consent is not given"));
        let text: String = unstated.flat_map(|line| [line, "\n"]).collect();
        assert!(Policy::parse(&text).unwrap().compile().unwrap().check().is_err());
    }
}
