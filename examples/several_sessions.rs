//! A server's sessions: four guarded tasks at the same time, each in a task of its own (`tokio::spawn`), with a model function, a log and a
//! form for tasks of the program's own. Run `cargo xtask setup` once, then `cargo run --example several_sessions`.

use std::error::Error;
use std::io;
use std::sync::Arc;

use evaluation::{hosts, scenario::Scenario, stage::Stage, suite::ScenarioKind};
use portcullis::audit::{AuditEvent, AuditLog, SessionId};
use portcullis::consent::{Answer, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::session::{ActionResult, UserTask};
use portcullis::signals::playwright::Browser;
use portcullis::signals::{ElementRef, Origin, Verb};
use portcullis::sirl::Kind;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};

/// A log of the program's own. One that must outlive the program writes to the disk where `sync` is set, before it returns.
struct Lines;

impl AuditLog for Lines {
    fn append(&mut self, session: SessionId, event: &AuditEvent, _: u64, _sync: bool) -> io::Result<()> {
        println!("{session} {}", event.to_json());
        Ok(())
    }
}

/// The model, which is a function of what it was told. Yours asks a language model here.
fn model(step: usize, told: &str, url: &str) -> Option<Action> {
    let button = told.lines().find(|line| line.contains("\"Add to cart\""));
    let button = button.and_then(|line| line.split("[ref=").nth(1)?.split(']').next());
    match (step, button) {
        (0, _) => Some(Action::Verb(Verb::Open { url: url.to_owned() })),
        (1 | 3, _) => Some(Action::Verb(Verb::Read)),
        (2, Some(name)) => Some(Action::Verb(Verb::Submit { target: ElementRef(name.to_owned()) })),
        (4, _) => Some(Action::Request(
            "REQ.address fields=[\"street\",\"postal_code\",\"city\"]\nREQ.end".to_owned(),
        )),
        _ => None,
    }
}

/// One client's task, from the program's form to the last answer.
async fn serve(
    guard: Guard,
    browser: Arc<Browser>,
    task: UserTask,
    url: String,
) -> Result<Vec<Kind>, String> {
    let begun = Session::begin_task(guard, &browser, task).await;
    let mut session = begun.map_err(|(error, _guard)| error.to_string())?;
    let (mut told, mut granted) = (String::new(), Vec::new());
    for step in 0.. {
        let Some(action) = model(step, &told, &url) else { break };
        let outcome = session.act(action).await;
        if let ActionResult::Requests(_) = outcome.result {
            granted.extend(outcome.granted());
        }
        told = session.with_next_steps(&outcome);
    }
    session.finish().await;
    Ok(granted)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let stage = Stage::set_up().await?;
    let browser = Arc::new(stage.browser().await?);
    // The user, who answers one question after the other.
    let user = Box::new(ScriptedAnswerer(|question: &_| {
        println!("{question}");
        Answer::Once
    }));
    let guard = Guard::new(DEFAULT_POLICY, Box::new(Lines), user, Box::new(SystemEntropy))?;
    let mut sessions = Vec::new();
    for number in 1..=4 {
        let scenario = Scenario::new(ScenarioKind::SellerDescription, true, number);
        stage.world.begin(&scenario);
        let person = &scenario.persona;
        let words =
            format!("street: {}, postal code: {}, city: {}", person.street, person.postal_code, person.city);
        let shop = Origin::parse(hosts::SHOP_ORIGIN)?;
        let task = UserTask::new(vec![shop], vec![Kind::Address]).with_words(&words);
        let client = guard.for_another_session().named_in_questions(&format!("client {number}"));
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        sessions.push(tokio::spawn(serve(client, Arc::clone(&browser), task, url)));
    }
    for session in sessions {
        let granted = session.await??;
        println!("granted: {}", granted.into_iter().map(Kind::as_str).collect::<Vec<_>>().join(", "));
    }
    Ok(())
}
