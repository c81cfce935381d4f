//! Pages that block their own thread during a fill, and pages that are still parsed. The reported outcome of a fill never
//! understates the values that they received.

use std::thread;
use std::time::Duration;

use crate::stage::{FORM, REQUEST, Stage};

/// The number of repeated requests if a slow machine did not fill in time.
const TRIES: usize = 5;

/// A machine with the shop's page in front, which blocks for this time once an event happens.
fn stage(seed: u64, when: &str, milliseconds: u32) -> Stage {
    let mut stage = Stage::new(seed);
    let busy = format!(
        "<script>const busy = () => {{ for (const began = Date.now(); Date.now() - began < {milliseconds};); }};
        {when}</script>"
    );
    stage.site.put("shop.test/checkout", &format!("{FORM}{busy}"));
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.task();
    stage.agent_until(None, "Deliver to");
    stage
}

/// Requests the address until the page holds the value; returns the answer of each try, and true if it holds the value.
fn request_until_filled(stage: &mut Stage) -> (Vec<String>, bool) {
    let mut replies = Vec::new();
    for _ in 0..TRIES {
        replies.push(stage.agent(Some(REQUEST)));
        // This runs after all earlier messages to the page.
        stage.agent_until(None, "Deliver to");
        let holds = stage.browser().values()["street"] == stage.value("street");
        if holds {
            return (replies, holds);
        }
    }
    (replies, false)
}

#[test]
fn a_fill_without_an_answer_of_the_page_is_unconfirmed() {
    // The page blocks from the moment at which it has seen the value, for longer than any timeout.
    let mut stage = stage(71, "addEventListener('input', busy, { once: true });", 15_000);
    let (replies, holds) = request_until_filled(&mut stage);
    assert!(holds, "the page was never filled: {replies:?}");
    let last = replies.last().unwrap();
    assert!(last.contains("GRANT.address {\"delivered\":\"unconfirmed\""), "{replies:?}");
    let record = stage.record();
    assert!(record.contains("unconfirmed"), "{record}");
    stage.options_until("It was sent to the page, which may have it");
    stage.no_value_got_out();
}

#[test]
fn the_guard_waits_for_a_page_that_answers_late() {
    let mut stage = stage(72, "addEventListener('input', busy, { once: true });", 4_000);
    let (replies, holds) = request_until_filled(&mut stage);
    assert!(holds, "the page was never filled: {replies:?}");
    assert!(replies.last().unwrap().contains("GRANT.address"), "{replies:?}");
    stage.no_value_got_out();
}

#[test]
fn a_page_does_not_take_values_after_the_timeout() {
    // The page blocks when it gets its restrictive policy, which is right before the values arrive.
    let watch = "new MutationObserver((seen, watch) => { watch.disconnect(); busy(); })
        .observe(document.documentElement, { childList: true });";
    let mut stage = stage(73, watch, 13_000);
    let reply = stage.agent(Some(REQUEST));
    stage.agent_until(None, "Deliver to");
    let values = stage.browser().values();
    assert_eq!(values["street"], "", "the page was filled after the agent got its answer: {reply}");
    // The next fill succeeds.
    let (replies, holds) = request_until_filled(&mut stage);
    assert!(holds, "{reply} {replies:?}");
    stage.no_value_got_out();
}

/// A page whose form stands behind a script that the shop delays.
const DELAYED: &str = "<h1>Deliver to</h1><script src=/delayed.js></script>";

#[test]
fn a_page_that_is_still_parsed_is_read_with_its_form() {
    let mut stage = Stage::new(74);
    stage.site.put("shop.test/checkout", &format!("{DELAYED}{FORM}"));
    stage.site.put("shop.test/delayed.js", "");
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.task();
    stage.agent_until(None, "Deliver to");
    let pages: Vec<String> = (0..TRIES)
        .map(|_| {
            stage.site.hold("shop.test/delayed.js");
            stage.browser().reload();
            thread::scope(|scope| {
                // Only a machine that is slower than this reads the parsed page.
                scope.spawn(|| {
                    thread::sleep(Duration::from_secs(1));
                    stage.site.release("shop.test/delayed.js");
                });
                stage.agent(None)
            })
        })
        .collect();
    assert!(pages.iter().any(|page| page.contains("textbox \"Street\": empty")), "{pages:?}");

    // A page that never ends is read as far as it is there.
    stage.site.hold("shop.test/delayed.js");
    stage.browser().reload();
    let page = stage.agent_until(None, "Deliver to");
    assert!(page.contains("Deliver to") && !page.contains("Street"), "{page}");
}
