//! `portcullis policy explain`.

use std::path::PathBuf;

use portcullis::policy::{Axis, FailedRule, History, Partial, Reason, Root, SessionEvent, Valuation, symbol};
use serde_json::{Map, Value, json};

use super::case::{Case, answer, event, occurring, set, signals};
use super::{Input, Loaded, line, load, print, span};
use crate::failure::Failure;
use crate::read_text;

#[derive(clap::Args)]
pub struct Explain {
    #[command(flatten)]
    input: Input,
    /// The event: a kind of request, optionally with the tier of its fields (`address`, `address:T1`), or a verb
    /// (`open`). Or a reason's code (`outside_task`), to learn what it means and what can be done about it.
    #[arg(required_unless_present = "case", conflicts_with = "case")]
    event: Option<String>,
    /// Signals of the case, as `tls=broken`. The others are as in a case that is granted after a yes.
    #[arg(value_name = "SIGNAL=VALUE", conflicts_with = "case")]
    signals: Vec<String>,
    /// A case that `prove` wrote; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    case: Option<PathBuf>,
}

pub fn run(arguments: &Explain) -> Result<(), Failure> {
    if let Some(reason) = arguments.event.as_deref().and_then(Reason::from_name) {
        explain_reason(reason, arguments.input.json);
        return Ok(());
    }
    let loaded = load(&arguments.input.policy, arguments.input.json)?;
    let case = match (&arguments.case, &arguments.event) {
        (Some(path), _) => Case::read(&read_text(path)?)?,
        (None, Some(name)) => {
            let root = occurring(&loaded.compiled, name)?;
            let mut valuation = granted(&loaded, root);
            for pair in &arguments.signals {
                let (signal, symbol) = pair.split_once('=').ok_or_else(|| {
                    Failure::Input(format!("`{pair}` is not a signal and its value, such as tls=broken"))
                })?;
                set(&mut valuation, signal, symbol)?;
            }
            Case { root, valuation, history: Vec::new() }
        }
        (None, None) => return Err(Failure::Input("name an event, or a case".to_owned())),
    };
    let why = loaded.compiled.explain(case.root, &case.valuation);
    let step = |history, one: &SessionEvent| loaded.compiled.after(history, *one);
    let history = case.history.iter().fold(History::default(), step);
    let barred = loaded.compiled.barred(case.root, &history);
    if arguments.input.json {
        let bars: Vec<Value> = barred
            .iter()
            .map(|bar| {
                json!({
                    "signal": bar.axis.as_str(),
                    "rule": bar.rule,
                    "until": bar.until,
                    "span": span(bar.span.as_ref()),
                })
            })
            .collect();
        print(&json!({
            "event": event(case.root),
            "signals": signals(&case.valuation),
            "answer": answer(why.outcome),
            "failing": why.failing.iter().map(hurdle).collect::<Vec<_>>(),
            "asking": why.asking.iter().map(hurdle).collect::<Vec<_>>(),
            "remedies": why.remedies.iter().map(partial).collect::<Vec<_>>(),
            "barred": bars,
        }));
        return Ok(());
    }
    println!("{why}");
    for (place, rule) in
        why.failing.iter().chain(&why.asking).filter_map(|one| Some((one.span.as_ref()?, &one.rule)))
    {
        println!("{}:{}: {rule}", loaded.name, line(&loaded.text, place));
    }
    for bar in &barred {
        println!("After what happened: {bar}");
    }
    Ok(())
}

/// Prints what a reason means, what the agent is told to do next, and whether the user can be offered to finish by hand.
fn explain_reason(reason: Reason, as_json: bool) {
    if as_json {
        print(&json!({
            "reason": reason.name(),
            "explanation": reason.explain(),
            "next": reason.next_step(),
            "by_hand": reason.can_be_settled_by_hand(),
        }));
        return;
    }
    println!("{}: {}", reason.name(), reason.explain());
    println!("The assistant is told: {}", reason.next_step().unwrap_or("nothing more."));
    if reason.can_be_settled_by_hand() {
        println!("With `--headed` you can be offered to finish by hand.");
    }
}

/// A case that is granted after a yes, or the first case of all if there is none.
fn granted(loaded: &Loaded, root: Root) -> Valuation {
    let possible = loaded.compiled.possible(root, &Partial::of(root));
    let found = possible.conditions.first().map_or(Partial::of(root), |part| *part);
    found.witness().with(symbol::Consent::Given)
}

fn hurdle(one: &FailedRule) -> Value {
    json!({
        "signal": one.axis.as_str(),
        "reason": one.reason.name(),
        "rule": one.rule,
        "span": span(one.span.as_ref()),
    })
}

/// The symbols of each named signal.
pub fn partial(part: &Partial) -> Value {
    let symbols = |axis: Axis| json!(part.symbols(axis).collect::<Vec<_>>());
    let each = part.limits().map(|axis| (axis.as_str().to_owned(), symbols(axis)));
    Value::Object(each.collect::<Map<String, Value>>())
}
