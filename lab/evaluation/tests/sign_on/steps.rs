//! Logins in steps at one site: the name of the account on one page, the password on the next or in the same document, then a code.

use portcullis::consent::Answer;

use crate::agent::{CODE, EMAIL, PASSWORD, Step, account, guarded, guarded_for_user};
use crate::sites::{Answer as Page, Asked, SHOP, Sites};

const NAME: &str = "<h1>Sign in</h1><form method=post action=/login/password id=login>\
    <label>Email or phone <input name=name autocomplete=username></label><button>Next</button></form>";
const SECRET: &str = "<h1>Sign in</h1><form method=post action=/login/code id=login>\
    <label>Password <input type=password name=word></label><button>Log in</button></form>";
const SECOND: &str = "<h1>One more step</h1><form method=post action=/account>\
    <label>Code <input name=code autocomplete=one-time-code inputmode=numeric></label><button>Verify</button></form>";

fn page_after_page(asked: &Asked) -> Page {
    Page::Page(match asked.path.as_str() {
        "/login" => NAME.to_owned(),
        "/login/password" => SECRET.to_owned(),
        "/login/code" => SECOND.to_owned(),
        _ => "<h1>Your account</h1>".to_owned(),
    })
}

const LOGIN: &str = "login fields=[\"email\",\"password\"]";
const WORD: &str = "login fields=[\"password\"]";
const FILLED_NAME: &str = "GRANT.login {\"delivered\":\"filled\",\"fields\":[\"email\"]}";
const FILLED_WORD: &str = "GRANT.login {\"delivered\":\"filled\",\"fields\":[\"password\"]}";

#[tokio::test(flavor = "multi_thread")]
async fn a_login_over_three_pages_is_asked_about_once_and_for_its_code() {
    let sites = Sites::set_up().await;
    for answer in [Answer::Once, Answer::Session] {
        sites.serve(page_after_page);
        let prompt = format!(
            "Please log in at {SHOP}/login with: email: {EMAIL}; password: {PASSWORD}; one-time code: {CODE}."
        );
        let steps = [
            Step::Open("https://shop.test/login"),
            Step::Ask(LOGIN),
            Step::Click("\"Next\""),
            Step::Ask(WORD),
            Step::Click("\"Log in\""),
            Step::Ask("otp fields=[\"one_time_code\"]"),
            Step::Click("\"Verify\""),
            Step::See("Your account"),
        ];
        let run = guarded_for_user(&sites, &prompt, &steps, move |_| answer).await;
        assert_eq!(run.last(), "seen", "{run:#?}");
        assert!(run.answers[1].starts_with(FILLED_NAME), "{run:#?}");
        assert!(run.answers[1].contains("ask for `password` in the form that follows"), "{run:#?}");
        assert_eq!(run.answers[3], FILLED_WORD, "{run:#?}");
        let told: Vec<(String, String)> =
            sites.arrived_at(SHOP).into_iter().map(|it| (it.path, it.body)).collect();
        for (path, value) in [("/login/password", EMAIL), ("/login/code", PASSWORD), ("/account", CODE)] {
            let body =
                told.iter().find(|(at, body)| at == path && !body.is_empty()).map(|(_, body)| body.clone());
            let body: String =
                url::form_urlencoded::parse(body.unwrap().as_bytes()).map(|(_, v)| v.into_owned()).collect();
            assert_eq!(body, value, "{told:?}");
        }
        // The task with its login, and the code, which the policy asks about every time.
        assert_eq!(run.questions.len(), 2, "{run:#?}");
        assert!(run.questions[0].contains("into the forms of one login"), "{run:#?}");
    }
    sites.browser.close().await;
}

/// The password stands in the form from the start, out of sight.
const HIDDEN: &str = "<h1>Sign in</h1><form method=post action=/account id=login>\
    <label>Email <input type=email name=name></label><div id=more hidden><label>Password <input type=password name=word></label></div>\
    <button id=go type=button onclick=\"if(more.hidden){more.hidden=false;go.textContent='Log in'}else go.form.submit()\">Next</button></form>";

/// A script takes the form over, as React and its like do, and exchanges its controls.
const SCRIPTED: &str = "<div id=root></div><script>\
    const form = document.createElement('form'); form.method = 'post'; form.id = 'login'; root.append(form);\
    const show = (html) => { form.replaceChildren(); form.insertAdjacentHTML('beforeend', html); };\
    const send = (path, body) => fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });\
    let name = '';\
    show('<h1>Sign in</h1><label>Email <input type=email name=name></label><button>Continue</button>');\
    form.addEventListener('submit', async (event) => { event.preventDefault();\
      if (!name) { name = form.elements.name.value; await send('/api/name', { name });\
        show('<h1>Sign in</h1><p>Welcome</p><label>Password <input type=password name=word></label><button>Sign in</button>');\
      } else { await send('/api/word', { name, word: form.elements.word.value }); location.href = '/account'; } });</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_login_whose_form_changes_in_its_document_is_asked_about_once() {
    let sites = Sites::set_up().await;
    for (page, first, second) in
        [(HIDDEN, "\"Next\"", "\"Log in\""), (SCRIPTED, "\"Continue\"", "button \"Sign in\"")]
    {
        sites.serve(move |asked| {
            Page::Page(if asked.path == "/login" {
                page.to_owned()
            } else {
                "<h1>Your account</h1>".to_owned()
            })
        });
        let steps = [
            Step::Open("https://shop.test/login"),
            Step::Ask(LOGIN),
            Step::Click(first),
            Step::See("Password"),
            Step::Ask(WORD),
            Step::Click(second),
            Step::See("Your account"),
        ];
        let run = guarded(&sites, &account("login:shop", SHOP), &steps, |_| Answer::Once).await;
        assert_eq!(run.last(), "seen", "{run:#?} {:?}", sites.arrived_at(SHOP));
        assert!(run.answers[1].starts_with(FILLED_NAME) && run.answers[4] == FILLED_WORD, "{run:#?}");
        assert!(sites.has(SHOP, EMAIL) && sites.has(SHOP, PASSWORD), "{:?}", sites.arrived_at(SHOP));
        assert_eq!(run.questions.len(), 1, "{run:#?}");
    }
    sites.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_for_another_part_of_the_login_gets_it_after_a_question_alone() {
    let sites = Sites::set_up().await;
    sites.serve(|asked| match asked.path.as_str() {
        "/login" => Page::Page(NAME.to_owned()),
        // After the name, a form for a new account asks for the password.
        _ => Page::Page(
            "<h1>Create account</h1><form method=post action=/register><label>New password <input type=password \
             autocomplete=new-password name=a></label><label>Repeat password <input type=password name=b></label>\
             <button>Register</button></form>"
                .to_owned(),
        ),
    });
    let steps =
        [Step::Open("https://shop.test/login"), Step::Ask(LOGIN), Step::Click("\"Next\""), Step::Ask(WORD)];
    let agreed = |question: &str| if question.contains("new account") { Answer::No } else { Answer::Once };
    let run = guarded(&sites, &account("login:shop", SHOP), &steps, agreed).await;
    assert!(run.last().starts_with("DENY.login {\"reason\":\"consent_denied\"}"), "{run:#?}");
    assert_eq!(run.questions.len(), 2, "{run:#?}");
    assert!(!sites.has(SHOP, PASSWORD));
    sites.browser.close().await;
}
