//! The approaches that are compared.

use portcullis::{APPROACH_A_POLICY, APPROACH_A_TOLD_POLICY, APPROACH_C_POLICY, DEFAULT_POLICY};
use serde::{Deserialize, Serialize};

/// The approach under which an agent runs.
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
    /// Approach A with T1 values shown to the model, as in the paper.
    #[serde(rename = "A-told")]
    ATold,
    /// Approach C with pages shown unmodified: no text withheld, invisible text quoted.
    #[serde(rename = "C-unscrubbed")]
    CUnscrubbed,
}

impl Approach {
    /// The approaches that this version can run.
    pub const RUNNABLE: [Approach; 6] =
        [Approach::None, Approach::A, Approach::B, Approach::C, Approach::ATold, Approach::CUnscrubbed];

    /// The shipped policy of the approach; `None` without a guard.
    pub const fn policy(self) -> Option<&'static str> {
        match self {
            Approach::None => None,
            Approach::A => Some(APPROACH_A_POLICY),
            Approach::ATold => Some(APPROACH_A_TOLD_POLICY),
            Approach::B => Some(DEFAULT_POLICY),
            Approach::C | Approach::CUnscrubbed => Some(APPROACH_C_POLICY),
        }
    }

    /// Returns true if the output of a model that writes token by token is steered by look-ahead, as A and C require.
    pub const fn has_gated_output(self) -> bool {
        !matches!(self, Approach::None | Approach::B)
    }

    /// The approach's name in tables and files.
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
