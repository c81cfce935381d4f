//! The text of a tab, with refs for an agent that names elements to click.
//!
//! The extension gives an agent no refs, since the agent cannot act in the tab. It tells the user which element to
//! click, and the user looks for it. The agents of the evaluation read an outline with refs, so a ref is translated
//! into a description for the user: its frame, role, name, and index among elements of the same role.

use serde_json::{Value, json};

use crate::agent::observation::Page;

/// The roles of elements that an agent can tell the user to click or to type into.
const ROLES: [&str; 7] = ["button", "checkbox", "combobox", "link", "radio", "searchbox", "textbox"];

/// An outline with refs, and the description of each.
#[derive(Debug, Default)]
pub(super) struct TabOutline {
    pub(super) outline: String,
    targets: Vec<Value>,
}

impl TabOutline {
    /// Reads the text of a tab.
    pub(super) fn of(text: &str) -> TabOutline {
        let mut tab = TabOutline::default();
        let (mut origin, mut frames) = (String::new(), 0);
        let mut of_kind: Vec<usize> = vec![0; ROLES.len()];
        for node in Page::parse(text).nodes {
            let mut depth = node.depth + if frames > 1 { 4 } else { 0 };
            let mut line = format!("- {}", node.role);
            let mut rest = node.text.clone();
            if node.role == "document" {
                frames += 1;
                of_kind.fill(0);
                origin = node.name.split(' ').next().unwrap_or_default().to_owned();
                if frames > 1 {
                    line = "- iframe".to_owned();
                    depth = 2;
                } else {
                    line.push_str(&format!(" {}", node.name));
                }
            } else if let Some(kind) = ROLES.iter().position(|role| *role == node.role) {
                // The text of a button or a link is its name.
                let labelled = !matches!(node.role.as_str(), "button" | "link") || !node.name.is_empty();
                let name = if labelled { node.name.clone() } else { std::mem::take(&mut rest) };
                let nth = of_kind.get(kind).copied().unwrap_or_default();
                if let Some(count) = of_kind.get_mut(kind) {
                    *count += 1;
                }
                line.push_str(&format!(" {} [ref=p{}]", Value::from(name.clone()), tab.targets.len()));
                let inner = frames > 1;
                tab.targets.push(
                    json!({ "origin": origin, "inner": inner, "role": node.role, "name": name, "nth": nth }),
                );
            } else if !node.name.is_empty() {
                line.push_str(&format!(" {}", Value::from(node.name)));
            }
            if !rest.is_empty() {
                line.push_str(&format!(": {}", Value::from(rest)));
            }
            tab.outline.push_str(&format!("{}{line}\n", " ".repeat(depth)));
        }
        tab
    }

    /// The instruction to the user for the element of this ref, if it was on the page.
    pub(super) fn act(&self, act: &str, element: &str, more: &[(&str, &str)]) -> Option<Value> {
        let number: usize = element.strip_prefix('p')?.parse().ok()?;
        let mut what = self.targets.get(number)?.clone();
        let instruction = what.as_object_mut()?;
        instruction.insert("act".to_owned(), act.into());
        for (name, value) in more {
            instruction.insert((*name).to_owned(), (*value).into());
        }
        Some(what)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    const TEXT: &str = r#"- document https://copper-kettle.test "Payment"
  - heading "Payment" [level=1]
  - paragraph: "Order total: 64.15 USD"
  - textbox "Card number": empty
  - button: "Pay now"
- document https://helpdesk-widgets.test "Help desk"
  - textbox "Card number": empty
"#;

    #[test]
    fn interactive_elements_have_a_ref_and_inner_frames_are_marked() {
        let tab = TabOutline::of(TEXT);
        let page = Page::parse(&tab.outline);
        let pay = page.control("button", &["pay now"]).unwrap();
        assert_eq!(
            tab.act("click", &pay.element_ref, &[]).unwrap(),
            json!({ "act": "click", "origin": "https://copper-kettle.test", "inner": false, "role": "button",
                "name": "Pay now", "nth": 0 })
        );
        let own = page.control("textbox", &["card number"]).unwrap();
        assert_eq!((own.element_ref.as_str(), own.text.as_str()), ("p0", "empty"));
        let framed: Vec<_> = page.boxes(true).collect();
        let typed = tab.act("type", &framed[0].element_ref, &[("text", "4111")]).unwrap();
        assert_eq!((&typed["inner"], &typed["text"], framed.len()), (&json!(true), &json!("4111"), 1));
        assert!(page.says("order total: 64.15 usd"));
    }

    #[test]
    fn an_unknown_ref_gives_no_instruction() {
        let tab = TabOutline::of(TEXT);
        for element in ["p3", "e0", "", "p", "p-1"] {
            assert_eq!(tab.act("click", element, &[]), None, "{element}");
        }
    }
}
