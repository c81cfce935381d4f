//! A user in front of the consent page.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use url::Url;

/// This is longer than the minimum time before a yes counts.
pub const READS: Duration = Duration::from_millis(900);

/// Answers on the page at this address as its own script does, and returns the question.
pub fn answer_page(address: &str, answer: &str) -> Value {
    let url: Url = address.parse().unwrap();
    let nonce = url.fragment().unwrap();
    let shown = say(&url, &format!(r#"{{"show":"{nonce}"}}"#));
    let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}"));
    std::thread::sleep(READS);
    let subject = shown["subject"].as_str().unwrap();
    say(&url, &format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"{answer}"}}"#));
    shown
}

/// Sends one message of the page's script, and returns the answer.
fn say(url: &Url, body: &str) -> String {
    let port = url.port().unwrap();
    let head = format!(
        "POST {}say HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nOrigin: http://127.0.0.1:{port}\r\n\
         Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: same-origin\r\nSec-Fetch-Dest: empty\r\n\
         Content-Type: application/json\r\nX-Portcullis: consent\r\nContent-Length: {}\r\n\r\n",
        url.path(),
        body.len(),
    );
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    connection.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}
