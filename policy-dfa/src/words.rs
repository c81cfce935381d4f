//! The names that policies use for verbs.

use crate::VerbKind;

/// The verbs that a policy has rules for. Reading and idling have no effect and are always granted.
pub(crate) const VERBS: [(VerbKind, &str); 6] = [
    (VerbKind::Open, "open"),
    (VerbKind::Click, "click"),
    (VerbKind::Type, "type"),
    (VerbKind::Choose, "choose"),
    (VerbKind::Press, "press"),
    (VerbKind::Submit, "submit"),
];

impl VerbKind {
    /// The verb's name, in policies and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            VerbKind::Open => "open",
            VerbKind::Read => "read",
            VerbKind::Click => "click",
            VerbKind::Type => "type",
            VerbKind::Choose => "choose",
            VerbKind::Press => "press",
            VerbKind::Submit => "submit",
            VerbKind::Idle => "idle",
        }
    }
}

/// The verb with this name, if a policy can have a rule for it.
pub(crate) fn verb_named(name: &str) -> Option<VerbKind> {
    VERBS.into_iter().find(|(_, word)| *word == name).map(|(kind, _)| kind)
}
