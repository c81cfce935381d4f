//! The guard of the ablation "without egress" lets through what the guard stops, so that the experiment measures the checks.

use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::signals::{ElementRef, Verb};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};

use crate::shop::{ORIGIN, Stage};

/// The answer to a card number that the agent types into a search box.
async fn typed(stage: &Stage, change: impl FnOnce(Guard) -> Guard) -> String {
    stage.shop.serve(&[("/", "<form action=/find><label>Search <input name=q></label></form>".to_owned())]);
    let user = ScriptedAnswerer(|_: &ConsentPrompt| Answer::Session);
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(DEFAULT_POLICY, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
    let prompt = format!("Please search for a kettle at {ORIGIN}/.");
    let mut session = Session::begin(change(guard), &stage.browser, &prompt).await.unwrap();
    let opened = session.act(Action::Verb(Verb::Open { url: format!("{ORIGIN}/") })).await;
    assert_eq!(opened.to_string(), "ok");
    let page = session.act(Action::Verb(Verb::Read)).await.to_string();
    let (_, after) = page.split_once("textbox \"Search\" [ref=").unwrap();
    let target = ElementRef(after.split(']').next().unwrap().to_owned());
    let answer = session.act(Action::Verb(Verb::typed(target, "4111 1111 1111 1111"))).await.to_string();
    session.finish().await;
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_number_is_typed_only_without_the_checks() {
    let stage = Stage::set_up().await;
    assert_eq!(typed(&stage, |guard| guard).await, "DENY.verb {\"reason\":\"egress_blocked\"}");
    assert_eq!(typed(&stage, Guard::without_egress_checks).await, "ok");
    stage.browser.close().await;
}
