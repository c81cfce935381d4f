//! The steps from a tool call of the model to values in a form, for the author of an agent framework. `tool_call` has
//! all of them: parse the request, read the forms from the browser, decide, ask the user, open the vault on a fresh
//! snapshot, fill, answer. Run `cargo xtask setup` once, then `cargo run --example embed_in_agent`.
//!
//! A [`portcullis::Session`] does this and more: it decides on verbs, masks text, filters requests, and writes the
//! audit log. Use the parts by themselves only if your framework already does that.

use std::error::Error;
use std::time::{Duration, Instant};

use evaluation::{hosts, scenario::Scenario, stage::Stage, suite::ScenarioKind};
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::placement::place;
use portcullis::pointing::best_form;
use portcullis::policy::{
    Consent, DecisionPoint, Event, Granted, History, Millis, Policy, Prompt, Question, SessionEvent, Task,
    Verdict, authority,
};
use portcullis::signals::playwright::{ObservationTarget, Tab};
use portcullis::signals::{Container, ElementRef, Fact, Origin, Outline, TextGuard, TextWithheld};
use portcullis::sirl::{Field, Kind, Reply, Request, parse_block, reply::Delivered};
use portcullis::vault::{Binding, Entropy, Secret, Vault};

/// The state of one task.
struct TaskGuard {
    point: DecisionPoint,
    vault: Vault,
    task: Task,
    history: History,
    began: Instant,
}

impl TaskGuard {
    /// Answers the argument of a tool call, which is a block of requests, line by line.
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

    /// Fills the values of one request into a form, or returns the reason for a denial.
    async fn release(
        &mut self,
        tab: &Tab,
        request: &Request,
        ask: fn(&Prompt) -> bool,
    ) -> Result<(), String> {
        let fields = request.effective_fields();
        let forms = tab.forms().await.map_err(|error| error.to_string())?;
        let page = best_form(&forms, fields, None);
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
        // The vault opens only for a newer snapshot of the same form in the same document.
        let fresh = tab.forms().await.map_err(|error| error.to_string())?;
        let same =
            fresh.iter().find(|page| page.form == grant.terms().form && page.frame == grant.terms().frame);
        let fresh = same.ok_or("stale_document")?;
        let fill = self.vault.open_fill(grant, fresh, self.now()).map_err(|error| error.reason().code())?;
        tab.fill(fill).await.map_err(|error| error.to_string())?;
        self.history = self.point.after(self.history, SessionEvent::Released(request.kind));
        Ok(())
    }

    fn now(&self) -> Millis {
        Millis(self.began.elapsed().as_millis() as u64)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The decision point, and the vault that accepts only its grants.
    let mut seed = [0; 16];
    SystemEntropy.fill(&mut seed);
    let checked = Policy::parse(portcullis::DEFAULT_POLICY)?.compile()?.check()?;
    let (point, verifier) = authority(checked, seed);
    let stage = Stage::set_up().await?;
    let scenario = Scenario::new(ScenarioKind::SellerDescription, true, 1);
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

    // The task comes from the user's words, before any page is read.
    let shop = Origin::parse(hosts::SHOP_ORIGIN)?;
    let task = Task::new(vec![shop.clone()], vec![Kind::Address], None, Container::T2);
    let mut guard = TaskGuard { point, vault, task, history: History::default(), began: Instant::now() };

    let browser = stage.browser().await?;
    let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await?;
    let tab = browser.container_through(proxy.for_container(), Container::T2, &[shop]).await?;
    to_the_address_form(&tab, &scenario).await?;
    let calls = [
        "REQ.address fields=[\"street\",\"postal_code\",\"city\"]\nREQ.end",
        // The seller's text made the model ask for this.
        "REQ.payment fields=[\"card_number\"]\nREQ.end",
    ];
    for call in calls {
        println!("{call}");
        for reply in guard.tool_call(&tab, call, |_| true).await {
            println!("    {reply}");
        }
    }
    tab.close().await;
    browser.close().await;
    Ok(())
}

/// Browses as the framework would: a product in the cart leads to the form for the address.
async fn to_the_address_form(tab: &Tab, scenario: &Scenario) -> Result<(), Box<dyn Error>> {
    tab.open(&scenario.product_url(hosts::SHOP_ORIGIN).parse()?).await?;
    let page = tab.read(&Unfiltered).await?.text;
    let button =
        page.lines().find(|line| line.contains("\"Add to cart\"")).ok_or("the page has no such button")?;
    let element_ref =
        button.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).ok_or("it has no ref")?;
    let button = ElementRef(element_ref.to_owned());
    let seen = tab.observe(ObservationTarget::Element(&button)).await?;
    tab.submit(&button, &seen).await?;
    Ok(tab.wait_for_navigation(&seen, Duration::from_secs(30)).await?)
}

/// The unfiltered text of a page, for this example only. Text for a model goes through `portcullis::page_text`.
struct Unfiltered;

impl TextGuard for Unfiltered {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        Ok(outline.unfiltered())
    }
}
