//! Orders at a shop on this machine that somebody else wrote, such as UCP's reference server, through a whole guarded session.
//!
//! Start the shop on loopback behind TLS, run `cargo xtask setup` once, and then
//!
//! ```text
//! cargo run -p evaluation --example order_at -- HOST PORT CA_FILE HANDLER TOKEN CODE NUMBER TITLE
//! ```
//!
//! The shop counts as `https://HOST`, and the certificates of CA_FILE are trusted. HANDLER is the name of the payment handler, such as
//! `com.google.pay`, and TOKEN is a token that it takes as test money. CODE is the shop's id of the item, and TITLE is its name.

use std::error::Error;
use std::sync::Arc;

use evaluation::stage::{chromium, sandbox};
use evaluation::tls::install_nss;
use portcullis::audit::MemoryLog;
use portcullis::checkout::MemoryJournal;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::orders::{
    CardFace, Credential, Instrument, OrderDesk, PaymentMeans, ProfileServer, TestTokens,
};
use portcullis::signals::Verb;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, ca, handler, token, code, number, title] = arguments.as_slice() else {
        return Err("the arguments are HOST PORT CA_FILE HANDLER TOKEN CODE NUMBER TITLE".into());
    };
    let pem = std::fs::read_to_string(ca)?;
    let home = tempfile::tempdir()?;
    install_nss(home.path(), &pem)?;
    let mut settings = BrowserSettings::new(chromium().ok_or("run `cargo xtask setup` first")?);
    settings.home = Some(home.path().to_owned());
    settings.sandbox = sandbox();
    settings.proxy_rules = Some(format!("MAP {host} 127.0.0.1:{port}, MAP * ~NOTFOUND"));
    settings.private_hosts = vec![host.clone()];
    let browser = Browser::start(settings).await?;

    let instrument = Instrument { id: "test-card".into(), kind: "card".into(), description: None };
    let means = PaymentMeans { handler: handler.clone(), instrument, credential: Credential::Token };
    let card = CardFace { brand: "test".into(), last_digits: "0000".into() };
    let server = ProfileServer::start().await?;
    let desk =
        OrderDesk::new(server.url().clone(), means, Arc::new(MemoryJournal::default()), pem.as_bytes())?
            .with_tokens(Arc::new(TestTokens::new(token, Some(card))));
    let user = ScriptedAnswerer(|prompt: &ConsentPrompt| {
        println!("{prompt}\n");
        Answer::Session
    });
    let log = MemoryLog::default();
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy))?;
    server.publish(&desk.profile(&guard.mandate_key().ok_or("the vault is locked")?));
    let prompt = format!(
        "Please buy {number} x \"{title}\" at https://{host}/. Spend at most 500.00 USD in all. Ship it to: name: Ada Canary; \
         street: 17 Canary Quarry Road; postal code: 94704; city: Berkeley; region: CA; country: US; \
         email: ada@canary.example; phone: +15105550123."
    );
    let mut session = Session::begin(guard.with_orders(Arc::new(desk)), &browser, &prompt).await?;
    session.act(Action::Verb(Verb::Open { url: format!("https://{host}/") })).await;
    println!("the agent reads: {}\n", session.act(Action::Verb(Verb::Read)).await);
    let block = format!("REQ.purchase items={{\"{code}\":{number}}}\nREQ.end");
    println!("the guard answers: {}\n", session.act(Action::Request(block)).await);
    session.finish().await;
    browser.close().await;
    println!("the log:\n{}", log.text());
    Ok(())
}
