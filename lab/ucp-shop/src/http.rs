//! Requests and answers, without a network.

use serde_json::Value;

/// The methods that the shop's routes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
}

impl From<Method> for checkout_protocols::Method {
    fn from(method: Method) -> checkout_protocols::Method {
        match method {
            Method::Get => checkout_protocols::Method::Get,
            Method::Post => checkout_protocols::Method::Post,
            Method::Put => checkout_protocols::Method::Put,
        }
    }
}

/// A call, as it arrived.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The path on the shop's origin.
    pub path: &'a str,
    /// Names and values of the headers. Upper and lower case of a name are the same.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body; empty where there is none.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// The value of a header that is there once.
    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        let mut found = self.headers.iter().filter(|(it, _)| it.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value.trim()),
            _ => None,
        }
    }
}

/// What the shop answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// Names and values of the headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the caller sends the answer only after the client's time-out.
    pub is_late: bool,
}

impl Answer {
    /// An answer with a JSON body.
    pub(crate) fn json(status: u16, body: &Value) -> Answer {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Answer { status, headers, body: body.to_string().into_bytes(), is_late: false }
    }

    /// The same answer with one more header.
    pub(crate) fn with(mut self, name: &str, value: String) -> Answer {
        self.headers.push((name.to_owned(), value));
        self
    }
}
