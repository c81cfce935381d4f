//! The approaches that are compared.

use std::borrow::Cow;

use portcullis::{APPROACH_A_POLICY, APPROACH_A_TOLD_POLICY, APPROACH_C_POLICY, DEFAULT_POLICY};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ablation::Ablation;
use super::arm::Arm;
use super::asking::Asking;

/// The approach under which an agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Approach {
    /// Without a guard.
    None,
    /// Approach A.
    A,
    /// Approach B.
    B,
    /// Approach C.
    C,
    /// Approach A with T1 values shown to the model, as in the paper.
    ATold,
    /// Approach C with pages shown unmodified: no text withheld, invisible text quoted.
    CUnscrubbed,
    /// An arm of the factorial experiment.
    Arm(Arm),
    /// Approach B without one of its parts.
    Without(Ablation),
    /// A level of asking.
    Asking(Asking),
}

impl Approach {
    /// The approaches that this version can run, without the [arms](Arm::ALL), the [ablations](Ablation::ALL) and the
    /// [levels of asking](Asking::ALL).
    pub const RUNNABLE: [Approach; 6] =
        [Approach::None, Approach::A, Approach::B, Approach::C, Approach::ATold, Approach::CUnscrubbed];

    /// The shipped policy of the approach; `None` without a guard.
    pub fn policy(self) -> Option<Cow<'static, str>> {
        Some(match self {
            Approach::None => return None,
            Approach::A => APPROACH_A_POLICY.into(),
            Approach::ATold => APPROACH_A_TOLD_POLICY.into(),
            Approach::B => DEFAULT_POLICY.into(),
            Approach::C | Approach::CUnscrubbed => APPROACH_C_POLICY.into(),
            Approach::Arm(arm) => arm.policy().into(),
            Approach::Without(part) => part.policy().into(),
            Approach::Asking(level) => level.policy().into(),
        })
    }

    /// Everything that this version can run.
    pub fn all() -> impl Iterator<Item = Approach> {
        let arms = Arm::ALL.into_iter().map(Approach::Arm);
        let ablations = Ablation::ALL.into_iter().map(Approach::Without);
        let levels = Asking::ALL.into_iter().map(Approach::Asking);
        Approach::RUNNABLE.into_iter().chain(arms).chain(ablations).chain(levels)
    }

    /// The approach, arm, ablation or level of asking of a name.
    pub fn from_name(name: &str) -> Option<Approach> {
        Approach::all().find(|approach| approach.as_str() == name)
    }

    /// Returns true if the output of a model that writes token by token is steered by look-ahead, as A and C require.
    pub const fn has_gated_output(self) -> bool {
        !matches!(self, Approach::None | Approach::B | Approach::Without(_) | Approach::Asking(Asking::Never))
    }

    /// Returns true if agents other than the obedient one act under it too. Of the arms these are approach B, approach C, and the
    /// mandate without a score.
    pub fn is_for_every_agent(self) -> bool {
        match self {
            Approach::Arm(arm) => Arm::WITH_EVERY_AGENT.contains(&arm),
            _ => true,
        }
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
            Approach::Arm(arm) => arm.as_str(),
            Approach::Without(part) => part.as_str(),
            Approach::Asking(level) => level.as_str(),
        }
    }
}

impl Serialize for Approach {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Approach {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Approach, D::Error> {
        let name = String::deserialize(deserializer)?;
        Approach::from_name(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("there is no approach `{name}`")))
    }
}
