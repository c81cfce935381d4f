//! The text of a tab, as an agent reads it that names what it wants clicked.
//!
//! The extension gives an agent no handles: nothing in the tab is the agent's to act on. What it wants clicked it tells
//! the person, who looks for it. Here the agents of the evaluation read an outline with handles, and a handle is what the
//! person is told: in which frame, what it is, what stands at it, and the how manieth of its kind it is.

use serde_json::{Value, json};

use crate::agent::observation::Page;

/// What an agent can tell a person to click or to type into.
const TO_ACT_ON: [&str; 7] = ["button", "checkbox", "combobox", "link", "radio", "searchbox", "textbox"];

/// An outline with handles, and what each of them stands for.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) outline: String,
    things: Vec<Value>,
}

impl Told {
    /// Reads the text of a tab.
    pub(super) fn of(text: &str) -> Told {
        let mut told = Told::default();
        let (mut origin, mut frames) = (String::new(), 0);
        let mut of_kind: Vec<usize> = vec![0; TO_ACT_ON.len()];
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
            } else if let Some(kind) = TO_ACT_ON.iter().position(|role| *role == node.role) {
                // What stands on a button or a link is its name.
                let labelled = !matches!(node.role.as_str(), "button" | "link") || !node.name.is_empty();
                let name = if labelled { node.name.clone() } else { std::mem::take(&mut rest) };
                let nth = of_kind.get(kind).copied().unwrap_or_default();
                if let Some(count) = of_kind.get_mut(kind) {
                    *count += 1;
                }
                line.push_str(&format!(" {} [ref=p{}]", Value::from(name.clone()), told.things.len()));
                let inner = frames > 1;
                told.things.push(
                    json!({ "origin": origin, "inner": inner, "role": node.role, "name": name, "nth": nth }),
                );
            } else if !node.name.is_empty() {
                line.push_str(&format!(" {}", Value::from(node.name)));
            }
            if !rest.is_empty() {
                line.push_str(&format!(": {}", Value::from(rest)));
            }
            told.outline.push_str(&format!("{}{line}\n", " ".repeat(depth)));
        }
        told
    }

    /// What the person is told to do with the thing of this handle, if it was on the page.
    pub(super) fn act(&self, act: &str, handle: &str, more: &[(&str, &str)]) -> Option<Value> {
        let number: usize = handle.strip_prefix('p')?.parse().ok()?;
        let mut what = self.things.get(number)?.clone();
        let told = what.as_object_mut()?;
        told.insert("act".to_owned(), act.into());
        for (name, value) in more {
            told.insert((*name).to_owned(), (*value).into());
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
    fn what_is_acted_on_has_a_handle_and_an_inner_frame_is_one() {
        let told = Told::of(TEXT);
        let page = Page::parse(&told.outline);
        let pay = page.control("button", &["pay now"]).unwrap();
        assert_eq!(
            told.act("click", &pay.handle, &[]).unwrap(),
            json!({ "act": "click", "origin": "https://copper-kettle.test", "inner": false, "role": "button",
                "name": "Pay now", "nth": 0 })
        );
        let own = page.control("textbox", &["card number"]).unwrap();
        assert_eq!((own.handle.as_str(), own.text.as_str()), ("p0", "empty"));
        let framed: Vec<_> = page.boxes(true).collect();
        let typed = told.act("type", &framed[0].handle, &[("text", "4111")]).unwrap();
        assert_eq!((&typed["inner"], &typed["text"], framed.len()), (&json!(true), &json!("4111"), 1));
        assert!(page.says("order total: 64.15 usd"));
    }

    #[test]
    fn what_was_not_on_the_page_is_not_acted_on() {
        let told = Told::of(TEXT);
        for handle in ["p3", "e0", "", "p", "p-1"] {
            assert_eq!(told.act("click", handle, &[]), None, "{handle}");
        }
    }
}
