//! Checks of what the page shows, in the text that the agent is told: they tell nothing that a snapshot does not.

use crate::arguments::ControlArgument;
use crate::call::{Answer, Check};
use crate::rendered::{shows, within};
use crate::target::{own_words, quoted, ref_of};
use crate::worker::Worker;
use portcullis::signals::ElementRef;
use portcullis::signals::rendered::without_addresses;

impl Worker {
    /// Carries out a check. Its error says what is not as it should be.
    pub(crate) async fn verify(&mut self, check: Check) -> Result<Answer, String> {
        let target = match &check {
            Check::Items { target, .. } | Check::Value { target, .. } => Some(self.find(target).await?),
            Check::Element { .. } | Check::Text(_) => None,
        };
        self.read().await?;
        holds(&self.rendered, &check, target.as_ref())?;
        Ok(Answer::text("### Result\nDone"))
    }
}

/// # Errors
/// The error names the check that does not hold.
fn holds(page: &str, check: &Check, target: Option<&ElementRef>) -> Result<(), String> {
    let gone = || "the page has no such element any more".to_owned();
    match check {
        Check::Element { role, name } => has_element(page, role, name)
            .then_some(())
            .ok_or_else(|| format!("Element with role \"{role}\" and accessible name \"{name}\" not found")),
        Check::Text(words) => shows(page, words).then_some(()).ok_or_else(|| "Text not found".to_owned()),
        Check::Items { items, .. } => {
            let part = target.and_then(|target| within(page, &target.0)).ok_or_else(gone)?;
            let missing = items.iter().find(|item| !shows(&part, item));
            missing.map_or(Ok(()), |item| Err(format!("Item \"{item}\" not found")))
        }
        Check::Value { control, value, .. } => {
            let target = target.ok_or_else(gone)?;
            let part = within(page, &target.0).ok_or_else(gone)?;
            let now = value_of(&part, *control)?;
            (now == *value)
                .then_some(())
                .ok_or_else(|| format!("Expected value \"{value}\", but got \"{now}\""))
        }
    }
}

fn has_element(page: &str, role: &str, name: &str) -> bool {
    let role = if role == "img" { "image" } else { role };
    let name = name.to_lowercase();
    without_addresses(page).lines().any(|line| {
        let line = line.trim_start().trim_start_matches("- ");
        let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
        head == role && quoted(rest).unwrap_or_default().to_lowercase().contains(&name)
    })
}

/// The value of the control in the first of these lines, as the agent is told it.
fn value_of(part: &str, control: ControlArgument) -> Result<String, String> {
    let line = part.lines().next().unwrap_or_default();
    let own = own_words(line);
    match control {
        ControlArgument::Checkbox | ControlArgument::Radio => Ok(own.contains("[checked]").to_string()),
        ControlArgument::Combobox => {
            let chosen = part.lines().skip(1).find(|line| own_words(line).contains("[selected]"));
            chosen.and_then(quoted).ok_or_else(|| "the chosen option of this control is not told".to_owned())
        }
        ControlArgument::Textbox if own.ends_with(": empty") => Ok(String::new()),
        ControlArgument::Textbox => {
            let typed = ref_of(line).and_then(|element| line.split_once(&format!("[ref={}]: ", element.0)));
            let typed = typed.and_then(|(_, typed)| quoted(typed));
            typed.filter(|_| !own.contains("(the page has changed it)")).ok_or_else(|| {
                "what this control holds is not told: a page tells only what you typed yourself, while it stays".to_owned()
            })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const PAGE: &str = "- document https://a.example \"Shop\" /url \"/\"\n  - heading \"Welcome\" [level=1] [ref=e1]\n  \
                        - text: \"He said \\\"hello\\\"\"\n  - textbox \"Name\" [ref=e2]: \"Hi!\"\n  - textbox \"Other\" [ref=e3]: filled\n  \
                        - textbox \"None\" [ref=e4]: empty\n  - textbox \"Changed\" [ref=e5]: \"a\" (the page has changed it)\n  \
                        - checkbox \"Agree [checked]\" [ref=e6]\n  - radio \"Red\" [checked] [ref=e7]\n  - combobox \"Size\" [ref=e8]:\n    \
                        - option \"S\" [ref=e9]\n    - option \"M\" [selected] [ref=e10]\n  - list [ref=e11]:\n    \
                        - listitem [ref=e12]: \"Apples\"\n    - listitem [ref=e13]: \"Pears\"\n  - image [unseen] \"A kettle\" [ref=e14]";

    fn check(check: Check) -> Result<(), String> {
        let target = match &check {
            Check::Items { target, .. } | Check::Value { target, .. } => Some(ElementRef(target.clone())),
            _ => None,
        };
        holds(PAGE, &check, target.as_ref())
    }

    #[test]
    fn elements_and_words_are_found_as_the_agent_is_told_them() {
        let element = |role: &str, name: &str| Check::Element { role: role.into(), name: name.into() };
        for there in [element("heading", "welcome"), element("img", "kettle"), element("list", "")] {
            assert_eq!(check(there), Ok(()));
        }
        assert_eq!(
            check(element("button", "Cancel")).unwrap_err(),
            "Element with role \"button\" and accessible name \"Cancel\" not found"
        );
        assert_eq!(check(Check::Text("he said \"hello\"".into())), Ok(()));
        // A person does not see what a picture is said to show.
        for absent in ["A kettle", "goodbye"] {
            assert_eq!(check(Check::Text(absent.into())).unwrap_err(), "Text not found");
        }
        let items = |items: &[&str]| Check::Items {
            target: "e11".into(),
            items: items.iter().map(|item| (*item).to_owned()).collect(),
        };
        assert_eq!(check(items(&["Apples", "pears"])), Ok(()));
        assert_eq!(check(items(&["Apples", "Welcome"])).unwrap_err(), "Item \"Welcome\" not found");
    }

    #[test]
    fn a_value_is_compared_with_what_the_agent_is_told() {
        let value = |target: &str, control, value: &str| {
            check(Check::Value { target: target.into(), control, value: value.into() })
        };
        use ControlArgument::{Checkbox, Combobox, Radio, Textbox};
        for (target, control, held) in [
            ("e2", Textbox, "Hi!"),
            ("e4", Textbox, ""),
            ("e6", Checkbox, "false"),
            ("e7", Radio, "true"),
            ("e8", Combobox, "M"),
        ] {
            assert_eq!(value(target, control, held), Ok(()), "{target}");
            let refused = value(target, control, "other").unwrap_err();
            assert_eq!(refused, format!("Expected value \"other\", but got \"{held}\""));
        }
        for untold in ["e3", "e5"] {
            assert!(value(untold, Textbox, "a").unwrap_err().contains("is not told"), "{untold}");
        }
        assert!(value("e99", Textbox, "a").unwrap_err().contains("no such element"));
    }
}
