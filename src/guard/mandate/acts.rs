//! Whether the user's words name what an agent sets. What they do not name ends the mandate, however harmless it looks.

use browser_signals::meaning::{Harmless, Meaning, leads_on};
use browser_signals::{Control, Observed, Snapshot, Verb};
use policy_dfa::VerbKind;

use super::lines::{names_part_of, number};
use crate::consent::order::{ActionKind, RecordedAction};
use crate::guard::agent_actions::{effect_of, goes_by_get, name_of, submits};
use crate::intake::Wish;

/// Whether an action sets nothing, or only what the words name. `is_filled` says whether the guard filled the form: the user agreed to
/// its sending.
pub(super) fn is_named(verb: &Verb, page: &Observed<Snapshot>, wish: &Wish, is_filled: bool) -> bool {
    let target = page.target.as_ref();
    match verb {
        Verb::Read | Verb::Wait { .. } | Verb::Back | Verb::Hover { .. } => true,
        Verb::Open { url } => wish.addresses.contains(url),
        Verb::Type { text, .. } => target.is_some_and(|target| {
            let searches = Meaning::of(target) == Meaning::Harmless(Harmless::Search) && goes_by_get(page);
            searches || sets_wish(target, text, wish)
        }),
        Verb::Select { options, .. } => target.is_some_and(|target| {
            !options.is_empty() && options.iter().all(|it| sets_wish(target, it, wish))
        }),
        Verb::Check { .. } => target.is_some_and(|target| names_part_of(&name_of(target), wish)),
        Verb::Drag { .. } => false,
        Verb::Press { key } if effect_of(verb, Some(page)) != VerbKind::Submit => {
            matches!(key.as_str(), "Tab" | "Escape" | "PageUp" | "PageDown")
        }
        Verb::Click { .. } | Verb::Submit { .. } | Verb::Press { .. } => presses(verb, page, wish, is_filled),
    }
}

/// Whether a recorded action is one that the words name. A page's dialog, and a change by the page, is none.
pub(super) fn is_named_action(action: &RecordedAction, wish: &Wish) -> bool {
    match &action.act {
        ActionKind::Typed(text) | ActionKind::Chose(text) => is_wanted(text, wish),
        ActionKind::Ticked(_) | ActionKind::Clicked => names_part_of(&action.label, wish),
        ActionKind::Dragged
        | ActionKind::Sent
        | ActionKind::Pressed(_)
        | ActionKind::Opened(_)
        | ActionKind::Changed => false,
    }
}

fn is_wanted(text: &str, wish: &Wish) -> bool {
    number(text) == Some(u64::from(wish.quantity)) || names_part_of(text, wish)
}

/// Whether a text in a control is the quantity or a part of the item's name, each where it belongs.
fn sets_wish(target: &Control, text: &str, wish: &Wish) -> bool {
    match Meaning::of(target) {
        Meaning::Harmless(Harmless::Quantity) => number(text) == Some(u64::from(wish.quantity)),
        Meaning::Harmless(Harmless::Variant | Harmless::Search) | Meaning::Unknown => {
            names_part_of(text, wish)
        }
        Meaning::Harmless(_) | Meaning::Decisive(_) => false,
    }
}

fn presses(verb: &Verb, page: &Observed<Snapshot>, wish: &Wish, is_filled: bool) -> bool {
    let Some(target) = page.target.as_ref() else { return false };
    let name = name_of(target);
    let is_submit = effect_of(verb, Some(page)) == VerbKind::Submit;
    if is_submit && is_filled {
        return true;
    }
    match target.input_type.as_str() {
        "radio" | "checkbox" => names_part_of(&name, wish),
        // In a text box or a list it sets nothing: typing and choosing are judged when they happen.
        _ if !is_submit && matches!(target.tag.as_str(), "input" | "textarea" | "select") => true,
        _ => {
            only_leads_on(&name)
                || is_submit && only_leads_on(&submit_name(page))
                || names_part_of(&name, wish)
        }
    }
}

/// Whether a button only leads on, and is about no note, coupon or variant, which are the user's to name.
fn only_leads_on(label: &str) -> bool {
    let is_set = matches!(Meaning::of_words(&[label]), Meaning::Harmless(it) if it != Harmless::Search);
    leads_on(label) && !is_set
}

/// The name of the button that sends a form.
fn submit_name(page: &Snapshot) -> String {
    page.controls.iter().find(|control| submits(control)).map(name_of).unwrap_or_default()
}
