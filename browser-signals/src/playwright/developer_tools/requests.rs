//! The requests of a page since its document was asked for, with their responses.
//!
//! Headers that identify a person to a site are never recorded: cookies and authorisation.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::MOST_KEPT;
use crate::FrameId;
use crate::json::text;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::state::Session;

/// Headers that are not recorded.
const PERSONAL: [&str; 5] = ["authorization", "cookie", "cookie2", "proxy-authorization", "set-cookie"];

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// It waits.
    NotYet,
    /// With a response.
    Response {
        /// The status.
        status: u16,
        /// The server's words for the status.
        words: String,
        /// The type of the content.
        media_type: String,
        /// The headers, with names in lower case.
        headers: Vec<(String, String)>,
    },
    /// With an error of the browser's, such as `net::ERR_FAILED`.
    Failed(String),
}

/// A request, in the page's words.
#[derive(Clone)]
pub struct PageRequest {
    /// The method.
    pub method: String,
    /// The address.
    pub url: String,
    /// The browser's name of what it is for, such as `Document`, `Fetch` or `Image`.
    pub resource: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, where it is text.
    pub body: Option<String>,
    /// How it ended.
    pub answered: Answered,
    id: String,
    session: Arc<Session>,
}

/// The content of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseBody {
    /// Text.
    Text(String),
    /// Something else, of so many bytes.
    Binary(usize),
}

fn headers(of: Option<&Value>) -> Vec<(String, String)> {
    let all = of.and_then(|it| it.get("headers")).and_then(Value::as_object).into_iter().flatten();
    all.map(|(name, value)| (name.to_lowercase(), value.as_str().unwrap_or_default().to_owned()))
        .filter(|(name, _)| !PERSONAL.contains(&name.as_str()))
        .collect()
}

fn response(of: &Value) -> Answered {
    let status = of.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    Answered::Response {
        status: status.unwrap_or_default(),
        words: text(of, "statusText").unwrap_or_default().to_owned(),
        media_type: text(of, "mimeType").unwrap_or_default().to_owned(),
        headers: headers(Some(of)),
    }
}

/// Takes an event. The request for a document of the top frame begins the records anew.
pub(super) fn take(
    records: &mut Vec<PageRequest>,
    session: &Arc<Session>,
    top: Option<&FrameId>,
    method: &str,
    params: &Value,
) {
    let Some(id) = text(params, "requestId") else { return };
    let earlier = records.iter_mut().rev().find(|it| it.id == id && it.answered == Answered::NotYet);
    match method {
        "Network.requestWillBeSent" => {
            let redirected = params.get("redirectResponse");
            if let (Some(earlier), Some(answer)) = (earlier, redirected) {
                earlier.answered = response(answer);
            }
            let of_top =
                text(params, "frameId").is_some_and(|frame| top.is_some_and(|top| top.as_str() == frame));
            let resource = text(params, "type").unwrap_or("Other");
            if of_top && resource == "Document" && redirected.is_none() {
                records.clear();
            }
            let Some(request) = params.get("request") else { return };
            // The browser reports addresses of its own too, and asks by itself for the picture of a site.
            let is_icon = |url: &str| resource == "Other" && url.ends_with("/favicon.ico");
            let url = text(request, "url").filter(|url| url.starts_with("http") && !is_icon(url));
            let Some(url) = url.filter(|_| records.len() < MOST_KEPT) else { return };
            records.push(PageRequest {
                method: text(request, "method").unwrap_or_default().to_owned(),
                url: url.to_owned(),
                resource: resource.to_owned(),
                headers: headers(Some(request)),
                body: text(request, "postData").map(str::to_owned),
                answered: Answered::NotYet,
                id: id.to_owned(),
                session: Arc::clone(session),
            });
        }
        "Network.responseReceived" => {
            if let (Some(earlier), Some(answer)) = (earlier, params.get("response")) {
                earlier.answered = response(answer);
            }
        }
        "Network.loadingFailed" => {
            if let Some(earlier) = earlier {
                earlier.answered = Answered::Failed(text(params, "errorText").unwrap_or_default().to_owned());
            }
        }
        _ => {}
    }
}

impl Tab {
    /// The requests since the page's document was asked for, oldest first. A request keeps its place.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once a value was released.
    pub fn requests(&self) -> Result<Vec<PageRequest>, BridgeError> {
        if self.state.has_released() {
            return Err(BridgeError::TextWithheld);
        }
        Ok(self.state.inner().records.requests.clone())
    }

    /// The content of a response.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once a value was released, [`BridgeError::NotApplicable`] where the browser has not kept it.
    pub async fn response_body(&self, of: &PageRequest) -> Result<ResponseBody, BridgeError> {
        if self.state.has_released() {
            return Err(BridgeError::TextWithheld);
        }
        let answer = of.session.call("Network.getResponseBody", json!({ "requestId": of.id })).await;
        let answer = answer.map_err(|_| BridgeError::NotApplicable)?;
        let body = text(&answer, "body").unwrap_or_default();
        if answer.get("base64Encoded").and_then(Value::as_bool) != Some(true) {
            return Ok(ResponseBody::Text(body.to_owned()));
        }
        let bytes = STANDARD.decode(body).unwrap_or_default();
        let length = bytes.len();
        Ok(String::from_utf8(bytes).map_or(ResponseBody::Binary(length), ResponseBody::Text))
    }
}
