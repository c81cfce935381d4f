//! The built-in statements, by the oracle: each is searched for a valuation that contradicts it.

use policy_dfa::Axis;

use crate::enumerate::{ANY, Asker, Cube, every, some};
use crate::evaluator::{Answer, Rules};
use crate::model::{Clause, Event, Model, tier};

/// An event with its rules, and its answers with their cubes.
pub struct Answers<'m> {
    pub event: Event,
    pub rules: Rules<'m>,
    pub leaves: Vec<(Cube, Answer)>,
}

impl<'m> Answers<'m> {
    pub fn of(model: &'m Model, event: Event) -> Answers<'m> {
        let rules = model.rules(event);
        let mut leaves = Vec::new();
        every(&ANY, |ask| {
            let answer = rules.answer(ask);
            leaves.push((ask.cube, answer));
        });
        Answers { event, rules, leaves }
    }
}

type Contradicts = fn(&Model, Event, Answer, &mut Asker<'_>) -> bool;

/// Statements about one valuation.
const SINGLE: [(&str, Contradicts); 20] = [
    ("no field is released in a container below its tier", |_, event, answer, ask| {
        let Some(need) = event.need() else { return false };
        answer.permits() && tier(ask.name(Axis::Container)).is_none_or(|tier| tier < need)
    }),
    ("a needed signal that is unknown is refused", |_, event, answer, ask| {
        if event.need().is_none() {
            return false;
        }
        let mut needed = vec!["container", "origin", "top_origin", "tls", "frame", "document"];
        needed.extend(match event {
            Event::Request("purchase", _) => ["amount"].as_slice(),
            Event::Checkout("purchase", _) => &["destination", "amount"],
            Event::Checkout(..) => &["destination"],
            _ => &["destination", "visibility"],
        });
        answer.permits()
            && needed.iter().any(|signal| ask.name(Axis::from_name(signal).unwrap()) == "unknown")
    }),
    ("a claim that the browser does not confirm is refused", |_, event, answer, ask| {
        released(event, answer) && ask.name(Axis::Claim) == "contradicts"
    }),
    ("nothing is released that the task did not plan", |_, event, answer, ask| {
        released(event, answer) && ask.name(Axis::Plan) == "unplanned"
    }),
    (
        "nothing is released outside the task's origins, but card data in a named provider's frame",
        |model, event, answer, ask| {
            let origin = ask.name(Axis::Origin);
            let home = origin == "task" || (origin == "provider" && lets_provider_in(model, event));
            released(event, answer)
                && (!home
                    || ask.name(Axis::TopOrigin) != "task"
                    || (has_form(event) && ask.name(Axis::Destination).starts_with("other")))
        },
    ),
    (
        "a provider's frame takes card data alone, after a yes to this one release, and sends them to the provider alone",
        |model, event, answer, ask| {
            if !released(event, answer) {
                return false;
            }
            let origin = ask.name(Axis::Origin) == "provider";
            let goal = has_form(event) && ask.name(Axis::Destination) == "provider";
            if !lets_provider_in(model, event) {
                return origin || goal;
            }
            let within = ask.name(Axis::Frame) == "provider";
            let asked = match answer {
                Answer::Ask(until) => until == "every_time",
                Answer::Grant(delivery) => delivery == "fill" && ask.name(Axis::Consent) == "given",
                Answer::Deny(..) => true,
            };
            if within { !asked || !origin || !goal } else { origin || goal }
        },
    ),
    (
        "nothing is released over a connection or to a form that is not encrypted, unless the policy names loopback",
        |model, event, answer, ask| {
            let request = model.requests.iter().find(|request| request.kind == event.name());
            let names = |test: &str| {
                // Nothing is ordered on this machine, whatever the section says.
                request.filter(|_| matches!(event, Event::Request(..))).is_some_and(|request| {
                    let mut clauses = request.clauses.iter();
                    clauses.any(|clause| clause.test == test && clause.value[0].ends_with("loopback"))
                })
            };
            let (tls, destination) = (ask.name(Axis::Tls), ask.name(Axis::Destination));
            let encrypted = tls == "valid" || (tls == "loopback" && names("tls"));
            let in_clear = destination.ends_with("over_http")
                || (destination.ends_with("on_loopback") && !names("destination"));
            released(event, answer) && (!encrypted || (has_form(event) && in_clear))
        },
    ),
    (
        "no card data and no government identity number go over a connection in clear, not even on this machine",
        |_, event, answer, ask| {
            matches!(event.name(), "payment" | "purchase" | "identity")
                && released(event, answer)
                && (ask.name(Axis::Tls) == "loopback"
                    || (has_form(event) && ask.name(Axis::Destination).ends_with("on_loopback")))
        },
    ),
    (
        "no T2 field is released on the page's own word: its form must go to the task's origins, or to a named provider",
        |model, event, answer, ask| {
            let to = ask.name(Axis::Destination);
            let named = to == "provider" && lets_provider_in(model, event);
            put_in(event, answer) == Some(2) && !named && !matches!(to, "task" | "task_on_loopback")
        },
    ),
    ("a field is only put into a suitable control that can be seen", |_, event, answer, ask| {
        let Some(need) = put_in(event, answer) else { return false };
        let placement = ask.name(Axis::Placement);
        matches!(placement, "lacking" | "unplaced")
            || (need == 2 && placement == "free_text")
            || ask.name(Axis::Visibility) == "hidden"
    }),
    (
        "a control that only the user can judge, by the agent's word or for a street in a text area, is filled after a yes for this one time",
        |_, event, answer, ask| {
            let doubtful = matches!(event, Event::Request(..)) && ask.name(Axis::Placement) == "doubtful";
            doubtful
                && (answer == Answer::Ask("session") || answer.grants() && ask.name(Axis::Consent) != "given")
        },
    ),
    ("no T2 field reaches the model", |_, event, answer, _| {
        event.need() == Some(2) && answer == Answer::Grant("model")
    }),
    (
        "no T2 field is released unless the user said yes, to it or for a purchase to the mandate of the task",
        |model, event, answer, ask| {
            let request = model.requests.iter().find(|request| request.kind == event.name());
            let mandate = event.name() == "purchase" && request.is_some_and(|request| request.mandate);
            event.need() == Some(2)
                && answer.grants()
                && match ask.name(Axis::Consent) {
                    "given" => false,
                    "mandated" => !mandate,
                    _ => true,
                }
        },
    ),
    (
        "a low safety that asks leaves no earlier yes in force: each release below the threshold is asked about",
        |model, event, answer, ask| {
            let Some(need) = event.need() else { return false };
            let request = model.requests.iter().find(|request| request.kind == event.name());
            let mut clauses = request.iter().flat_map(|request| &request.clauses);
            if !answer.permits() || !clauses.any(|clause| clause.test == "safety" && clause.asks) {
                return false;
            }
            let low = match ask.name(Axis::Safety) {
                "unknown" | "below" => true,
                band => tier(band).unwrap() < need,
            };
            low && match answer {
                Answer::Ask(until) => until != "every_time",
                _ => ask.name(Axis::Consent) != "given",
            }
        },
    ),
    ("a site that is denied is denied whatever else holds", |model, event, answer, ask| {
        model.has_site_rule(event) && answer.permits() && ask.name(Axis::Site) != "free"
    }),
    (
        "a purchase is paid at the top of its page and within the task's budget, and no card goes into a form whose page names more",
        |_, event, answer, ask| {
            answer.permits()
                && match event.name() {
                    "purchase" => ask.name(Axis::Frame) != "top" || ask.name(Axis::Amount) != "within",
                    "payment" => ask.name(Axis::Amount) == "over",
                    _ => false,
                }
        },
    ),
    (
        "an order by `ucp` goes from the top frame of the task's own page, over a valid connection, to that page's own origin over https",
        |_, event, answer, ask| {
            let ordered = answer == Answer::Grant("ucp") || (is_order(event) && answer.permits());
            ordered
                && [
                    (Axis::Origin, "task"),
                    (Axis::TopOrigin, "task"),
                    (Axis::Tls, "valid"),
                    (Axis::Frame, "top"),
                    (Axis::Document, "known"),
                    (Axis::Destination, "task"),
                ]
                .into_iter()
                .any(|(axis, only)| ask.name(axis) != only)
        },
    ),
    (
        "a purchase by `ucp` is placed in a T2 container, within the task's budget, and after a yes that names payee and amount or by the mandate of the task",
        |model, event, answer, ask| {
            if !is_order(event) || event.name() != "purchase" || !answer.permits() {
                return false;
            }
            let request = model.requests.iter().find(|request| request.kind == "purchase").unwrap();
            let agreed = match answer {
                Answer::Ask(until) => until == "every_time",
                _ => match ask.name(Axis::Consent) {
                    "given" => true,
                    "mandated" => request.mandate,
                    _ => false,
                },
            };
            !request.naming
                || !agreed
                || ask.name(Axis::Container) != "T2"
                || ask.name(Axis::Amount) != "within"
        },
    ),
    (
        "an order takes the fields of an address, of contact data or of a purchase alone, and goes by `ucp` and no other way, as nothing else does",
        |_, event, answer, ask| match (event, answer) {
            (
                Event::Checkout("address" | "contact" | "purchase", _),
                Answer::Grant("ucp") | Answer::Ask(_),
            ) => {
                matches!(ask.name(Axis::Placement), "lacking" | "doubtful")
            }
            (Event::Checkout(..), answer) => answer.permits(),
            (_, answer) => answer == Answer::Grant("ucp"),
        },
    ),
    ("no limit of the session is passed", |model, event, answer, ask| {
        let asks = matches!(answer, Answer::Ask(_)) && model.prompts.is_some();
        answer.permits()
            && ((asks && ask.name(Axis::Prompts) == "spent")
                || (model.can_be_barred(event, true) && ask.name(Axis::Taint) == "tainted")
                || (model.can_be_barred(event, false) && ask.name(Axis::Session) == "barred")
                || (model.limit(event).is_some() && ask.name(Axis::Uses) == "spent"))
    }),
];

/// The symbol of a case on the signal, and its answer.
type Side = (&'static str, Answer);

/// The words of a statement, its signals, and whether a first answer that is no denial contradicts a second one.
type Pair = (&'static str, fn(Axis) -> bool, fn(Event, Side, Side, &mut Asker<'_>) -> bool);

/// Statements about two valuations that differ in one signal.
const PAIRS: [Pair; 5] = [
    (
        "a signal that is unknown never opens what some value of it would refuse",
        |axis| axis.symbols().last() == Some(&"unknown"),
        |_, one, other, _| one.0 == "unknown" && rank(one.1) > rank(other.1),
    ),
    (
        "a lower safety never turns a refusal into a question or a grant",
        |axis| axis == Axis::Safety,
        |_, one, other, _| {
            let band =
                |symbol| ["unknown", "below", "T0", "T1", "T2"].iter().position(|known| *known == symbol);
            band(one.0) < band(other.0) && rank(one.1) > rank(other.1)
        },
    ),
    (
        "no safety turns a question into a grant of a T2 field, but where a mandate of the user's covers it",
        |axis| axis == Axis::Safety,
        |event, one, other, ask| {
            let asked = matches!(one.1, Answer::Ask(_));
            event.need() == Some(2) && asked && other.1.grants() && ask.name(Axis::Consent) != "mandated"
        },
    ),
    (
        "nobody is asked about what is refused anyway",
        |axis| axis == Axis::Consent,
        |_, one, other, _| matches!(one.1, Answer::Ask(_)) && other.0 == "given" && !other.1.permits(),
    ),
    (
        "a mandate grants nothing that a yes of the user's would not",
        |axis| axis == Axis::Consent,
        |_, one, other, _| one.0 == "mandated" && one.1.grants() && other.0 == "given" && one.1 != other.1,
    ),
];

fn rank(answer: Answer) -> u8 {
    match answer {
        Answer::Deny(..) => 0,
        Answer::Ask(_) => 1,
        Answer::Grant(_) => 2,
    }
}

fn released(event: Event, answer: Answer) -> bool {
    event.need().is_some() && answer.permits()
}

/// Whether the guard places an order at a shop's endpoint.
fn is_order(event: Event) -> bool {
    matches!(event, Event::Checkout(..))
}

/// Whether the policy fills card data into the frame of a provider that it names.
fn lets_provider_in(model: &Model, event: Event) -> bool {
    let section = model.requests.iter().find(|request| request.kind == event.name());
    event.name() == "payment"
        && section.is_some_and(|request| request.clauses.iter().any(Clause::lets_provider_in))
}

/// Whether the destination is where the request goes: a form's, or a shop's endpoint.
fn has_form(event: Event) -> bool {
    is_order(event) || event.name() != "purchase"
}

/// The tier of fields that are filled into a page.
fn put_in(event: Event, answer: Answer) -> Option<usize> {
    match (event, answer) {
        (Event::Request(_, need), Answer::Grant("fill" | "wire")) => Some(need),
        _ => None,
    }
}

/// Whether a built-in statement does not hold. The comparison of all outcomes covers the statements that the
/// automaton is total and equivalent to the rules.
pub fn is_broken(words: &str, model: &Model, all: &[Answers<'_>]) -> bool {
    if words.starts_with("every combination of signals")
        || words.starts_with("the answer is that of the rules")
    {
        return false;
    }
    if let Some((_, contradicts)) = SINGLE.iter().find(|(known, _)| *known == words) {
        return all.iter().any(|answers| {
            let mut leaves = answers.leaves.iter().filter(|(_, answer)| answer.permits());
            leaves.any(|(cube, answer)| some(cube, |ask| contradicts(model, answers.event, *answer, ask)))
        });
    }
    let pair = PAIRS.iter().find(|(known, ..)| *known == words);
    let Some((_, on, contradicts)) = pair else { panic!("the oracle does not know `{words}`") };
    all.iter().any(|answers| {
        let permitted = answers.leaves.iter().filter(|(_, answer)| answer.permits());
        let mut cases = permitted.flat_map(|leaf| Axis::ALL.iter().map(move |axis| (leaf, *axis)));
        cases.any(|((cube, answer), axis)| {
            let Some(index) = cube[axis as usize].filter(|_| on(axis)) else { return false };
            let one = (axis.symbols()[usize::from(index)], *answer);
            (0..axis.symbols().len() as u8).filter(|other| *other != index).any(|other| {
                let mut near = *cube;
                near[axis as usize] = Some(other);
                let symbol = axis.symbols()[usize::from(other)];
                some(&near, |ask| {
                    let there = (symbol, answers.rules.answer(ask));
                    contradicts(answers.event, one, there, ask)
                })
            })
        })
    })
}
