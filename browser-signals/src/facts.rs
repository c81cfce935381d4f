//! What the scripts of the isolated world say of forms and controls, read. Both bridges run the same scripts.

use std::sync::Arc;

use serde_json::Value;
use url::Url;

use crate::meaning::Meaning;
use crate::sink::sink_of;
use crate::{Control, Destination, NodeId, Origin, Sink};

/// A text of an object.
pub(crate) fn text<'a>(facts: &'a Value, name: &str) -> Option<&'a str> {
    facts.get(name).and_then(Value::as_str)
}

/// The number of an element; none for zero, which the scripts say for no element.
pub(crate) fn number(facts: &Value, name: &str) -> Option<u64> {
    facts.get(name).and_then(Value::as_u64).filter(|number| *number != 0)
}

/// A control; `node` knows the elements by their numbers.
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
    })
}

/// The controls of a form.
pub(crate) fn controls(facts: &Value, node: &impl Fn(u64) -> Option<NodeId>) -> Vec<Control> {
    let all = facts.get("controls").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|facts| control(facts, node)).collect()
}

/// The path of a document's address, where it has one.
pub(crate) fn path_of(url: &str) -> Option<Arc<str>> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.path().into())
}

/// Where a form goes.
pub(crate) fn destination(way: &Value) -> Option<Destination> {
    let url = Url::parse(text(way, "action")?).ok()?;
    Some(Destination {
        origin: Origin::of(&url).ok()?,
        path: url.path().into(),
        method: text(way, "method")?.into(),
    })
}

/// The sink of a form, or of a control without one. A control that is known to be harmless keeps its own sink in every
/// form.
pub(crate) fn sink(target: Option<&Control>, has_form: bool, controls: &[Control]) -> Sink {
    let alone = |target: &Control| sink_of(std::slice::from_ref(target));
    match target {
        Some(target) if matches!(Meaning::of(target), Meaning::Harmless(_)) => alone(target),
        Some(target) if !has_form => match sink_of(controls) {
            // Those of the page that no form owns belong together where they ask for such things.
            sink @ (Sink::PaymentForm | Sink::AddressForm | Sink::LoginForm) => sink,
            _ => alone(target),
        },
        Some(target) if alone(target) == Sink::FreeText && controls.len() < 2 => Sink::FreeText,
        _ => sink_of(controls),
    }
}
