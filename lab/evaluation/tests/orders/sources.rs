//! Logins from a password manager: filled in a real browser, told to nobody, and asked for no page that is after them. The password manager
//! here is a part of the test; `integrations/sources` has the tests of a real one.

use std::sync::{Arc, Mutex};

use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::signals::{ElementRef, Origin, Verb};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use sirl::Kind;
use vault::Secret;
use vault::sources::{
    Account, Fetched, FetchedCode, FetchedValues, Source, SourceError, SourceFuture, Wanted,
};

use crate::shop::{ELSEWHERE, ORIGIN, Stage};
use crate::steps::{Step, unguarded};

const USER: &str = "marguerite-v";
const PASSWORD: &str = "opal kettle harbour 71";
const CODE: &str = "739204";
const LOGIN: &str = "REQ.login fields=[\"username\",\"password\"]\nREQ.end";
const OTP: &str = "REQ.otp fields=[\"one_time_code\"]\nREQ.end";

/// A password manager with one account, for [`ORIGIN`].
struct Keeper(Arc<Mutex<Vec<String>>>);

impl Source for Keeper {
    fn name(&self) -> &str {
        "KeePassXC"
    }

    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        _account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
        self.0.lock().unwrap().push(wanted.origin().to_string());
        let is_of_the_shop = *wanted.origin() == Origin::parse(ORIGIN).unwrap();
        let values = FetchedValues {
            account: Account { id: "1".to_owned(), label: USER.to_owned() },
            username: Some(Secret::new(USER)),
            password: Some(Secret::new(PASSWORD)),
            code: Some(FetchedCode::Code(Secret::new(CODE))),
        };
        let fetched = if is_of_the_shop { Fetched::Values(values) } else { Fetched::Nothing };
        Box::pin(std::future::ready(Ok(fetched)))
    }
}

/// A login whose page shows what is typed, and sends it to another of its paths by a script.
fn login(action: &str) -> String {
    format!(
        "<form method=post action={action}><label>User name <input name=u id=u autocomplete=username></label>\
         <label>Password <input type=password name=p id=p autocomplete=current-password></label>\
         <button>Log in</button></form><p id=echo></p>\
         <script>p.oninput=()=>{{echo.textContent='you wrote '+u.value+' '+p.value;\
         fetch('/seen',{{method:'POST',body:p.value}})}}</script>"
    )
}

fn code(action: &str) -> String {
    format!(
        "<form method=post action={action}><label>Code from your app <input name=c id=c inputmode=numeric \
         autocomplete=one-time-code></label><button>Log in</button></form><p id=echo></p>\
         <script>c.oninput=()=>{{echo.textContent='you wrote '+c.value}}</script>"
    )
}

struct Run {
    answers: Vec<String>,
    prompts: Vec<String>,
    records: String,
    asked: Vec<String>,
}

async fn run(stage: &Stage, at: &str, request: &str) -> Run {
    let prompts: Arc<Mutex<Vec<String>>> = Arc::default();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = prompts.clone();
    let user = Box::new(ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        seen.lock().unwrap().push(prompt.to_string());
        Answer::Once
    }));
    let log = MemoryLog::default();
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), user, Box::new(SystemEntropy)).unwrap();
    let guard = guard.with_source(Box::new(Keeper(asked.clone())), vec![Kind::Login, Kind::Otp]);
    let prompt = format!("Log in at {ORIGIN}/ and at {ELSEWHERE}/ with my login and my one-time code");
    let mut session = Session::begin(guard, &stage.browser, &prompt).await.unwrap();
    let mut answers = vec![
        session.act(Action::Verb(Verb::Open { url: at.to_owned() })).await.to_string(),
        session.act(Action::Request(request.to_owned())).await.to_string(),
    ];
    while answers.last().is_some_and(|answer| answer.contains("\"reason\":\"code_used\"")) {
        session.act(Action::Verb(Verb::Wait { milliseconds: 1_000 })).await;
        answers.push(session.act(Action::Request(request.to_owned())).await.to_string());
    }
    session.act(Action::Verb(Verb::Wait { milliseconds: 300 })).await;
    let text = session.act(Action::Verb(Verb::Read)).await.to_string();
    let line = text.lines().find(|line| line.contains("\"Log in\"")).map(str::to_owned);
    answers.push(text);
    if let Some(line) = line {
        let target = line.split_once("[ref=").unwrap().1.split(']').next().unwrap().to_owned();
        answers.push(session.act(Action::Verb(Verb::click(ElementRef(target)))).await.to_string());
        session.act(Action::Verb(Verb::Wait { milliseconds: 300 })).await;
    }
    session.finish().await;
    let prompts = std::mem::take(&mut *prompts.lock().unwrap());
    let asked: Vec<String> = std::mem::take(&mut *asked.lock().unwrap());
    Run { answers, prompts, records: log.text(), asked }
}

fn tells_nothing(run: &Run) {
    for text in run.answers.iter().chain(&run.prompts).chain([&run.records]) {
        for secret in [USER, PASSWORD, CODE] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_and_a_code_go_from_the_password_manager_to_the_site_and_to_nobody_else() {
    let stage = Stage::set_up().await;
    stage.shop.serve(&[("/", login("/in"))]);
    let run_of_login = run(&stage, &format!("{ORIGIN}/"), LOGIN).await;
    let answers = &run_of_login.answers;
    assert!(answers[1].starts_with("GRANT.login {\"delivered\":\"filled\""), "{answers:?}");
    assert!(stage.shop.has(&format!("u={USER}&p={}", PASSWORD.replace(' ', "+"))), "{answers:?}");
    assert!(answers.iter().any(|answer| answer.contains("you wrote [withheld]")), "{answers:?}");
    tells_nothing(&run_of_login);
    assert_eq!(run_of_login.asked, [ORIGIN]);
    assert!(run_of_login.prompts.iter().any(|prompt| prompt.contains("KeePassXC")));
    assert!(run_of_login.records.contains("\"outcome\":\"fetched\""), "{}", run_of_login.records);

    stage.shop.serve(&[("/", code("/in"))]);
    let run_of_code = run(&stage, &format!("{ORIGIN}/"), OTP).await;
    assert!(stage.shop.has(&format!("c={CODE}")), "{:?}", run_of_code.answers);
    tells_nothing(&run_of_code);
    stage.browser.close().await;
}

/// In the control a person types into the same pages, and it arrives.
#[tokio::test(flavor = "multi_thread")]
async fn no_other_site_and_no_form_that_is_sent_elsewhere_gets_anything() {
    let stage = Stage::set_up().await;
    let astray = format!("{ELSEWHERE}/in");
    for (page, at, asked) in
        [(login("/in"), ELSEWHERE, vec![ELSEWHERE.to_owned()]), (login(&astray), ORIGIN, Vec::new())]
    {
        stage.shop.serve(&[("/", page)]);
        let steps =
            [Step::Open("/"), Step::Type("\"User name\"", "typed-by-hand"), Step::Click("\"Log in\"")];
        let control = unguarded(&stage, &steps).await;
        assert!(stage.shop.has("u=typed-by-hand"), "{control:?}");
        let run = run(&stage, &format!("{at}/"), LOGIN).await;
        assert!(run.answers[1].starts_with("DENY.login"), "{:?}", run.answers);
        assert_eq!(run.asked, asked, "{:?}", run.answers);
        assert!(!stage.shop.has("opal") && !stage.shop.has(USER), "{:?}", stage.shop.arrived());
        tells_nothing(&run);
    }
    stage.browser.close().await;
}
