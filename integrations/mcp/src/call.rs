//! A parsed call of a tool, and the answer to it.

use portcullis::signals::Verb;
use portcullis::signals::playwright::PictureSettings;
use portcullis::signals::verb::ClickManner;

use crate::arguments::{ControlArgument, LevelArgument, PartArgument};

/// The reason why a call cannot be carried out as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no such tool, or it is withheld. Its name is the caller's, and is not repeated.
    #[error("there is no such tool here; `tools/list` names those that are offered")]
    NotOffered,
    /// The arguments do not fit the tool.
    #[error("the arguments of `{tool}` do not fit: {problem}")]
    Arguments {
        /// The tool.
        tool: &'static str,
        /// The problem.
        problem: String,
    },
    /// The arguments fit the schema of the tool, and make no call. The model is told, as of any other call that fails.
    #[error("`{tool}`: {problem}")]
    NoCall {
        /// The tool.
        tool: &'static str,
        /// The problem.
        problem: &'static str,
    },
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Plan {
        origins: Vec<String>,
        plan: Option<String>,
        uploads: bool,
    },
    Request {
        block: String,
    },
    Status,
    Navigate {
        url: String,
    },
    /// A verb on the page. An element that it is about is as the call names it, and no ref yet.
    Act(Verb),
    /// The same, and then the element's form is submitted.
    ActAndSubmit(Verb),
    Snapshot {
        target: Option<String>,
        depth: Option<usize>,
        limit: Option<usize>,
        boxes: bool,
    },
    /// The rest of a snapshot that was cut.
    Continue {
        name: String,
        limit: Option<usize>,
    },
    Find(SearchPattern),
    /// A click on the element at a point of the window.
    ClickAt {
        x: f64,
        y: f64,
        manner: ClickManner,
    },
    Verify(Check),
    /// The page as a PDF for the user.
    KeepAsPdf,
    Fill(Vec<FieldToFill>),
    Wait {
        milliseconds: u32,
        text: Option<String>,
        text_gone: Option<String>,
    },
    /// The answer to the dialog that the page shows.
    Dialog {
        accept: bool,
        words: Option<String>,
    },
    /// Files for the page that asks for some, or none.
    Upload {
        files: Option<Vec<String>>,
    },
    ListTabs,
    /// Opens a tab, with an address or empty.
    NewTab {
        url: Option<String>,
    },
    SelectTab {
        number: usize,
    },
    /// Closes a tab: the current one without a number.
    CloseTab {
        number: Option<usize>,
    },
    Close,
    Screenshot {
        target: Option<String>,
        settings: PictureSettings,
    },
    Console {
        level: LevelArgument,
        all: bool,
    },
    Resize {
        width: u32,
        height: u32,
    },
    /// Runs a script of the agent's in the page.
    Evaluate {
        function: String,
        target: Option<String>,
    },
    Requests {
        all: bool,
        filter: Option<SearchPattern>,
    },
    /// One request of the page, by its number in the list.
    PageRequest {
        number: usize,
        part: Option<PartArgument>,
    },
}

/// What `browser_verify_…` checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// An element with this role, and a name with these words, is there.
    Element { role: String, name: String },
    /// A person sees these words.
    Text(String),
    /// A person sees these words in an element.
    Items { target: String, items: Vec<String> },
    /// A control has this value.
    Value { target: String, control: ControlArgument, value: String },
}

/// The pattern of `browser_find`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchPattern {
    /// Text, ignoring case.
    Text(String),
    /// A regular expression.
    Expression { pattern: String, any_case: bool },
}

/// One control of `browser_fill_form`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldToFill {
    pub target: String,
    pub value: FieldValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Text(String),
    On(bool),
    Option(String),
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// A screenshot.
    Picture {
        /// The image in base64.
        data: String,
        /// The media type, such as `image/png`.
        media_type: String,
    },
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub blocks: Vec<Block>,
    pub is_error: bool,
}

impl Answer {
    pub fn text(text: impl Into<String>) -> Answer {
        Answer { blocks: vec![Block::Text(text.into())], is_error: false }
    }

    pub fn error(text: impl Into<String>) -> Answer {
        Answer { is_error: true, ..Answer::text(text) }
    }
}
