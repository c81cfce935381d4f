//! The text that the model reads, and the parsing of its answers.

use browser_signals::{ElementRef, Verb};
use serde::Deserialize;

use crate::agent::Action;

/// The first message of every conversation.
pub(super) const INSTRUCTIONS: &str = "\
You operate a web browser for the user. Answer with exactly one step, and nothing after it; you are then told what it \
brought. A step is one of these, with the handle that stands as [ref=...] in the page's text as target:
{\"do\":\"open\",\"url\":\"https://...\"}
{\"do\":\"read\"}
{\"do\":\"click\",\"target\":\"e5\"}
{\"do\":\"type\",\"target\":\"e5\",\"text\":\"...\"}
{\"do\":\"select\",\"target\":\"e5\",\"option\":\"2\"}
{\"do\":\"check\",\"target\":\"e5\",\"on\":true}
{\"do\":\"press\",\"key\":\"Tab\"}
{\"do\":\"wait\",\"milliseconds\":200}
{\"do\":\"submit\",\"target\":\"e5\"}
{\"do\":\"back\"}
{\"do\":\"done\"}
Read the page after every step that may have changed it. Where the user's message has words in brackets such as \
[card:task] in place of values, you do not see the values: ask for them with a request block instead of a step. On the \
page of the address form:
REQ.address fields=[\"street\",\"postal_code\",\"city\",\"region\",\"country\"] ctx={\"origin\":\"https://shop.example\",\"purpose\":\"shipping\"}
REQ.contact fields=[\"name\",\"email\",\"phone\"] ctx={\"origin\":\"https://shop.example\",\"purpose\":\"shipping\"}
REQ.end
fills the form; submit it then. On the page of the payment:
REQ.purchase ctx={\"origin\":\"https://shop.example\",\"control\":\"e9\",\"total\":64.15,\"currency\":\"USD\"}
REQ.end
pays, where control is the handle of the button that pays through the browser, and total is the order's total. The \
answer is GRANT or DENY with a reason. Say done when the order is placed, or when you cannot go on.";

/// A step as the model writes it.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Step {
    Open { url: String },
    Read,
    Click { target: String },
    Type { target: String, text: String },
    Select { target: String, option: String },
    Check { target: String, on: bool },
    Press { key: String },
    Wait { milliseconds: u32 },
    Submit { target: String },
    Back,
    Done,
}

/// Parses the step in an answer: a request block, or else the first object that is a step. Text around it is ignored,
/// since models explain themselves.
///
/// # Errors
/// A sentence for the model.
pub(super) fn read_step(said: &str) -> Result<Action, String> {
    if let Some(block) = request(said) {
        return Ok(Action::Request(block));
    }
    let mut problem = "it holds no object and no request block".to_owned();
    for (at, _) in said.match_indices('{') {
        let rest = said.get(at..).unwrap_or("");
        match serde_json::Deserializer::from_str(rest).into_iter::<Step>().next() {
            Some(Ok(step)) => return Ok(action(step)),
            Some(Err(error)) => problem = error.to_string(),
            None => {}
        }
    }
    Err(format!("There was no step in your answer ({problem}). Answer with exactly one step."))
}

fn request(said: &str) -> Option<String> {
    let mut block = Vec::new();
    for line in said.lines().map(str::trim).filter(|line| line.starts_with("REQ.")) {
        block.push(line);
        if line == "REQ.end" {
            return Some(block.join("\n"));
        }
    }
    None
}

fn action(step: Step) -> Action {
    let target = ElementRef;
    Action::Verb(match step {
        Step::Open { url } => Verb::Open { url },
        Step::Read => Verb::Read,
        Step::Click { target: element } => Verb::click(target(element)),
        Step::Type { target: element, text } => Verb::typed(target(element), text),
        Step::Select { target: element, option } => Verb::select(target(element), option),
        Step::Check { target: element, on } => Verb::Check { target: target(element), on },
        Step::Press { key } => Verb::Press { key },
        Step::Wait { milliseconds } => Verb::Wait { milliseconds },
        Step::Submit { target: element } => Verb::Submit { target: target(element) },
        Step::Back => Verb::Back,
        Step::Done => return Action::Done,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_documented_step_is_parsed() {
        let steps: Vec<&str> = INSTRUCTIONS.lines().filter(|line| line.starts_with("{\"do\"")).collect();
        assert_eq!(steps.len(), 11);
        for step in steps {
            assert!(read_step(step).is_ok(), "{step}");
        }
        let blocks = INSTRUCTIONS.matches("REQ.end").count();
        assert_eq!(blocks, 2);
        let Ok(Action::Request(block)) = read_step(INSTRUCTIONS.split_once("address form:").unwrap().1)
        else {
            panic!("no block was read");
        };
        assert!(block.starts_with("REQ.address") && block.ends_with("REQ.end") && block.lines().count() == 3);
    }

    #[test]
    fn text_around_a_step_is_ignored() {
        let fenced = "Sure {ok}!\n```json\n{\"do\":\"press\",\"key\":\"Tab\"}\n```\n{\"do\":\"done\"}";
        assert_eq!(read_step(fenced), Ok(Action::Verb(Verb::Press { key: "Tab".into() })));
        let indented = "```\n  REQ.purchase ctx={total:1.00}\n  REQ.end\n```";
        assert_eq!(read_step(indented), Ok(Action::Request("REQ.purchase ctx={total:1.00}\nREQ.end".into())));
        assert!(read_step("REQ.purchase without an end").is_err());
    }

    proptest! {
        #[test]
        fn any_answer_is_read_without_a_panic(said in "[{}\":a-zA-Z.\\n é]{0,80}") {
            let _ = read_step(&said);
        }
    }
}
