//! Reports of forms as snapshots.

use serde_json::Value;

use super::report::{Frame, Malformed, Report};
use crate::form::facts;
use crate::json::number;
use crate::{Container, Fact, NodeId, Origin, Snapshot, TlsState};

/// The most forms of one frame.
const MOST_FORMS: usize = 101;

/// Every form of every frame of a report, each as a snapshot. `tls` gives the TLS state of the connection to an origin.
///
/// # Errors
/// [`Malformed`].
pub fn snapshots(
    report: &Value,
    container: Container,
    tls: &dyn Fn(&Origin) -> Fact<TlsState>,
) -> Result<Vec<Snapshot>, Malformed> {
    let report = Report::read(report, "forms")?;
    let mut snapshots = Vec::new();
    for frame in &report.frames {
        let forms = frame.contents.as_array().filter(|forms| forms.len() <= MOST_FORMS).ok_or(Malformed)?;
        snapshots.extend(forms.iter().map(|form| snapshot(&report, frame, form, container, tls)));
    }
    Ok(snapshots)
}

fn snapshot(
    report: &Report<'_>,
    frame: &Frame<'_>,
    facts: &Value,
    container: Container,
    tls: &dyn Fn(&Origin) -> Fact<TlsState>,
) -> Snapshot {
    // The content script numbers the elements of its document, and uses no number twice.
    let node = |number: u64| i64::try_from(number).ok().map(NodeId);
    let controls = facts::controls(facts, &node);
    let form = number(facts, "form").and_then(node);
    let sink = facts::sink(None, form.is_some(), &controls);
    let top = report.top();
    let top_origin = top.and_then(|top| top.origin.clone());
    Snapshot {
        container: Fact::Known(container),
        container_id: report.container(),
        frame: report.frame_id(frame),
        document: Fact::Known(frame.document.clone()),
        top_document: top.map(|top| top.document.clone()).into(),
        origin: frame.origin.clone().into(),
        path: frame.path.clone().into(),
        tls: worse(known(frame.origin.as_ref(), tls), known(top_origin.as_ref(), tls)),
        top_origin: top_origin.into(),
        ancestors: frame.ancestors.clone().into(),
        sandboxed: Fact::Unknown,
        secure_context: Fact::Unknown,
        form,
        destination: facts::destination(facts.get("way").unwrap_or(&Value::Null)).into(),
        sink: Fact::Known(sink),
        target: None,
        controls,
        words: facts::form_words(facts),
    }
}

fn known(origin: Option<&Origin>, tls: &dyn Fn(&Origin) -> Fact<TlsState>) -> Fact<TlsState> {
    origin.map_or(Fact::Unknown, tls)
}

/// The worse of two TLS states: a page needs a valid one in its frame and in its top frame.
fn worse(one: Fact<TlsState>, other: Fact<TlsState>) -> Fact<TlsState> {
    match (one, other) {
        (Fact::Known(TlsState::Insecure), _) | (_, Fact::Known(TlsState::Insecure)) => {
            Fact::Known(TlsState::Insecure)
        }
        (Fact::Known(TlsState::Broken), _) | (_, Fact::Known(TlsState::Broken)) => {
            Fact::Known(TlsState::Broken)
        }
        (Fact::Known(TlsState::Valid), Fact::Known(TlsState::Valid)) => Fact::Known(TlsState::Valid),
        _ => Fact::Unknown,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use serde_json::json;

    use super::*;

    fn report() -> Value {
        json!({ "tab": 7, "frames": [
            { "frame": 0, "document": "A", "origin": "https://shop.test", "url": "https://shop.test/x", "ancestors": [],
              "forms": [{ "form": 1, "way": { "action": "https://shop.test/order", "method": "POST" }, "controls": [
                { "id": 2, "form": 1, "tag": "input", "type": "text", "autocomplete": "street-address", "name": "s",
                  "label": "Street", "visible": true, "hit": true, "editable": true, "filled": false }] }] },
            { "frame": 3, "document": "B", "origin": "https://chat.test", "url": "https://chat.test/",
              "ancestors": ["https://shop.test"], "forms": [{ "form": 0, "way": null, "controls": [] }] },
        ]})
    }

    fn valid(_: &Origin) -> Fact<TlsState> {
        Fact::Known(TlsState::Valid)
    }

    #[test]
    fn a_report_becomes_snapshots_with_the_browsers_origins() {
        let all = snapshots(&report(), Container::T2, &valid).unwrap();
        assert_eq!(all.len(), 2);
        let shop = Origin::parse("https://shop.test").unwrap();
        assert_eq!(all[0].origin, Fact::Known(shop.clone()));
        assert_eq!(all[0].document, all[1].top_document);
        assert_eq!(all[0].ancestors, Fact::Known(Vec::new()));
        assert_eq!(all[1].ancestors, Fact::Known(vec![shop]));
        assert_eq!(all[0].controls.len(), 1);
        assert_eq!(all[0].form, all[0].controls[0].form);
        assert_ne!(all[0].frame, all[1].frame);
        assert_eq!(all[1].destination, Fact::Unknown);
    }

    #[test]
    fn an_origin_that_is_opaque_or_differs_from_the_address_is_unknown() {
        for (origin, url) in [
            ("null", "https://shop.test/"),
            ("https://shop.test", "https://evil.test/"),
            ("https://shop.test", "data:text/html,x"),
            ("https://shop.test/", "https://shop.test/"),
            ("HTTPS://SHOP.TEST", "https://shop.test/"),
        ] {
            let mut report = report();
            report["frames"][0]["origin"] = json!(origin);
            report["frames"][0]["url"] = json!(url);
            let all = snapshots(&report, Container::T2, &valid).unwrap();
            assert_eq!((&all[0].origin, all[0].tls), (&Fact::Unknown, Fact::Unknown), "{origin} {url}");
        }
        let mut report = report();
        report["frames"][1]["ancestors"] = json!(["null"]);
        assert_eq!(snapshots(&report, Container::T2, &valid).unwrap()[1].ancestors, Fact::Unknown);
    }

    #[test]
    fn malformed_reports_are_refused() {
        let broken: [fn(&mut Value); 7] = [
            |it| it["tab"] = json!("7"),
            |it| it["frames"][0]["frame"] = json!(3),
            |it| it["frames"][0]["frame"] = json!(1),
            |it| it["frames"][0]["ancestors"] = json!(["https://shop.test"]),
            |it| it["frames"][0]["document"] = json!(""),
            |it| it["frames"][1]["forms"] = json!("none"),
            |it| it["frames"] = json!([]),
        ];
        for (at, spoil) in broken.iter().enumerate() {
            let mut report = report();
            spoil(&mut report);
            assert!(snapshots(&report, Container::T2, &valid).is_err(), "{at}");
        }
    }

    #[test]
    fn the_connection_is_the_worse_of_frame_and_top() {
        let tls = |origin: &Origin| match origin.host() {
            "shop.test" => Fact::Known(TlsState::Broken),
            _ => Fact::Known(TlsState::Valid),
        };
        let all = snapshots(&report(), Container::T2, &tls).unwrap();
        assert_eq!(all[1].tls, Fact::Known(TlsState::Broken));
        let tls = |origin: &Origin| match origin.host() {
            "shop.test" => Fact::Unknown,
            _ => Fact::Known(TlsState::Valid),
        };
        assert_eq!(snapshots(&report(), Container::T2, &tls).unwrap()[1].tls, Fact::Unknown);
    }
}
