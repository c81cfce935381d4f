//! A model behind an endpoint that speaks chat completions, such as a local llama.cpp or Ollama server.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use hyper::client::conn::http1;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use url::Url;

use super::{Message, Speaker};

/// The longest answer that is read, in bytes.
const MOST: usize = 1 << 20;
/// The longest time for an answer. Large models on small machines are slow.
const PATIENCE: Duration = Duration::from_secs(300);

/// The reason why an endpoint cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refused {
    /// Not an address.
    #[error("`{0}` is no address; write it as http://127.0.0.1:8080/v1")]
    Address(String),
    /// The scheme is not http.
    #[error("`{0}` is not http; a server elsewhere needs a local proxy in front, which keeps its key too")]
    NotHttp(String),
}

/// A model at an address. It is asked at temperature 0 with a fixed seed. Servers differ in how far they repeat
/// themselves, so record the runs that results rest on.
#[derive(Debug, Clone)]
pub struct Endpoint {
    host: String,
    port: u16,
    path: String,
    model: String,
}

impl Endpoint {
    /// The model called `model` at `base`, such as `http://127.0.0.1:11434/v1`.
    ///
    /// # Errors
    /// [`Refused`] if the address cannot be used. A server that does not answer shows at the first question.
    pub fn new(base: &str, model: &str) -> Result<Endpoint, Refused> {
        let url = Url::parse(base).map_err(|_| Refused::Address(base.to_owned()))?;
        if url.scheme() != "http" {
            return Err(Refused::NotHttp(base.to_owned()));
        }
        let host = url.host_str().ok_or_else(|| Refused::Address(base.to_owned()))?.to_owned();
        let port = url.port_or_known_default().unwrap_or(80);
        let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
        Ok(Endpoint { host, port, path, model: model.to_owned() })
    }

    async fn ask(&self, messages: &[Message]) -> Result<String, String> {
        let question = json!({
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "seed": 1,
            "max_tokens": 512,
            "stream": false,
        });
        let request = Request::post(&self.path)
            .header(header::HOST, format!("{}:{}", self.host, self.port))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONNECTION, "close")
            .body(Body::from(question.to_string()))
            .map_err(|error| format!("the question could not be put: {error}"))?;
        let lost = |error: &dyn std::fmt::Display| format!("the model could not be reached: {error}");
        let bare_host = self.host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((bare_host, self.port)).await.map_err(|error| lost(&error))?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| lost(&error))?;
        let driving = tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(|error| lost(&error))?;
        let status = response.status();
        let body = to_bytes(Body::new(response.into_body()), MOST).await;
        driving.abort();
        let body = body.map_err(|error| format!("the model's answer could not be read: {error}"))?;
        if !status.is_success() {
            return Err(format!("the model's server answered {status}"));
        }
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|error| format!("the model's answer is no JSON: {error}"))?;
        let said = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        said.map(str::to_owned).ok_or_else(|| "the model's answer holds no message".to_owned())
    }
}

impl Speaker for Endpoint {
    /// Blocks until the answer arrives. It works within a runtime and outside of one.
    fn say(&mut self, messages: &[Message]) -> Result<String, String> {
        let own = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|error| format!("no runtime for the question: {error}"))?;
                runtime.block_on(async {
                    let answer = tokio::time::timeout(PATIENCE, self.ask(messages)).await;
                    answer.unwrap_or_else(|_| {
                        Err(format!("the model took longer than {} s", PATIENCE.as_secs()))
                    })
                })
            });
            asking.join()
        });
        own.unwrap_or_else(|_| Err("the question broke off".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::super::ChatAgent;
    use super::*;
    use crate::agent::{Action, Agent};

    /// A stub of the protocol: it answers each connection with the next of `answers`, and returns the requests.
    fn stub(answers: Vec<(&'static str, String)>) -> (String, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1/", listener.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let mut asked = Vec::new();
            for (status, body) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut text = Vec::new();
                let mut buffer = [0; 4096];
                let whole = |text: &[u8]| {
                    let text = String::from_utf8_lossy(text).into_owned();
                    let (head, body) = text.split_once("\r\n\r\n")?;
                    let lower = head.to_lowercase();
                    let length = lower
                        .split_once("content-length: ")?
                        .1
                        .lines()
                        .next()?
                        .trim()
                        .parse::<usize>()
                        .ok()?;
                    (body.len() >= length).then_some(text)
                };
                asked.push(loop {
                    let count = stream.read(&mut buffer).unwrap();
                    text.extend_from_slice(&buffer[..count]);
                    if let Some(request) = whole(&text) {
                        break request;
                    }
                });
                let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            }
            asked
        });
        (base, serving)
    }

    fn saying(words: &str) -> (&'static str, String) {
        let answer = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": words}}]});
        ("200 OK", answer.to_string())
    }

    #[test]
    fn a_conversation_goes_over_the_protocol() {
        let (base, serving) = stub(vec![saying("{\"do\":\"read\"}"), saying("{\"do\":\"done\"}")]);
        let endpoint = Endpoint::new(&base, "small-one").unwrap();
        let mut agent = ChatAgent::new("chat", endpoint, "Please buy a kettle.");
        assert_eq!(agent.next(""), Action::Verb(browser_signals::Verb::Read));
        assert_eq!(agent.next("a page"), Action::Done);
        assert_eq!(agent.broke_off(), None);
        let asked = serving.join().unwrap();
        assert!(asked.iter().all(|request| request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n")));
        let body: Value = serde_json::from_str(asked[1].split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["model"], "small-one");
        assert_eq!(body["messages"].as_array().unwrap().len(), 4);
        assert_eq!(body["messages"][1], json!({"role": "user", "content": "Please buy a kettle."}));
        assert_eq!(body["messages"][3]["content"], "a page");
    }

    #[tokio::test]
    async fn it_answers_within_a_runtime_too() {
        let (base, _serving) = stub(vec![saying("hello")]);
        assert_eq!(Endpoint::new(&base, "m").unwrap().say(&[]), Ok("hello".to_owned()));
    }

    #[test]
    fn server_errors_are_reported() {
        for (answer, words) in [
            (("500 Oops", String::new()), "answered 500"),
            (("200 OK", "not json".to_owned()), "no JSON"),
            (("200 OK", "{\"choices\":[]}".to_owned()), "holds no message"),
            (("200 OK", "x".repeat(MOST + 1)), "could not be read"),
        ] {
            let (base, _serving) = stub(vec![answer]);
            let why = Endpoint::new(&base, "m").unwrap().say(&[]).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let why = Endpoint::new(&format!("http://{closed}"), "m").unwrap().say(&[]).unwrap_err();
        assert!(why.contains("could not be reached"), "{why}");
    }

    #[test]
    fn addresses_that_cannot_be_used_are_refused() {
        assert_eq!(Endpoint::new("here", "m").unwrap_err(), Refused::Address("here".into()));
        assert!(matches!(Endpoint::new("https://a.test/v1", "m"), Err(Refused::NotHttp(_))));
        assert_eq!(Endpoint::new("http://[::1]:8080/v1", "m").unwrap().path, "/v1/chat/completions");
    }
}
