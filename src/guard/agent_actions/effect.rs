//! The effect of a verb, in the policy's terms.

use browser_signals::{Observed, Snapshot, Verb};
use policy_dfa::VerbKind;

/// The policy's kind of a verb.
pub(crate) fn kind_of(verb: &Verb) -> VerbKind {
    match verb {
        Verb::Open { .. } => VerbKind::Open,
        Verb::Read => VerbKind::Read,
        // Permission to click includes pointing.
        Verb::Click { .. } | Verb::Hover { .. } => VerbKind::Click,
        Verb::Type { .. } => VerbKind::Type,
        Verb::Select { .. } | Verb::Check { .. } => VerbKind::Choose,
        Verb::Press { .. } => VerbKind::Press,
        Verb::Submit { .. } => VerbKind::Submit,
        Verb::Wait { .. } | Verb::Back => VerbKind::Idle,
    }
}

/// The effect of a verb. A click on a submit button submits its form, and so does Enter, wherever the focus is. Enter
/// names no form whose destination could be checked, so its destination is unknown.
pub(crate) fn effect_of(verb: &Verb, page: Option<&Observed<Snapshot>>) -> VerbKind {
    let submits = match verb {
        Verb::Click { .. } => page.and_then(|page| page.target.as_ref()).is_some_and(|target| {
            target.form.is_some()
                && matches!(
                    (target.tag.as_str(), target.input_type.as_str()),
                    ("button", "submit" | "") | ("input", "submit" | "image")
                )
        }),
        Verb::Press { key } => key == "Enter",
        _ => false,
    };
    if submits { VerbKind::Submit } else { kind_of(verb) }
}
