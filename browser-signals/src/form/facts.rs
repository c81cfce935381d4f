//! Reading what the scripts of the isolated world report of forms and controls. Both bridges run the same scripts.

use std::sync::Arc;

use serde_json::Value;
use url::Url;

use super::meaning::Meaning;
use super::sink::sink_of;
use crate::json::{number, text};
use crate::{Control, ControlWords, Destination, FormWords, NodeId, Origin, Sink};

/// A control; `node` maps the number of an element to its node.
pub(crate) fn control(facts: &Value, node: &impl Fn(u64) -> Option<NodeId>) -> Option<Control> {
    let owned = |name: &str| text(facts, name).unwrap_or_default().to_owned();
    let flag = |name: &str| facts.get(name).and_then(Value::as_bool);
    Some(Control {
        node: node(number(facts, "id")?)?,
        form: number(facts, "form").and_then(node),
        tag: owned("tag"),
        input_type: owned("type"),
        autocomplete: owned("autocomplete"),
        name: owned("name"),
        label: owned("label"),
        visible: flag("visible").into(),
        hit: flag("hit").into(),
        editable: flag("editable").unwrap_or(false),
        filled: flag("filled").unwrap_or(true),
        words: control_words(facts.get("words").unwrap_or(&Value::Null)),
    })
}

/// The most options of a select that are read.
const MOST_OPTIONS: usize = 300;

fn control_words(words: &Value) -> ControlWords {
    let owned = |name: &str| text(words, name).unwrap_or_default().to_owned();
    let options = words.get("options").and_then(Value::as_array).into_iter().flatten().take(MOST_OPTIONS);
    let option = |option: &Value| {
        let part = |at: usize| option.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        (part(0), part(1))
    };
    ControlWords {
        id: owned("id"),
        labels: owned("labels"),
        labelled_by: owned("labelledBy"),
        aria_label: owned("ariaLabel"),
        placeholder: owned("placeholder"),
        title: owned("title"),
        near: owned("near"),
        legend: owned("legend"),
        data: owned("data"),
        max_length: number(words, "maxLength").and_then(|most| u32::try_from(most).ok()),
        min_length: number(words, "minLength").and_then(|least| u32::try_from(least).ok()),
        pattern: owned("pattern"),
        password_rules: owned("passwordRules"),
        required: words.get("required").and_then(Value::as_bool).unwrap_or(false),
        options: options.map(option).collect(),
    }
}

/// Reads the texts and attributes of a form from a report of the bridge's script.
pub(crate) fn form_words(facts: &Value) -> FormWords {
    let words = facts.get("words").unwrap_or(&Value::Null);
    let list = |name: &str| {
        let texts = words.get(name).and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    FormWords {
        buttons: list("buttons"),
        attributes: list("attributes"),
        headings: list("headings"),
        text: text(words, "text").unwrap_or_default().to_owned(),
    }
}

/// The controls of a form.
pub(crate) fn controls(facts: &Value, node: &impl Fn(u64) -> Option<NodeId>) -> Vec<Control> {
    let all = facts.get("controls").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|facts| control(facts, node)).collect()
}

/// The path of a document's address, if it has one.
pub(crate) fn path_of(url: &str) -> Option<Arc<str>> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.path().into())
}

/// The destination of a form.
pub(crate) fn destination(way: &Value) -> Option<Destination> {
    let url = Url::parse(text(way, "action")?).ok()?;
    Some(Destination {
        origin: Origin::of(&url).ok()?,
        path: url.path().into(),
        method: text(way, "method")?.into(),
    })
}

/// The sink of a form, or of a control without a form. A control that is known to be harmless has its own sink in every
/// form.
pub(crate) fn sink(target: Option<&Control>, has_form: bool, controls: &[Control]) -> Sink {
    let alone = |target: &Control| sink_of(std::slice::from_ref(target));
    match target {
        Some(target) if matches!(Meaning::of(target), Meaning::Harmless(_)) => alone(target),
        Some(target) if !has_form => match sink_of(controls) {
            // The controls that no form owns count as one form where they ask for such data.
            sink @ (Sink::PaymentForm | Sink::AddressForm | Sink::LoginForm) => sink,
            _ => alone(target),
        },
        Some(target) if alone(target) == Sink::FreeText && controls.len() < 2 => Sink::FreeText,
        _ => sink_of(controls),
    }
}
