//! Messages to the service: framed messages, greetings, requests, reports of a tab.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use browser_signals::extension::framing::{self, MAX_BYTES};
use browser_signals::extension::{outline, snapshots};
use browser_signals::{Container, Fact, Origin, TlsState};
use portcullis::service::protocol::{ClientRequest, Hello, Role};
use serde_json::Value;

/// The most lines of a tab, and the most frames, each of which has one line more.
const MOST_LINES: usize = 5_000 + 64;

/// Reads any bytes as a stream of messages, and each message, and the bytes themselves, as every type of message.
///
/// # Panics
/// A stream or a message is not written as it was read, a role may send a request of another role, or a report shows
/// more than it may.
pub fn run(input: &[u8]) {
    let mut rest = input;
    while let Ok(Some(message)) = ready(framing::read(&mut rest)) {
        assert!(message.len() <= MAX_BYTES, "a message of {} bytes", message.len());
        let mut written = Vec::new();
        assert!(ready(framing::write(&mut written, &message)).is_ok(), "what was read can be written");
        let read = input.len() - rest.len();
        assert!(input.get(..read).is_some_and(|all| all.ends_with(&written)), "written in another way");
        check(&message);
    }
    check(input);
}

/// Polls a future over bytes in memory, which never waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

fn check(bytes: &[u8]) {
    let Ok(message) = serde_json::from_slice::<Value>(bytes) else { return };
    if let Ok(hello) = Hello::read(&message) {
        assert_eq!(Hello::read(&hello.message()), Ok(hello), "a first message is read otherwise");
    }
    for role in Role::ALL {
        let Ok(wish) = ClientRequest::read(role, &message) else { continue };
        assert_eq!(ClientRequest::read(role, &wish.message()), Ok(wish.clone()), "a wish is read otherwise");
        let may = match (&wish, role) {
            (ClientRequest::Begin { .. } | ClientRequest::End | ClientRequest::Standing, role) => {
                role == Role::User
            }
            (ClientRequest::Act(_), role) => role == Role::Agent,
            (ClientRequest::Change(_), Role::User) => true,
            (ClientRequest::Change(change), role) => role == Role::Extension && !change.how.is_looser(),
        };
        assert!(may, "{role:?} may not wish for this");
    }
    check_report(&message);
}

/// Checks that a report has the origins of the browser, in its spelling, each once.
fn check_report(report: &Value) {
    let frames = report.get("frames").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let says = |name: &str, origin: &Origin| {
        let origin = Value::from(origin.to_string());
        frames.iter().any(|frame| frame.get(name) == Some(&origin))
    };
    let valid = |_: &Origin| Fact::Known(TlsState::Valid);
    if let Ok(seen) = snapshots(report, Container::T2, &valid) {
        for page in seen {
            let origins = [page.origin.known(), page.top_origin.known()];
            assert!(
                origins.into_iter().flatten().all(|origin| says("origin", origin)),
                "an origin of nobody"
            );
            let vouched = page.tls.known() != Some(&TlsState::Valid) || page.origin.known().is_some();
            assert!(vouched, "a connection to nobody is good");
        }
    }
    if let Ok((outline, top)) = outline(report) {
        assert!(outline.lines.len() <= MOST_LINES, "{} lines", outline.lines.len());
        assert_eq!(outline.frames.len(), frames.len(), "a frame is told of without its origin");
        assert_eq!(outline.frames.first().cloned().flatten(), top);
        assert!(top.iter().all(|origin| says("origin", origin)), "the text of nobody's page");
        // The text of a page is in quotes, so no line of it looks like one of the guard's.
        let text = outline.unfiltered();
        let heads = text.lines().filter(|line| line.starts_with("- document ")).count();
        assert!(heads <= frames.len(), "{heads} documents in {} frames", frames.len());
    }
}
