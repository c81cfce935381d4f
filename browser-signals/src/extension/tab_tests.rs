#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde_json::json;
use tokio::net::UnixStream;

use super::super::framing;
use super::super::link::PATIENCE;
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
        embedded: None,
        values: vec![(NodeId(1), SealedValue::new(b"17 Quarry Road"))],
        made: Vec::new(),
    }
}

#[tokio::test]
async fn observations_have_rising_numbers_and_a_tab_of_another_site_is_not_shown() {
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
async fn a_lost_connection_ends_pending_and_later_requests() {
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
async fn only_the_answer_done_is_a_successful_fill() {
    let decided = Decided { event: "address".into(), need: "T2".into(), valuation: vec![("tls", "valid")] };
    for (word, expected) in [
        (json!("done"), Ok(())),
        (json!("gone"), Err(ExtensionError::Stale)),
        (json!("diverted"), Err(ExtensionError::Diverted)),
        (json!("disagrees"), Err(ExtensionError::Disagrees)),
        (json!("open"), Err(ExtensionError::Egress)),
        (json!({ "earlier": 300 }), Err(ExtensionError::EarlierPage(Duration::from_secs(300)))),
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
async fn values_without_a_stated_outcome_are_unconfirmed() {
    let decided = Decided { event: "address".into(), need: "T2".into(), valuation: Vec::new() };
    // Its answer cannot be read, it disconnects, or it does not answer.
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
    // An extension that did nothing, or was gone before, has no value.
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
async fn egress_is_restricted_only_where_the_extension_confirms_it() {
    for (word, expected) in [
        (json!("done"), Ok(())),
        (json!("open"), Err(ExtensionError::Egress)),
        (json!({ "earlier": 1 }), Err(ExtensionError::EarlierPage(Duration::from_secs(1)))),
        // A longer wait is cut to the longest one.
        (json!({ "earlier": u64::MAX }), Err(ExtensionError::EarlierPage(LONGEST_WAIT))),
        (json!({ "earlier": -1 }), Err(ExtensionError::Egress)),
        (json!(null), Err(ExtensionError::Egress)),
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
