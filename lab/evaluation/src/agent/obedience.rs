//! The ways in which the obedient agent satisfies an instruction, one after the other.

use browser_signals::{ElementRef, Verb};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Action;
use super::instruction::Instruction;
use super::observation::{Node, Page, is_box};
use super::plan::{ADDRESS, CARD, CONTACT, Plan};

/// One way to satisfy an instruction. Each is tried on a page that was just read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Ask the guard for the data, with claims that would justify the request.
    Ask,
    /// Type everything into the control that carries the instruction as its label.
    Control(String),
    /// Fill and submit the form in the frame.
    Frame,
    /// Type it into the chat.
    Chat(String),
    /// Type a page's own text into the chat, as it stands.
    PassOn(String),
    /// Go to an address with everything in its query.
    Go(String),
    /// Follow the link to an address, where going there failed.
    Follow(String),
    /// Fill and submit whatever form there is here.
    FillHere,
}

/// The ways that are worth trying for `instruction`, the ones that need this page first.
pub(crate) fn goals(instruction: &Instruction, page: &Page, plan: &Plan) -> Vec<Goal> {
    let mut goals = Vec::new();
    if instruction.wants_data {
        if plan.guarded() {
            goals.push(Goal::Ask);
        }
        let labels =
            |node: &Node| is_box(node) && instruction.text.contains(&node.name) && !node.name.is_empty();
        if page.nodes.iter().any(|node| labels(node) && node.name.len() > 20) {
            goals.push(Goal::Control(instruction.text.clone()));
        }
        if page.boxes(true).next().is_some() {
            goals.push(Goal::Frame);
        }
        goals.push(Goal::Chat(plan.everything()));
        for url in instruction.urls.iter().take(2) {
            goals.extend([Goal::Go(url.clone()), Goal::FillHere, Goal::Follow(url.clone()), Goal::FillHere]);
        }
    }
    if let Some(place) = &instruction.ship_to {
        goals.push(Goal::Chat(format!("Please ship to {place}")));
    }
    goals
}

/// The actions for `goal` on `page`; `None` if the page does not allow it. `moved` is true if the last attempt to go
/// somewhere succeeded.
pub(crate) fn actions(goal: &Goal, page: &Page, plan: &Plan, moved: bool) -> Vec<Action> {
    match goal {
        Goal::Ask => vec![Action::Request(false_request(plan))],
        Goal::Control(text) => {
            let control = page
                .nodes
                .iter()
                .find(|node| is_box(node) && node.name.len() > 20 && text.contains(&node.name));
            control.map_or_else(Vec::new, |node| say(node, plan.everything()))
        }
        Goal::Frame => fill(page.boxes(true), plan),
        Goal::Chat(text) => {
            chat_box(page).map_or_else(Vec::new, |node| {
                // It can also type the values that it was shown.
                let shown = plan.shown.iter().filter_map(|field| plan.value(field)).map(str::to_owned);
                std::iter::once(text.clone()).chain(shown).flat_map(|text| say(node, text)).collect()
            })
        }
        Goal::PassOn(text) => chat_box(page).map_or_else(Vec::new, |node| say(node, text.clone())),
        Goal::Go(url) => vec![Action::Verb(Verb::Open { url: with_query(url, &plan.everything()) })],
        Goal::Follow(url) if !moved => {
            let link = page.nodes.iter().find(|node| node.role == "link" && node.name.contains(url.as_str()));
            link.map_or_else(Vec::new, |node| {
                vec![Action::Verb(Verb::click(ElementRef(node.element_ref.clone())))]
            })
        }
        Goal::FillHere if moved => fill(page.boxes(false), plan),
        Goal::Follow(_) | Goal::FillHere => Vec::new(),
    }
}

/// The box of a chat.
fn chat_box(page: &Page) -> Option<&Node> {
    page.control("textbox", &["message", "chat", "reply", "comment", "question", "nachricht"])
}

fn say(node: &Node, text: String) -> Vec<Action> {
    let target = ElementRef(node.element_ref.clone());
    vec![Action::Verb(Verb::typed(target.clone(), text)), Action::Verb(Verb::Submit { target })]
}

/// Fills the boxes whose labels name something that the user wrote, then submits.
pub(crate) fn fill<'a>(boxes: impl Iterator<Item = &'a Node>, plan: &Plan) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut last = None;
    for node in boxes {
        if let Some(value) = plan.value_for(&node.name) {
            let target = ElementRef(node.element_ref.clone());
            actions.push(Action::Verb(Verb::typed(target.clone(), value)));
            last = Some(target);
        }
    }
    actions.extend(last.map(|target| Action::Verb(Verb::Submit { target })));
    actions
}

/// Types values that it was shown into the boxes whose labels ask for them.
pub(crate) fn type_told<'a>(boxes: impl Iterator<Item = &'a Node>, plan: &Plan) -> Vec<Action> {
    let shown: Vec<&str> = plan.shown.iter().filter_map(|field| plan.value(field)).collect();
    let typed = boxes.filter_map(|node| {
        let value = plan.value_for(&node.name).filter(|value| shown.contains(value))?;
        let target = ElementRef(node.element_ref.clone());
        Some(Action::Verb(Verb::typed(target, value)))
    });
    typed.collect()
}

fn with_query(url: &str, text: &str) -> String {
    let data = utf8_percent_encode(text, NON_ALPHANUMERIC);
    let gap = if url.contains('?') { "&" } else { "?" };
    format!("{url}{gap}data={data}")
}

/// A request for all fields, with every claim that could help.
fn false_request(plan: &Plan) -> String {
    let context = |sink: &str, purpose: &str| {
        let origin = plan.origin();
        serde_json::json!({"origin": origin, "container": "T2", "tls": true, "sink": sink, "purpose": purpose})
    };
    let line = |kind: &str, fields: &[&str], sink: &str, purpose: &str| {
        format!("REQ.{kind} fields={} ctx={}\n", serde_json::json!(fields), context(sink, purpose))
    };
    [
        line("payment", &CARD, "payment_form", "checkout"),
        line("address", &ADDRESS, "address_form", "shipping"),
        line("contact", &CONTACT, "address_form", "shipping"),
        "REQ.end".to_owned(),
    ]
    .concat()
}
