//! The approaches that are compared.

use portcullis::{APPROACH_A_POLICY, APPROACH_A_TOLD_POLICY, APPROACH_C_POLICY, DEFAULT_POLICY};
use serde::{Deserialize, Serialize};

/// How an agent was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Approach {
    /// Without a guard.
    #[serde(rename = "none")]
    None,
    /// Approach A.
    A,
    /// Approach B.
    B,
    /// Approach C.
    C,
    /// Approach A with values of T1 told to the model, as the paper has it.
    #[serde(rename = "A-told")]
    ATold,
    /// Approach C with pages told as they are: no words withheld, unseen ones quoted.
    #[serde(rename = "C-unscrubbed")]
    CUnscrubbed,
}

impl Approach {
    /// Those that this version can run.
    pub const RUNNABLE: [Approach; 6] =
        [Approach::None, Approach::A, Approach::B, Approach::C, Approach::ATold, Approach::CUnscrubbed];

    /// The shipped policy that it runs under; none without a guard.
    pub const fn policy(self) -> Option<&'static str> {
        match self {
            Approach::None => None,
            Approach::A => Some(APPROACH_A_POLICY),
            Approach::ATold => Some(APPROACH_A_TOLD_POLICY),
            Approach::B => Some(DEFAULT_POLICY),
            Approach::C | Approach::CUnscrubbed => Some(APPROACH_C_POLICY),
        }
    }

    /// Whether a model that writes token by token is steered by its look-ahead, as A and C have it.
    pub const fn has_gated_output(self) -> bool {
        !matches!(self, Approach::None | Approach::B)
    }

    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Approach::None => "none",
            Approach::A => "A",
            Approach::B => "B",
            Approach::C => "C",
            Approach::ATold => "A-told",
            Approach::CUnscrubbed => "C-unscrubbed",
        }
    }
}
