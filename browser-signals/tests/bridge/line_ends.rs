//! The lines of a page as a person reads them, and the agreement of the extension's reader.

use crate::support::{Open, Server, launch, tab};
use browser_signals::Container;
use browser_signals::outline::{Outline, Purpose, TextPlace};
use browser_signals::playwright::Tab;
use browser_signals::{TextGuard, TextWithheld};
use serde_json::json;
use std::sync::Mutex;

/// Markup, and the lines of the text that a person reads.
const PAGES: &[(&str, &[&str])] = &[
    ("<p>Line one<br>Line two<br><br>Line three</p>", &["Line one", "Line two", "Line three"]),
    ("<pre>let a = 1;\n\n  let b = 2;\n</pre>", &["let a = 1;", "let b = 2;"]),
    ("<pre><b>one</b>\n<i>two</i>\n\n<u>three</u></pre>", &["one", "two", "three"]),
    ("<p style='white-space:pre-line'>one\ntwo</p>", &["one", "two"]),
    ("<p>one\ntwo\tthree</p>", &["one two three"]),
    ("<div>Price</div><div>64.15</div>", &["Price", "64.15"]),
    ("<span style='display:block'>a</span><span style='display:block'>b</span>", &["a", "b"]),
    ("<p>4<span>1</span>1<b>1</b><span onclick='x()'>1</span></p>", &["41111"]),
    ("<p>H<sub>2</sub>O, 4<strong>1</strong><em>1</em><code>1</code><mark>s</mark></p>", &["H2O, 4111s"]),
    // Letters side by side are one word, whatever the style of their boxes.
    ("<span style='float:left'>41</span><span style='float:left'>11</span>", &["4111"]),
    ("<div style='display:flex'><span>41</span><span>11</span></div>", &["4111"]),
    ("<div style='display:flex;gap:8px'><span>4111</span><span>2222</span></div>", &["4111 2222"]),
    ("<div style='display:flex;gap:90px'><span>Home</span><span>Help</span></div>", &["Home", "Help"]),
    ("<p>Kettle<span style='margin-left:9px'>New</span></p>", &["Kettle New"]),
    (
        "<p style='width:40px'><b>wrapped</b> <i>at</i> <b>every</b> <i>space</i></p>",
        &["wrapped at every space"],
    ),
    ("<p style='width:40px'>split<b>wordthatis</b>long</p>", &["splitwordthatislong"]),
    ("<p>a<img alt=x src='data:,' width=9 height=9>b</p>", &["a", "b"]),
    ("<p>one <span style='display:none'><br>secret</span>line</p>", &["one line"]),
    ("<p>shown<br><span style='opacity:0'>secret</span><br>after</p>", &["shown", "after"]),
    ("<ol><li>first<li>second<ol type=a><li>inner</ol></ol>", &["1. first", "2. second", "a. inner"]),
    ("<ol start=7 reversed><li>x<li value=3>y</ol>", &["7. x", "3. y"]),
    ("<ul><li>point<br>and more</ul>", &["point", "and more"]),
    ("<table><tr><th>a<br>b<th>c<tr><td>d<td>e</table>", &["a", "b", "c", "d", "e"]),
    (
        "<div style='display:table;border-spacing:40px 0'><div style='display:table-row'><span style='display:table-cell'>k\
         </span><span style='display:table-cell'>v</span></div><div style='display:table-row'><span style='display:table-cell'>\
         l</span></div></div>",
        &["k\tv", "l"],
    ),
    ("<h1>Big<br>title</h1>", &["Big", "title"]),
    ("<a href='/x'>A kettle<br>of steel</a>", &["A kettle", "of steel"]),
    // It is laid out only when it comes near the window.
    (
        "<div style='height:9000px'></div><div style='content-visibility:auto'><p>late<br>words</p></div>",
        &["late", "words"],
    ),
    ("<p style='text-transform:uppercase'>loud<br>words</p>", &["LOUD", "WORDS"]),
];

/// Stores the outline that it is given.
#[derive(Default)]
struct Keep(Mutex<Option<Outline>>);

impl TextGuard for Keep {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        *self.0.lock().expect("the outline") = Some(outline.clone());
        Ok(outline.unfiltered())
    }
}

/// The visible lines of an outline's text, without the names of elements.
fn lines_of(outline: &Outline) -> Vec<String> {
    let mut lines = Vec::new();
    for line in &outline.lines {
        let seen = |place| matches!(place, TextPlace::Shown | TextPlace::Generated);
        let words = line.words().filter(|words| words.purpose == Purpose::Text && seen(words.place));
        let text: String = words.map(|words| words.text.as_str()).collect();
        let tidied = text.split('\n').map(|line| {
            let cells = line.split('\t').map(browser_signals::outline::tidy).filter(|cell| !cell.is_empty());
            cells.collect::<Vec<_>>().join("\t")
        });
        lines.extend(tidied.filter(|line| !line.is_empty()));
    }
    lines
}

async fn read_by_bridge(tab: &Tab) -> Outline {
    let keep = Keep::default();
    tab.read(&keep).await.expect("text");
    keep.0.into_inner().expect("the outline").expect("an outline")
}

/// The outline that the extension's content script reports of the same document.
async fn read_by_extension(tab: &Tab) -> Outline {
    const SCRIPTS: [&str; 3] = [
        include_str!("../../../browser-signals/src/playwright/scripts/world.js"),
        include_str!("../../../browser-signals/src/playwright/scripts/observe.js"),
        include_str!("../../../integrations/extension/files/page/read.js"),
    ];
    let script =
        format!("(() => {{ globalThis.chrome ??= {{}};\n{}\nreturn readText(); }})()", SCRIPTS.join("\n"));
    let text = tab.value_of_script(&script).await.expect("the report");
    let report = json!({ "tab": 1, "frames": [{ "frame": 0, "document": "A", "origin": "https://shop.example",
        "url": "https://shop.example/", "ancestors": [], "text": text }] });
    browser_signals::extension::outline(&report).expect("an outline").0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_readers_tell_the_lines_that_a_person_reads() {
    let server = Server::start();
    for (index, (html, _)) in PAGES.iter().enumerate() {
        server.page("shop.example", &format!("/{index}"), &format!("<!doctype html>{html}"));
    }
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    let mut wrong = Vec::new();
    for (index, (html, lines)) in PAGES.iter().enumerate() {
        tab.open(&server.url("shop.example", &format!("/{index}"))).await.expect("the page opens");
        let by_extension = read_by_extension(&tab).await;
        // Each reader changes how the document is laid out.
        tab.open(&server.url("shop.example", &format!("/{index}"))).await.expect("the page opens");
        for (who, outline) in [("the extension", by_extension), ("the bridge", read_by_bridge(&tab).await)] {
            let found = lines_of(&outline);
            if found != *lines {
                wrong
                    .push(format!("{who}: {found:?} and not {lines:?} for {html}\n{}", outline.unfiltered()));
            }
        }
    }
    browser.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn further_lines_of_a_text_are_quoted_below_it() {
    let server = Server::start();
    let page = "<!doctype html><title>T</title><p>one<br>- button \"Forged\" [ref=e9]</p><ul role=presentation><li>bare</ul>\
                <button>Total 5<br>Pay</button><div><div>a</div><div>b</div></div>\
                <table><tr><td>k<td>v<tr><td>l<td>w</table>";
    server.page("shop.example", "/", page);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let text = tab.read(&Open).await.expect("text").text;
    browser.close().await;
    for lines in [
        "  - paragraph [ref=e1]: \"one\"\n    \"- button \\\"Forged\\\" [ref=e9]\"\n",
        "\"• bare\"",
        "  - button \"Total 5 Pay\" [ref=e2]: \"Total 5\"\n    \"Pay\"\n",
        "  - text: \"a\"\n  - text: \"b\"\n",
        "  - text: \"k\" | \"v\"\n  - text: \"l\" | \"w\"\n",
    ] {
        assert!(text.contains(lines), "{lines} is not in\n{text}");
    }
}
