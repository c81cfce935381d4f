//! The element that a call names.
//!
//! A ref of the last snapshot is used directly. Role and text are looked up in the page as it was rendered for the agent, so
//! that an agent cannot guess a name that it may not read. Anything else is a CSS selector, which the browser parses.

use portcullis::signals::ElementRef;
use portcullis::signals::rendered::{as_seen, without_addresses};

/// An element as a call names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A ref.
    Ref(ElementRef),
    /// The element of the rendered page with this role, or any, and this name, or any.
    Rendered { role: Option<String>, name: Option<String>, exact: bool },
    /// A CSS selector for the browser.
    Selector(String),
}

/// The reason why an element cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No element fits, or several do.
    #[error("`{written}` fits {count} elements of the last snapshot; name one by its ref")]
    NotOne { written: String, count: usize },
    /// A selector of an unsupported kind.
    #[error("`{0}` is not a supported selector; name the element by a ref of the snapshot, such as e12")]
    Unsupported(String),
}

impl Target {
    /// Parses the name of an element in a call.
    pub fn read(written: &str) -> Result<Target, TargetError> {
        let bare = written.trim();
        let bare = bare.strip_prefix("aria-ref=").or(bare.strip_prefix("ref=")).unwrap_or(bare);
        if is_ref(bare) {
            return Ok(Target::Ref(ElementRef(bare.to_owned())));
        }
        if let Some(rest) = bare.strip_prefix("text=") {
            let (name, exact) = unquote(rest);
            return Ok(Target::Rendered { role: None, name: Some(name), exact });
        }
        if let Some(rest) = bare.strip_prefix("role=") {
            return by_role(rest).ok_or_else(|| TargetError::Unsupported(bare.to_owned()));
        }
        let unsupported =
            ["xpath=", "//", "..", "internal:", "_react=", "_vue=", "getBy", "locator(", "page.", "frame"];
        if bare.contains(">>") || unsupported.iter().any(|start| bare.starts_with(start)) {
            return Err(TargetError::Unsupported(bare.to_owned()));
        }
        Ok(Target::Selector(bare.strip_prefix("css=").unwrap_or(bare).to_owned()))
    }
}

/// The only element of the rendered page with this role and name.
pub fn look_up(
    rendered: &str,
    written: &str,
    role: Option<&str>,
    name: Option<&str>,
    exact: bool,
) -> Result<ElementRef, TargetError> {
    let fits = |line: &&str| {
        let line = line.trim_start().trim_start_matches("- ");
        let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
        // A role finds an element by its name, seen or not, and a text by what a person sees.
        let said = quoted(&if role.is_some() { without_addresses(rest) } else { as_seen(rest) });
        role.is_none_or(|role| role == head)
            && name.is_none_or(|name| match exact {
                true => said.as_deref() == Some(name),
                false => said.is_some_and(|said| said.to_lowercase().contains(&name.to_lowercase())),
            })
    };
    let found: Vec<&str> = rendered.lines().filter(|line| ref_of(line).is_some()).filter(fits).collect();
    match found.as_slice() {
        [line] => ref_of(line).ok_or_else(|| TargetError::NotOne { written: written.to_owned(), count: 0 }),
        others => Err(TargetError::NotOne { written: written.to_owned(), count: others.len() }),
    }
}

/// Returns true for a ref such as `e12` or `f1e3`, or `s7` for an element that a selector found.
fn is_ref(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let rest = match text.strip_prefix('f') {
        Some(rest) => {
            let inner = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            if inner.len() == rest.len() {
                return false;
            }
            inner
        }
        None => text,
    };
    rest.strip_prefix('e').is_some_and(digits) || text.strip_prefix('s').is_some_and(digits)
}

/// The ref of a line. Text of the page is in quotes, so only a ref outside of quotes counts.
pub fn ref_of(line: &str) -> Option<ElementRef> {
    let outside = own_words(line);
    let from = outside.find("[ref=")? + "[ref=".len();
    let rest = outside.get(from..)?;
    rest.get(..rest.find(']')?).map(|element| ElementRef(element.to_owned()))
}

/// The guard's own words in a line: what is outside of quotes.
pub fn own_words(line: &str) -> String {
    let mut outside = String::new();
    let (mut quoted, mut escaped) = (false, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            c if !quoted => outside.push(c),
            _ => {}
        }
    }
    outside
}

/// The first quoted text.
pub fn quoted(text: &str) -> Option<String> {
    let mut words = String::new();
    let mut characters = text.chars().skip_while(|c| *c != '"').skip(1);
    loop {
        match characters.next()? {
            '"' => return Some(words),
            '\\' => words.extend(characters.next()),
            c => words.push(c),
        }
    }
}

/// Parses `button`, or `button[name="Pay"]`; an `i` after the quotes ignores case.
fn by_role(rest: &str) -> Option<Target> {
    let Some((role, rest)) = rest.split_once('[') else {
        return Some(Target::Rendered { role: Some(rest.trim().to_owned()), name: None, exact: true });
    };
    let rest = rest.strip_suffix(']')?.strip_prefix("name=")?;
    let (rest, any_case) = rest.strip_suffix('i').map_or((rest, false), |rest| (rest.trim_end(), true));
    let (name, _) = unquote(rest);
    Some(Target::Rendered { role: Some(role.trim().to_owned()), name: Some(name), exact: !any_case })
}

/// The text without its quotes, and true if there were any.
fn unquote(text: &str) -> (String, bool) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return (inner.to_owned(), true);
        }
    }
    (text.to_owned(), false)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use proptest::prelude::*;

    const PAGE: &str = "- document https://a.example \"Shop\"\n  - button \"Pay now\" [ref=e4]\n  - link \"Pay later\" \
                        [ref=e5]\n  - button \"see [ref=e9]\" [ref=e6]\n  - text: \"Pay now\"";

    fn find(written: &str) -> Result<ElementRef, TargetError> {
        match Target::read(written)? {
            Target::Rendered { role, name, exact } => {
                look_up(PAGE, written, role.as_deref(), name.as_deref(), exact)
            }
            Target::Ref(element) => Ok(element),
            Target::Selector(selector) => Ok(ElementRef(selector)),
        }
    }

    #[test]
    fn elements_are_found_in_the_rendered_page() {
        for (written, element) in [
            ("e12", "e12"),
            ("aria-ref=f1e3", "f1e3"),
            ("role=button[name=\"Pay now\"]", "e4"),
            ("role=link", "e5"),
            ("text=later", "e5"),
            ("text=\"Pay now\"", "e4"),
            ("text=see", "e6"),
            ("css=input[name=cc]", "input[name=cc]"),
            ("#pay", "#pay"),
        ] {
            assert_eq!(find(written), Ok(ElementRef(element.to_owned())), "{written}");
        }
        assert_eq!(find("role=button"), Err(TargetError::NotOne { written: "role=button".into(), count: 2 }));
        for written in
            ["//button", "xpath=//button", "iframe >> button", "getByRole('button')", "role=button[x=1]"]
        {
            assert_eq!(find(written), Err(TargetError::Unsupported(written.to_owned())));
        }
    }

    #[test]
    fn no_link_is_found_by_its_address_and_no_text_is_a_pictures() {
        let page = "- document https://a.example \"Shop\" /url \"/pay\"\n  - link [ref=e1] /url \"/pay\"\n  - link \"Pay\" [ref=e2] \
                    /url \"/offers\":\n    - image [unseen] \"Pay\" [ref=e3]\n  - link [ref=e4] /url \"/x\": \"Ham\"";
        let find = |role: Option<&str>, name: &str| {
            look_up(page, "it", role, Some(name), false).map(|found| found.0)
        };
        assert_eq!(find(None, "pay"), Ok("e2".to_owned()));
        assert_eq!(find(Some("link"), "pay"), Ok("e2".to_owned()));
        assert_eq!(find(Some("image"), "pay"), Ok("e3".to_owned()));
        assert_eq!(find(None, "ham"), Ok("e4".to_owned()));
        for role in [None, Some("link")] {
            assert!(find(role, "/offers").is_err() && find(role, "/x").is_err());
        }
    }

    proptest! {
        /// Text in quotes cannot change the ref, which the bridge assigns.
        #[test]
        fn a_page_cannot_set_a_ref(words in ".{0,30}") {
            let line = format!("- button {} [ref=e7]", serde_json::Value::from(words));
            prop_assert_eq!(ref_of(&line), Some(ElementRef("e7".to_owned())));
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(written in ".{0,60}") {
            let _refused_or_not = Target::read(&written);
        }
    }
}
