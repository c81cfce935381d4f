//! Accounts with passwords that the guard makes, on pages that state rules about them.

use std::sync::{Arc, Mutex};

use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::{SystemEntropy, UserVault, VaultKey};
use portcullis::signals::{ElementRef, Verb};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use sirl::Field;
use vault::{Secret, Vault};

use crate::disk::{Disk, PASSPHRASE};
use crate::shop::{ORIGIN, Stage};
use crate::steps::{Step, unguarded};

const EMAIL: &str = "marguerite@mail.example";
const REQUEST: &str = "REQ.login fields=[\"email\",\"new_password\"]\nREQ.end";

/// The number of values of logins in the vault's file.
fn logins(vault: &Vault) -> usize {
    vault.entries().filter(|entry| entry.handle.starts_with("login:")).count()
}

/// A disk on which a login is awaited.
fn disk() -> Disk {
    Disk::awaiting(|vault| logins(vault) > 0)
}

/// What the agent and the user saw, and the file.
struct Registered {
    answers: Vec<String>,
    prompts: Vec<String>,
    disk: Disk,
}

impl Registered {
    fn says(&self, words: &str) -> bool {
        self.prompts.iter().any(|prompt| prompt.contains(words))
    }
}

/// Registers on the shop's page. The user agrees to every question that does not contain `but`.
async fn register(stage: &Stage, (disk, has_file): (Disk, bool), but: &'static str) -> Registered {
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let asked = prompts.clone();
    let user = Box::new(ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        let text = prompt.to_string();
        let refused = !but.is_empty() && text.contains(but);
        asked.lock().unwrap().push(text);
        if refused { Answer::No } else { Answer::Session }
    }));
    let (bytes, passphrase) = (disk.begin(|_| ()), Secret::new(PASSPHRASE));
    let keeper = disk.keeper(&stage.shop);
    let own = UserVault {
        bytes: &bytes,
        key: VaultKey::Passphrase(&passphrase),
        keeper: has_file.then_some(keeper),
        replaced: Default::default(),
    };
    let log = Box::new(MemoryLog::default());
    let guard = Guard::with_vault(DEFAULT_POLICY, own, log, user, Box::new(SystemEntropy)).unwrap();
    let prompt = format!("Register at {ORIGIN}/ with my email {EMAIL}");
    let mut session = Session::begin(guard, &stage.browser, &prompt).await.unwrap();
    let mut answers =
        vec![session.act(Action::Verb(Verb::Open { url: format!("{ORIGIN}/") })).await.to_string()];
    answers.push(session.act(Action::Request(REQUEST.to_owned())).await.to_string());
    let text = session.act(Action::Verb(Verb::Read)).await.to_string();
    let button =
        text.lines().find(|line| line.contains("\"Join\"")).and_then(|line| line.split_once("[ref="));
    let target = ElementRef(button.unwrap().1.split(']').next().unwrap().to_owned());
    answers.push(text);
    answers.push(session.act(Action::Verb(Verb::click(target))).await.to_string());
    answers.push(session.act(Action::Verb(Verb::Wait { milliseconds: 300 })).await.to_string());
    // The guard is not ended in good order: what is on the disk by now is all that a crash leaves.
    std::mem::forget(session);
    let prompts = std::mem::take(&mut *prompts.lock().unwrap());
    Registered { answers, prompts, disk }
}

/// A registration whose password has these attributes. It repeats the password and whether the form is valid.
fn page(attributes: &str) -> String {
    format!(
        "<form method=post action=/joined><label>E-mail <input type=email name=email required></label>\
         <label>Password <input type=password name=p id=p required {attributes}></label>\
         <label>Confirm password <input type=password name=q required></label><button>Join</button></form>\
         <p id=echo></p><script>p.oninput=()=>{{const f=document.forms[0];\
         echo.textContent='you wrote '+p.value+', '+(f.checkValidity()&&p.value==f.q.value?'fine':'wrong');\
         fetch('/seen',{{method:'POST',body:p.value}})}}</script>"
    )
}

fn sent(stage: &Stage, path: &str) -> Option<String> {
    stage.shop.arrived().into_iter().find(|(to, _)| to == path).map(|(_, body)| body)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_by_the_rules_of_the_page_is_on_disk_before_the_page_has_it() {
    let stage = Stage::set_up().await;
    let attributes = "minlength=12 maxlength=24 pattern=\"(?=.*\\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z\\d_.]+\" \
        passwordrules=\"required: lower; required: upper; required: digit; allowed: [_.]; max-consecutive: 2\"";
    stage.shop.serve(&[("/", page(attributes))]);
    let run = register(&stage, (disk(), true), "").await;
    let granted = "GRANT.login {\"delivered\":\"filled\",\"fields\":[\"email\",\"new_password\"]}";
    assert_eq!(run.answers[1], granted, "{:?}", run.prompts);
    let body = sent(&stage, "/joined").unwrap_or_else(|| panic!("nothing arrived: {:?}", run.answers));
    let field = |name: &str| body.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap().to_owned();
    let password = field("p=");
    assert_eq!((field("email="), field("q=")), (EMAIL.replace('@', "%40"), password.clone()));
    assert!(
        (12..=24).contains(&password.len()) && password.bytes().any(|b| b.is_ascii_digit()),
        "{password}"
    );
    // The page reads it at once, and passes it on; it was on the disk before.
    assert_eq!(run.disk.arrived_before(), Some(0));
    let found = run.disk.vault().scan(&password).unwrap();
    assert!(
        found.iter().any(|one| (one.handle.as_str(), one.field) == ("login:orders-test", Field::Password)),
        "{found:?}"
    );
    assert_eq!(logins(&run.disk.vault()), 2, "the password and the address");
    // The form took it, and neither the agent nor a question has it.
    assert!(run.answers[2].contains("you wrote [withheld], fine"), "{}", run.answers[2]);
    for text in run.answers.iter().chain(&run.prompts) {
        assert!(!text.contains(&password), "{text}");
    }
    assert!(run.says("make a new password for:") && !run.says("weak"), "{:?}", run.prompts);
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_forces_four_digits_is_named_to_the_user() {
    let stage = Stage::set_up().await;
    let attributes =
        "maxlength=4 pattern=\"\\d{4}\" passwordrules=\"minlength: 4; maxlength: 4; allowed: digit\"";
    let pages = [("/", page(attributes))];
    // Without the guard the form takes four digits.
    stage.shop.serve(&pages);
    let steps = [
        Step::Open("/"),
        Step::Type("\"E-mail\"", EMAIL),
        Step::Type("\"Password\"", "2580"),
        Step::Type("\"Confirm password\"", "2580"),
        Step::Click("\"Join\""),
    ];
    let answers = unguarded(&stage, &steps).await;
    assert!(sent(&stage, "/joined").is_some_and(|body| body.contains("p=2580")), "{answers:?}");
    let weak = "this site allows only weak passwords: about 13 bits";
    for but in [weak, ""] {
        stage.shop.serve(&pages);
        let run = register(&stage, (disk(), true), but).await;
        assert!(run.says(weak), "{:?}", run.prompts);
        assert_eq!(logins(&run.disk.vault()), if but.is_empty() { 2 } else { 0 }, "{:?}", run.answers);
        assert_eq!(sent(&stage, "/joined").is_some(), but.is_empty(), "{:?}", run.answers);
    }
    stage.browser.close().await;
}

/// No automaton has a back reference, so the browser's own validation decides after the fill.
#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_the_form_refuses_is_taken_out_again() {
    let stage = Stage::set_up().await;
    stage.shop.serve(&[("/", page("pattern=\"(.)\\1+\""))]);
    let run = register(&stage, (disk(), true), "").await;
    assert!(run.answers[1].starts_with("DENY.login {\"reason\":\"password_rules\"}"), "{:?}", run.answers);
    assert!(sent(&stage, "/joined").is_none(), "{:?}", stage.shop.arrived());
    // A pattern of this kind that the usual password meets is no hindrance.
    stage.shop.serve(&[("/", page("pattern=\"(?!(.)\\1+$).{8,}\""))]);
    let run = register(&stage, (disk(), true), "").await;
    assert!(run.answers[1].starts_with("GRANT.login"), "{:?}", run.answers);
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_file_that_keeps_it_no_password_is_made() {
    let stage = Stage::set_up().await;
    for (disk, has_file) in [(disk(), false), (disk().full(), true)] {
        stage.shop.serve(&[("/", page(""))]);
        let run = register(&stage, (disk, has_file), "").await;
        assert!(
            run.answers[1].starts_with("DENY.login {\"reason\":\"password_not_kept\"}"),
            "{:?}",
            run.answers
        );
        assert!(stage.shop.arrived().is_empty(), "{:?}", stage.shop.arrived());
        assert_eq!(run.says("make a new password for:"), has_file, "{:?}", run.prompts);
    }
    stage.browser.close().await;
}
