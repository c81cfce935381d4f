//! The weight of an agent action: whether it can decide an order.
//!
//! The page's words can only add weight. A control that sounds harmless is harmless only while the text in it is too short
//! to say where goods go. An unknown control has weight.

use browser_signals::key::selects_all;
use browser_signals::matching::{FormKind, kind_of_form};
use browser_signals::meaning::{Harmless, Meaning, decisive, leads_on};
use browser_signals::{Control, Fact, Observed, Snapshot, Verb, WritingKey};
use policy_dfa::VerbKind;
use url::Url;

use crate::consent::order::{ActionKind, RecordedAction};

/// The longest harmless note, in characters.
const MAX_NOTE: usize = 120;
/// The longest name of a variant, in characters.
const MAX_VARIANT: usize = 40;
/// The longest coupon, in characters.
const MAX_COUPON: usize = 24;

/// An agent action, and whether it is known to decide nothing. A harmless action is shown with a payment, and delays no
/// request.
pub(crate) struct Weighed {
    pub(crate) action: RecordedAction,
    pub(crate) harmless: bool,
}

impl Weighed {
    /// Whether others may read it: text that can decide something, or a form that is sent.
    pub(crate) fn reaches_others(&self) -> bool {
        !self.harmless && matches!(self.action.act, ActionKind::Typed(_) | ActionKind::Sent)
    }
}

/// The facts about the form of a verb.
pub(crate) struct FormContext {
    /// Whether a text is in the user's own words.
    pub(crate) is_own: bool,
    /// Whether the guard filled the form.
    pub(crate) is_filled: bool,
    /// Whether the form has agent actions that the user has not seen.
    pub(crate) is_unseen: bool,
}

/// The agent action of a verb, with its weight; `None` for a verb that sets nothing.
pub(crate) fn weigh(
    verb: &Verb,
    page: &Observed<Snapshot>,
    context: &dyn Fn(&str) -> FormContext,
) -> Option<Weighed> {
    let site = page.origin.known().or(page.top_origin.known())?.clone();
    let weighed = |label: &str, act: ActionKind, harmless: bool| {
        Some(Weighed { action: RecordedAction::new(site.clone(), label.to_owned(), act), harmless })
    };
    let target = page.target.as_ref();
    let named = target.map(name_of).unwrap_or_default();
    match (verb, target) {
        (Verb::Open { url }, _) => {
            let url = Url::parse(url).ok()?;
            let query: String = url.query_pairs().map(|(name, value)| format!("{name} {value} ")).collect();
            decisive(&[&without_handles(&query, &|handle| context(handle).is_own)])?;
            weighed(
                "",
                ActionKind::Opened(format!("{}?{}", url.path(), url.query().unwrap_or_default())),
                false,
            )
        }
        (Verb::Press { key }, _) if effect_of(verb, Some(page)) != VerbKind::Submit => {
            // A selection says nothing until a key changes the text.
            (!matches!(key.as_str(), "Tab" | "Escape") && !selects_all(key)).then_some(())?;
            weighed(&named, ActionKind::Pressed(key.clone()), false)
        }
        (Verb::Submit { .. }, _) if effect_of(verb, Some(page)) == VerbKind::Press => {
            weighed(&named, ActionKind::Pressed("Enter".to_owned()), false)
        }
        (Verb::Type { text, .. }, Some(target)) => {
            let meaning = Meaning::of(target);
            if meaning == Meaning::Harmless(Harmless::Search) && goes_by_get(page) {
                return None;
            }
            let harmless = match meaning {
                Meaning::Harmless(kind) => is_small(kind, text),
                Meaning::Unknown => context(text).is_own && !decides(page),
                Meaning::Decisive(_) => false,
            };
            weighed(&named, ActionKind::Typed(text.clone()), harmless)
        }
        (Verb::Select { options, .. }, Some(target)) => {
            let is_harmless = |option: &String| is_harmless_choice(target, option, page, &context(option));
            let harmless = !options.is_empty() && options.iter().all(is_harmless);
            weighed(&named, ActionKind::Chose(options.join(", ")), harmless)
        }
        (Verb::Check { on, .. }, Some(target)) => {
            let harmless = is_harmless_choice(target, &named, page, &context(&named));
            weighed(&named, ActionKind::Ticked(*on), harmless)
        }
        (Verb::Click { .. } | Verb::Submit { .. } | Verb::Press { .. }, target)
            if effect_of(verb, Some(page)) == VerbKind::Submit =>
        {
            let context = context("");
            // The user was asked about the form that the guard filled, and unseen actions of another form wait by
            // themselves.
            if context.is_filled || context.is_unseen || goes_by_get(page) {
                return None;
            }
            let label = target
                .filter(|target| submits(target))
                .or_else(|| page.controls.iter().find(|it| submits(it)));
            let label = label.map(name_of).unwrap_or(named);
            if leads_on(&label) && !decides(page) {
                return None;
            }
            weighed(&label, ActionKind::Sent, false)
        }
        (Verb::Drag { .. }, _) => weighed(&named, ActionKind::Dragged, false),
        (Verb::Click { .. }, Some(target)) if matches!(target.input_type.as_str(), "radio" | "checkbox") => {
            let harmless = is_harmless_choice(target, &named, page, &context(&named));
            weighed(&named, ActionKind::Clicked, harmless)
        }
        // A text box or a list: typing or choosing in it is judged when it happens.
        (Verb::Click { .. }, Some(target)) if is_entry(target) => None,
        (Verb::Click { .. }, Some(_)) if page.form.is_none() && page.destination.known().is_some() => {
            // A link that leads to another page.
            decisive(&[&named])?;
            weighed(&named, ActionKind::Clicked, true)
        }
        (Verb::Click { .. }, _) => {
            // The user was asked about the login that the guard filled, and a script of the page may send it.
            if leads_on(&named) || (logs_in(page) && context("").is_filled) {
                return None;
            }
            let is_own = !named.is_empty() && context(&named).is_own && decisive(&[&named]).is_none();
            weighed(&named, ActionKind::Clicked, is_own)
        }
        _ => None,
    }
}

/// A text without the vault's handles that are in the user's own words: `[address:home]` in a web address does not say
/// where goods go.
fn without_handles(text: &str, is_own: &dyn Fn(&str) -> bool) -> String {
    let (mut rest, mut result) = (text, String::new());
    while let Some((before, bracketed)) = rest.split_once('[') {
        result.push_str(before);
        let (handle, after) = bracketed.split_once(']').unwrap_or((bracketed, ""));
        let whole = format!("[{handle}]");
        if !is_own(&whole) {
            result.push_str(&whole);
        }
        rest = after;
    }
    result + rest
}

/// The page's name for a control: its label, or else its name.
pub(crate) fn name_of(control: &Control) -> String {
    if control.label.is_empty() { control.name.clone() } else { control.label.clone() }
}

fn is_entry(control: &Control) -> bool {
    matches!(control.tag.as_str(), "select" | "textarea")
        || (control.tag == "input"
            && !matches!(
                control.input_type.as_str(),
                "submit" | "button" | "image" | "reset" | "radio" | "checkbox"
            ))
}

pub(crate) fn submits(control: &Control) -> bool {
    matches!(
        (control.tag.as_str(), control.input_type.as_str()),
        ("button", "submit" | "") | ("input", "submit" | "image")
    )
}

/// Whether the form of a verb is one to log in.
fn logs_in(page: &Snapshot) -> bool {
    page.form.is_some() && kind_of_form(&page.controls, &page.words) == FormKind::Login
}

/// Whether a form is sent by GET. It has no body, and the egress check still holds it if it carries a released value.
pub(crate) fn goes_by_get(page: &Snapshot) -> bool {
    matches!(&page.destination, Fact::Known(to) if page.form.is_some() && to.method.eq_ignore_ascii_case("GET"))
}

/// Whether the form of a verb decides something, by the words of any of its controls (hidden ones too) or by its
/// destination.
fn decides(page: &Snapshot) -> bool {
    let is_decisive = |control: &Control| matches!(Meaning::of(control), Meaning::Decisive(_));
    page.controls.iter().filter(|control| !submits(control)).any(is_decisive)
        || page.destination.known().is_some_and(|to| decisive(&[&to.path]).is_some())
}

fn is_harmless_choice(target: &Control, option: &str, page: &Snapshot, context: &FormContext) -> bool {
    if decisive(&[option]).is_some() || option.chars().count() > MAX_VARIANT {
        return false;
    }
    match Meaning::of(target) {
        Meaning::Harmless(_) => true,
        Meaning::Unknown => context.is_own && !decides(page),
        Meaning::Decisive(_) => false,
    }
}

/// Whether a text fits the use of its control, and is too short to be an address.
fn is_small(kind: Harmless, text: &str) -> bool {
    let within = |most: usize| text.chars().count() <= most;
    let has_digit = || text.contains(char::is_numeric);
    let is_line = !text.contains(char::is_control);
    is_line
        && match kind {
            Harmless::Quantity => within(4) && text.chars().all(|c| c.is_ascii_digit()),
            Harmless::Coupon => within(MAX_COUPON) && !text.contains(char::is_whitespace),
            Harmless::Variant => within(MAX_VARIANT) && !has_digit(),
            Harmless::Search => within(MAX_NOTE),
            Harmless::Note => within(MAX_NOTE) && !has_digit(),
        }
}

/// The policy's kind of a verb.
pub(crate) fn kind_of(verb: &Verb) -> VerbKind {
    match verb {
        Verb::Open { .. } => VerbKind::Open,
        Verb::Read => VerbKind::Read,
        // Permission to click includes pointing and dragging.
        Verb::Click { .. } | Verb::Hover { .. } | Verb::Drag { .. } => VerbKind::Click,
        Verb::Type { .. } => VerbKind::Type,
        Verb::Select { .. } | Verb::Check { .. } => VerbKind::Choose,
        Verb::Press { key } if WritingKey::named(key).is_some() => VerbKind::Type,
        Verb::Press { .. } => VerbKind::Press,
        Verb::Submit { .. } => VerbKind::Submit,
        Verb::Wait { .. } | Verb::Back => VerbKind::Idle,
    }
}

/// The effect of Enter where this control has the focus. In an input without a form only a script of the page can act on it, as
/// on any other key.
fn effect_of_enter(focus: Option<&Control>) -> VerbKind {
    let Some(control) = focus else { return VerbKind::Submit };
    match (control.tag.as_str(), control.input_type.as_str(), control.form) {
        ("a", _, _) | ("button", _, None) | ("button", "button" | "reset", Some(_)) => VerbKind::Click,
        ("input", "button" | "reset" | "file" | "color", _) => VerbKind::Click,
        ("input", _, None) => VerbKind::Press,
        _ => VerbKind::Submit,
    }
}

/// The effect of a verb. A click on a submit button submits its form. Enter does what the element with the focus does then; where
/// that is not known, it submits a form whose destination is unknown.
pub(crate) fn effect_of(verb: &Verb, page: Option<&Observed<Snapshot>>) -> VerbKind {
    let submits = match verb {
        Verb::Click { .. } => page.and_then(|page| page.target.as_ref()).is_some_and(|target| {
            target.form.is_some()
                && matches!(
                    (target.tag.as_str(), target.input_type.as_str()),
                    ("button", "submit" | "") | ("input", "submit" | "image")
                )
        }),
        // In an input without a form it presses Enter.
        Verb::Submit { .. } => {
            let target = page.and_then(|page| page.target.as_ref());
            let enters = target.is_some_and(|it| effect_of_enter(Some(it)) == VerbKind::Press);
            return if enters { VerbKind::Press } else { VerbKind::Submit };
        }
        Verb::Press { key } if key == "Enter" => {
            return effect_of_enter(page.and_then(|page| page.target.as_ref()));
        }
        _ => false,
    };
    if submits { VerbKind::Submit } else { kind_of(verb) }
}
