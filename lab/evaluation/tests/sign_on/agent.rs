//! A scripted agent, with the guard of a person's vault and without any.

use std::sync::{Arc, Mutex};

use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::{SystemEntropy, UserVault, VaultKey};
use portcullis::observe::{ObservedTask, Observer, UnguardedSession};
use portcullis::policy::{Policy, authority};
use portcullis::session::Proposal;
use portcullis::signals::{ElementRef, Origin, Verb};
use portcullis::vault::{Binding, KdfParams, Secret, Vault};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use sirl::{Field, Kind};

use crate::sites::{SHOP, Sites};

pub const EMAIL: &str = "marguerite.v@mail.example";
pub const PASSWORD: &str = "Canary-Quarry-77-otter";
pub const CODE: &str = "604417";

const PASSPHRASE: &str = "Vexillary ptarmigan 88 kettledrum";

/// The record of an account at a site.
pub fn account<'a>(handle: &'a str, site: &'a str) -> Vec<(&'a str, Field, &'a str, &'a str)> {
    vec![(handle, Field::Email, EMAIL, site), (handle, Field::Password, PASSWORD, site)]
}

/// One step; elements are named by words of their line in the page's text.
#[derive(Clone, Copy)]
pub enum Step {
    Open(&'static str),
    Type(&'static str, &'static str),
    Click(&'static str),
    Read,
    /// Wait until the page shows these words.
    See(&'static str),
    /// Ask for values; without a guard nothing happens.
    Ask(&'static str),
}

/// What the agent was told, and the questions to the user.
#[derive(Debug, Default)]
pub struct Run {
    pub answers: Vec<String>,
    pub questions: Vec<String>,
}

impl Run {
    pub fn last(&self) -> &str {
        self.answers.last().unwrap()
    }
}

fn element(text: &str, words: &str) -> Option<ElementRef> {
    let line = text.lines().find(|line| line.contains(words) && line.contains("[ref="))?;
    let rest = line.split_once("[ref=")?.1;
    Some(ElementRef(rest.split_once(']')?.0.to_owned()))
}

fn verb(step: Step, text: &str) -> Option<Verb> {
    Some(match step {
        Step::Open(url) => Verb::Open { url: url.to_owned() },
        Step::Type(words, typed) => Verb::typed(element(text, words)?, typed),
        Step::Click(words) => Verb::click(element(text, words)?),
        Step::Read | Step::See(_) | Step::Ask(_) => return None,
    })
}

/// How often a page is read until it shows what it is to show.
const MOST_READS: usize = 50;

/// Carries the steps out under the guard, in a task that an agent proposes for the shop. `answers` is the user's answer to each
/// question.
pub async fn guarded(
    sites: &Sites,
    records: &[(&str, Field, &str, &str)],
    steps: &[Step],
    answers: impl Fn(&str) -> Answer + Send + 'static,
) -> Run {
    guarded_on(sites, &[SHOP], records, steps, answers).await
}

/// The same for a task of these sites.
pub async fn guarded_on(
    sites: &Sites,
    origins: &[&str],
    records: &[(&str, Field, &str, &str)],
    steps: &[Step],
    answers: impl Fn(&str) -> Answer + Send + 'static,
) -> Run {
    let (user, questions) = recorded(answers);
    let origins = origins.iter().map(|origin| Origin::parse(origin).unwrap()).collect();
    let proposal = Proposal { origins, kinds: vec![Kind::Login, Kind::Otp], uploads: false };
    let session = Session::begin_proposed(guard_of(records, user), &sites.browser, proposal).await;
    carry_out(session.map_err(|(error, _)| error).unwrap(), steps, &questions).await
}

/// The same for a task in the user's own words, with values in them.
pub async fn guarded_for_user(
    sites: &Sites,
    prompt: &str,
    steps: &[Step],
    answers: impl Fn(&str) -> Answer + Send + 'static,
) -> Run {
    let (user, questions) = recorded(answers);
    let session = Session::begin(guard_of(&[], user), &sites.browser, prompt).await;
    carry_out(session.unwrap(), steps, &questions).await
}

type Questions = Arc<Mutex<Vec<String>>>;

/// A user who answers by a function, and the questions that they were asked.
fn recorded(
    answers: impl Fn(&str) -> Answer + Send + 'static,
) -> (ScriptedAnswerer<impl FnMut(&ConsentPrompt) -> Answer + Send + 'static>, Questions) {
    let questions = Questions::default();
    let asked = Arc::clone(&questions);
    let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        let question = prompt.to_string();
        let answer = answers(&question);
        asked.lock().unwrap().push(question);
        answer
    });
    (user, questions)
}

async fn carry_out(mut session: Session, steps: &[Step], questions: &Questions) -> Run {
    let mut run = Run::default();
    for step in steps {
        let answer = match step {
            Step::Ask(block) => {
                let outcome = session.act(Action::Request(format!("REQ.{block}\nREQ.end"))).await;
                session.with_next_steps(&outcome)
            }
            Step::Read => session.act(Action::Verb(Verb::Read)).await.to_string(),
            Step::See(words) => {
                let mut text = String::new();
                for _ in 0..MOST_READS {
                    text = session.act(Action::Verb(Verb::Read)).await.to_string();
                    if text.contains(words) {
                        break;
                    }
                    session.act(Action::Verb(Verb::Wait { milliseconds: 50 })).await.to_string();
                }
                if text.contains(words) { "seen".to_owned() } else { format!("no {words:?} in\n{text}") }
            }
            step => {
                let text = session.act(Action::Verb(Verb::Read)).await.to_string();
                match verb(*step, &text) {
                    Some(verb) => session.act(Action::Verb(verb)).await.to_string(),
                    None => format!("nothing to do it with in\n{text}"),
                }
            }
        };
        run.answers.push(answer);
    }
    session.finish().await;
    run.questions = std::mem::take(&mut *questions.lock().unwrap());
    run
}

fn guard_of(
    records: &[(&str, Field, &str, &str)],
    user: ScriptedAnswerer<impl FnMut(&ConsentPrompt) -> Answer + Send + 'static>,
) -> Guard {
    let checked = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
    let verifier = authority(checked, [3; 16]).1;
    let (passphrase, mut entropy) = (Secret::new(PASSPHRASE), SystemEntropy);
    let mut vault = Vault::create(&passphrase, &mut entropy, KdfParams::FLOOR, verifier).unwrap();
    for (handle, field, value, bound) in records {
        let binding = Binding::parse(bound).unwrap();
        vault.insert(handle, *field, Secret::new(value.as_bytes()), &binding, &mut entropy).unwrap();
    }
    let bytes = vault.to_bytes(&mut entropy).unwrap();
    let vault = UserVault {
        bytes: &bytes,
        key: VaultKey::Passphrase(&passphrase),
        keeper: None,
        replaced: Default::default(),
    };
    let log = Box::new(MemoryLog::default());
    Guard::with_vault(DEFAULT_POLICY, vault, log, Box::new(user), Box::new(SystemEntropy)).unwrap()
}

/// Carries the same steps out without a guard. The agent types the values itself.
pub async fn unguarded(sites: &Sites, steps: &[Step]) -> Vec<String> {
    let task = ObservedTask::of_prompt(&format!("log in at {SHOP}/")).unwrap();
    let log = Box::new(MemoryLog::default());
    let observer = Observer::that_blocks_nothing(DEFAULT_POLICY, task, log, &mut SystemEntropy).unwrap();
    let mut session = UnguardedSession::begin(observer, &sites.browser).await.unwrap();
    let mut answers = Vec::new();
    for step in steps {
        let text = session.act(Action::Verb(Verb::Read)).await.to_string();
        if let Some(verb) = verb(*step, &text) {
            answers.push(session.act(Action::Verb(verb)).await.to_string());
        }
    }
    answers.push(session.act(Action::Verb(Verb::Wait { milliseconds: 300 })).await.to_string());
    session.finish().await;
    answers
}
