//! A user browses with an assisting agent.

use crate::stage::{FORM, REQUEST, Stage};

#[test]
fn an_assisting_agent_has_an_address_filled_and_never_sees_it() {
    let mut stage = Stage::new(11);
    // The page shows the typed text to the user, and to the agent that reads the page.
    let echo =
        "<script>addEventListener('input', (e) => { echo.textContent += e.target.value + ' '; });</script>";
    stage.site.put("shop.test/checkout", &format!("{FORM}{echo}"));
    stage.site.put("bank.test/", "<!doctype html><title>Bank</title><p>Balance 4711</p>");
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);

    let refused = stage.agent(Some(REQUEST));
    assert!(refused.contains("no task is begun"), "{refused}");
    stage.task();
    let asked = stage.asked();
    assert!(asked.contains("address:home") && asked.contains("a tab of your own browser"), "{asked}");

    let page = stage.agent_until(None, "Deliver to");
    assert!(page.contains(&format!("document {}", url.trim_end_matches("/checkout"))), "{page}");
    assert!(page.contains("textbox \"Street\": empty"), "{page}");
    // During a navigation the guard waits for the next page.
    for _ in 0..5 {
        stage.browser().reload();
        let page = stage.agent(None);
        assert!(page.contains("textbox \"Street\": empty"), "{page}");
    }
    let reply = stage.agent(Some(REQUEST));
    assert_eq!(
        reply.trim(),
        "GRANT.address {\"delivered\":\"filled\",\"fields\":[\"city\",\"street\",\"postal_code\"]}"
    );
    let values = stage.browser().values();
    assert_eq!(values["street"], stage.value("street"));
    assert_eq!(values["zip"], stage.value("postal_code"));
    assert_eq!(values["city"], stage.value("city"));
    let echoed = stage.browser().evaluate("echo.textContent");
    assert!(
        echoed.as_str().unwrap().contains(&stage.value("street")),
        "the page shows the filled value: {echoed}"
    );
    let page = stage.agent(None);
    assert!(page.contains("[withheld]") && page.contains("textbox \"Street\": filled"), "{page}");

    // The agent gets nothing of another active tab.
    let bank = stage.site.url("bank.test/");
    stage.browser().tab(&bank);
    let elsewhere = stage.agent(None) + &stage.agent(Some(REQUEST));
    assert!(elsewhere.contains("origin_mismatch") && !elsewhere.contains("4711"), "{elsewhere}");

    // The settings page shows the task and the record, and no value.
    let options = stage.options_until("raised to T2");
    assert!(options.contains("Connected") && options.contains("The agent asked for: address"), "{options}");
    canary::assert_none(&stage.canaries.in_text("the page of settings", &options));

    stage.no_value_got_out();
    let record = stage.record();
    let (intent, outcome) = (record.find("intent").unwrap(), record.find("outcome").unwrap());
    assert!(intent < outcome, "{record}");
}
