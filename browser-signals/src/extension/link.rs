//! One extension at the other end of a socket: questions and answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use super::framing::{self, FramingError};
use super::report::Malformed;
use super::{filling, forms, text};
use crate::{Container, Fact, Observed, Origin, SealedFill, Snapshot, TextGuard, TlsState};

/// How long the extension may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// For how long after it was asked for a fill may begin, so that its answer comes within the patience.
const FILL_WITHIN: Duration = Duration::from_secs(7);

/// How long at most a page may have to be waited for that was there earlier.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The most questions of an extension that wait to be answered.
const MOST_ASKED: usize = 16;

/// Why the extension did not do what it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// The connection is gone: the worker was stopped, the browser was closed.
    #[error("the extension is gone")]
    Gone,
    /// It did not answer in time.
    #[error("the extension did not answer in time")]
    Slow,
    /// It answered what no extension of this version does.
    #[error("the extension's answer cannot be read")]
    Malformed,
    /// No tab is in front, or the tab in front is of no site of the task.
    #[error("the tab in front is of no site of the task")]
    NotOfTask,
    /// The document or a control is gone.
    #[error("the page has changed")]
    Stale,
    /// The form, its destination, or what a control holds is not what was decided on.
    #[error("the page diverted the values, and they were cleared")]
    Diverted,
    /// A control is not seen by a person.
    #[error("a control is not seen")]
    Occluded,
    /// A control cannot hold its value.
    #[error("a control cannot hold its value")]
    NotApplicable,
    /// The filter withheld the page's text.
    #[error("the text of the page was withheld")]
    TextWithheld,
    /// The extension walked the policy itself, by what it saw at that moment, and came to another end.
    #[error("the extension's preview of the policy disagrees")]
    Disagrees,
    /// What the page sends cannot be kept from going elsewhere.
    #[error("the page's way out cannot be narrowed")]
    WayOut,
    /// A page of the site was there earlier, outside of the task, and may have left something running that this would be told.
    #[error("a page that was there earlier may have left something running for {} seconds yet", .0.as_secs())]
    Earlier(Duration),
    /// The browser did not open a window.
    #[error("the browser opened no window")]
    NoWindow,
    /// The values went, and nobody said what became of them.
    #[error("the extension did not say whether the values arrived")]
    Unconfirmed,
}

/// Which tab may be looked at, and as what.
#[derive(Debug, Clone)]
pub struct View {
    /// The tier that the user raised the task to.
    pub container: Container,
    /// The sites of the task: a tab in front that shows another is not looked at.
    pub origins: Vec<Origin>,
    /// Whether the user trusts the pages of these sites that were open before the task. Else nothing is released until what
    /// such a page may have left running has ended by itself.
    pub trusts_open_pages: bool,
}

/// What was decided, for the extension to walk the policy by what it sees itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The event.
    pub event: String,
    /// The tier that it needs; empty for none.
    pub need: String,
    /// The symbol of each signal.
    pub valuation: Vec<(&'static str, &'static str)>,
}

/// The text of a tab, after the guard's filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabText {
    /// The text.
    pub text: String,
    /// The top frame's origin.
    pub origin: Option<Origin>,
}

/// What waits for answers.
#[derive(Default)]
struct Waiting {
    closed: AtomicBool,
    by_id: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
}

/// One extension. Dropping it closes the connection.
pub struct ExtensionLink {
    writer: tokio::sync::Mutex<OwnedWriteHalf>,
    waiting: Arc<Waiting>,
    asked: AtomicU64,
    observed: Arc<AtomicU64>,
    reading: tokio::task::JoinHandle<()>,
}

impl Drop for ExtensionLink {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl ExtensionLink {
    /// The extension at the other end of a socket, and what it asks by itself. Observations are numbered by `observed`,
    /// which all links of one guard share: what a later link sees is later.
    pub fn over(stream: UnixStream, observed: Arc<AtomicU64>) -> (ExtensionLink, mpsc::Receiver<Value>) {
        let (reader, writer) = stream.into_split();
        let waiting = Arc::new(Waiting::default());
        let (sender, asks) = mpsc::channel(MOST_ASKED);
        let reading = tokio::spawn(read_all(reader, Arc::clone(&waiting), sender));
        let writer = tokio::sync::Mutex::new(writer);
        (ExtensionLink { writer, waiting, asked: AtomicU64::new(0), observed, reading }, asks)
    }

    /// Whether the other end is gone.
    pub fn is_closed(&self) -> bool {
        self.waiting.closed.load(Ordering::Acquire)
    }

    /// Every form of every frame of the tab in front. `tls` says what is known of the connection to an origin.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn forms(
        &self,
        view: &View,
        tls: &(dyn Fn(&Origin) -> Fact<TlsState> + Sync),
    ) -> Result<Vec<Observed<Snapshot>>, ExtensionError> {
        let report = self.look("forms", view).await?;
        let seen = forms::snapshots(&report, view.container, tls)?;
        let of_task = |seen: &Snapshot| seen.top_origin.known().is_some_and(|top| view.origins.contains(top));
        if !seen.iter().all(of_task) {
            return Err(ExtensionError::NotOfTask);
        }
        Ok(seen
            .into_iter()
            .map(|seen| Observed::new(seen, self.observed.fetch_add(1, Ordering::AcqRel)))
            .collect())
    }

    /// The text of the tab in front, after the guard's filter.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn read(&self, view: &View, guard: &dyn TextGuard) -> Result<TabText, ExtensionError> {
        let report = self.look("text", view).await?;
        let (outline, origin) = text::outline(&report)?;
        if !origin.as_ref().is_some_and(|origin| view.origins.contains(origin)) {
            return Err(ExtensionError::NotOfTask);
        }
        let text = guard.guard(&outline).map_err(|_| ExtensionError::TextWithheld)?;
        Ok(TabText { text, origin })
    }

    /// Carries out a sealed fill: the values go to the one document that it names, once nothing is open to its pages but
    /// the origins in `open`.
    ///
    /// # Errors
    /// [`ExtensionError::Unconfirmed`] where the values went and it is not known how that ended: the connection ended, or
    /// nothing came back that says so. With every other [`ExtensionError`] no page has them.
    pub async fn fill(
        &self,
        fill: SealedFill,
        view: &View,
        open: &[Origin],
        decided: &Decided,
    ) -> Result<(), ExtensionError> {
        let valuation: Map<String, Value> =
            decided.valuation.iter().map(|(name, symbol)| ((*name).to_owned(), json!(symbol))).collect();
        let (id, answer) = self.expect()?;
        let head = json!({
            "id": id,
            "ask": "fill",
            "within": millis(FILL_WITHIN),
            "origins": written(&view.origins),
            "open": written(open),
            "trusted": view.trusts_open_pages,
            "decided": { "event": decided.event, "need": decided.need, "valuation": valuation },
        });
        let head = head.as_object().cloned().unwrap_or_default();
        let message = filling::message(&fill, head).ok_or(ExtensionError::Stale)?;
        self.send(&message.0).await?;
        drop((message, fill));
        // From here on only what is said to have ended well or not is known.
        let answer = self.within(id, answer).await.and_then(outcome).map_err(|error| match error {
            ExtensionError::Stale | ExtensionError::NotOfTask => error,
            _ => ExtensionError::Unconfirmed,
        })?;
        if let Some(earlier) = earlier(&answer) {
            return Err(earlier);
        }
        match answer.as_str() {
            Some("done") => Ok(()),
            Some("gone") => Err(ExtensionError::Stale),
            Some("hidden") => Err(ExtensionError::Occluded),
            Some("unfit") => Err(ExtensionError::NotApplicable),
            Some("disagrees") => Err(ExtensionError::Disagrees),
            Some("open") => Err(ExtensionError::WayOut),
            Some("diverted") => Err(ExtensionError::Diverted),
            Some("late") => Err(ExtensionError::Slow),
            _ => Err(ExtensionError::Unconfirmed),
        }
    }

    /// A task about these sites begins: from now on their documents are loaded under the rules that a fill asks for, and
    /// those that are there already are loaded again.
    ///
    /// # Errors
    /// [`ExtensionError`]; then a document may be there that nothing is filled into.
    pub async fn seal(&self, view: &View) -> Result<(), ExtensionError> {
        self.done(json!({ "ask": "seal", "origins": written(&view.origins) })).await
    }

    /// Leaves the origins in `open` open to their own pages and to the tab in front, and nothing else, until the task is
    /// over.
    ///
    /// # Errors
    /// [`ExtensionError`]; then nothing may be released.
    pub async fn narrow(&self, view: &View, open: &[Origin]) -> Result<(), ExtensionError> {
        let origins = written(&view.origins);
        let trusted = view.trusts_open_pages;
        self.done(json!({ "ask": "narrow", "origins": origins, "open": written(open), "trusted": trusted }))
            .await
    }

    /// The task is over: what was narrowed is open again.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn widen(&self) -> Result<(), ExtensionError> {
        self.done(json!({ "ask": "widen" })).await
    }

    pub(super) async fn done(&self, ask: Value) -> Result<(), ExtensionError> {
        let answer = self.ask(ask).await?;
        match answer.as_str() {
            Some("done") => Ok(()),
            _ => Err(earlier(&answer).unwrap_or(ExtensionError::WayOut)),
        }
    }

    /// Says something that is no question, such as an answer.
    ///
    /// # Errors
    /// [`ExtensionError::Gone`].
    pub async fn say(&self, message: &Value) -> Result<(), ExtensionError> {
        self.send(message.to_string().as_bytes()).await
    }

    async fn look(&self, what: &str, view: &View) -> Result<Value, ExtensionError> {
        self.ask(json!({ "ask": what, "origins": written(&view.origins) })).await
    }

    async fn ask(&self, mut message: Value) -> Result<Value, ExtensionError> {
        let (id, answer) = self.expect()?;
        if let Some(message) = message.as_object_mut() {
            message.insert("id".to_owned(), id.into());
        }
        self.say(&message).await?;
        outcome(self.within(id, answer).await?)
    }

    /// A number for a question, and where its answer will come.
    pub(super) fn expect(&self) -> Result<(u64, oneshot::Receiver<Value>), ExtensionError> {
        let id = self.asked.fetch_add(1, Ordering::AcqRel);
        let (sender, answer) = oneshot::channel();
        self.waiting.by_id.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        if self.is_closed() { Err(ExtensionError::Gone) } else { Ok((id, answer)) }
    }

    pub(super) async fn within(
        &self,
        id: u64,
        answer: oneshot::Receiver<Value>,
    ) -> Result<Value, ExtensionError> {
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(answer) => answer.map_err(|_| ExtensionError::Gone),
            Err(_) => {
                self.waiting.by_id.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                Err(ExtensionError::Slow)
            }
        }
    }

    async fn send(&self, message: &[u8]) -> Result<(), ExtensionError> {
        let mut writer = self.writer.lock().await;
        framing::write(&mut *writer, message).await.map_err(|error| match error {
            FramingError::TooLong(_) => ExtensionError::Malformed,
            FramingError::Io(_) => ExtensionError::Gone,
        })
    }
}

impl From<Malformed> for ExtensionError {
    fn from(_: Malformed) -> ExtensionError {
        ExtensionError::Malformed
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn written(origins: &[Origin]) -> Vec<String> {
    origins.iter().map(Origin::to_string).collect()
}

/// How long a page that was there earlier has to be waited for, where an extension answers that.
fn earlier(answer: &Value) -> Option<ExtensionError> {
    let seconds = answer.get("earlier").and_then(Value::as_u64)?;
    Some(ExtensionError::Earlier(Duration::from_secs(seconds).min(LONGEST_WAIT)))
}

/// What an extension answered, or why it did not.
pub(super) fn outcome(mut answer: Value) -> Result<Value, ExtensionError> {
    match answer.get("failed").and_then(Value::as_str) {
        None => answer.get_mut("answer").map(Value::take).ok_or(ExtensionError::Malformed),
        Some("not_of_task") => Err(ExtensionError::NotOfTask),
        Some("stale") => Err(ExtensionError::Stale),
        Some(_) => Err(ExtensionError::Malformed),
    }
}

/// Gives answers to those who wait and questions to whoever answers them, until the stream ends.
async fn read_all(mut reader: OwnedReadHalf, waiting: Arc<Waiting>, asks: mpsc::Sender<Value>) {
    while let Ok(Some(message)) = framing::read(&mut reader).await {
        let Ok(message) = serde_json::from_slice::<Value>(&message) else { break };
        if message.get("ask").is_some() {
            // Whoever asks faster than is answered is not answered.
            let _full = asks.try_send(message);
            continue;
        }
        let Some(id) = message.get("id").and_then(Value::as_u64) else { break };
        let waits = waiting.by_id.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(waits) = waits {
            let _gone = waits.send(message);
        }
    }
    waiting.closed.store(true, Ordering::Release);
    waiting.by_id.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::{ContainerId, Destination, DocumentId, FrameId, NodeId, SealedValue};

    fn pair() -> (ExtensionLink, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (ExtensionLink::over(ours, Arc::new(AtomicU64::new(1))).0, theirs)
    }

    fn view() -> View {
        let origins = vec![Origin::parse("https://shop.test").unwrap()];
        View { container: Container::T2, origins, trusts_open_pages: false }
    }

    fn report(origin: &str) -> Value {
        json!({ "tab": 1, "frames": [{ "frame": 0, "document": "A", "origin": origin, "url": format!("{origin}/"),
            "ancestors": [], "forms": [{ "form": 0, "way": null, "controls": [] }] }] })
    }

    async fn answer(theirs: &mut UnixStream, how: impl Fn(&Value) -> Value) -> Value {
        let message = framing::read(theirs).await.unwrap().unwrap();
        let message: Value = serde_json::from_slice(&message).unwrap();
        let mut answer = how(&message);
        answer["id"] = message["id"].clone();
        framing::write(theirs, answer.to_string().as_bytes()).await.unwrap();
        message
    }

    fn valid(_: &Origin) -> Fact<TlsState> {
        Fact::Known(TlsState::Valid)
    }

    fn fill() -> SealedFill {
        let origin = Origin::parse("https://shop.test").unwrap();
        SealedFill {
            container_id: ContainerId::new("tab:1"),
            frame: FrameId::new("tab:1/0"),
            document: DocumentId::new("A"),
            origin: origin.clone(),
            form: None,
            destination: Destination { origin, path: "/".into(), method: "POST".into() },
            values: vec![(NodeId(1), SealedValue::new(b"17 Quarry Road"))],
        }
    }

    #[tokio::test]
    async fn looks_are_numbered_upwards_and_a_tab_of_another_site_is_not_shown() {
        let (link, mut theirs) = pair();
        let mut last = 0;
        for _ in 0..2 {
            let view = view();
            let (seen, asked) = tokio::join!(
                link.forms(&view, &valid),
                answer(&mut theirs, |_| json!({ "answer": report("https://shop.test") }))
            );
            assert_eq!(asked["origins"], json!(["https://shop.test"]));
            let number = seen.unwrap()[0].number();
            assert!(number > last);
            last = number;
        }
        let other = |_: &Value| json!({ "answer": report("https://bank.test") });
        let view = view();
        let (seen, _) = tokio::join!(link.forms(&view, &valid), answer(&mut theirs, other));
        assert_eq!(seen.unwrap_err(), ExtensionError::NotOfTask);
    }

    #[tokio::test]
    async fn a_connection_that_ends_ends_what_waits_and_what_comes_after() {
        let (link, mut theirs) = pair();
        let view = view();
        let dies = async {
            framing::read(&mut theirs).await.unwrap().unwrap();
            drop(theirs);
        };
        let (seen, ()) = tokio::join!(link.forms(&view, &valid), dies);
        assert_eq!(seen.unwrap_err(), ExtensionError::Gone);
        assert!(link.is_closed());
        assert_eq!(link.forms(&view, &valid).await.unwrap_err(), ExtensionError::Gone);
    }

    #[tokio::test]
    async fn only_done_is_good_news_of_a_fill() {
        let decided =
            Decided { event: "address".into(), need: "T2".into(), valuation: vec![("tls", "valid")] };
        for (word, expected) in [
            (json!("done"), Ok(())),
            (json!("gone"), Err(ExtensionError::Stale)),
            (json!("diverted"), Err(ExtensionError::Diverted)),
            (json!("disagrees"), Err(ExtensionError::Disagrees)),
            (json!("open"), Err(ExtensionError::WayOut)),
            (json!({ "earlier": 300 }), Err(ExtensionError::Earlier(Duration::from_secs(300)))),
            (json!({ "earlier": "300" }), Err(ExtensionError::Unconfirmed)),
            (json!("late"), Err(ExtensionError::Slow)),
            (json!("unconfirmed"), Err(ExtensionError::Unconfirmed)),
            (json!("Done"), Err(ExtensionError::Unconfirmed)),
            (json!(null), Err(ExtensionError::Unconfirmed)),
        ] {
            let (link, mut theirs) = pair();
            let view = view();
            let (done, sent) = tokio::join!(
                link.fill(fill(), &view, &view.origins, &decided),
                answer(&mut theirs, |_| json!({ "answer": word }))
            );
            assert_eq!(done, expected, "{word}");
            assert_eq!(sent["values"], json!(["17 Quarry Road"]));
            assert_eq!(sent["decided"]["valuation"], json!({ "tls": "valid" }));
            assert_eq!((&sent["open"], &sent["trusted"]), (&json!(["https://shop.test"]), &json!(false)));
        }
    }

    #[tokio::test]
    async fn values_that_went_are_not_said_to_be_kept_where_nobody_says_what_became_of_them() {
        let decided = Decided { event: "address".into(), need: "T2".into(), valuation: Vec::new() };
        // It says what cannot be read, goes away with them, or says nothing.
        let cases = [
            (Some(json!({})), false),
            (Some(json!({ "failed": "too_long" })), false),
            (None, true),
            (None, false),
        ];
        for (answers, is_gone) in cases {
            let (link, mut theirs) = pair();
            let view = view();
            let holds = async {
                let sent = framing::read(&mut theirs).await.unwrap().unwrap();
                let sent: Value = serde_json::from_slice(&sent).unwrap();
                assert!(u128::from(sent["within"].as_u64().unwrap()) < PATIENCE.as_millis());
                if let Some(mut answer) = answers.clone() {
                    answer["id"] = sent["id"].clone();
                    framing::write(&mut theirs, answer.to_string().as_bytes()).await.unwrap();
                }
                (!is_gone).then_some(theirs)
            };
            let (done, _theirs) = tokio::join!(link.fill(fill(), &view, &view.origins, &decided), holds);
            assert_eq!(done, Err(ExtensionError::Unconfirmed), "{answers:?} {is_gone}");
        }
        // Who says that it did nothing, and who was gone before, have nothing.
        let (link, mut theirs) = pair();
        let view = view();
        let (done, _) = tokio::join!(
            link.fill(fill(), &view, &view.origins, &decided),
            answer(&mut theirs, |_| json!({ "failed": "not_of_task" }))
        );
        assert_eq!(done, Err(ExtensionError::NotOfTask));
        drop(theirs);
        while !link.is_closed() {
            tokio::task::yield_now().await;
        }
        assert_eq!(link.fill(fill(), &view, &view.origins, &decided).await, Err(ExtensionError::Gone));
    }

    #[tokio::test]
    async fn a_way_out_is_narrow_only_where_the_extension_says_so() {
        for (word, expected) in [
            (json!("done"), Ok(())),
            (json!("open"), Err(ExtensionError::WayOut)),
            (json!({ "earlier": 1 }), Err(ExtensionError::Earlier(Duration::from_secs(1)))),
            // Nobody waits for longer than the longest of all waits.
            (json!({ "earlier": u64::MAX }), Err(ExtensionError::Earlier(LONGEST_WAIT))),
            (json!({ "earlier": -1 }), Err(ExtensionError::WayOut)),
            (json!(null), Err(ExtensionError::WayOut)),
        ] {
            let (link, mut theirs) = pair();
            let view = View { trusts_open_pages: true, ..view() };
            let (done, sent) = tokio::join!(
                link.narrow(&view, &view.origins),
                answer(&mut theirs, |_| json!({ "answer": word }))
            );
            assert_eq!(
                (done, &sent["ask"], &sent["open"]),
                (expected, &json!("narrow"), &json!(["https://shop.test"]))
            );
            assert_eq!(sent["trusted"], json!(true));
            let (done, sent) = tokio::join!(link.widen(), answer(&mut theirs, |_| json!({ "answer": word })));
            assert_eq!((done, &sent["ask"]), (expected, &json!("widen")));
        }
    }
}
