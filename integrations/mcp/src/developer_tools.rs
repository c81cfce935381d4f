//! What the developer tools tell: the console, the requests and their parts, and the result of a script, worded as playwright-mcp words
//! them. All of it is text of the page, which the caller scrubs.

use portcullis::signals::playwright::developer_tools::console::{ConsoleLevel, ConsoleMessage};
use portcullis::signals::playwright::developer_tools::requests::{Answered, PageRequest, ResponseBody};
use portcullis::signals::playwright::developer_tools::scripts::ScriptResult;
use regex_automata::meta::Regex;

use crate::arguments::{LevelArgument, PartArgument};

/// The longest answer, in bytes.
const LONGEST: usize = 60_000;

/// The messages of the console up to a level.
pub fn console(messages: &[ConsoleMessage], level: LevelArgument) -> String {
    let (word, most) = match level {
        LevelArgument::Error => ("error", ConsoleLevel::Error),
        LevelArgument::Warning => ("warning", ConsoleLevel::Warning),
        LevelArgument::Info => ("info", ConsoleLevel::Info),
        LevelArgument::Debug => ("debug", ConsoleLevel::Debug),
    };
    let count = |of| messages.iter().filter(|message| message.level == of).count();
    let (errors, warnings) = (count(ConsoleLevel::Error), count(ConsoleLevel::Warning));
    let mut lines =
        vec![format!("Total messages: {} (Errors: {errors}, Warnings: {warnings})", messages.len())];
    let told: Vec<&ConsoleMessage> = messages.iter().filter(|message| message.level <= most).collect();
    if told.len() != messages.len() {
        lines.push(format!("Returning {} messages for level \"{word}\"", told.len()));
    }
    lines.push(String::new());
    lines.extend(told.into_iter().map(message));
    cut(lines.join("\n"))
}

fn message(of: &ConsoleMessage) -> String {
    let ConsoleMessage { function, text, place, .. } = of;
    // An exception's text has its place.
    let Some(function) = function else { return text.clone() };
    let place = place.as_ref().map(|(url, line)| format!(" @ {url}:{line}")).unwrap_or_default();
    format!("[{}] {text}{place}", function.to_uppercase())
}

/// The requests that match, each with its number. Those for a page's unchanging parts that succeeded are left out unless `all`.
pub fn requests(all_requests: &[PageRequest], all: bool, filter: Option<&Regex>) -> String {
    let mut left_out = 0;
    let mut lines = Vec::new();
    for (index, request) in all_requests.iter().enumerate() {
        if filter.is_some_and(|filter| !filter.is_match(&request.url)) {
            continue;
        }
        let of_script = matches!(request.resource.as_str(), "Fetch" | "XHR");
        let succeeded = matches!(request.answered, Answered::Response { status, .. } if status < 400);
        if !all && !of_script && succeeded {
            left_out += 1;
            continue;
        }
        lines.push(format!("{}. {}", index + 1, line(request)));
    }
    if left_out > 0 {
        let (noun, them) = if left_out == 1 { ("request", "it") } else { ("requests", "them") };
        lines.push(format!(
            "\nNote: {left_out} static {noun} not shown, run with \"static\" option to see {them}."
        ));
    }
    cut(lines.join("\n"))
}

fn line(request: &PageRequest) -> String {
    let PageRequest { method, url, answered, .. } = request;
    match answered {
        Answered::NotYet => format!("[{method}] {url}"),
        Answered::Response { status, words, .. } => {
            format!("[{method}] {url} => [{status}] {words}").trim_end().to_owned()
        }
        Answered::Failed(error) => format!("[{method}] {url} => [FAILED] {error}"),
    }
}

/// One request with its headers, and how to read its bodies.
pub fn details(index: usize, request: &PageRequest) -> String {
    let PageRequest { method, url, resource, body, answered, .. } = request;
    let mut lines = vec![format!("#{index} [{method}] {url}"), String::new(), "  General".to_owned()];
    match answered {
        Answered::NotYet => lines.push("    status: none yet".to_owned()),
        Answered::Response { status, words, media_type, .. } => {
            lines.push(format!("    status: [{status}] {words}").trim_end().to_owned());
            lines.push(format!("    mimeType: {media_type}"));
        }
        Answered::Failed(error) => lines.push(format!("    status: [FAILED] {error}")),
    }
    lines.push(format!("    type: {}", resource.to_lowercase()));
    let mut section = |title: &str, headers: &[(String, String)]| {
        lines.push(format!("\n  {title}"));
        lines.extend(headers.iter().map(|(name, value)| format!("    {name}: {value}")));
    };
    section("Request headers", &request.headers);
    let mut hints = Vec::new();
    let hint = |part: &str| {
        let words = part.replace('-', " ");
        format!("Call browser_network_request with part=\"{part}\" to read the {words}.")
    };
    hints.extend(body.is_some().then(|| hint("request-body")));
    if let Answered::Response { headers, .. } = answered {
        section("Response headers", headers);
        hints.push(hint("response-body"));
    }
    lines.push(String::new());
    lines.extend(hints);
    cut(lines.join("\n"))
}

/// The part of a request that is known without asking the browser; none for the content of its response.
pub fn part(request: &PageRequest, part: PartArgument) -> Option<String> {
    let listed = |headers: &[(String, String)]| {
        let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        cut(lines.join("\n"))
    };
    match part {
        PartArgument::RequestHeaders => Some(listed(&request.headers)),
        PartArgument::RequestBody => Some(cut(request.body.clone().unwrap_or_default())),
        PartArgument::ResponseHeaders => Some(match &request.answered {
            Answered::Response { headers, .. } => listed(headers),
            _ => String::new(),
        }),
        PartArgument::ResponseBody => None,
    }
}

/// The content of a response.
pub fn body(of: ResponseBody) -> String {
    match of {
        ResponseBody::Text(text) => cut(text),
        ResponseBody::Binary(length) => format!("{length} bytes that are no text"),
    }
}

/// The value of a script as JSON, or what it threw.
pub fn script_result(of: ScriptResult) -> Result<String, String> {
    match of {
        ScriptResult::Value(None) => Ok("undefined".to_owned()),
        ScriptResult::Value(Some(value)) => Ok(cut(serde_json::to_string_pretty(&value).unwrap_or_default())),
        ScriptResult::Thrown(error) => Err(cut(error)),
    }
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push_str("\n(cut: the answer is too long)");
    }
    text
}
