//! The visibility of a page's words.

use crate::support::{Server, launch, tab};
use browser_signals::outline::{Outline, Purpose, TextPlace, quoted, tidy};
use browser_signals::playwright::Tab;
use browser_signals::{Container, TextGuard, TextWithheld};
use std::sync::Mutex;

/// Stores the outline that it is given.
#[derive(Default)]
struct Keep(Mutex<Option<Outline>>);

impl TextGuard for Keep {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        *self.0.lock().expect("the outline") = Some(outline.clone());
        Ok(outline.unfiltered())
    }
}

async fn outline(tab: &Tab) -> Outline {
    let keep = Keep::default();
    tab.read(&keep).await.expect("text");
    keep.0.into_inner().expect("the outline").expect("an outline")
}

/// The running text with this place.
fn words_at(outline: &Outline, place: TextPlace) -> String {
    let words = outline.words().filter(|words| words.place == place);
    let running = words.filter(|words| matches!(words.purpose, Purpose::Text | Purpose::Echo));
    tidy(&running.map(|words| words.text.as_str()).collect::<String>())
}

/// Ways to hide the words `secretNN`, and similar styles that show `plainNN`.
const HIDING: &[(&str, &str)] = &[
    ("display", r#"<p style="display:none">@</p>"#),
    ("visibility", r#"<p style="visibility:hidden">@</p>"#),
    ("opacity", r#"<div style="opacity:.2"><p style="opacity:.2">@</p></div>"#),
    ("size 0", r#"<p style="font-size:0">@</p>"#),
    ("size 1", r#"<p style="font-size:1px">@</p>"#),
    ("colour", r#"<p style="color:#fff">@</p>"#),
    ("nearly the colour", r#"<div style="background:#fafafa"><p style="color:#fff">@</p></div>"#),
    ("colour of a box", r#"<div style="background:#000"><p>@</p></div>"#),
    ("faint", r#"<p style="color:rgba(0,0,0,.03)">@</p>"#),
    ("no fill", r#"<p style="-webkit-text-fill-color:transparent">@</p>"#),
    ("to the left", r#"<p style="position:absolute;left:-9999px">@</p>"#),
    ("above", r#"<p style="position:absolute;top:-9999px">@</p>"#),
    ("fixed outside", r#"<p style="position:fixed;left:200vw">@</p>"#),
    ("far right", r#"<p style="position:absolute;left:90000px">@</p>"#),
    ("indent", r#"<p style="text-indent:-9999px;overflow:hidden">@</p>"#),
    ("clip", r#"<p style="position:absolute;clip:rect(0,0,0,0)">@</p>"#),
    ("clip-path", r#"<p style="clip-path:inset(50%)">@</p>"#),
    ("clip circle", r#"<p style="clip-path:circle(0)">@</p>"#),
    ("no height", r#"<div style="height:0;overflow:hidden"><div><p>@</p></div></div>"#),
    ("a scroller of one pixel", r#"<div style="height:1px;overflow:auto"><p>@</p></div>"#),
    (
        "one pixel",
        r#"<span style="position:absolute;width:1px;height:1px;overflow:hidden;white-space:nowrap">@</span>"#,
    ),
    ("scaled", r#"<p style="transform:scale(0)">@</p>"#),
    ("scaled to little", r#"<p style="transform:scale(.1)">@</p>"#),
    ("a filter", r#"<p style="filter:opacity(0)">@</p>"#),
    ("blurred", r#"<p style="filter:blur(20px)">@</p>"#),
    (
        "covered",
        r#"<div style="position:relative"><p>@</p><div style="position:absolute;inset:0;background:#fff"></div></div>"#,
    ),
    (
        "covered for the mouse only",
        r#"<div style="position:relative"><p>@</p><div style="position:absolute;inset:0;background:#fff;pointer-events:none"></div></div>"#,
    ),
    ("put below", r#"<div style="background:#fff"><p style="position:relative;z-index:-1">@</p></div>"#),
    ("squeezed", r#"<p style="letter-spacing:-1em">@</p>"#),
    ("dots", r#"<p style="-webkit-text-security:disc">@</p>"#),
    ("closed", r#"<details><summary>More</summary>@</details>"#),
    ("generated and clear", r#"<style>.clear::before{content:"@";opacity:0}</style><p class=clear>:</p>"#),
    ("clear svg", r#"<svg width=200 height=20><text y=15 fill="transparent">@</text></svg>"#),
    ("content-visibility", r#"<div style="content-visibility:hidden">@</div>"#),
    (
        "clear in a deferred layout",
        r#"<div style="height:9000px"></div><div style="content-visibility:auto"><p style="opacity:0">@</p></div>"#,
    ),
];

const SHOWING: &[(&str, &str)] = &[
    ("plain", r#"<p>@</p>"#),
    ("pale", r#"<p style="color:#999">@</p>"#),
    ("white on black", r#"<div style="background:#000"><p style="color:#fff">@</p></div>"#),
    (
        "white on a picture",
        r#"<div style="background:linear-gradient(#000,#111)"><p style="color:#fff">@</p></div>"#,
    ),
    (
        "a gradient in letters",
        r#"<h2 style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">@</h2>"#,
    ),
    ("out of the tree", r#"<div aria-hidden=true><i>@</i></div>"#),
    (
        "a scroller",
        r#"<div style="height:30px;overflow:auto"><div style="height:3000px"></div><p>@</p></div>"#,
    ),
    ("lower", r#"<p style="position:absolute;top:9000px">@</p>"#),
    ("fixed", r#"<p style="position:fixed;bottom:0">@</p>"#),
    (
        "under a bar",
        r#"<div style="position:fixed;left:0;right:0;top:0;height:40px;background:#ddd">bar</div><p style="position:absolute;top:5px">@</p>"#,
    ),
    ("generated", r#"<style>.shown::before{content:"@"}</style><p class=shown>:</p>"#),
    ("svg", r#"<svg width=200 height=20><text y=15 fill="red">@</text></svg>"#),
    ("upright", r#"<p style="writing-mode:vertical-rl;height:200px">@</p>"#),
    ("a first letter", r#"<style>.drop::first-letter{font-size:3em}</style><p class=drop>@</p>"#),
    (
        "absolute in a clip",
        r#"<div style="overflow:hidden;height:0"><p style="position:absolute">@</p></div>"#,
    ),
    ("half clear", r#"<p style="opacity:.5">@</p>"#),
    (
        "beside code",
        r#"<p style="width:150px">some <code style="background:#000;color:#fff">wrapped code of white on black</code> and then @</p>"#,
    ),
    ("a table", r#"<table><tr style="background:#eee"><td>@</td></tr></table>"#),
    ("a button", r#"<input type=submit value="@">"#),
    ("a hint", r#"<input placeholder="@">"#),
    ("raised", r#"<div style="position:relative;z-index:2;background:#fff"><p>@</p></div>"#),
    ("a shadow tree", r#"<div><template shadowrootmode=open><p>@</p></template></div>"#),
    ("turned", r#"<p style="transform:rotate(45deg);width:200px;margin:80px">@</p>"#),
    ("a link with a label", r##"<a href="#x" aria-label="labelled">@</a>"##),
    (
        "a deferred layout",
        r#"<div style="height:9000px"></div><div style="content-visibility:auto"><p>@</p></div>"#,
    ),
    (
        "a deferred layout within another",
        r#"<div style="height:9000px"></div><div style="content-visibility:auto"><div style="height:9000px"></div><div style="content-visibility:auto"><p>@</p></div></div>"#,
    ),
    ("a role of a picture", r#"<div role=img aria-label="picture">@</div>"#),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exactly_the_invisible_words_are_hidden() {
    let server = Server::start();
    let mut pages = Vec::new();
    for (kind, list) in [("secret", HIDING), ("plain", SHOWING)] {
        for (index, (what, html)) in list.iter().enumerate() {
            let word = format!("{kind}{index}word");
            let path = format!("/{kind}{index}");
            let html = html.replace('@', &format!("{word} of many"));
            server.page("shop.example", &path, &format!("<!doctype html><p>before</p>{html}<p>after</p>"));
            pages.push((*what, kind == "plain", word, path));
        }
    }
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    let mut wrong = Vec::new();
    for (what, shows, word, path) in pages {
        tab.open(&server.url("shop.example", &path)).await.expect("the page opens");
        let outline = outline(&tab).await;
        let text = outline.unfiltered();
        let shown =
            format!("{} {}", words_at(&outline, TextPlace::Shown), words_at(&outline, TextPlace::Generated));
        let labels = outline.words().any(|it| it.place == TextPlace::Shown && it.text.contains(&word));
        let is_shown = shown.contains(&word) || labels;
        if is_shown != shows || (text.contains(&word) != shows) {
            wrong.push(format!("{what}: {text}\nseen: {}", outline.seen));
        }
        if !what.starts_with("a button")
            && !what.starts_with("a hint")
            && outline.seen.contains(&word) != shows
        {
            wrong.push(format!("{what}, seen: {}", outline.seen));
        }
        for around in ["before", "after"] {
            if !text.contains(&quoted(around)) {
                wrong.push(format!("{what} lost {around}: {text}"));
            }
        }
    }
    browser.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

const PARTS: &str = r#"<!doctype html><title>Parts</title>
<p>Total <span style="opacity:0">one thing hidden</span><b>64</b>.15 USD</p>
<div style="width:60px;overflow:hidden;white-space:nowrap">Begin and a very long line that nobody gets to see in full</div>
<button aria-label="Pay now">Go</button>
<a href="/x"><img alt="A kettle" src="data:," width=20 height=20></a>
<img alt="Words in a picture" src="data:," width=20 height=20>
<div aria-hidden=true contenteditable>typed by somebody</div>
<ol><li>first<li>second</ol>
<iframe style="opacity:0" srcdoc="<p>inner unseen</p>"></iframe>
<iframe srcdoc="<p>inner seen</p>"></iframe>
<iframe width=0 height=0 src="http://pay.example:PORT/frame"></iframe>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visibility_differs_within_a_line_and_a_frame() {
    let server = Server::start();
    server.page("shop.example", "/", PARTS);
    server.page("pay.example", "/frame", "<p>foreign unseen</p>");
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let outline = outline(&tab).await;
    let text = outline.unfiltered();
    let hidden = words_at(&outline, TextPlace::Hidden);
    for words in ["one thing hidden", "nobody gets to see", "inner unseen", "foreign unseen"] {
        assert!(words.starts_with("foreign") || hidden.contains(words), "{words} is not in {hidden}");
        assert!(!text.contains(words), "{words} is in {text}");
        assert!(!outline.seen.contains(words), "{words} is in {}", outline.seen);
    }
    for words in ["Total 64.15 USD", "Begin", "inner seen", "Go", "1. first", "2. second"] {
        assert!(tidy(&outline.seen).contains(words), "{words} is not in {}", outline.seen);
    }
    for line in ["\"Begin", "\"Go\"", "1. first", "inner seen"] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    assert!(!text.contains("typed by") && !outline.seen.contains("typed by"), "{text}");
    let place = |words: &str| outline.words().find(|it| it.text == words).map(|it| (it.place, it.purpose));
    assert_eq!(place("Pay now"), Some((TextPlace::Attribute, Purpose::Label)));
    assert_eq!(place("A kettle"), Some((TextPlace::Attribute, Purpose::Label)));
    assert_eq!(place("Words in a picture"), Some((TextPlace::Attribute, Purpose::Picture)));
    assert_eq!(place("Parts"), Some((TextPlace::Attribute, Purpose::Title)));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_to_mailboxes_and_phones_are_marked() {
    let server = Server::start();
    let body = r#"<a href="mailto:ann@shop.example?subject=x">Ann</a><p><a href=" TEL:+4930901820">call</a></p>
<a href="/mailto:ann@shop.example">no</a><a href="https://shop.example/?tel:1">neither</a>
<div role=link data-href="mailto:ann@shop.example">a role alone</div><p>mailto:bob@shop.example</p>"#;
    server.page("shop.example", "/", body);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let outline = outline(&tab).await;
    let marked = outline.lines.iter().filter(|line| line.contact);
    let names: Vec<&str> = marked.flat_map(|line| line.words().map(|words| words.text.as_str())).collect();
    assert_eq!(names, ["Ann", "call"], "{outline:?}");
    browser.close().await;
}
