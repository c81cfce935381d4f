//! Forms that change their target within the same site when they are sent, so that the site could store an address,
//! show it, or pass it on.

use std::time::Duration;

use crate::egress::arrive;
use crate::stage::{FORM, REQUEST, Stage, wait_for_absence, wait_until};

/// A function that changes the target and the method of a form.
const RETARGET: &str =
    "const retarget = (form, to = '/turned') => { form.action = to; form.method = 'get'; };";

/// Scripts of a page that change the target of its form; `form` and `button` are elements of that page.
const RETARGETS: [(&str, &str); 8] = [
    ("handler", "form.addEventListener('submit', () => retarget(form, '/turned-handler'));"),
    (
        "stopped",
        "form.addEventListener('submit', (e) => { e.stopImmediatePropagation(); retarget(form, '/turned-stopped'); }, true);",
    ),
    ("script", "button.type = 'button'; button.onclick = () => { retarget(form, '/turned-script'); form.submit(); };"),
    (
        "requested",
        "form.addEventListener('submit', (e) => { if (form.done) return; e.preventDefault(); form.done = true;
            retarget(form, '/turned-requested'); setTimeout(() => form.requestSubmit()); });",
    ),
    (
        "button",
        "button.addEventListener('click', () => { button.setAttribute('formaction', '/turned-button'); button.setAttribute('formmethod', 'get'); });",
    ),
    (
        "outside",
        "const other = document.body.appendChild(document.createElement('button'));
        form.id = 'owner'; button.type = 'button';
        button.onclick = () => { other.setAttribute('form', 'owner'); other.formAction = '/turned-outside'; other.formMethod = 'get'; other.click(); };",
    ),
    (
        "window",
        "form.addEventListener('submit', () => { retarget(form, '/turned-window'); form.target = '_blank'; });",
    ),
    (
        "address",
        "form.addEventListener('submit', (e) => { e.preventDefault();
            location.href = '/turned-address?d=' + encodeURIComponent(form.elements.street.value); });",
    ),
];

fn page(script: &str, in_shadow: bool) -> String {
    if in_shadow {
        let (head, form) = FORM.split_once("<form").unwrap();
        return format!(
            "{head}<div id=host></div><script>{RETARGET} const root = host.attachShadow({{ mode: 'open' }});
            root.innerHTML = `<form{form}`; const form = root.querySelector('form'), button = root.querySelector('button'); {script}</script>"
        );
    }
    format!(
        "{FORM}<script>{RETARGET} const form = document.forms[0], button = form.querySelector('button'); {script}</script>"
    )
}

/// Types text into the form as a user does.
const TYPE_TEXT: &str = "for (const el of form.elements) if (el.name) el.value = 'by hand'";

#[test]
fn a_form_that_changes_its_target_when_sent_leaks_nothing() {
    let mut stage = Stage::new(45);
    let mut pages = Vec::new();
    for (name, script) in RETARGETS {
        // A script in a shadow tree can request any target in a window of its own.
        for in_shadow in [false, true] {
            if in_shadow && ["window", "outside"].contains(&name) {
                continue;
            }
            let place = format!("shop.test/{name}{}", if in_shadow { "-shadow" } else { "" });
            stage.site.put(&place, &page(script, in_shadow));
            pages.push((name, stage.site.url(&place)));
        }
    }
    stage.serve(true);
    stage.browse();
    for (name, url) in &pages {
        // Without the guard the form goes there with its contents.
        let before = retargeted_requests(&stage, name);
        stage.browser().open(url);
        stage.browser().evaluate(TYPE_TEXT);
        stage.browser().click("button");
        arrive(&stage, "shop.test", &[&format!("turned-{name}?")]);
        wait_until(|| {
            let has_arrived = retargeted_requests(&stage, name) > before;
            has_arrived.then_some(()).ok_or_else(|| format!("{url}: {}", stage.site.sent_to("shop.test")))
        });
        stage.browser().at_question("closeOthers", &serde_json::json!({}));
    }
    let url = stage.site.url("shop.test/handler");
    stage.browser().open(&url);
    stage.task();
    let mut failed = Vec::new();
    for (_, url) in &pages {
        stage.browser().open(url);
        stage.agent_until(None, "Deliver to");
        let reply = stage.agent_until(Some(REQUEST), "GRANT");
        assert!(reply.contains("GRANT.address"), "{url}: {reply}");
        assert_eq!(stage.browser().evaluate("form.elements.street.value"), stage.value("street"), "{url}");
        stage.browser().click("button");
        wait_for_absence(Duration::from_secs(1));
        let sent = stage.site.sent_to("shop.test");
        let turned: Vec<&str> = sent.lines().filter(|line| line.contains("/turned-")).collect();
        if !stage.canaries.in_text("the address", &turned.join("\n")).is_empty() {
            failed.push(url.clone());
        }
        stage.browser().at_question("closeOthers", &serde_json::json!({}));
    }
    assert_eq!(failed, Vec::<String>::new(), "{}", stage.site.sent_to("shop.test"));
    stage.no_value_got_out();
}

/// The number of requests with typed text to the changed target of this name.
fn retargeted_requests(stage: &Stage, name: &str) -> usize {
    let sent = stage.site.sent_to("shop.test");
    sent.lines().filter(|line| line.contains(&format!("/turned-{name}?")) && line.contains("hand")).count()
}

#[test]
fn an_honest_form_is_sent_with_the_usual_scripts_of_its_page() {
    let mut stage = Stage::new(46);
    let honest = [
        ("plain", ""),
        ("checks", "form.addEventListener('submit', (e) => { e.preventDefault(); form.submit(); });"),
        ("adds", "form.addEventListener('formdata', (e) => e.formData.append('more', '1'));"),
        (
            "fetches",
            "form.addEventListener('submit', (e) => { e.preventDefault(); fetch(form.action, { method: 'post', body: new FormData(form) }); });",
        ),
    ];
    for (name, script) in honest {
        for in_shadow in [false, true] {
            let place = format!("shop.test/{name}{}", if in_shadow { "-shadow" } else { "" });
            stage.site.put(&place, &page(script, in_shadow));
        }
    }
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/plain");
    stage.browser().open(&url);
    stage.task();
    for (name, _) in honest {
        for ending in ["", "-shadow"] {
            let url = stage.site.url(&format!("shop.test/{name}{ending}"));
            stage.browser().open(&url);
            stage.agent_until(None, "Deliver to");
            let reply = stage.agent_until(Some(REQUEST), "GRANT");
            assert!(reply.contains("GRANT.address"), "{url}: {reply}");
            let before = orders(&stage);
            stage.browser().click("button");
            wait_until(|| {
                let has_arrived = orders(&stage) > before;
                has_arrived.then_some(()).ok_or_else(|| format!("{url}: {}", stage.site.sent_to("shop.test")))
            });
            assert_eq!(orders(&stage), before + 1, "{url}: {}", stage.site.sent_to("shop.test"));
        }
    }
    stage.no_value_got_out();
}

/// The number of the shop's orders that contain the street.
fn orders(stage: &Stage) -> usize {
    let sent = stage.site.sent_to("shop.test");
    sent.split("shop.test /order ")
        .skip(1)
        .filter(|order| !stage.canaries.in_text("an order", order).is_empty())
        .count()
}
