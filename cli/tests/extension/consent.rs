//! A user who answers in the extension's own window and makes rules on its settings page.

use serde_json::json;

use crate::stage::{FORM, PHRASE, REQUEST, Stage};

/// A machine whose user is asked in the extension, with the shop in front.
pub fn stage(seed: u64) -> Stage {
    let mut stage = Stage::new(seed).with_consent_in_extension();
    stage.site.put("shop.test/checkout", FORM);
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.options_until("Connected");
    stage
}

/// The number of questions opened, the most at the same time, and the number still open.
pub fn questions(stage: &mut Stage) -> [u64; 3] {
    let counted = stage.browser().at_question("questions", &json!({}));
    ["opened", "most", "now"].map(|name| counted[name].as_u64().unwrap())
}

#[test]
fn clicks_start_a_task_grant_a_fill_and_revoke_a_consent() {
    let mut stage = stage(31);
    let started = stage.asked();
    assert!(started.contains("can say yes in your place"), "the service warns at its start: {started}");

    // The plan, with a standing consent.
    let (begun, asked) = stage.meanwhile(Stage::task, |browser| {
        let asked = browser.at_question("question", &json!({}));
        assert_eq!(browser.say("site"), "You said yes, on this site from now on. You can close this window.");
        asked
    });
    assert!(begun.contains("in T2"), "{begun}");
    let text = asked["text"].as_str().unwrap();
    assert!(!text.contains("container that can go only"), "there is no container: {text}");
    for words in [
        PHRASE,
        "read the tab in front",
        "postal code",
        "address:home",
        "a tab of your own browser",
        "shop.test",
        "seconds left",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(asked["focused"], "no");
    assert_eq!(asked["choices"], json!(["no", "once", "session", "site", "never"]));
    assert!(!asked["address"].as_str().unwrap().contains('#'), "no address contains the number");
    canary::assert_none(&stage.canaries.in_text("the question", text));

    // Right after the answer its window still exists, and the tab behind it counts as active.
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("GRANT.address"), "{reply}");
    let values = stage.browser().values();
    assert_eq!(values["street"], stage.value("street"));

    // The consent is revoked on the settings page while the task is open, so the next request needs a question.
    let settings = stage.browser().at_question("change", &json!({ "withdraw": true }));
    assert!(settings.as_str().unwrap().contains("Done. It holds from now on."), "{settings}");
    let before = questions(&mut stage)[0];
    let (reply, text) = stage.meanwhile(
        |stage| stage.agent(Some(REQUEST)),
        |browser| {
            let asked = browser.at_question("question", &json!({}));
            browser.say("once");
            asked["text"].as_str().unwrap().to_owned()
        },
    );
    assert!(reply.contains("GRANT.address"), "{reply}");
    assert!(text.contains("fill your address"), "{text}");
    assert_eq!(questions(&mut stage)[..2], [before + 1, 1]);

    rules(&mut stage);
    stage.no_value_got_out();
    let settings = stage.browser().options();
    canary::assert_none(&stage.canaries.in_text("the page of settings", &settings));
    for words in [
        "Your rule: address",
        "An answer of yours: address",
        "The agent asked for: address",
        "yes, this once",
    ] {
        assert!(settings.contains(words), "{words}: {settings}");
    }
}

/// The settings page can add a never-rule and cannot revoke it.
fn rules(stage: &mut Stage) {
    let site = stage.site.url("shop.test/checkout");
    let before = questions(stage)[0];
    let settings = stage.browser().at_question("change", &json!({ "site": site, "kind": "address" }));
    let settings = settings.as_str().unwrap();
    assert!(settings.contains("Done. It holds from now on.") && settings.contains("never"), "{settings}");
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("consent_denied"), "{reply}");
    let url = stage.site.url("shop.test/");
    let origin = url.trim_end_matches('/');
    let revoke = format!(
        "chrome.runtime.sendMessage({{ ask: 'take_back', kind: 'address', site: '{origin}' }}).catch((error) => String(error))"
    );
    let tried = stage.browser().at_question("inOwnPage", &json!({ "path": "options.html", "code": revoke }));
    assert!(!tried.to_string().contains("kept"), "{tried}");
    assert!(stage.agent(Some(REQUEST)).contains("consent_denied"));
    assert_eq!(questions(stage)[0], before, "a never-rule needs no question");

    let folder = ["--folder", "run"];
    let listed = stage.portcullis(&[&["consent", "serving"], &folder[..]].concat());
    assert!(listed.contains(&format!("1   never: address to {origin}")), "{listed}");
    let back = stage.portcullis(&[&["consent", "serving", "--take-back", "1"], &folder[..]].concat());
    assert!(back.contains("revoked: never: address"), "{back}");
    let (reply, _) = stage.meanwhile(|stage| stage.agent(Some(REQUEST)), |browser| browser.say("once"));
    assert!(reply.contains("GRANT.address"), "{reply}");
}

#[test]
fn closing_escape_and_a_lost_worker_count_as_no() {
    let mut stage = stage(32);
    let (begun, ()) = stage.meanwhile(Stage::task, |browser| {
        browser.at_question("closeQuestion", &json!({}));
    });
    assert!(begun.contains("in T0"), "closed: {begun}");
    let (begun, ended) = stage.meanwhile(Stage::task, |browser| {
        browser.at_question("pressInQuestion", &json!({ "key": "Escape" }))
    });
    assert!(begun.contains("in T0"), "Escape: {begun}");
    assert!(ended.as_str().unwrap().contains("You said no."), "{ended}");

    // The worker is stopped while the question is open. A yes that is clicked afterwards has no effect.
    let (begun, ended) = stage.meanwhile(Stage::task, |browser| {
        browser.at_question("question", &json!({}));
        browser.stop_worker();
        browser.at_question("sayIfThere", &json!({ "word": "session" }))
    });
    assert!(begun.contains("in T0"), "stopped: {begun}");
    assert!(!ended.to_string().contains("You said"), "{ended}");
    let reply = stage.agent_until(Some(REQUEST), "DENY");
    assert!(reply.contains("DENY.address"), "{reply}");
    let values = stage.browser().values();
    assert_eq!(values["street"], "");

    // The next question finds the restarted worker, and no window of the earlier one is left.
    let (begun, _) = stage.meanwhile(Stage::task, |browser| browser.say("session"));
    assert!(begun.contains("in T2"), "{begun}");
    assert_eq!(questions(&mut stage)[1], 1, "one window at a time");
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply}");
    stage.no_value_got_out();
}
