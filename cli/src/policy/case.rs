//! Cases as JSON: an event, its signals, and its history. `prove` writes them, `explain` reads them.

use portcullis::policy::{Axis, Compiled, Outcome, Root, SessionEvent, Valuation, VerbKind, Violation};
use portcullis::sirl::{Currency, Kind, Money};
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// A case for a question to a policy.
pub struct Case {
    pub root: Root,
    pub valuation: Valuation,
    pub history: Vec<SessionEvent>,
}

impl Case {
    pub fn of(violation: &Violation) -> Case {
        Case { root: violation.root, valuation: violation.valuation, history: violation.history.clone() }
    }

    pub fn json(&self) -> Value {
        let history: Vec<String> = self.history.iter().map(happened).collect();
        json!({ "event": event(self.root), "signals": signals(&self.valuation), "history": history })
    }

    /// Parses the output of [`Case::json`]; a missing signal has its first symbol.
    pub fn read(text: &str) -> Result<Case, Failure> {
        let bad = |what: &str| Failure::Input(format!("this is not a case: {what}"));
        let value: Value = serde_json::from_str(text).map_err(|error| bad(&error.to_string()))?;
        let name = value.get("event").and_then(Value::as_str).ok_or_else(|| bad("it has no `event`"))?;
        let root = event_named(name, |_| true)?;
        let mut valuation = Valuation::FIRST;
        let signals =
            value.get("signals").and_then(Value::as_object).ok_or_else(|| bad("it has no `signals`"))?;
        for (signal, symbol) in signals {
            let symbol = symbol.as_str().ok_or_else(|| bad("a signal has no text"))?;
            set(&mut valuation, signal, symbol)?;
        }
        let events = value.get("history").and_then(Value::as_array).cloned().unwrap_or_default();
        let history: Option<Vec<SessionEvent>> =
            events.iter().map(|event| event.as_str().and_then(happened_named)).collect();
        Ok(Case { root, valuation, history: history.ok_or_else(|| bad("its history has an unknown event"))? })
    }
}

/// The name of an event: `address:T2`, `checkout_address:T2`, `open`.
pub fn event(root: Root) -> String {
    let tier = root.need().map_or_else(String::new, |need| format!(":{}", need.as_str()));
    format!("{}{tier}", root.event_name())
}

/// The event with this name. A kind without a tier is its request for the highest tier that `occurs`.
pub fn event_named(name: &str, occurs: impl Fn(Root) -> bool) -> Result<Root, Failure> {
    let (word, tier) = match name.split_once(':') {
        Some((word, tier)) => (word, Some(tier)),
        None => (name, None),
    };
    let is = |root: &Root| {
        root.event_name() == word
            && match (root.need(), tier) {
                (Some(need), Some(tier)) => need.as_str() == tier,
                (Some(_), None) => occurs(*root),
                (None, tier) => tier.is_none(),
            }
    };
    Root::all().filter(is).last().ok_or_else(|| {
        let kinds = Kind::ALL.map(Kind::as_str).join(", ");
        Failure::Input(format!("no event is called `{name}`: write one of {kinds}, checkout_address, checkout_contact, checkout_purchase, with a tier behind it or not, as address:T1, or a verb such as open"))
    })
}

/// The event of this name, if the policy can meet it.
pub fn occurring<State>(policy: &Compiled<State>, name: &str) -> Result<Root, Failure> {
    let root = event_named(name, |root| policy.events().any(|other| other == root))?;
    if policy.events().any(|other| other == root) {
        return Ok(root);
    }
    let known: Vec<String> = policy.events().map(event).collect();
    Err(Failure::Input(format!("no request is `{name}` under this policy; there are {}", known.join(", "))))
}

/// Sets a signal by name.
pub fn set(valuation: &mut Valuation, signal: &str, symbol: &str) -> Result<(), Failure> {
    let axis = Axis::from_name(signal).ok_or_else(|| {
        let names: Vec<&str> = Axis::ALL.iter().map(|axis| axis.as_str()).collect();
        Failure::Input(format!("no signal is called `{signal}`; there are {}", names.join(", ")))
    })?;
    let place = axis.symbols().iter().position(|name| *name == symbol).ok_or_else(|| {
        Failure::Input(format!("`{signal}` is never `{symbol}`; it is one of {}", axis.symbols().join(", ")))
    })?;
    valuation.set(axis, place as u8);
    Ok(())
}

pub fn signals(valuation: &Valuation) -> Value {
    let each = Axis::ALL.iter().map(|axis| (axis.as_str().to_owned(), json!(valuation.name(*axis))));
    Value::Object(each.collect::<Map<String, Value>>())
}

/// An answer as JSON.
pub fn answer(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Deny(axis, reason) => json!({ "refused": reason.code(), "signal": axis.as_str() }),
        Outcome::Ask(_) => json!({ "asked": true }),
        Outcome::Grant(way) => json!({ "granted": way.map_or("verb", |way| way.as_str()) }),
    }
}

fn happened(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Prompted => "prompted".to_owned(),
        SessionEvent::Refused => "refused".to_owned(),
        SessionEvent::Suspected => "suspected_injection".to_owned(),
        SessionEvent::Released(kind) => format!("released {}", kind.as_str()),
        SessionEvent::Uncounted(kind) => format!("uncounted {}", kind.as_str()),
        SessionEvent::Paid(amount) => format!("paid {amount}"),
        SessionEvent::Charged(amount) => format!("charged {amount}"),
        SessionEvent::Done(verb) => format!("done {}", verb.as_str()),
        SessionEvent::NewTask => "new_task".to_owned(),
    }
}

fn happened_named(text: &str) -> Option<SessionEvent> {
    let mut words = text.split(' ');
    let found = match (words.next()?, words.next(), words.next()) {
        ("prompted", None, None) => SessionEvent::Prompted,
        ("refused", None, None) => SessionEvent::Refused,
        ("suspected_injection", None, None) => SessionEvent::Suspected,
        ("new_task", None, None) => SessionEvent::NewTask,
        ("released", Some(kind), None) => SessionEvent::Released(Kind::from_name(kind)?),
        ("uncounted", Some(kind), None) => SessionEvent::Uncounted(Kind::from_name(kind)?),
        ("charged", Some(amount), Some(currency)) => {
            SessionEvent::Charged(Money::parse(amount, Currency::new(currency)?)?)
        }
        ("done", Some(verb), None) => SessionEvent::Done(verb_named(verb)?),
        ("paid", Some(amount), Some(currency)) => {
            SessionEvent::Paid(Money::parse(amount, Currency::new(currency)?)?)
        }
        _ => return None,
    };
    Some(found)
}

fn verb_named(name: &str) -> Option<VerbKind> {
    Root::all().find_map(|root| match root {
        Root::Verb(verb) if verb.as_str() == name => Some(verb),
        _ => None,
    })
}
