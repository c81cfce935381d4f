//! A released value within its own site: cookies and links carry it as on any site, and a form that takes it to another
//! path is asked about.

use crate::shop::{ORIGIN, Stage};
use crate::steps::{OWN, Step, guarded, guarded_under};

const FORM: &str = "<form method=post action=/order><label>Street <input name=street autocomplete=street-address></label>\
    <label>Postal code <input name=zip autocomplete=postal-code></label>\
    <label>City <input name=city autocomplete=address-level2></label><button>Place order</button></form>";

/// A page after the order, with a form that repeats the street, as a profile or a review does.
fn second_form(action: &str) -> String {
    format!(
        "<h1>Your order</h1><form method=post action={action}><input type=hidden name=street value=\"{OWN}\">\
         <button>Save profile</button></form>"
    )
}

const STEPS: [Step; 4] =
    [Step::Open("/"), Step::Fill, Step::Click("\"Place order\""), Step::Click("\"Save profile\"")];

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_repeats_a_value_is_saved_after_one_question() {
    let stage = Stage::set_up().await;
    for agrees in [true, false] {
        stage.shop.serve(&[("/", FORM.to_owned()), ("/order", second_form("/profile"))]);
        let run = guarded(&stage, &STEPS, if agrees { |_| true } else { |_| false }).await;
        let arrived = |path: &str| stage.shop.arrived().iter().any(|(at, _)| at == path);
        assert!(arrived("/order"), "{:?} {:?}", run.answers, run.orders);
        assert_eq!(arrived("/profile"), agrees, "{:?} {:?}", run.answers, run.orders);
        assert_eq!(run.orders.len(), 1, "{:?}", run.orders);
        let said = format!(
            "it goes to {ORIGIN}/profile, another address or method than the one that was agreed to, and carries your street"
        );
        assert!(run.says(&said), "{:?}", run.orders);
    }
    stage.browser.close().await;
}

/// WordPress and MediaWiki put the user's name into the cookie of their session.
#[tokio::test(flavor = "multi_thread")]
async fn a_site_may_put_a_value_into_its_cookies() {
    let stage = Stage::set_up().await;
    let sets_cookie = format!(
        "<h1>Your order</h1><a href=/next>Show more</a>\
         <script>document.cookie = 'street=' + encodeURIComponent('{OWN}') + '; path=/';</script>"
    );
    let next = "<h1>Next page</h1><script>fetch('/seen', { method: 'POST', \
        body: document.cookie.includes('Canary') ? 'it has its cookie' : 'it has none' });</script>";
    stage.shop.serve(&[("/", FORM.to_owned()), ("/order", sets_cookie), ("/next", next.to_owned())]);
    let steps = [Step::Open("/"), Step::Fill, Step::Click("\"Place order\""), Step::Click("Show more")];
    let run = guarded(&stage, &steps, |_| false).await;
    assert_eq!(run.answers.last().map(String::as_str), Some("ok"), "{:?}", run.answers);
    assert!(stage.shop.has("it has its cookie"), "{:?} {:?}", run.answers, stage.shop.arrived());
    assert_eq!(run.orders.len(), 0, "{:?}", run.orders);
    stage.browser.close().await;
}

/// A policy may keep values to the path of their grant. Then nothing is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_may_keep_values_to_their_path() {
    let stage = Stage::set_up().await;
    let strict =
        portcullis::DEFAULT_POLICY.replacen("session {", "session {\n    values keep to their path", 1);
    assert_ne!(strict, portcullis::DEFAULT_POLICY);
    for (policy, arrives) in [(portcullis::DEFAULT_POLICY, true), (&strict, false)] {
        stage.shop.serve(&[("/", FORM.to_owned()), ("/order", second_form("/profile"))]);
        let run = guarded_under(policy, &stage, &STEPS, |_| true).await;
        let arrived = |path: &str| stage.shop.arrived().iter().any(|(at, _)| at == path);
        assert!(arrived("/order"), "{:?} {:?}", run.answers, run.orders);
        assert_eq!(
            (arrived("/profile"), run.orders.len()),
            (arrives, usize::from(arrives)),
            "{:?}",
            run.answers
        );
    }
    stage.browser.close().await;
}
