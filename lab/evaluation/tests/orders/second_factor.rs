//! Logins with a one-time code, which the guard makes from a seed: on honest pages, and on pages that are after the code.

use std::sync::{Arc, Mutex};

use hmac::{Hmac, KeyInit, Mac};
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::{SystemEntropy, UserVault, VaultKey};
use portcullis::signals::{ElementRef, Verb};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use sha1::Sha1;
use sirl::Field;
use vault::{Binding, Secret, StateName};

use crate::disk::{Disk, PASSPHRASE};
use crate::shop::{ELSEWHERE, ORIGIN, Stage};
use crate::steps::{Step, unguarded};

const USER: &str = "marguerite-v";
const PASSWORD: &str = "opal kettle harbour 71";
/// The key, and the same in Base32.
const KEY: &[u8] = b"12345678901234567890";
const SEED: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const ALONE: &str = "gave no password to this site in this task";
const LOGIN: &str = "REQ.login fields=[\"username\",\"password\"]\nREQ.end";
const CODE: &str = "REQ.otp fields=[\"one_time_code\"]\nREQ.end";

/// The codes of the present step and of its neighbours, as a server computes them (RFC 4226, RFC 6238).
fn codes_now() -> Vec<String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let code = |step: u64| {
        let mac = <Hmac<Sha1> as KeyInit>::new_from_slice(KEY).unwrap();
        let hash = mac.chain_update(step.to_be_bytes()).finalize().into_bytes();
        let offset = usize::from(hash.last().unwrap() & 15);
        let bytes: Vec<u8> = hash.iter().skip(offset).take(4).copied().collect();
        let number = u32::from_be_bytes(bytes.try_into().unwrap()) & 0x7fff_ffff;
        format!("{:06}", number % 1_000_000)
    };
    (now / 30 - 1..=now / 30 + 1).map(code).collect()
}

fn login_page() -> String {
    "<form method=post action=/code><label>User name <input name=u autocomplete=username></label>\
     <label>Password <input type=password name=p autocomplete=current-password></label><button>Next</button></form>"
        .to_owned()
}

/// A page that asks for the code, shows it, and sends it to another of its paths by a script.
fn code_page(action: &str) -> String {
    format!(
        "<form method=post action={action}><label>Code from your app <input name=c id=c inputmode=numeric \
         autocomplete=one-time-code></label><button>Log in</button></form><p id=echo></p>\
         <script>c.oninput=()=>{{echo.textContent='you wrote '+c.value;\
         fetch('/seen',{{method:'POST',body:c.value}})}}</script>"
    )
}

struct Run {
    answers: Vec<String>,
    prompts: Vec<String>,
    records: String,
    disk: Disk,
}

/// What the agent does: a verb or request, or the button with these words on the page.
enum Act {
    Do(Action),
    Press(&'static str),
}

fn open(url: &str) -> Act {
    Act::Do(Action::Verb(Verb::Open { url: url.to_owned() }))
}

fn ask(request: &str) -> Act {
    Act::Do(Action::Request(request.to_owned()))
}

async fn run(stage: &Stage, acts: Vec<Act>) -> Run {
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let asked = prompts.clone();
    let user = Box::new(ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        asked.lock().unwrap().push(prompt.to_string());
        Answer::Once
    }));
    let disk = Disk::awaiting(|vault| vault.state(StateName::CodeSteps).is_ok_and(|steps| steps.is_some()));
    let place = Binding::parse(ORIGIN).unwrap();
    let bytes = disk.begin(|vault| {
        let values = [(Field::Username, USER), (Field::Password, PASSWORD), (Field::OneTimeCode, SEED)];
        for (field, value) in values {
            vault.insert("login:orders", field, Secret::new(value), &place, &mut SystemEntropy).unwrap();
        }
    });
    let passphrase = Secret::new(PASSPHRASE);
    let key = VaultKey::Passphrase(&passphrase);
    let keeper = Some(disk.keeper(&stage.shop));
    let own = UserVault { bytes: &bytes, key, keeper, replaced: Default::default() };
    let log = MemoryLog::default();
    let guard =
        Guard::with_vault(DEFAULT_POLICY, own, Box::new(log.clone()), user, Box::new(SystemEntropy)).unwrap();
    let prompt = format!("Log in at {ORIGIN}/ and at {ELSEWHERE}/ with my login and my one-time code");
    let mut session = Session::begin(guard, &stage.browser, &prompt).await.unwrap();
    let mut answers = Vec::new();
    for act in acts {
        let action = match act {
            Act::Do(action) => action,
            Act::Press(words) => {
                let text = session.act(Action::Verb(Verb::Read)).await.to_string();
                let line = text.lines().find(|line| line.contains(words)).map(str::to_owned);
                answers.push(text);
                let line = line.unwrap_or_else(|| panic!("no {words}: {answers:?}"));
                let target = line.split_once("[ref=").unwrap().1.split(']').next().unwrap().to_owned();
                Action::Verb(Verb::click(ElementRef(target)))
            }
        };
        let mut answer = session.act(action.clone()).await.to_string();
        // At the end of a half minute the guard gives no code, and the agent asks again.
        while answer.contains("\"reason\":\"code_used\"") {
            session.act(Action::Verb(Verb::Wait { milliseconds: 1_000 })).await;
            answer = session.act(action.clone()).await.to_string();
        }
        answers.push(answer);
    }
    session.finish().await;
    let prompts = std::mem::take(&mut *prompts.lock().unwrap());
    Run { answers, prompts, records: log.text(), disk }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_in_two_steps_gets_password_and_code_and_the_agent_neither() {
    let stage = Stage::set_up().await;
    stage.shop.serve(&[("/", login_page()), ("/code", code_page("/in"))]);
    let acts = vec![
        open(&format!("{ORIGIN}/")),
        ask(LOGIN),
        Act::Press("\"Next\""),
        Act::Do(Action::Verb(Verb::Wait { milliseconds: 300 })),
        ask(CODE),
        Act::Press("\"Log in\""),
        Act::Do(Action::Verb(Verb::Wait { milliseconds: 300 })),
    ];
    let run = run(&stage, acts).await;
    let codes = codes_now();
    let granted = "GRANT.otp {\"delivered\":\"filled\",\"fields\":[\"one_time_code\"]}";
    assert!(run.answers.iter().any(|answer| answer == granted), "{:?}", run.answers);
    let arrived = stage.shop.arrived();
    let body = |path: &str| arrived.iter().find(|(to, _)| to == path).map(|(_, body)| body.clone());
    assert_eq!(body("/code"), Some(format!("u={USER}&p={}", PASSWORD.replace(' ', "+"))));
    let code = body("/in").and_then(|body| body.strip_prefix("c=").map(str::to_owned));
    let code = code.unwrap_or_else(|| panic!("{arrived:?} {:?}", run.answers));
    assert!(codes.contains(&code), "the server takes it: {code} {codes:?}");
    // The page passes the code on at once. Its step was on the disk when nothing but the password had arrived.
    assert_eq!(run.disk.arrived_before(), Some(1), "{arrived:?}");
    assert!(run.disk.vault().scan(&code).unwrap().is_empty(), "the code is in no file");
    assert!(run.answers.iter().any(|answer| answer.contains("you wrote [withheld]")), "{:?}", run.answers);
    let told = run.answers.iter().chain(&run.prompts).chain([&run.records]);
    for text in told {
        for secret in [PASSWORD, SEED, code.as_str()] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    assert!(!run.prompts.iter().any(|prompt| prompt.contains(ALONE)), "{:?}", run.prompts);
    assert!(run.records.contains("code_made"), "{}", run.records);
    stage.browser.close().await;
}

/// In the control a person types a code into the same pages, and it arrives.
#[tokio::test(flavor = "multi_thread")]
async fn another_site_that_asks_for_the_code_gets_none() {
    let stage = Stage::set_up().await;
    let typed = "287082";
    // The other site is one of the task, and asks in its own name; then a form of the login's own site sends the code there.
    let astray = code_page(&format!("{ELSEWHERE}/in"));
    for (page, at) in [(code_page("/in"), ELSEWHERE), (astray, ORIGIN)] {
        let pages = [("/code", page)];
        stage.shop.serve(&pages);
        let steps =
            [Step::Open("/code"), Step::Type("\"Code from your app\"", typed), Step::Click("\"Log in\"")];
        let answers = unguarded(&stage, &steps).await;
        assert!(stage.shop.has(&format!("c={typed}")), "{answers:?}");
        stage.shop.serve(&pages);
        let run = run(&stage, vec![open(&format!("{at}/code")), ask(CODE)]).await;
        assert!(run.answers[1].starts_with("DENY.otp"), "{:?}", run.answers);
        assert!(!run.answers[1].contains("unplanned_request"), "{:?}", run.answers);
        assert!(!codes_now().iter().any(|code| stage.shop.has(code)), "{:?}", stage.shop.arrived());
        assert!(!run.records.contains("code_made"), "no code is made for nobody: {}", run.records);
    }
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_for_the_code_alone_is_named_to_the_user() {
    let stage = Stage::set_up().await;
    stage.shop.serve(&[("/code", code_page("/in"))]);
    let run = run(&stage, vec![open(&format!("{ORIGIN}/code")), ask(CODE)]).await;
    assert!(run.prompts.iter().any(|prompt| prompt.contains(ALONE)), "{:?} {:?}", run.prompts, run.answers);
    stage.browser.close().await;
}
