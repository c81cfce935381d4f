//! The addresses of links and of the page, and what pictures are said to show.

use crate::support::{Open, Server, launch, tab};
use browser_signals::Container;
use browser_signals::outline::{Outline, Purpose, TextPlace};
use browser_signals::text_guard::{TextGuard, TextWithheld};

const PAGE: &str = r##"<!doctype html><title>Shop</title><base href="/shop/">
<p><a href="kettle?session=81f2#total">Kettle</a></p>
<p><a href="https://user:word@other.example/a%22b/caf%C3%A9/c%0A-%20button">Elsewhere</a></p>
<p><a href="/reset/q7Z2m9XbT4vL8sKd3RwPyN6cHgJf1A">Key</a></p>
<p><a href="#end">Place</a> <a href="http://shop.example:PORT/shop/page?x=1#end">End</a></p>
<p><a href="javascript:void(0)">Script</a> <a href="mailto:ann@shop.example">Mail</a> <a href="tel:+4930901820">Call</a></p>
<p><a href="//shop.example:PORT//evil.example/x">Slashes</a></p>
<p><a id=swapped href="/before">Swapped</a></p>
<p><a href="/alone" style="display:inline-block;width:20px;height:20px"></a></p>
<p role=link data-href="/no">Role</p>
<a href="/tea"><img alt="Tea tin" src="data:," width=20 height=20></a>
<img alt='A "pan" /url "/x" [ref=e9]' src="data:," width=20 height=20>
<div role=img aria-label="Five stars" style="width:20px;height:20px"></div>
<img alt="Kettle" src="data:," width=20 height=20>
<img alt="seen by nobody" src="data:," width=20 height=20 style="opacity:0">
<iframe srcdoc="<a href='/inner'>Inner</a>"></iframe>
<script>
Object.defineProperty(swapped, 'href', { get: () => 'https://liar.example/' });
history.replaceState(null, '', '/shop/page?x=1');
</script>"##;

/// Lets every text pass, and no path.
struct WithoutPaths;

impl TextGuard for WithoutPaths {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        Open.guard(outline)
    }

    fn tells_paths(&self) -> bool {
        false
    }
}

/// The text of the page without refs, with `port` in the place of the server's port.
fn without_refs(text: &str, port: u16) -> String {
    let mut out = String::new();
    for (at, part) in text.split(" [ref=").enumerate() {
        let rest = if at == 0 { Some(part) } else { part.split_once(']').map(|(_, rest)| rest) };
        out.push_str(rest.unwrap_or(part));
    }
    out.replace(&port.to_string(), "port")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_pictures_and_the_page_are_told_with_their_addresses() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let text = tab.read(&Open).await.expect("text").text;
    let told = without_refs(&text, server.port);
    for line in [
        "- document http://shop.example:port \"Shop\" /url \"/shop/page\"",
        "- link \"Kettle\" /url \"/shop/kettle\"\n",
        "- link \"Elsewhere\" /url \"https://other.example/a\\\"b/café/…\"\n",
        "- link \"Key\" /url \"/reset/…\"\n",
        // The page says what its links are relative to.
        "- link \"Place\" /url \"/shop/\"\n",
        "- link \"End\"\n",
        "- link \"Script\"\n",
        "- link \"Mail\"\n",
        "- link \"Call\"\n",
        "- link \"Slashes\" /url \"http://shop.example:port//evil.example/x\"\n",
        "- link \"Swapped\" /url \"/before\"\n",
        "- link /url \"/alone\"\n",
        // The picture gives the link its name, which is told once.
        "- link \"Tea tin\" /url \"/tea\":\n    - image\n",
        "- image \"Five stars\"\n",
        "- image \"Kettle\"\n",
        "- link \"Inner\" /url \"/inner\"\n",
    ] {
        assert!(told.contains(line), "{line} is not in\n{told}");
    }
    for word in ["81f2", "word", "q7Z2", "liar", "void", "x=1"] {
        assert!(!told.contains(word), "{word} is in\n{told}");
    }
    // The words of the page stay in their quotes.
    assert!(text.contains(r#"- image "A \"pan\" /url \"/x\" [ref=e9]" [ref="#), "{text}");
    assert!(!told.lines().any(|line| line.trim_start().starts_with("- button")), "{told}");

    let told = without_refs(&tab.read(&WithoutPaths).await.expect("text").text, server.port);
    assert!(told.starts_with("- document http://shop.example:port \"Shop\"\n"), "{told}");
    assert!(told.contains("- link \"Elsewhere\" /url \"https://other.example\"\n"), "{told}");
    assert_eq!(told.matches("/url \"").count(), 1, "{told}");
    browser.close().await;
}

/// Keeps the outline.
struct Keep(std::sync::Mutex<Outline>);

impl TextGuard for Keep {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        *self.0.lock().map_err(|_| TextWithheld)? = outline.clone();
        Ok(String::new())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_and_pictures_are_no_text_that_a_person_sees() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let keep = Keep(std::sync::Mutex::default());
    tab.read(&keep).await.expect("a page");
    let outline = keep.0.into_inner().expect("an outline");
    let addresses: Vec<_> = outline.words().filter(|it| it.purpose == Purpose::Address).collect();
    assert!(
        addresses.len() > 5 && addresses.iter().all(|it| it.place == TextPlace::Attribute),
        "{addresses:?}"
    );
    let place = |words: &str| outline.words().find(|it| it.text == words).map(|it| (it.place, it.purpose));
    assert_eq!(place("Five stars"), Some((TextPlace::Attribute, Purpose::Picture)));
    assert_eq!(place("seen by nobody"), Some((TextPlace::Hidden, Purpose::Picture)));
    browser.close().await;
}
