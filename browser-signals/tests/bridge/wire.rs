//! Sealed wires: the value arrives at the server once, and nowhere else.

use crate::support::{Heard, Open, Server, events_with, launch_listening, ref_of, tab};
use browser_signals::playwright::{BridgeError, Browser, ObservationTarget, PageEvent, Tab, WireEnd};
use browser_signals::{Container, Observed, SealedValue, SealedWire, Shape, Snapshot, WireField};

pub const CARD: &str = "4000056655665556";
pub const PLACEHOLDER: &str = "4000001234567899";

/// A wire for the controls with these names, for the form in a snapshot.
pub fn sealed(seen: &Observed<Snapshot>, fields: &[(&str, &str, &str, Shape)]) -> SealedWire {
    let control = |name: &str| seen.controls.iter().find(|it| it.name == name).expect("a control").node;
    let field = |(name, placeholder, value, shape): &(&str, &str, &str, Shape)| WireField {
        node: control(name),
        name: (*name).to_owned(),
        placeholder: (*placeholder).to_owned(),
        shape: *shape,
        value: SealedValue::new(value.as_bytes()),
    };
    SealedWire {
        request: 7,
        container_id: seen.container_id.clone(),
        frame: seen.frame.clone(),
        document: seen.document.known().expect("a document").clone(),
        origin: seen.origin.known().expect("an origin").clone(),
        form: seen.form,
        destination: seen.destination.known().expect("a destination").clone(),
        fields: fields.iter().map(field).collect(),
        lifetime_ms: 60_000,
    }
}

/// A wire for the card alone.
pub fn card(seen: &Observed<Snapshot>) -> SealedWire {
    sealed(seen, &[("card", PLACEHOLDER, CARD, Shape::Digits)])
}

pub struct Stage {
    pub server: Server,
    pub browser: Browser,
    pub heard: Heard,
    pub tab: Tab,
}

impl Stage {
    pub async fn new() -> Stage {
        let server = Server::start();
        let (browser, heard) = launch_listening(&server).await;
        let tab = tab(&browser, &server, Container::T2).await;
        server.page("shop.example", "/pay", "<title>Thanks</title>");
        Stage { server, browser, heard, tab }
    }

    pub async fn show(&self, body: &str) {
        let html = format!("<!doctype html><meta charset=utf-8><title>t</title>{body}<p id=log></p>");
        self.server.page("shop.example", "/", &html);
        self.tab.open(&self.server.url("shop.example", "/")).await.expect("the page opens");
    }

    /// The form with the control that is labelled "Card".
    pub async fn form(&self) -> Observed<Snapshot> {
        let text = self.tab.read(&Open).await.expect("text").text;
        self.tab.observe(ObservationTarget::Form(&ref_of(&text, "\"Card\""))).await.expect("a snapshot")
    }

    /// Shows a page and puts the card's placeholder into it.
    pub async fn wired(&self, body: &str) {
        self.show(body).await;
        let seen = self.form().await;
        self.tab.fill_wire(card(&seen)).await.expect("the placeholder stands");
    }

    pub async fn click(&self, name: &str) {
        let text = self.tab.read(&Open).await.expect("text").text;
        let button = ref_of(&text, &format!("\"{name}\""));
        let seen = self.tab.observe(ObservationTarget::Element(&button)).await.expect("a snapshot");
        let _may_be_stopped = self.tab.click(&button, &seen).await;
        self.tab.wait(150).await;
    }

    /// How the wires ended since the last call.
    pub fn ends(&self) -> Vec<WireEnd> {
        ends_among(&self.tab.events())
    }

    /// The same, once there are as many, or after a minute.
    pub async fn ends_once(&self, there: usize) -> Vec<WireEnd> {
        ends_among(&events_with(&self.tab, |all| ends_among(all).len() >= there).await)
    }

    /// The bodies that were posted since the last call, with their paths.
    pub fn posts(&self) -> Vec<(String, String)> {
        let posts = self.server.requests().into_iter().filter(|it| it.method == "POST");
        posts.map(|it| (format!("{}{}", it.host, it.path), it.body)).collect()
    }

    /// The posted bodies, once there are as many, or after a minute.
    pub async fn posts_once(&self, there: usize) -> Vec<(String, String)> {
        self.server.requests_with(|all| all.iter().filter(|it| it.method == "POST").count() >= there).await;
        self.posts()
    }

    /// Asserts that the value is in no document and in no message of the browser.
    pub async fn holds_no_card(&self) {
        let html = self.tab.html_for_canary_search().await.expect("the documents");
        assert!(!html.contains(CARD) && !html.contains("4000 0566"), "the page holds the value:\n{html}");
        let text = self.tab.read(&Open).await.expect("text").text;
        assert!(!text.contains(CARD), "{text}");
        assert_eq!(self.heard.holds(CARD), None, "the browser sent the value");
    }
}

fn ends_among(events: &[PageEvent]) -> Vec<WireEnd> {
    let end = |event: &PageEvent| match event {
        PageEvent::WireEnded { request: 7, end } => Some(*end),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

pub const FORM: &str = r#"<form id=f action="/pay" method="post"><input aria-label="Card" name="card" id=c>
<input name="note" id=n aria-label="Note"><button>Pay</button></form>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_body_format_takes_the_value_and_the_page_never_has_it() {
    let stage = Stage::new().await;
    let script = |send: &str| format!("{FORM}<script>f.onsubmit=(e)=>{{e.preventDefault();{send}}}</script>");
    let cases: [(String, &str); 6] = [
        (FORM.to_owned(), "card=4000056655665556&note="),
        (
            FORM.replace("method", "enctype='multipart/form-data' method"),
            "name=\"card\"\r\n\r\n4000056655665556\r\n",
        ),
        (
            script(
                "fetch('/pay',{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify({a:1,card:c.value})})",
            ),
            r#"{"a":1,"card":"4000056655665556"}"#,
        ),
        (
            script("fetch('/pay?step=2',{method:'POST',body:new FormData(f)})"),
            "name=\"card\"\r\n\r\n4000056655665556\r\n",
        ),
        (
            script("fetch('/pay',{method:'POST',body:new URLSearchParams(new FormData(f))})"),
            "card=4000056655665556&note=",
        ),
        (
            script(
                "const x=new XMLHttpRequest();x.open('POST',f.action);x.setRequestHeader('Content-Type','application/json; charset=utf-8');x.send(JSON.stringify({payment:{card:c.value.replace(/(.{4})/g,'$1 ').trim()}}))",
            ),
            r#"{"payment":{"card":"4000 0566 5566 5556"}}"#,
        ),
    ];
    for (page, arrives) in cases {
        stage.wired(&page).await;
        let html = stage.tab.html_for_canary_search().await.expect("the documents");
        assert!(html.contains(PLACEHOLDER), "{html}");
        let text = stage.tab.read(&Open).await.expect("text").text;
        assert!(text.contains("\"Card\" [ref=e2]: filled") && !text.contains(PLACEHOLDER), "{text}");
        let before = stage.posts().len();
        stage.click("Pay").await;
        let posts = stage.posts_once(before + 1).await.split_off(before);
        assert!(posts.len() == 1 && posts[0].1.contains(arrives), "{page}\n{posts:?}");
        assert_eq!(stage.ends(), [WireEnd::Sent], "{page}");
        stage.holds_no_card().await;
    }
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_fields_are_sent_together_in_their_own_shapes() {
    let stage = Stage::new().await;
    let page = r#"<form id=f action="/pay" method="post"><input aria-label="Card" name="card" maxlength=19 pattern="[0-9 ]{13,19}" required>
        <input name="exp" pattern="\d\d ?/ ?\d\d"><input name="holder"><button>Pay</button></form>
        <script>f.card.oninput=()=>{f.card.value=f.card.value.replace(/\D/g,'').replace(/(.{4})(?=.)/g,'$1 ')};
        f.exp.oninput=()=>{f.exp.value=f.exp.value.replace('/',' / ')}</script>"#;
    stage.show(page).await;
    let seen = stage.form().await;
    let fields = [
        ("card", PLACEHOLDER, CARD, Shape::Digits),
        ("exp", "07/38", "12/2029", Shape::Expiry),
        ("holder", "Zura Kimo", "Ana Gru\u{df} & Co", Shape::Text),
    ];
    stage.tab.fill_wire(sealed(&seen, &fields)).await.expect("the placeholders stand");
    stage.click("Pay").await;
    let (_, body) = stage.posts_once(1).await.pop().expect("a post");
    assert_eq!(body, "card=4000+0566+5566+5556&exp=12+%2F+29&holder=Ana+Gru%C3%9F+%26+Co");
    assert_eq!(stage.ends(), [WireEnd::Sent]);
    stage.holds_no_card().await;
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unsuitable_control_takes_no_placeholder() {
    let stage = Stage::new().await;
    for (page, error) in [
        (FORM.replace("id=c", "maxlength=10"), BridgeError::NotApplicable),
        (FORM.replace("id=c", "pattern=\"5[0-9]+\""), BridgeError::NotApplicable),
        (FORM.replace("id=c", "type=email"), BridgeError::NotApplicable),
        (
            FORM.replace(
                "<input aria-label=\"Card\" name=\"card\" id=c>",
                "<select aria-label=Card name=card><option><option>4000001234567899</select>",
            ),
            BridgeError::NotApplicable,
        ),
        (FORM.replace("method=\"post\"", "method=\"get\""), BridgeError::NotApplicable),
        (FORM.replace("id=c", "style=opacity:0"), BridgeError::Occluded),
        (format!("{FORM}<script>c.oninput=()=>c.name='note'</script>"), BridgeError::Diverted),
        (format!("{FORM}<script>c.oninput=()=>f.action='/other'</script>"), BridgeError::Diverted),
    ] {
        stage.show(&page).await;
        let seen = stage.form().await;
        assert_eq!(stage.tab.fill_wire(card(&seen)).await.err(), Some(error), "{page}");
        let html = stage.tab.html_for_canary_search().await.expect("the documents");
        assert!(!html.contains(&format!("\n{PLACEHOLDER}")), "{html}");
    }
    stage.show(FORM).await;
    let seen = stage.form().await;
    let other_name = {
        let mut wire = card(&seen);
        wire.fields[0].name = "note".to_owned();
        wire
    };
    assert_eq!(stage.tab.fill_wire(other_name).await.err(), Some(BridgeError::Diverted));
    let two_lines = sealed(&seen, &[("card", PLACEHOLDER, "1\r\n2", Shape::Text)]);
    assert_eq!(stage.tab.fill_wire(two_lines).await.err(), Some(BridgeError::NotApplicable));
    stage.show(&FORM.replace("method", "accept-charset=windows-1252 method")).await;
    let seen = stage.form().await;
    let umlaut = sealed(&seen, &[("card", "Zura", "Gru\u{df}", Shape::Text)]);
    assert_eq!(stage.tab.fill_wire(umlaut).await.err(), Some(BridgeError::NotApplicable));
    stage.tab.fill_wire(card(&seen)).await.expect("ASCII is the same in every set");
    stage.browser.close().await;
}
