//! Dialogs that wait for an answer.

use crate::support::{Open, Server, about, launch, tab, text_with};
use browser_signals::Container;
use browser_signals::playwright::{BridgeError, DialogKind, ObservationTarget, PageDialog, Tab};

const PAGE: &str = r#"<!doctype html><title>Dialogs</title><p id=said></p>
<button onclick="alert('One'); alert('Two'); said.textContent = 'both'">Alert</button>
<button onclick="said.textContent = 'it is ' + confirm('Sure?')">Confirm</button>
<button onclick="said.textContent = prompt('Your name?', 'Nobody')">Prompt</button>
<button onclick="if (confirm('Go?')) location = '/next'">Leave</button>
<input aria-label=Amount onchange="alert('Changed')">"#;

fn open(tab: &Tab) -> Option<(DialogKind, String)> {
    tab.dialog().map(|PageDialog { kind, message, .. }| (kind, message))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_waits_for_its_answer_and_the_page_with_it() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    server.page("shop.example", "/next", "<title>Next</title>");
    server.page("shop.example", "/at-once", "<title>Late</title><script>alert('Hello')</script><p>Here");
    let browser = launch(&server).await;
    for tier in [Container::T0, Container::T2] {
        let tab = tab(&browser, &server, tier).await;
        tab.let_dialogs_wait(true);
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        assert_eq!(tab.answer_dialog(true, None).await, Err(BridgeError::NotApplicable), "none is open");
        let click = async |needle: &str| {
            let (target, seen) = about(&tab, needle).await;
            assert_eq!(tab.click(&target, &seen).await, Err(BridgeError::DialogOpen), "{needle}");
        };

        click("\"Alert\"").await;
        assert_eq!(open(&tab), Some((DialogKind::Alert, "One".to_owned())));
        let origin = tab.dialog().and_then(|dialog| dialog.origin);
        assert_eq!(origin, Some(server.origin("shop.example")));
        assert_eq!(tab.observe(ObservationTarget::Page).await.err(), Some(BridgeError::DialogOpen));
        assert!(tab.read(&Open).await.is_err());
        tab.answer_dialog(true, None).await.expect("answered");
        assert_eq!(open(&tab), Some((DialogKind::Alert, "Two".to_owned())));
        tab.answer_dialog(true, None).await.expect("answered");
        assert_eq!(open(&tab), None);
        assert!(text_with(&tab, "both").await.contains("both"));

        for (accept, said) in [(true, "it is true"), (false, "it is false")] {
            click("\"Confirm\"").await;
            tab.answer_dialog(accept, None).await.expect("answered");
            assert!(text_with(&tab, said).await.contains(said));
        }
        click("\"Prompt\"").await;
        assert_eq!(open(&tab), Some((DialogKind::Prompt, "Your name?".to_owned())));
        tab.answer_dialog(true, None).await.expect("answered");
        assert!(text_with(&tab, "Nobody").await.contains("Nobody"));
        let (amount, seen) = about(&tab, "\"Amount\"").await;
        assert_eq!(tab.type_text(&amount, "5", &seen).await, Err(BridgeError::DialogOpen));
        tab.answer_dialog(false, None).await.expect("answered");

        // What follows from the answer is waited for, as after a click.
        click("\"Leave\"").await;
        tab.answer_dialog(true, None).await.expect("answered");
        assert!(tab.read(&Open).await.expect("text").text.contains("\"Next\""));

        // A page may open a dialog before it is parsed.
        let opened = tab.open(&server.url("shop.example", "/at-once")).await;
        assert!(matches!(opened, Ok(()) | Err(BridgeError::DialogOpen)), "{opened:?}");
        assert_eq!(open(&tab), Some((DialogKind::Alert, "Hello".to_owned())));
        tab.answer_dialog(true, None).await.expect("answered");
        assert!(text_with(&tab, "Here").await.contains("Here"));
        tab.let_dialogs_wait(false);
        tab.open(&server.url("shop.example", "/at-once")).await.expect("dismissed as it opens");
        tab.close().await;
    }
    browser.close().await;
}
