//! Attacks on the extension's consent page: spoofing, framing, forged messages, premature clicks, overlays and floods.

use std::time::Duration;

use portcullis::Action;
use portcullis::service::protocol::{ClientRequest, EXTENSION_ID, Role};
use portcullis::service::{Client, ServiceFolder};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::consent::{questions, stage};
use crate::stage::{FORM, PHRASE, REQUEST, Stage, wait_for_absence, wait_until};

#[test]
fn only_the_user_in_the_extensions_own_window_can_consent() {
    let mut stage = stage(33);
    stage.browser().at_question("recordMessages", &json!({}));
    spoofed(&mut stage);
    framed_or_fetched(&mut stage);
    forged_messages(&mut stage);
    premature_clicks(&mut stage);
    popups(&mut stage);
    overlays(&mut stage);
    flooded(&mut stage);
    stage.no_value_got_out();
}

fn denied(stage: &mut Stage) {
    let reply = stage.agent(Some(REQUEST));
    assert!(!reply.contains("GRANT"), "{reply}");
}

/// A page that imitates the question: it does not know the phrase, and a yes that is clicked there has no effect.
fn spoofed(stage: &mut Stage) {
    let imitation = include_str!("../../../src/consent/page/page.html").replace(
        "<footer id=\"answers\" hidden>",
        "<footer id=\"answers\"><button id=\"spoofed\" class=\"yes\" data-word=\"site\">Yes</button>",
    );
    stage.site.put("shop.test/checkout", &format!("{imitation}{FORM}"));
    let url = stage.site.url("shop.test/checkout");
    let (begun, shown) = stage.meanwhile(Stage::task, |browser| {
        browser.at_question("question", &json!({}));
        browser.open(&url);
        browser.click("#spoofed");
        let shown = browser.evaluate("document.documentElement.outerHTML");
        browser.say("no");
        shown
    });
    assert!(begun.contains("in T0"), "{begun}");
    assert!(!shown.as_str().unwrap().contains(PHRASE), "the page knows the phrase");
    denied(stage);
    stage.site.put("shop.test/checkout", FORM);
    stage.browser().open(&url);
}

/// A page cannot frame, open, fetch or navigate to a page of the extension.
fn framed_or_fetched(stage: &mut Stage) {
    let (begun, tried) = stage.meanwhile(Stage::task, |browser| {
        let number = number(browser);
        let tried = browser.evaluate(&format!(
            "(async () => {{
                const at = 'chrome-extension://{EXTENSION_ID}/consent/page.html#{number}';
                const soon = new Promise((next) => setTimeout(next, 1500));
                const frame = document.body.appendChild(document.createElement('iframe'));
                frame.src = at;
                let opened = null;
                try {{ opened = window.open(at); }} catch {{}}
                const link = document.body.appendChild(document.createElement('a'));
                Object.assign(link, {{ href: at, target: '_blank' }});
                link.click();
                const fetched = await fetch(at).then(() => 'fetched', () => 'refused');
                const script = await new Promise((done) => {{
                    const made = document.body.appendChild(document.createElement('script'));
                    made.onload = () => done('loaded'); made.onerror = () => done('refused');
                    made.src = at.replace('page.html', 'page.js'); }});
                await soon;
                const inside = (of) => {{
                    try {{ return of()?.body.innerText ? 'seen' : 'nothing'; }} catch {{ return 'nothing'; }} }};
                const saw = [inside(() => frame.contentDocument), inside(() => opened?.document)];
                return [fetched, script, ...saw, String(globalThis.chrome?.runtime?.sendMessage)];
            }})()"
        ));
        browser.say("no");
        tried
    });
    assert!(begun.contains("in T0"), "{begun}");
    assert_eq!(tried, json!(["refused", "refused", "nothing", "nothing", "undefined"]));
    denied(stage);
}

/// The messages of consent pages so far.
fn messages(browser: &mut Browser) -> Vec<Value> {
    browser.at_question("recordedMessages", &json!({})).as_array().unwrap().clone()
}

/// The number of the open question, as its own page sent it.
fn number(browser: &mut Browser) -> String {
    browser.at_question("question", &json!({}));
    let messages = messages(browser);
    let show: Value = serde_json::from_str(messages.last().unwrap().as_str().unwrap()).unwrap();
    show["show"].as_str().unwrap().to_owned()
}

/// A valid yes to the open question, once its page accepts an answer.
fn valid_yes(browser: &mut Browser) -> String {
    let number = number(browser);
    let subject = browser.at_question("subject", &json!({})).as_str().unwrap().to_owned();
    wait_until(|| {
        let code = "document.querySelector('button.yes:enabled') !== null";
        let is_enabled = browser.at_question("inQuestion", &json!({ "code": code })) == true;
        is_enabled.then_some(()).ok_or_else(|| "the question cannot be answered".to_owned())
    });
    json!({ "consent": format!(r#"{{"nonce":"{number}","subject":"{subject}","answer":"session"}}"#) })
        .to_string()
}

/// The right message from wrong senders: a content script, another page of the extension, another window with the page
/// itself, and the page itself with an earlier question's message.
fn forged_messages(stage: &mut Stage) {
    let (begun, (tried, old)) = stage.meanwhile(Stage::task, |browser| {
        let yes = valid_yes(browser);
        let send = format!("chrome.runtime.sendMessage({yes}).catch((error) => String(error))");
        let tried: Vec<String> = vec![
            browser.at_question("inContentScript", &json!({ "code": send })).to_string(),
            browser.at_question("inOwnPage", &json!({ "path": "options.html", "code": send })).to_string(),
            browser
                .at_question("inOwnPage", &json!({ "path": "consent/page.html", "code": send }))
                .to_string(),
        ];
        browser.say("no");
        (tried, yes)
    });
    assert!(begun.contains("in T0"), "{begun} {tried:?}");
    assert!(tried.iter().all(|tried| !tried.contains("said") && !tried.contains("200")), "{tried:?}");
    let (begun, tried) = stage.meanwhile(Stage::task, |browser| {
        valid_yes(browser);
        let send = format!("chrome.runtime.sendMessage({old})");
        let tried = browser.at_question("inQuestion", &json!({ "code": send }));
        browser.say("no");
        tried
    });
    assert!(begun.contains("in T0"), "{begun}");
    assert_eq!(tried["status"], 404, "the number of an earlier question");
    denied(stage);
}

/// Two clicks as soon as there is a button.
fn premature_clicks(stage: &mut Stage) {
    let (begun, state) = stage.meanwhile(Stage::task, |browser| {
        let state = browser.at_question("sayAtOnce", &json!({ "word": "session" }));
        browser.at_question("sayIfThere", &json!({ "word": "no" }));
        state
    });
    // A late click on a slow machine is a valid answer.
    if state != "late" {
        assert_eq!(state, "open", "two clicks as soon as there is a button were an answer");
        assert!(begun.contains("in T0"), "{begun}");
        denied(stage);
    }
}

/// A page that opens windows over the question, and takes the focus as often as it can.
fn popups(stage: &mut Stage) {
    let covers = "<button id=cover>Play</button><script>cover.onclick = () => {
        for (let at = 0; at < 3; at += 1) open('/thanks', '', 'popup,width=580,height=640,left=0,top=0'); };</script>";
    stage.site.put("shop.test/covers", &format!("{FORM}{covers}"));
    let (url, back) = (stage.site.url("shop.test/covers"), stage.site.url("shop.test/checkout"));
    let (begun, ()) = stage.meanwhile(Stage::task, |browser| {
        browser.at_question("question", &json!({}));
        browser.open(&url);
        browser.click("#cover");
        // The covering window gets the clicks; the question gets none and stays open.
        let messages = messages(browser);
        assert!(
            messages.last().unwrap().as_str().unwrap().starts_with("{\"show\""),
            "nothing was answered: {messages:?}"
        );
        browser.at_question("closeQuestion", &json!({}));
    });
    assert!(begun.contains("in T0"), "{begun}");
    denied(stage);
    stage.browser().at_question("closeOthers", &json!({}));
    stage.browser().open(&back);
}

/// A page that covers everything with a picture in picture, or takes the whole screen, before the question and while it
/// is open.
fn overlays(stage: &mut Stage) {
    let lays = "<button id=lay>Play</button><button id=fill>Whole</button><script>
        lay.onclick = () => documentPictureInPicture.requestWindow({ width: 580, height: 640 });
        fill.onclick = () => document.documentElement.requestFullscreen();</script>";
    stage.site.put("shop.test/lays", &format!("{FORM}{lays}"));
    let (url, back) = (stage.site.url("shop.test/lays"), stage.site.url("shop.test/checkout"));
    let overlays = "String(documentPictureInPicture.window !== null) + (document.fullscreenElement !== null)";
    let until = |browser: &mut Browser, wanted: &str| {
        wait_until(|| {
            let shown = browser.evaluate(overlays);
            if shown == wanted { Ok(()) } else { Err(format!("{wanted}: {shown}")) }
        });
    };
    stage.browser().open(&url);
    stage.browser().click("#lay");
    until(stage.browser(), "truefalse");
    let (begun, ()) = stage.meanwhile(Stage::task, |browser| {
        browser.at_question("question", &json!({}));
        until(browser, "falsefalse");
        for button in ["#lay", "#fill"] {
            browser.front();
            browser.click(button);
            wait_for_absence(Duration::from_secs(1));
            until(browser, "falsefalse");
        }
        browser.at_question("closeQuestion", &json!({}));
    });
    assert!(begun.contains("in T0"), "{begun}");
    denied(stage);
    // No question is open, so the page may do it again.
    stage.browser().front();
    stage.browser().click("#fill");
    until(stage.browser(), "falsetrue");
    stage.browser().open(&back);
}

/// An agent that requests without end gets one window at a time, and at most five in all.
fn flooded(stage: &mut Stage) {
    let (begun, _) = stage.meanwhile(Stage::task, |browser| browser.say("session"));
    assert!(begun.contains("in T2"), "{begun}");
    let granted = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(granted.contains("GRANT"), "{granted}");
    // The consent to the plan is revoked, so that each request needs a question.
    let site = stage.site.url("shop.test/").trim_end_matches('/').to_owned();
    let send = format!("chrome.runtime.sendMessage({{ ask: 'withdraw', kind: 'address', site: '{site}' }})");
    stage.browser().at_question("inOwnPage", &json!({ "path": "options.html", "code": send }));
    let before = questions(stage)[0];
    let place = ServiceFolder::open(&stage.folder.path().join("run")).unwrap();
    let (replies, closed) = stage.meanwhile(
        |stage| {
            stage.run(async {
                let mut asking = tokio::task::JoinSet::new();
                for _ in 0..30 {
                    let place = place.clone();
                    asking.spawn(async move {
                        let mut client = Client::connect(&place, Role::Agent).await.ok()?;
                        client.ask(&ClientRequest::Act(Action::Request(REQUEST.to_owned()))).await.ok()
                    });
                }
                asking.join_all().await
            })
        },
        |browser| browser.at_question("sayUntilQuiet", &json!({ "word": "no" })),
    );
    assert!(replies.iter().flatten().all(|reply| !reply.to_string().contains("GRANT")), "{replies:?}");
    let [opened, most, _] = questions(stage);
    assert_eq!(most, 1, "one window at a time");
    assert!(
        opened - before >= 1 && opened - before <= 5,
        "{} questions, {closed} answered: {replies:?}",
        opened - before
    );
}
