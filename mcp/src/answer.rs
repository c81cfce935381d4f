//! The answer to a call.

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

    /// The answer of a session. A denied verb is an error.
    pub fn of_session(text: String) -> Answer {
        if text.starts_with("DENY.verb") { Answer::error(text) } else { Answer::text(text) }
    }
}
