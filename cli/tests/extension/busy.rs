//! Pages that keep their own thread busy while they are filled: what the agent is told is never less than what they have.

use crate::stage::{FORM, REQUEST, Stage};

/// How often the agent asks again where a slow machine came to no fill.
const TRIES: usize = 5;

/// A machine with the shop in front, whose page is busy for this long once something happens.
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

/// Asks until the page holds the value; what the agent was told each time, and whether it does.
fn asked_until_filled(stage: &mut Stage) -> (Vec<String>, bool) {
    let mut replies = Vec::new();
    for _ in 0..TRIES {
        replies.push(stage.agent(Some(REQUEST)));
        // Comes after whatever the page was sent before.
        stage.agent_until(None, "Deliver to");
        let holds = stage.browser().values()["street"] == stage.value("street");
        if holds {
            return (replies, holds);
        }
    }
    (replies, false)
}

#[test]
fn what_a_page_took_and_did_not_say_is_no_denial() {
    // From the moment at which it has seen the value, for longer than anybody waits.
    let mut stage = stage(71, "addEventListener('input', busy, { once: true });", 15_000);
    let (replies, holds) = asked_until_filled(&mut stage);
    assert!(holds, "no machine is so slow: {replies:?}");
    let last = replies.last().unwrap();
    assert!(last.contains("GRANT.address {\"delivered\":\"unconfirmed\""), "{replies:?}");
    let record = stage.record();
    assert!(record.contains("unconfirmed"), "{record}");
    stage.options_until("It was sent to the page, which may have it");
    stage.no_value_got_out();
}

#[test]
fn a_page_that_answers_late_is_waited_for() {
    let mut stage = stage(72, "addEventListener('input', busy, { once: true });", 4_000);
    let (replies, holds) = asked_until_filled(&mut stage);
    assert!(holds, "no machine is so slow: {replies:?}");
    assert!(replies.last().unwrap().contains("GRANT.address"), "{replies:?}");
    stage.no_value_got_out();
}

#[test]
fn a_page_does_not_take_what_nobody_waits_for_any_more() {
    // From the moment at which it is made narrow, which is right before the values come.
    let watch = "new MutationObserver((seen, watch) => { watch.disconnect(); busy(); })
        .observe(document.documentElement, { childList: true });";
    let mut stage = stage(73, watch, 13_000);
    let reply = stage.agent(Some(REQUEST));
    stage.agent_until(None, "Deliver to");
    let values = stage.browser().values();
    assert_eq!(values["street"], "", "it was filled after the agent was told: {reply}");
    // And the next time nothing is in the way.
    let (replies, holds) = asked_until_filled(&mut stage);
    assert!(holds, "{reply} {replies:?}");
    stage.no_value_got_out();
}
