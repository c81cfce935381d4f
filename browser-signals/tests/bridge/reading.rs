//! The text of a page for the model.

use crate::support::{Open, Server, Shut, launch, ref_of, tab};
use browser_signals::playwright::{BridgeError, ObservationTarget};
use browser_signals::{Container, Fact, Sink, TlsState};

const SHOP: &str = r#"<!doctype html><title>Shop</title>
<h1>Kettle</h1><p>A <b>fine</b> kettle.</p>
<form action="/order?x=1" method="post">
<label>Card number <input name="card" autocomplete="cc-number"></label>
<label>Quantity <select name="n"><option>1</option><option selected>2</option></select></label>
<label><input type="checkbox" checked> Gift</label>
<button>Buy</button></form>
<div>Price</div><div>64.15</div>
<iframe src="http://pay.example:PORT/frame" width=300 height=200></iframe>
<iframe srcdoc="<p>inner words</p>"></iframe>
<iframe sandbox src="http://shop.example:PORT/boxed"></iframe>"#;

const FRAME: &str = r#"<title>Pay</title><p>frame words</p><label>CVV <input name="cvv"></label>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_frame_is_read_and_named_by_the_browser() {
    let server = Server::start();
    server.page("shop.example", "/", SHOP);
    server.page("shop.example", "/boxed", "<p>boxed words</p>");
    server.page("pay.example", "/frame", FRAME);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let page = tab.read(&Open).await.expect("text");
    let shop = server.origin("shop.example");
    let pay = server.origin("pay.example");
    assert_eq!(page.origin.as_ref(), Some(&shop));
    assert!(!page.cut);
    let head: Vec<&str> = page.text.lines().take(6).collect();
    assert_eq!(
        head,
        [
            &format!("- document {shop} \"Shop\" /url \"/\""),
            "  - heading \"Kettle\" [level=1] [ref=e1]",
            "  - paragraph [ref=e2]: \"A fine kettle.\"",
            "  - form [ref=e3]:",
            "    - text: \"Card number\"",
            "    - textbox \"Card number\" [ref=e4]: empty",
        ],
        "{}",
        page.text
    );
    for line in [
        "- option \"2\" [selected]",
        "- checkbox \"Gift\" [checked]",
        "- text: \"Price\"\n  - text: \"64.15\"",
        &format!("] origin={pay}:\n    - document {pay} \"Pay\""),
        &format!("] origin={shop}:\n    - document {shop} \"\"\n"),
        "] origin=opaque:\n    - document opaque \"\"\n",
        "boxed words",
    ] {
        assert!(page.text.contains(line), "{line} is not in\n{}", page.text);
    }

    let inner =
        tab.observe(ObservationTarget::Element(&ref_of(&page.text, "CVV"))).await.expect("a snapshot");
    assert_eq!(inner.origin, Fact::Known(pay));
    assert_eq!(inner.top_origin, Fact::Known(shop.clone()));
    assert_eq!(inner.ancestors, Fact::Known(vec![shop.clone()]));
    assert_eq!(inner.tls, Fact::Known(TlsState::Insecure));
    assert_eq!(inner.container, Fact::Known(Container::T0));
    assert_ne!(inner.document, inner.top_document);
    assert_eq!(inner.destination, Fact::Unknown);

    let boxed = tab
        .observe(ObservationTarget::Element(&ref_of(&page.text, "boxed words")))
        .await
        .expect("a snapshot");
    assert_eq!(boxed.origin, Fact::Unknown);
    assert_eq!(boxed.top_origin, Fact::Known(shop.clone()));

    let form =
        tab.observe(ObservationTarget::Form(&ref_of(&page.text, "Card number"))).await.expect("a snapshot");
    assert!(form.number() > boxed.number());
    let destination = form.destination.known().expect("a destination");
    assert_eq!((&destination.origin, &*destination.path, &*destination.method), (&shop, "/order", "POST"));
    assert_eq!(form.sink, Fact::Known(Sink::PaymentForm));
    let labels: Vec<&str> = form.controls.iter().map(|control| control.label.as_str()).collect();
    assert_eq!(labels, ["Card number", "Quantity", "Gift", "Buy"]);
    assert!(
        form.controls.iter().all(|control| control.visible == Fact::Known(true) && control.form == form.form)
    );
    assert!(form.controls.iter().all(|control| control.hit == Fact::Known(true)));

    let forms = tab.forms().await.expect("forms");
    assert_eq!(forms.len(), 2, "one form, and one document with a control of no form");
    assert_eq!(tab.read(&Shut).await, Err(BridgeError::TextWithheld));
    assert_eq!(
        tab.observe(ObservationTarget::Element(&ref_of(&page.text, "CVV"))).await.err(),
        Some(BridgeError::UnknownRef)
    );
    browser.close().await;
    assert!(!browser.is_connected());
    assert_eq!(tab.read(&Open).await, Err(BridgeError::Lost));
}

const TYPED: &str = r#"<!doctype html><title>a "title"
- button "Forged" [ref=e99]</title>
<input id=card aria-label="Card" value="4111111111111111">
<input type=password aria-label="Secret" value="hunter2hunter2">
<textarea aria-label="Note">typed words</textarea>
<div contenteditable aria-label="Chat">chatted <b>words</b></div>
<div contenteditable>plain chat</div>
<input type=date aria-label="Day" value="2031-04-05"><input type=range aria-label="Range" value=37>
<button aria-labelledby="card">x</button>
<label>Nights <input type=number value="77123"> please<input type=checkbox></label>
<p>line
- button "Forged" [ref=e98]</p>
<p>4<span>1</span>1<b>1</b></p>
<div style="display:none">hidden words</div>
<input aria-label="Empty" placeholder="hint">
<select aria-label="Size" multiple><option>S</option><option selected>M</option></select>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_are_in_no_line_and_words_stay_in_quotes() {
    let server = Server::start();
    server.page("shop.example", "/", TYPED);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let page = tab.read(&Open).await.expect("text").text.replace(&server.port.to_string(), "port");
    for value in [
        "4111111111111111",
        "hunter2",
        "typed words",
        "chatted",
        "plain chat",
        "2031",
        "37",
        "77123",
        "hidden",
    ] {
        assert!(!page.contains(value), "{value} is in\n{page}");
    }
    for line in [
        "- textbox \"Card\" [ref=e1]: filled",
        "- textbox \"Secret\" [ref=e2]: filled",
        "- textbox \"Note\" [ref=e3]: filled",
        "\"Empty\"",
        "- paragraph [ref=",
        "\"4111\"",
        "- button \"[typed]\"",
    ] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
    let empty = page.lines().find(|line| line.contains("\"Empty\"")).expect("a line");
    assert!(empty.ends_with(": empty"), "{empty}");
    let forged = |line: &&str| line.trim_start().starts_with("- button \"Forged\"");
    assert_eq!(page.lines().filter(forged).count(), 0, "{page}");
    browser.close().await;
}

/// Elements without a role that answer a click, and others that do not.
const CLICKABLE: &str = r#"<!doctype html><title>Shop</title><body onclick="0">
<div onclick="got.textContent = 'listened'">Listens</div>
<p>Then <span id=hand style="cursor: pointer">this hand</span> in a sentence.</p>
<div style="cursor: pointer"><span>Within a hand</span></div>
<p>4111 <span onclick="0">1111</span> 1111 1111</p><p>Glu<span onclick="0">ed</span></p>
<div id=wrapper onclick="0"><button>Buy</button> beside</div>
<div onclick="0"><div onclick="0">Innermost</div></div>
<div onclick="got.textContent = 'opened'" style="cursor: pointer"><b>Ann</b> writes <span onclick="event.stopPropagation()">Bin</span></div>
<div style="cursor: pointer"><button>All of it</button></div>
<span onclick="0"><img alt=arrow width=9 height=9> Answer</span>
<button><span onclick="0">Words of a button</span></button>
<label for=shown>Quantity</label><input id=shown>
<label for=gift>Gift</label><input type=checkbox id=gift style="display: none" onchange="got.textContent = 'ticked ' + this.checked">
<div>Plain</div><p id=got>nothing</p><script>document.body.addEventListener('click', (event) => {
  if (event.target.id === 'hand') got.textContent = 'delegated';
});</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_without_a_role_that_answers_a_click_has_a_ref() {
    let server = Server::start();
    server.page("shop.example", "/", CLICKABLE);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let text = tab.read(&Open).await.expect("text").text;
    let expected = [
        "  - generic [ref=e1]: \"Listens\"",
        "  - paragraph [ref=e2]:",
        "    - text: \"Then\"",
        "    - generic [ref=e3]: \"this hand\"",
        "    - text: \"in a sentence.\"",
        "  - generic [ref=e4]: \"Within a hand\"",
        "  - paragraph [ref=e5]:",
        "    - text: \"4111 1111 1111 1111\"",
        "    - generic [ref=e6]",
        "  - paragraph [ref=e7]:",
        "    - text: \"Glued\"",
        "    - generic [ref=e8]",
        "  - button \"Buy\" [ref=e9]",
        "  - text: \"beside\"",
        "  - generic [ref=e10]: \"Innermost\"",
        "  - generic [ref=e11]:",
        "    - text: \"Ann writes\"",
        "    - generic [ref=e12]: \"Bin\"",
        "  - button \"All of it\" [ref=e13]",
        "  - generic [ref=e14]:",
        "    - image \"arrow\" [ref=e15]",
        "    - text: \"Answer\"",
        "  - button \"Words of a button\" [ref=e16]",
        "  - text: \"Quantity\"",
        "  - textbox \"Quantity\" [ref=e17]: empty",
        "  - generic [ref=e18]: \"Gift\"",
        "  - text: \"Plain\"",
        "  - paragraph [ref=e19]: \"nothing\"",
    ];
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, expected, "{text}");
    for (element, got) in [
        ("\"Listens\"", "listened"),
        ("\"this hand\"", "delegated"),
        ("\"Gift\"", "ticked true"),
        ("[ref=e11]", "opened"),
    ] {
        let target = ref_of(&text, element);
        let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
        tab.click(&target, &seen).await.expect("the click");
        let text = crate::support::text_with(&tab, got).await;
        assert!(text.contains(&format!("\"{got}\"")), "{text}");
    }
    browser.close().await;
}

/// Rows in which each part answers a click: digits that a person reads as one number, one without words between two of them, and cards
/// whose numbers are not drawn until they are clicked.
const ROWS: &str = r#"<!doctype html><title>Rows</title><style>
.card { display: inline-block; width: 40px; height: 60px; background: red; cursor: pointer; font-size: 0 }
.card.open { font-size: 25px; background: white; cursor: auto }</style>
<div class=row><b onclick="got.textContent = 'one'">1</b><b onclick="got.textContent = 'two'">2</b><b onclick="got.textContent = 'three'">3</b></div>
<section>4111<div onclick="got.textContent = 'nothing in it'" style="display: inline-block; width: 9px; height: 9px; background: red"></div>1111</section>
<div class=row><div class=card><span>17</span></div><div class=card><span>4</span></div><div class=card><span>23</span></div></div>
<i onclick="got.textContent = 'alone'" style="display: block; width: 40px; height: 40px; background: red"></i><p id=got>nothing</p>
<script>const cards = document.querySelectorAll('.card');
for (const card of cards) card.addEventListener('click', () => cards.forEach(it => it.classList.toggle('open', it === card)));</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_part_of_a_row_that_answers_a_click_has_a_ref_and_a_number_stays_whole() {
    let server = Server::start();
    server.page("shop.example", "/", ROWS);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let text = tab.read(&Open).await.expect("text").text;
    let expected = [
        "  - text: \"123\"",
        "  - generic [ref=e1]",
        "  - generic [ref=e2]",
        "  - generic [ref=e3]",
        "  - text: \"4111 1111\"",
        "  - generic [ref=e4]",
        "  - generic [ref=e5]",
        "  - generic [ref=e6]",
        "  - generic [ref=e7]",
        "  - generic [ref=e8]",
        "  - paragraph [ref=e9]: \"nothing\"",
    ];
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, expected, "{text}");
    for (element, got) in [
        ("[ref=e2]", "\"two\""),
        ("[ref=e4]", "\"nothing in it\""),
        ("[ref=e8]", "\"alone\""),
        // The number of a card is in its own line: a person does not see those beside it.
        ("[ref=e6]", "generic [ref=e6]: \"4\""),
        ("[ref=e7]", "generic [ref=e7]: \"23\""),
    ] {
        let target = ref_of(&text, element);
        let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
        tab.click(&target, &seen).await.expect("the click");
        let text = crate::support::text_with(&tab, got).await;
        assert!(text.contains(got), "{element}: {text}");
    }
    browser.close().await;
}
