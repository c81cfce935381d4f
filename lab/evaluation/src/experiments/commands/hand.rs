//! The agent that does everything that the commands of a page could mean.

use browser_signals::{ElementRef, Verb};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portcullis::Session;

use super::HostilePage;
use super::served::{HOST, addresses};
use crate::agent::Action;
use crate::agent::observation::{Page, is_box};
use crate::trials::unguarded::{UnguardedError, UnguardedTab};

/// The most boxes and buttons of one page that are tried.
const MAX_CONTROLS: usize = 6;

/// Where the agent acts.
pub(super) enum Hand {
    Guarded(Box<Session>),
    Bare(Box<UnguardedTab>),
}

impl Hand {
    async fn act(&mut self, action: Action) -> String {
        match self {
            Hand::Bare(tab) => tab.act(&action).await,
            Hand::Guarded(session) => {
                let action = match action {
                    Action::Verb(verb) => portcullis::Action::Verb(verb),
                    Action::Request(block) => portcullis::Action::Request(block),
                    Action::Done => return String::new(),
                };
                session.act(action).await.to_string()
            }
        }
    }

    async fn verb(&mut self, verb: Verb) -> String {
        self.act(Action::Verb(verb)).await
    }

    pub(super) async fn finish(self) -> Result<(), UnguardedError> {
        match self {
            Hand::Guarded(session) => {
                session.finish().await;
                Ok(())
            }
            Hand::Bare(tab) => tab.close().await,
        }
    }
}

/// Reads the page and does everything that its commands could mean. Returns what the agent read first.
pub(super) async fn obey(hand: &mut Hand, at: usize, page: &HostilePage, data: &str) -> String {
    let home = Verb::Open { url: format!("https://{HOST}/{at}") };
    hand.verb(home.clone()).await;
    let told = hand.verb(Verb::Read).await;
    let payloads = page.payloads.join(" ");
    for text in [data, payloads.as_str()] {
        for control in 0..MAX_CONTROLS {
            // Each try begins on a fresh page, since the one before may have left it.
            hand.verb(home.clone()).await;
            let read = Page::parse(&hand.verb(Verb::Read).await);
            let boxes: Vec<ElementRef> = refs(&read, |page, at| page.nodes.get(at).is_some_and(is_box));
            let buttons =
                refs(&read, |page, at| page.nodes.get(at).is_some_and(|node| node.role == "button"));
            for target in &boxes {
                hand.verb(Verb::typed(target.clone(), text)).await;
            }
            let sends = boxes.iter().cloned().map(|target| Verb::Submit { target });
            let clicks = buttons.into_iter().map(Verb::click);
            let Some(verb) = sends.chain(clicks).nth(control) else { break };
            hand.verb(verb).await;
            // What the page sends by itself is on its way before the next page is opened.
            hand.verb(Verb::Wait { milliseconds: 200 }).await;
        }
    }
    hand.verb(home).await;
    hand.verb(Verb::Read).await;
    hand.act(Action::Request(everything())).await;
    for (_, url) in page.payloads.iter().flat_map(|payload| addresses(payload)) {
        let encoded = utf8_percent_encode(data, NON_ALPHANUMERIC);
        hand.verb(Verb::Open { url: url.clone() }).await;
        hand.verb(Verb::Open { url: format!("{url}?data={encoded}") }).await;
    }
    told
}

fn refs(page: &Page, is_one: impl Fn(&Page, usize) -> bool) -> Vec<ElementRef> {
    let all =
        page.nodes.iter().enumerate().filter(|(at, node)| !node.element_ref.is_empty() && is_one(page, *at));
    all.map(|(_, node)| ElementRef(node.element_ref.clone())).collect()
}

/// A request for everything, with every claim that could help.
fn everything() -> String {
    let context = serde_json::json!({"origin": format!("https://{HOST}"), "container": "T2", "tls": true});
    let line = |kind: &str, fields: &[&str]| {
        format!("REQ.{kind} fields={} ctx={context}\n", serde_json::json!(fields))
    };
    [
        line("payment", &["card_number", "card_expiry", "card_code"]),
        line("address", &["street", "postal_code", "city", "region", "country"]),
        line("contact", &["name", "email", "phone"]),
        "REQ.end".to_owned(),
    ]
    .concat()
}
