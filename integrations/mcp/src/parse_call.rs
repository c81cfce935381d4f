//! Parses the name and the arguments of a call.

use portcullis::signals::key::keys_of;
use portcullis::signals::playwright::{PictureForm, PictureSettings};
use portcullis::signals::verb::{ClickManner, MouseButton};
use portcullis::signals::{ElementRef, TypeManner, Verb, tool};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments::{
    ButtonArgument, ConsoleArguments, ControlArgument, DialogArguments, DragArguments, ElementArguments,
    FieldArguments, FindArguments, FormArguments, MouseClickArguments, NoArguments, PlanArguments,
    RequestArguments, RequestsArguments, ResizeArguments, ScreenshotArguments, ScriptArguments,
    SnapshotArguments, TabsAction, TabsArguments, TypeArguments, UploadArguments, VerifyElementArguments,
    VerifyListArguments, VerifyTextArguments, VerifyValueArguments, WaitArguments,
};
use crate::call::{Call, CallError, Check, FieldToFill, FieldValue, SearchPattern};
use crate::catalogue::ToolEntry;
use crate::requests::{AskArguments, plan_for};

/// The longest wait of `browser_wait_for`, in seconds.
const LONGEST_WAIT: f64 = 30.0;

/// The most controls in one `browser_fill_form`, since a call that has started is carried out to its end.
const MOST_FIELDS: usize = 100;
/// Parses a call of one of the offered tools.
pub fn parse_call(
    offered: &[ToolEntry],
    name: &str,
    arguments: Map<String, Value>,
) -> Result<Call, CallError> {
    let tool = offered.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or(CallError::NotOffered)?;
    let bad = |problem: &str| CallError::Arguments { tool: tool.name, problem: problem.to_owned() };
    let no_call = |problem| CallError::NoCall { tool: tool.name, problem };
    let given = GivenArguments { tool: tool.name, arguments };
    Ok(match tool.name {
        "portcullis_plan" => {
            let PlanArguments { origins, kinds, plan, uploads } = given.read()?;
            let plan = match (kinds, plan) {
                (Some(_), Some(_)) => return Err(no_call("give either `kinds` or `plan`")),
                (Some(kinds), None) if !kinds.is_empty() => Some(plan_for(&kinds)),
                (_, plan) => plan,
            };
            Call::Plan { origins, plan, uploads }
        }
        "portcullis_request" => {
            Call::Request { block: given.read::<AskArguments>()?.text().map_err(no_call)? }
        }
        "portcullis_status" => given.nothing(Call::Status)?,
        "browser_navigate" => match given.verb("open")? {
            Verb::Open { url } => Call::Navigate { url },
            verb => Call::Act(verb),
        },
        "browser_navigate_back" => Call::Act(given.verb("back")?),
        "browser_snapshot" => {
            let SnapshotArguments { target, depth, limit, continuation, boxes } = given.read()?;
            let limit = limit.map(whole);
            match continuation {
                None => Call::Snapshot { target, depth: depth.map(whole), limit, boxes },
                Some(name) if target.is_none() && depth.is_none() && !boxes => Call::Continue { name, limit },
                Some(_) => {
                    return Err(no_call("give `continuation` without `target`, `depth` and `boxes`"));
                }
            }
        }
        "browser_mouse_click_xy" => {
            let MouseClickArguments { x, y, button, click_count } = given.read()?;
            let button = match button {
                None | Some(ButtonArgument::Left) => MouseButton::Left,
                Some(ButtonArgument::Right) => MouseButton::Right,
            };
            let twice = match click_count {
                None | Some(1) => false,
                Some(2) => true,
                Some(_) => return Err(bad("`clickCount` is 1 or 2")),
            };
            Call::ClickAt { x, y, manner: ClickManner { button, twice, ..ClickManner::default() } }
        }
        "browser_verify_element_visible" => {
            let VerifyElementArguments { role, accessible_name } = given.read()?;
            Call::Verify(Check::Element { role, name: accessible_name })
        }
        "browser_verify_text_visible" => Call::Verify(Check::Text(given.read::<VerifyTextArguments>()?.text)),
        "browser_verify_list_visible" => {
            let VerifyListArguments { target, items, .. } = given.read()?;
            Call::Verify(Check::Items { target, items })
        }
        "browser_verify_value" => {
            let VerifyValueArguments { r#type, target, value, .. } = given.read()?;
            if matches!(r#type, ControlArgument::Checkbox | ControlArgument::Radio)
                && !["true", "false"].contains(&value.as_str())
            {
                return Err(bad("a check box is `true` or `false`"));
            }
            Call::Verify(Check::Value { target, control: r#type, value })
        }
        "browser_pdf_save" => given.nothing(Call::KeepAsPdf)?,
        "browser_find" => Call::Find(match given.read()? {
            FindArguments { text: Some(words), regex: None } => SearchPattern::Text(words),
            FindArguments { text: None, regex: Some(regex) } => expression(&regex),
            _ => return Err(no_call("give either `text` or `regex`")),
        }),
        "browser_click" => Call::Act(given.verb_at("click")?),
        "browser_drag" => {
            let DragArguments { start_target, end_target, .. } = given.read()?;
            Call::Act(Verb::Drag { target: ElementRef(start_target), onto: ElementRef(end_target) })
        }
        "browser_hover" => Call::Act(given.verb_at("hover")?),
        "browser_type" => {
            let TypeArguments { submit, element } = given.read()?;
            let verb = element_verb(tool.name, "type", element)?;
            if let Verb::Type { text, manner: TypeManner::KeyByKey, .. } = &verb
                && keys_of(text).is_none()
            {
                return Err(no_call(
                    "`slowly` presses a key for each character: leave it out for a text with line breaks or tabs, or of more than \
                     1000 characters",
                ));
            }
            if submit { Call::ActAndSubmit(verb) } else { Call::Act(verb) }
        }
        "browser_fill_form" => {
            let fields = given.read::<FormArguments>()?.fields;
            if fields.len() > MOST_FIELDS {
                return Err(bad("a call fills a hundred controls at most"));
            }
            Call::Fill(fields.into_iter().map(|field| to_fill(field, &bad)).collect::<Result<_, _>>()?)
        }
        "browser_select_option" => {
            let verb = given.verb_at("select")?;
            if matches!(&verb, Verb::Select { options, .. } if options.is_empty()) {
                return Err(bad("`values` has to hold an option"));
            }
            Call::Act(verb)
        }
        "browser_press_key" => Call::Act(given.verb("press")?),
        "browser_wait_for" => {
            let WaitArguments { time, text, text_gone } = given.read()?;
            if time.is_none() && text.is_none() && text_gone.is_none() {
                return Err(no_call("give `time`, `text` or `textGone`"));
            }
            let seconds = time.unwrap_or_default().clamp(0.0, LONGEST_WAIT);
            Call::Wait { milliseconds: milliseconds(seconds), text, text_gone }
        }
        "browser_tabs" => {
            let TabsArguments { action, index, url } = given.read()?;
            let number = index.map(|index| index as usize);
            match action {
                TabsAction::List => Call::ListTabs,
                TabsAction::New => Call::NewTab { url },
                TabsAction::Close => Call::CloseTab { number },
                TabsAction::Select => match number {
                    Some(number) => Call::SelectTab { number },
                    None => return Err(no_call("give the number of the tab as `index`")),
                },
            }
        }
        "browser_handle_dialog" => {
            let DialogArguments { accept, prompt_text } = given.read()?;
            Call::Dialog { accept, words: prompt_text }
        }
        "browser_file_upload" => Call::Upload { files: given.read::<UploadArguments>()?.paths },
        "browser_take_screenshot" => {
            let ScreenshotArguments { r#type, full_page, scale, target, .. } = given.read()?;
            if full_page && target.is_some() {
                return Err(no_call("fullPage cannot be used with element screenshots"));
            }
            let form = match r#type.as_deref() {
                None | Some("png") => PictureForm::Png,
                Some("jpeg") => PictureForm::Jpeg,
                Some("webp") => PictureForm::Webp,
                Some(_) => return Err(bad("`type` is png, jpeg or webp")),
            };
            let device_pixels = match scale.as_deref() {
                None | Some("css") => false,
                Some("device") => true,
                Some(_) => return Err(bad("`scale` is css or device")),
            };
            let settings = PictureSettings { form, whole_page: full_page, device_pixels };
            Call::Screenshot { target, settings }
        }
        "browser_console_messages" => {
            let ConsoleArguments { level, all } = given.read()?;
            Call::Console { level, all }
        }
        "browser_resize" => {
            let ResizeArguments { width, height } = given.read()?;
            Call::Resize { width, height }
        }
        "browser_evaluate" => {
            let ScriptArguments { function, target, .. } = given.read()?;
            Call::Evaluate { function, target }
        }
        "browser_network_requests" => {
            let RequestsArguments { all, filter } = given.read()?;
            Call::Requests { all, filter: filter.as_deref().map(expression) }
        }
        "browser_network_request" => {
            let RequestArguments { index, part } = given.read()?;
            Call::PageRequest { number: index as usize, part }
        }
        "browser_close" => given.nothing(Call::Close)?,
        _ => return Err(CallError::NotOffered),
    })
}

struct GivenArguments {
    tool: &'static str,
    arguments: Map<String, Value>,
}

impl GivenArguments {
    fn read<T: DeserializeOwned>(self) -> Result<T, CallError> {
        let tool = self.tool;
        serde_json::from_value(Value::Object(self.arguments)).map_err(|error| misfit(tool, &error))
    }

    fn nothing(self, call: Call) -> Result<Call, CallError> {
        self.read::<NoArguments>().map(|_| call)
    }

    /// The verb of this word, with these arguments and no others.
    fn verb(self, word: &str) -> Result<Verb, CallError> {
        tool::read_verb(word, self.arguments).map_err(|error| misfit(self.tool, &error))
    }

    /// The verb of this word about an element.
    fn verb_at(self, word: &str) -> Result<Verb, CallError> {
        let tool = self.tool;
        element_verb(tool, word, self.read()?)
    }
}

fn element_verb(tool: &'static str, word: &str, arguments: ElementArguments) -> Result<Verb, CallError> {
    let ElementArguments { target, mut of_verb, .. } = arguments;
    of_verb.insert("target".to_owned(), target.into());
    GivenArguments { tool, arguments: of_verb }.verb(word)
}

/// The error for arguments that do not fit. The message of serde_json names parameters and types; a quoted value is cut out
/// of it.
fn misfit(tool: &'static str, error: &serde_json::Error) -> CallError {
    CallError::Arguments { tool, problem: without_values(&error.to_string()) }
}

/// serde reports the value that does not fit, as in `invalid type: string "value", expected ...`, and it may be one of the
/// user's.
fn without_values(message: &str) -> String {
    let names_a_value = message.starts_with("invalid") || message.starts_with("unknown variant");
    match (message.find(['"', '`']), message.rfind(", expected")) {
        (Some(from), Some(to)) if names_a_value && from < to => {
            let (before, after) = (message.get(..from), message.get(to..));
            format!("{}...{}", before.unwrap_or_default(), after.unwrap_or_default())
        }
        _ => message.to_owned(),
    }
}

fn to_fill(field: FieldArguments, bad: &impl Fn(&str) -> CallError) -> Result<FieldToFill, CallError> {
    let value = match (field.r#type.as_str(), field.value.as_str()) {
        ("textbox" | "slider", _) => FieldValue::Text(field.value),
        ("checkbox" | "radio", "true") => FieldValue::On(true),
        ("checkbox" | "radio", "false") => FieldValue::On(false),
        ("checkbox" | "radio", _) => return Err(bad("a check box is `true` or `false`")),
        ("combobox", _) => FieldValue::Option(field.value),
        _ => return Err(bad("`type` is textbox, checkbox, radio, combobox or slider")),
    };
    Ok(FieldToFill { target: field.target, value })
}

fn expression(regex: &str) -> SearchPattern {
    let slashed = regex.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    match slashed {
        Some((pattern, flags)) => {
            SearchPattern::Expression { pattern: pattern.to_owned(), any_case: flags.contains('i') }
        }
        None => SearchPattern::Expression { pattern: regex.to_owned(), any_case: false },
    }
}

/// A count that arrived as a JSON number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn whole(number: f64) -> usize {
    number.clamp(0.0, 1e6) as usize
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 30 seconds")]
fn milliseconds(seconds: f64) -> u32 {
    (seconds * 1000.0) as u32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::*;
    use crate::catalogue::all;
    use portcullis::signals::{HeldKeys, PlaceInElement};
    use serde_json::json;

    fn call(name: &str, arguments: Value) -> Result<Call, CallError> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        parse_call(&all(), name, arguments)
    }

    #[test]
    fn calls_are_parsed() {
        let target = || ElementRef("e1".to_owned());
        for (name, arguments, wanted) in [
            (
                "browser_navigate",
                json!({ "url": "https://a.example" }),
                Call::Navigate { url: "https://a.example".into() },
            ),
            (
                "browser_click",
                json!({ "element": "the button", "target": "e1" }),
                Call::Act(Verb::click(target())),
            ),
            (
                "browser_click",
                json!({
                    "target": "e1", "button": "right", "doubleClick": true, "modifiers": ["Shift"], "position": { "x": 4, "y": 9 },
                }),
                Call::Act(Verb::Click {
                    target: target(),
                    manner: ClickManner {
                        button: MouseButton::Right,
                        twice: true,
                        held: HeldKeys { shift: true, ..HeldKeys::default() },
                        place: Some(PlaceInElement { x: 4, y: 9 }),
                    },
                }),
            ),
            (
                "browser_type",
                json!({ "target": "e1", "text": "hello", "submit": true }),
                Call::ActAndSubmit(Verb::typed(target(), "hello")),
            ),
            (
                "browser_type",
                json!({ "target": "e1", "text": "hello", "slowly": true }),
                Call::Act(Verb::Type {
                    target: target(),
                    text: "hello".into(),
                    manner: TypeManner::KeyByKey,
                }),
            ),
            (
                "browser_drag",
                json!({ "startElement": "the card", "startTarget": "e1", "endTarget": "text=Done" }),
                Call::Act(Verb::Drag { target: target(), onto: ElementRef("text=Done".into()) }),
            ),
            (
                "browser_select_option",
                json!({ "target": "text=Colour", "values": ["blue"] }),
                Call::Act(Verb::select(ElementRef("text=Colour".into()), "blue")),
            ),
            ("browser_press_key", json!({ "key": "Tab" }), Call::Act(Verb::Press { key: "Tab".into() })),
            ("browser_navigate_back", json!({}), Call::Act(Verb::Back)),
            (
                "browser_find",
                json!({ "regex": "/total/i" }),
                Call::Find(SearchPattern::Expression { pattern: "total".into(), any_case: true }),
            ),
            (
                "browser_wait_for",
                json!({ "time": 1e9 }),
                Call::Wait { milliseconds: 30_000, text: None, text_gone: None },
            ),
            (
                "browser_fill_form",
                json!({ "fields": [{ "target": "e1", "name": "n", "type": "checkbox", "value": "true" }] }),
                Call::Fill(vec![FieldToFill { target: "e1".into(), value: FieldValue::On(true) }]),
            ),
        ] {
            assert_eq!(call(name, arguments).unwrap(), wanted, "{name}");
        }
    }

    #[test]
    fn calls_with_unsupported_arguments_are_refused() {
        for (name, arguments) in [
            ("browser_run_code_unsafe", json!({ "code": "1" })),
            ("webmcp_save_card", json!({})),
            ("browser_click", json!({ "target": "e1", "button": "middle" })),
            ("browser_click", json!({ "target": "e1", "modifiers": ["Enter"] })),
            ("browser_click", json!({})),
            ("browser_click", json!({ "target": "e1", "element": 4 })),
            ("browser_click", json!({ "target": "e1", "submit": true })),
            ("browser_click", json!({ "target": "e1", "do": "read" })),
            ("browser_navigate", json!({ "url": "https://a.example", "element": "the page" })),
            ("browser_navigate_back", json!({ "do": "open", "url": "https://a.example" })),
            ("browser_drag", json!({ "startTarget": "e1" })),
            ("browser_drag", json!({ "startTarget": "e1", "endTarget": "e2", "target": "e3" })),
            ("browser_snapshot", json!({ "filename": "/etc/passwd" })),
            ("browser_take_screenshot", json!({ "filename": "x.png" })),
            ("browser_take_screenshot", json!({ "type": "gif" })),
            ("browser_take_screenshot", json!({ "scale": "2" })),
            ("browser_console_messages", json!({ "level": "info", "_meta": { "cwd": "/" } })),
            ("browser_select_option", json!({ "target": "e1", "values": [] })),
            ("browser_tabs", json!({ "action": "select" })),
            ("browser_type", json!({ "target": "e1", "text": "two\nlines", "slowly": true })),
        ] {
            assert!(call(name, arguments.clone()).is_err(), "{name} {arguments}");
        }
    }

    #[test]
    fn argument_errors_do_not_repeat_values() {
        for value in [
            json!("4111111111111111"),
            json!("a\", expected `4111`"),
            json!(4111),
            json!(4111.5),
            json!(true),
        ] {
            for (name, arguments) in [
                ("browser_fill_form", json!({ "fields": value })),
                ("browser_select_option", json!({ "target": "e1", "values": value })),
            ] {
                let error = call(name, arguments).unwrap_err().to_string();
                assert!(!error.contains("4111") && !error.contains("true"), "{error}");
                assert!(error.ends_with("..., expected a sequence"), "{error}");
            }
        }
        let error = call("browser_click", json!({ "target": "e1", "4111": true })).unwrap_err().to_string();
        assert!(error.contains("unknown field `4111`"), "the names of parameters are repeated: {error}");
    }
}
