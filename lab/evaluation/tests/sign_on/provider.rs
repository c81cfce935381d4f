//! Logins at an identity provider for the site of the task.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use portcullis::consent::Answer;

use crate::agent::{EMAIL, PASSWORD, Run, Step, account, guarded};
use crate::sites::{Answer as Page, Asked, PROVIDER, SHOP, Sites};

/// The shop's pages: a link to log in, which redirects to the provider, and what follows a return.
pub fn shop(asked: &Asked, provider: &str) -> Page {
    match asked.path.as_str() {
        "/login" => Page::To(format!(
            "{provider}/authorize?client_id=shop&response_type=code&redirect_uri={SHOP}/callback&state=a81"
        )),
        "/callback" if asked.query.contains("state=a81") => Page::WithCookie(
            "session=one",
            "<h1>Welcome back</h1><form method=post action=/basket>\
                <button>Add to basket</button></form><a href=/tv>Set up a television</a>"
                .to_owned(),
        ),
        "/basket" => Page::Page("<h1>In the basket</h1>".to_owned()),
        "/tv" => Page::To(format!("{provider}/device?user_code=WDJB-MJHT")),
        _ => Page::Page("<h1>Shop</h1><a href=/login>Log in with ID</a>".to_owned()),
    }
}

/// The provider's login.
pub const LOGIN: &str = "<h1>Log in to ID</h1><form method=post action=/session>\
    <label>Email <input type=email name=name autocomplete=username></label>\
    <label>Password <input type=password name=word></label><button>Log in</button></form>\
    <a href=/help>Trouble logging in?</a>";

/// The return to the shop.
pub fn back(more: &str) -> Page {
    Page::To(format!("{SHOP}/callback?code=5f0c2a&state=a81{more}"))
}

/// Shop and provider, where the provider's other pages are these.
pub fn both(provider: impl Fn(&Asked) -> Page + Send + Sync + 'static) -> impl Fn(&Asked) -> Page {
    let provider = Arc::new(provider);
    move |asked| match (asked.host.as_str(), asked.path.as_str()) {
        ("shop.test", _) => shop(asked, PROVIDER),
        ("evil.test", _) => Page::Page("<h1>Evil</h1>".to_owned()),
        ("id.test", "/authorize") => Page::Page(LOGIN.to_owned()),
        _ => provider(asked),
    }
}

/// The steps up to the login that is sent.
pub const TO_LOGIN: [Step; 4] = [
    Step::Open("https://shop.test/"),
    Step::Click("Log in with ID"),
    Step::Ask("login fields=[\"email\",\"password\"]"),
    Step::Click("button \"Log in\""),
];

pub fn with(more: &[Step]) -> Vec<Step> {
    TO_LOGIN.iter().chain(more).copied().collect()
}

/// The questions that are about a sign-on or about the provider.
pub fn sign_on_questions(run: &Run) -> Vec<&String> {
    run.questions
        .iter()
        .filter(|question| question.contains("for the second") || question.contains("let the agent press"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_at_a_provider_is_asked_about_once_and_leads_back() {
    let sites = Sites::set_up().await;
    for answer in [Answer::Once, Answer::Session] {
        sites.serve(both(|_| back("")));
        let steps =
            with(&[Step::See("Welcome back"), Step::Click("\"Add to basket\""), Step::See("In the basket")]);
        let run = guarded(&sites, &account("login:id", PROVIDER), &steps, move |_| answer).await;
        assert_eq!(run.last(), "seen", "{run:#?} {:?}", sites.arrived_at(SHOP));
        assert!(run.answers[2].starts_with("GRANT.login"), "{run:#?}");
        let asked = sign_on_questions(&run);
        let [asked] = asked.as_slice() else { panic!("{run:#?}") };
        for words in [
            "fill your login (email, password) at the first of these sites, for the second:\n      id.test\n      shop.test",
            "https://shop.test sent the browser to https://id.test, where you have a login",
            "from your login:id",
            "your password and one-time codes go to https://id.test alone",
            "your e-mail address and user name there may return to https://shop.test",
        ] {
            assert!(asked.contains(words), "{words}: {asked}");
        }
        // The plan, the provider, and nothing about the login form itself.
        let about_login = run.questions.iter().filter(|question| question.contains("login")).count();
        assert_eq!(about_login, 1, "{run:#?}");
        assert!(sites.has(PROVIDER, PASSWORD) && !sites.has(SHOP, PASSWORD) && !sites.has(SHOP, EMAIL));
        assert!(
            sites
                .arrived_at(SHOP)
                .iter()
                .any(|it| it.path == "/basket" && it.cookies.contains("session=one"))
        );
    }
    sites.browser.close().await;
}

/// A provider that asks for the name and the password on a page each.
fn in_steps(asked: &Asked) -> Page {
    let form = |action: &str, label: &str, rest: &str| {
        Page::Page(format!(
            "<h1>Log in to ID</h1><form method=post action={action} id=login><label>{label} <input {rest}></label>\
             <button>Log in</button></form>"
        ))
    };
    match asked.path.as_str() {
        "/session" => form("/word", "Password", "type=password name=word"),
        "/word" => back(""),
        _ => form("/session", "Email or phone", "name=name autocomplete=username"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_may_ask_for_name_and_password_on_a_page_each() {
    let sites = Sites::set_up().await;
    sites.serve(|asked| if asked.host == "shop.test" { shop(asked, PROVIDER) } else { in_steps(asked) });
    let steps = with(&[
        Step::Ask("login fields=[\"password\"]"),
        Step::Click("button \"Log in\""),
        Step::See("Welcome back"),
    ]);
    let run = guarded(&sites, &account("login:id", PROVIDER), &steps, |_| Answer::Once).await;
    assert_eq!(run.last(), "seen", "{run:#?} {:?}", sites.arrived_at(PROVIDER));
    assert!(sites.has(PROVIDER, EMAIL) && sites.has(PROVIDER, PASSWORD));
    for value in [EMAIL, PASSWORD] {
        assert!(!sites.has(SHOP, value), "{value}");
    }
    assert_eq!(run.questions.len(), 2, "the plan and the provider: {run:#?}");
    sites.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_the_account_returns_in_a_token_and_the_password_does_not() {
    let sites = Sites::set_up().await;
    let token = |value: &str| {
        let part = |text: String| URL_SAFE_NO_PAD.encode(text);
        let (head, body) =
            (part("{\"alg\":\"none\"}".to_owned()), part(format!("{{\"email\":\"{value}\"}}")));
        format!("&id_token={head}.{body}.c2lnbmF0dXJl")
    };
    for (value, returns) in [(EMAIL, true), (PASSWORD, false)] {
        let token = token(value);
        sites.serve(both(move |_| back(&token)));
        let steps = with(&[Step::Read]);
        let run = guarded(&sites, &account("login:id", PROVIDER), &steps, |_| Answer::Once).await;
        assert_eq!(run.last().contains("Welcome back"), returns, "{run:#?}");
        let arrived = sites.arrived_at(SHOP).iter().any(|it| it.query.contains("id_token"));
        assert_eq!(arrived, returns, "{value} {run:#?} {:?}", sites.arrived_at(SHOP));
        assert_eq!(run.questions.len(), 2, "{run:#?}");
    }
    sites.browser.close().await;
}

/// Whether the vault has a login at the provider is known to the user alone: without one, and after a no, the agent reads the same.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_cannot_tell_a_vault_without_the_login_from_a_no() {
    let sites = Sites::set_up().await;
    let steps = with(&[
        Step::Read,
        Step::Open("https://shop.test/login"),
        Step::Open("https://id.test/authorize"),
        Step::Ask("login fields=[\"email\",\"password\"]"),
        Step::Read,
    ]);
    let mut runs = Vec::new();
    for records in [Vec::new(), account("login:id", PROVIDER), account("login:other", "https://evil.test")] {
        sites.serve(both(|_| back("")));
        let refuses =
            |question: &str| if question.contains("for the second") { Answer::No } else { Answer::Session };
        let run = guarded(&sites, &records, &steps, refuses).await;
        assert!(run.answers[1].contains("outside_task"), "{run:#?}");
        assert_eq!(sites.arrived_at(PROVIDER).len(), 0, "{run:#?}");
        runs.push(run);
    }
    assert_eq!(runs[0].answers, runs[1].answers);
    assert_eq!(runs[0].answers, runs[2].answers);
    let asked: Vec<usize> = runs.iter().map(|run| sign_on_questions(run).len()).collect();
    assert_eq!(asked, [0, 1, 0], "each provider is asked about once");
    sites.browser.close().await;
}
