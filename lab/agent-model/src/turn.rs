//! One turn as text: the model's input and its answer.
//!
//! The input is the task, the outcomes of the steps before, and the page in the form of
//! [`page_view`](crate::page_view). The answer is a line for the user, then the actions:
//!
//! ```text
//! cart: I put 2 x "Spice mill" into the cart.
//! select "Quantity" [e7] 2
//! submit "Add to cart" [e17]
//! ```
//!
//! | line | action |
//! |---|---|
//! | `open URL` | goes to an address |
//! | `click "NAME" [HANDLE]` | clicks |
//! | `type "NAME" [HANDLE] TEXT` | puts text into a control |
//! | `select "NAME" [HANDLE] OPTION` | chooses |
//! | `check "NAME" [HANDLE] on` | sets a check box, or `off` |
//! | `submit "NAME" [HANDLE]` | submits the form of the control |
//! | `press KEY`, `wait MILLISECONDS`, `back`, `read` | presses a key, waits, goes back, reads the page again |
//! | `REQ.` lines up to `REQ.end`, `PLAN.` lines up to `PLAN.end` | a request block, a plan |
//! | `finish` | the task is over |
//!
//! A control's name precedes its ref, so that a model with induction heads finds the ref by the name. For the same reason
//! an answer repeats a value with its name in the task, `postal code: 80454`; the name is not typed.

use browser_signals::{ElementRef, Verb};

/// The names of the values of an address in a task.
pub(crate) const ADDRESS: [&str; 8] =
    ["name: ", "street: ", "postal code: ", "city: ", "region: ", "country: ", "email: ", "phone: "];

/// The names of the values of a card in a task.
pub(crate) const CARD: [&str; 3] = ["card number ", "exp ", "cvv "];

/// One action of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// An action on the page.
    Verb(Verb),
    /// A request block or a plan.
    Request(String),
    /// The task is over.
    Finish,
}

/// A parsed answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The kind of step, such as `cart`.
    pub step: String,
    /// The message to the user.
    pub says: String,
    /// The actions in order.
    pub acts: Vec<Act>,
    /// How many lines are not valid actions. They are not in `acts`.
    pub unread: usize,
}

impl Answer {
    /// Parses the model's text. Every text is accepted; invalid lines are counted in `unread`.
    ///
    /// ```
    /// let answer = agent_model::turn::Answer::read("pay: I pay.\nsubmit \"Pay\" [e3]\nfly away\n");
    /// assert_eq!((answer.step.as_str(), answer.acts.len(), answer.unread), ("pay", 1, 1));
    /// ```
    pub fn read(text: &str) -> Answer {
        let mut answer = Answer::default();
        let mut block: Option<String> = None;
        for (number, line) in text.lines().enumerate() {
            if let Some(open) = &mut block {
                open.push('\n');
                open.push_str(line);
                if matches!(line, "REQ.end" | "PLAN.end") {
                    answer.acts.extend(block.take().map(Act::Request));
                }
            } else if line.starts_with("REQ.") || line.starts_with("PLAN.") {
                block = Some(line.to_owned());
            } else if number == 0 {
                let (step, says) = line.split_once(':').unwrap_or(("", line));
                (answer.step, answer.says) = (step.trim().to_owned(), says.trim().to_owned());
            } else if line.trim() == "finish" {
                answer.acts.push(Act::Finish);
            } else if let Some(verb) = read_verb(line) {
                answer.acts.push(Act::Verb(verb));
            } else if !line.trim().is_empty() {
                answer.unread += 1;
            }
        }
        // A block that was not closed is passed on, so that the guard reports it.
        answer.acts.extend(block.map(Act::Request));
        answer
    }
}

fn read_verb(line: &str) -> Option<Verb> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let verb = match word {
        "open" => Verb::Open { url: address(rest.trim()) },
        "press" => Verb::Press { key: rest.trim().to_owned() },
        "wait" => Verb::Wait { milliseconds: rest.trim().parse().ok()? },
        "read" => Verb::Read,
        "back" => Verb::Back,
        "click" => Verb::click(control(rest)?.0),
        "submit" => Verb::Submit { target: control(rest)?.0 },
        "type" => {
            let (target, text) = control(rest)?;
            Verb::typed(target, unnamed(text))
        }
        "select" => {
            let (target, option) = control(rest)?;
            Verb::select(target, option)
        }
        "check" => {
            let (target, on) = control(rest)?;
            Verb::Check { target, on: on == "on" }
        }
        _ => return None,
    };
    Some(verb)
}

/// Values without their names.
fn unnamed(text: &str) -> String {
    let names = || ADDRESS.into_iter().chain(CARD);
    let values =
        text.split(", ").map(|value| names().find_map(|name| value.strip_prefix(name)).unwrap_or(value));
    values.collect::<Vec<_>>().join(", ")
}

/// An address with the values of its data without their names.
fn address(text: &str) -> String {
    match text.split_once('=') {
        Some((address, data)) => format!("{address}={}", unnamed(data)),
        None => text.to_owned(),
    }
}

/// Parses `"NAME" [HANDLE] REST`. A name may contain quotes and brackets.
fn control(text: &str) -> Option<(ElementRef, &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find("\" [")?;
        let (handle, rest) = text.get(at + 3..)?.split_once(']')?;
        if is_handle(handle) {
            return Some((ElementRef(handle.to_owned()), rest.trim()));
        }
        from = at + 1;
    }
}

/// True for a ref such as `e12` or `f3e12`.
pub(crate) fn is_handle(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let element = match text.strip_prefix('f') {
        Some(framed) => framed.split_once('e').filter(|(frame, _)| digits(frame)).map(|(_, element)| element),
        None => text.strip_prefix('e'),
    };
    element.is_some_and(digits)
}

/// The model's input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Situation {
    /// The task, in the user's words.
    pub task: String,
    /// Steps with their outcomes, such as `cart ok`.
    pub done: Vec<String>,
    /// The page in the form of [`view`](crate::page_view::view); empty before the first.
    pub page: String,
}

/// The most steps in the input.
pub const MOST_STEPS: usize = 10;

impl Situation {
    /// The three texts of the input: the task, the last steps, and the page.
    pub fn parts(&self) -> [String; 3] {
        let from = self.done.len().saturating_sub(MOST_STEPS);
        let done = self.done.get(from..).unwrap_or_default().join(", ");
        [crate::page_view::plain(&self.task), done, self.page.clone()]
    }
}

/// The outcome of a step, in a word, from the results of its actions.
///
/// ```
/// assert_eq!(agent_model::turn::outcome(&["ok".into(), "DENY.verb {\"reason\":\"x\"}".into()]), "denied");
/// ```
pub fn outcome(brought: &[String]) -> &'static str {
    if brought.iter().any(|text| text.contains("DENY.")) {
        "denied"
    } else if brought.iter().any(|text| text.starts_with("failed") || text.starts_with("nobody")) {
        "failed"
    } else {
        "ok"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_parsed() {
        let text = "cart: I go.\nopen https://a.test/p?x=1 2\nclick \"Buy\" [e1]\ntype \"A \"b\" [c]\" [f2e13] 4111 1111\n\
                    select \"N\" [e3] 2\ncheck \"T\" [e4] on\nsubmit \"S\" [e5]\npress Enter\nwait 50\nback\nread\nfinish";
        let answer = Answer::read(text);
        assert_eq!((answer.step.as_str(), answer.says.as_str(), answer.unread), ("cart", "I go.", 0));
        assert_eq!(answer.acts.len(), 11);
        assert!(
            matches!(&answer.acts[2], Act::Verb(Verb::Type { target, text, .. })
            if target.0 == "f2e13" && text == "4111 1111"),
            "{:?}",
            answer.acts[2]
        );
        assert_eq!(answer.acts.last(), Some(&Act::Finish));
    }

    #[test]
    fn values_are_typed_without_their_names() {
        let text = "form: I type.\ntype \"A\" [e1] postal code: 80454\nopen https://a.test/?d=card number 41 11, exp 01/30";
        let acts = Answer::read(text).acts;
        assert!(matches!(&acts[0], Act::Verb(Verb::Type { text, .. }) if text == "80454"), "{acts:?}");
        assert_eq!(acts[1], Act::Verb(Verb::Open { url: "https://a.test/?d=41 11, 01/30".into() }));
    }

    #[test]
    fn a_block_is_one_action_even_if_it_is_not_closed() {
        let answer = Answer::read("pay: I pay.\nREQ.purchase\nREQ.end\nread");
        assert_eq!(answer.acts, [Act::Request("REQ.purchase\nREQ.end".into()), Act::Verb(Verb::Read)]);
        let open = Answer::read("pay: I pay.\nREQ.purchase\nread");
        assert_eq!(open.acts, [Act::Request("REQ.purchase\nread".into())]);
    }

    #[test]
    fn a_target_needs_a_valid_ref() {
        for line in [
            "click \"A\" [x1]",
            "click \"A\" [e]",
            "click \"A\" [fe1]",
            "click [e1]",
            "type",
            "wait long",
            "é",
        ] {
            assert_eq!(read_verb(line), None, "{line}");
        }
    }

    #[test]
    fn only_the_last_steps_are_in_the_input() {
        let done = (0..MOST_STEPS + 3).map(|n| format!("step{n} ok")).collect();
        let [_, done, _] = Situation { task: "t".into(), done, page: String::new() }.parts();
        assert!(done.starts_with("step3 ok, ") && done.ends_with("step12 ok"), "{done}");
    }
}
