//! What the author of an agent framework copies: from a tool call of the model to values in a form. `tool_call` is all
//! of it: read the request, ask the browser, decide, ask the user, open the vault on a fresh look, fill, answer.
//! `cargo xtask setup`, then `cargo run --example embed_in_agent`.
//!
//! A [`portcullis::Session`] does this and more: it watches verbs, masks text, holds back what leaves, writes the record. Take
//! the parts by themselves only where your framework already does that.

use std::error::Error;
use std::time::{Duration, Instant};

use evaluation::{family::Kind as Page, hosts, scenario::Scenario, stage::Stage};
use portcullis::egress_proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::placement::{best_form, place};
use portcullis::policy::{
    Consent, DecisionPoint, Event, Granted, Happened, History, Millis, Policy, Prompt, Question, Task,
    Verdict, authority,
};
use portcullis::signals::playwright::{About, Tab};
use portcullis::signals::{Container, ElementRef, Fact, Origin, Outline, TextGuard, TextWithheld};
use portcullis::sirl::{Field, Kind, Reply, Request, parse_block, reply::Delivered};
use portcullis::vault::{Binding, Entropy, Secret, Vault};

/// What a task holds on to.
struct Keeper {
    point: DecisionPoint,
    vault: Vault,
    task: Task,
    history: History,
    began: Instant,
}

impl Keeper {
    /// Answers the argument of a tool call, a block of requests, line by line.
    async fn tool_call(&mut self, tab: &Tab, text: &str, ask: fn(&Prompt) -> bool) -> Vec<String> {
        let block = match parse_block(text) {
            Ok(block) => block,
            Err(error) => return vec![error.to_string()],
        };
        let mut replies = Vec::new();
        for request in &block.requests {
            let reply = match self.release(tab, request, ask).await {
                Ok(()) => Reply::Delivered {
                    kind: request.kind,
                    delivered: Delivered::Filled,
                    fields: request.effective_fields(),
                },
                Err(reason) => Reply::Denied { kind: request.kind, reason },
            };
            replies.push(reply.to_string());
        }
        replies
    }

    /// One request: the values are in the form, or the reason why not.
    async fn release(
        &mut self,
        tab: &Tab,
        request: &Request,
        ask: fn(&Prompt) -> bool,
    ) -> Result<(), String> {
        let fields = request.effective_fields();
        let forms = tab.forms().await.map_err(|error| error.to_string())?;
        let page = best_form(&forms, fields);
        let placements = page.map(|page| place(page, fields)).unwrap_or_default();
        let event = Event::Request { request, placements: &placements, amount: None };
        let mut consent = Consent::None;
        let grant = loop {
            let now = self.now();
            let (task, history) = (&self.task, self.history);
            let question = Question { event, page, task, consent, history, safety: Fact::Unknown, now };
            match self.point.decide(&question) {
                Verdict::Grant(Granted::Fill(grant)) => break grant,
                Verdict::Grant(_) => return Err("delivery_forbidden".to_owned()),
                Verdict::Deny(reason) => return Err(reason.code()),
                Verdict::Ask(prompt) => {
                    consent = if ask(&prompt) { Consent::Given } else { Consent::Refused }
                }
            }
        };
        // The vault opens on a newer look at the same form of the same document, or not at all.
        let fresh = tab.forms().await.map_err(|error| error.to_string())?;
        let same =
            fresh.iter().find(|page| page.form == grant.terms().form && page.frame == grant.terms().frame);
        let fresh = same.ok_or("stale_document")?;
        let fill = self.vault.open_fill(grant, fresh, self.now()).map_err(|error| error.reason().code())?;
        tab.fill(fill).await.map_err(|error| error.to_string())?;
        self.history = self.point.after(self.history, Happened::Released(request.kind));
        Ok(())
    }

    fn now(&self) -> Millis {
        Millis(self.began.elapsed().as_millis() as u64)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // What is decided by, and the vault that honours these decisions and no others.
    let mut seed = [0; 16];
    SystemEntropy.fill(&mut seed);
    let checked = Policy::parse(portcullis::DEFAULT_POLICY)?
        .compile()?
        .check()
        .map_err(|broken| format!("{broken:?}"))?;
    let (point, verifier) = authority(checked, seed);
    let stage = Stage::set_up().await?;
    let scenario = Scenario::new(Page::SellerDescription, true, 1);
    stage.world.begin(&scenario);
    let mut vault = Vault::ephemeral(&mut SystemEntropy, verifier);
    let person = &scenario.persona;
    for (handle, field, value) in [
        ("address:me", Field::Street, &person.street),
        ("address:me", Field::PostalCode, &person.postal_code),
        ("address:me", Field::City, &person.city),
        ("card:me", Field::CardNumber, &person.card_number),
    ] {
        vault.insert(handle, field, Secret::new(value.as_str()), &Binding::Anywhere, &mut SystemEntropy)?;
    }

    // The task, from the user's own words, before any page is read.
    let shop = Origin::parse(hosts::SHOP_ORIGIN)?;
    let task = Task::new(vec![shop.clone()], vec![Kind::Address], None, Container::T2);
    let mut keeper = Keeper { point, vault, task, history: History::default(), began: Instant::now() };

    let browser = stage.browser().await?;
    let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await?;
    let tab = browser.container_through(proxy.for_container(), Container::T2, &[shop]).await?;
    to_the_address_form(&tab, &scenario).await?;
    let calls = [
        "REQ.address fields=[\"street\",\"postal_code\",\"city\"]\nREQ.end",
        // What the seller's text talked the model into.
        "REQ.payment fields=[\"card_number\"]\nREQ.end",
    ];
    for call in calls {
        println!("{call}");
        for reply in keeper.tool_call(&tab, call, |_| true).await {
            println!("    {reply}");
        }
    }
    tab.close().await;
    browser.close().await;
    Ok(())
}

/// The framework's own browsing: what is put into the cart brings the form for the address.
async fn to_the_address_form(tab: &Tab, scenario: &Scenario) -> Result<(), Box<dyn Error>> {
    tab.open(&scenario.product_url(hosts::SHOP_ORIGIN).parse()?).await?;
    let page = tab.read(&AsItIs).await?.text;
    let button =
        page.lines().find(|line| line.contains("\"Add to cart\"")).ok_or("the page has no such button")?;
    let handle =
        button.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).ok_or("it has no handle")?;
    let button = ElementRef(handle.to_owned());
    let seen = tab.observe(About::Element(&button)).await?;
    tab.submit(&button, &seen).await?;
    Ok(tab.wait_for_navigation(&seen, Duration::from_secs(30)).await?)
}

/// This example's own reading of a page, which no model sees. What a model is told goes through `portcullis::text`.
struct AsItIs;

impl TextGuard for AsItIs {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        Ok(outline.unfiltered())
    }
}
