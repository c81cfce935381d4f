//! Clicking, typing, choosing, submitting.

use crate::filling::sealed;
use crate::support::{Open, Server, about, launch, ref_of, tab};
use browser_signals::playwright::{BridgeError, ObservationTarget, Tab};
use browser_signals::{ClickManner, Container, Fact, HeldKeys, MouseButton, Observed, Snapshot};

async fn text(tab: &Tab) -> String {
    tab.read(&Open).await.expect("text").text
}

fn options(labels: &[&str]) -> Vec<String> {
    labels.iter().map(ToString::to_string).collect()
}

const FORM: &str = r#"<!doctype html><title>Form</title>
<form action="/send" method="get">
<input aria-label="Name" name="name" required>
<textarea aria-label="Note" name="note"></textarea>
<select aria-label="Size" name="size"><option value="s">Small</option><option value="l">Large one</option></select>
<input type=checkbox aria-label="Gift" name="gift">
<button name="go" value="1">Send</button></form>
<div contenteditable aria-label="Chat"></div><p id=log></p>
<script>for (const name of ['input', 'change']) addEventListener(name, e => log.textContent += name[0]);</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_options_are_chosen_where_a_list_takes_several() {
    let server = Server::start();
    let list = r#"<!doctype html><title>List</title><form><select multiple size=3 aria-label="Extras" name="extra">
        <option value="a" selected>Almonds</option><option value="b">Berries</option><option value="c">Cream</option></select>
        <select aria-label="Size"><option>Small</option><option>Large</option></select></form>
        <p id=log></p><script>extra = document.querySelector('[name=extra]');
        extra.onchange = () => { log.textContent = 'chosen ' + [...extra.selectedOptions].map((it) => it.value); };</script>"#;
    server.page("shop.example", "/", list);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (extras, seen) = about(&tab, "\"Extras\"").await;
    tab.select(&extras, &options(&["b", "Cream"]), &seen).await.expect("chosen");
    assert!(text(&tab).await.contains("chosen b,c"), "and no longer the first");
    assert_eq!(tab.select(&extras, &options(&["b", "Dates"]), &seen).await, Err(BridgeError::NotApplicable));
    let (size, seen) = about(&tab, "\"Size\"").await;
    for wanted in [&["Small", "Large"][..], &[]] {
        assert_eq!(
            tab.select(&size, &options(wanted), &seen).await,
            Err(BridgeError::NotApplicable),
            "{wanted:?}"
        );
    }
    assert!(text(&tab).await.contains("chosen b,c"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_is_typed_chosen_checked_and_submitted() {
    let server = Server::start();
    server.page("shop.example", "/", FORM);
    server.page("shop.example", "/send", "<title>Thanks</title><p>thanks</p>");
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");

    let (button, seen) = about(&tab, "\"Send\"").await;
    assert_eq!(
        tab.submit(&button, &seen).await,
        Err(BridgeError::FormIncomplete),
        "a required field is empty"
    );
    assert_eq!(tab.take_asked_for().as_deref(), Some("Name"));
    assert_eq!(tab.take_asked_for(), None, "it is told once");
    let (name, seen) = about(&tab, "\"Name\"").await;
    tab.type_text(&name, "Ann \"B\" \\ 'C'", &seen).await.expect("typed");
    let (note, seen) = about(&tab, "\"Note\"").await;
    tab.type_text(&note, "two\nlines", &seen).await.expect("typed");
    let (chat, seen) = about(&tab, "\"Chat\"").await;
    tab.type_text(&chat, "hello", &seen).await.expect("typed");
    let (size, seen) = about(&tab, "\"Size\"").await;
    assert_eq!(tab.select(&size, &options(&["Huge"]), &seen).await, Err(BridgeError::NotApplicable));
    tab.select(&size, &options(&["large  one"]), &seen).await.expect("chosen");
    let (gift, seen) = about(&tab, "\"Gift\"").await;
    tab.check(&gift, true, &seen).await.expect("checked");
    assert_eq!(tab.type_text(&gift, "x", &seen).await, Err(BridgeError::NotApplicable));
    let page = text(&tab).await;
    assert!(page.contains("\"icicicicic\""), "each change fires its events once:\n{page}");
    assert!(page.contains("\"Gift\" [checked]") && page.contains("\"Large one\" [selected]"), "{page}");

    let (button, seen) = about(&tab, "\"Send\"").await;
    assert_eq!(seen.destination.known().map(|it| &*it.path), Some("/send"));
    tab.submit(&button, &seen).await.expect("submitted");
    assert!(text(&tab).await.contains("thanks"));
    let last = server.requests().into_iter().rfind(|it| it.path.starts_with("/send")).expect("a request");
    assert_eq!(last.path, "/send?name=Ann+%22B%22+%5C+%27C%27&note=two%0D%0Alines&size=l&gift=on&go=1");
    tab.back().await.expect("back");
    assert!(text(&tab).await.contains("\"Form\""));
    assert_eq!(tab.press("F12", None).await, Err(BridgeError::NotApplicable));
    tab.press("Escape", None).await.expect("pressed");
    browser.close().await;
}

const ECHO: &str = r#"<!doctype html><title>Echo</title><input aria-label="Search"><textarea aria-label="Note"></textarea>
<input aria-label="Upper" oninput="this.value = this.value.toUpperCase()"><input type=password aria-label="Word">
<div contenteditable aria-label="Chat"></div><input aria-label="Own" value="of the page">
<form action="/send" method="post"><input name=card aria-label="Card"><button>Send</button></form>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agents_own_text_is_read_back_and_no_other() {
    let server = Server::start();
    server.page("shop.example", "/", ECHO);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    for (control, words) in [
        ("Search", "blue shoes"),
        ("Note", "two\nlines"),
        ("Upper", "kettle"),
        ("Word", "guess me"),
        ("Chat", "hello"),
        ("Card", "mine"),
    ] {
        let (target, seen) = about(&tab, &format!("\"{control}\"")).await;
        tab.type_text(&target, words, &seen).await.expect("typed");
    }
    let read = tab.read(&Open).await.expect("text");
    let mut typed = read.typed;
    typed.sort();
    assert_eq!(typed, ["blue shoes", "hello", "kettle", "mine", "two lines"]);
    let page = read.text;
    let line = |page: &str, control: &str| {
        let line = page.lines().find(|line| line.contains(&format!("\"{control}\""))).expect("a line");
        line.rsplit_once(']').expect("a ref").1.to_owned()
    };
    for (control, told) in [
        ("Search", ": \"blue shoes\""),
        ("Note", ": \"two lines\""),
        ("Upper", ": \"kettle\" (the page has changed it)"),
        ("Word", ": filled"),
        ("Chat", ": \"hello\""),
        ("Own", ": filled"),
        ("Card", ": \"mine\""),
    ] {
        assert_eq!(line(&page, control), told, "{control}\n{page}");
    }
    // A control that takes a value of the user's is not told of any more, and neither is one that a person may have changed.
    let seen = tab.observe(ObservationTarget::Form(&ref_of(&page, "\"Card\""))).await.expect("a snapshot");
    tab.fill(sealed(&seen, &[("card", "4111111111111111")])).await.expect("filled");
    let page = text(&tab).await;
    assert_eq!(
        (line(&page, "Card").as_str(), line(&page, "Search").as_str()),
        (": filled", ": \"blue shoes\"")
    );
    tab.end_typed();
    let (search, seen) = about(&tab, "\"Search\"").await;
    tab.type_text(&search, "red shoes", &seen).await.expect("typed");
    assert_eq!(line(&text(&tab).await, "Search"), ": filled");
    browser.close().await;
}

const CLICKS: &str = r#"<!doctype html><title>Clicks</title><style>body { margin: 0 } #lid { position: absolute;
left: 0; top: 0; width: 300px; height: 60px; z-index: 9 }</style>
<button id=under style="width:200px;height:40px">Covered</button><div id=lid></div>
<div style="height:3000px"></div>
<button onclick="out.textContent='far clicked'">Far</button>
<a href="/next">Next</a>
<button id=mover onmousedown="this.remove()">Mover</button>
<button onmousedown="document.getElementById('trap').style.display='block'">Bait</button>
<div id=trap style="display:none;position:fixed;inset:0;z-index:99" onmouseup="out.textContent='trapped'"></div>
<iframe src="http://pay.example:PORT/frame" style="border:7px solid;padding:5px" width=300 height=200></iframe>
<p id=out></p>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_reaches_its_element_or_nothing() {
    let server = Server::start();
    server.page("shop.example", "/", CLICKS);
    server.page("shop.example", "/next", "<title>Next page</title>");
    let inner = "<title>In</title><div style=height:900px></div><button onclick=\"document.title=event.isTrusted\">Inner</button>";
    server.page("pay.example", "/frame", inner);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");

    let (covered, seen) = about(&tab, "\"Covered\"").await;
    assert_eq!(seen.target.as_ref().map(|it| it.hit), Some(Fact::Known(false)));
    assert_eq!(tab.click(&covered, &seen).await, Err(BridgeError::Occluded));
    let (far, seen) = about(&tab, "\"Far\"").await;
    assert_eq!(seen.target.as_ref().map(|it| it.hit), Some(Fact::Known(true)));
    tab.click(&far, &seen).await.expect("clicked");
    assert!(text(&tab).await.contains("far clicked"));
    let (inside, seen) = about(&tab, "\"Inner\"").await;
    tab.click(&inside, &seen).await.expect("clicked");
    let page = text(&tab).await;
    assert!(page.contains("\"true\""), "the inner frame got a trusted click:\n{page}");
    let (bait, seen) = about(&tab, "\"Bait\"").await;
    assert_eq!(tab.click(&bait, &seen).await, Err(BridgeError::Occluded));
    assert!(!text(&tab).await.contains("trapped"));

    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (next, seen) = about(&tab, "\"Next\"").await;
    assert_eq!(seen.destination.known().map(|it| &*it.path), Some("/next"), "a link says where it goes");
    let (_, other) = about(&tab, "\"Far\"").await;
    let next_again = ref_of(&text(&tab).await, "\"Next\"");
    assert_eq!(
        tab.click(&next_again, &other).await,
        Err(BridgeError::Stale),
        "decided about another element"
    );
    assert_eq!(next, next_again);
    tab.click(&next_again, &seen).await.expect("clicked");
    assert!(text(&tab).await.contains("\"Next page\""));
    browser.close().await;
}

/// A part of the page that scrolls by itself within the window, and a drawing with a word that answers a click.
const PARTS: &str = r#"<!doctype html><title>Parts</title>
<div style="height:60px;overflow:auto"><div style="height:300px"></div><button onclick="log.textContent+=' low'">Low</button></div>
<svg width=90 height=40><text x=5 y=25 style="cursor:pointer" onclick="log.textContent+=' drawn'">Drawn</text></svg>
<p id=log>clicked</p>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_reaches_what_a_scrolling_part_cuts_off_and_a_part_of_a_drawing() {
    let server = Server::start();
    server.page("shop.example", "/", PARTS);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (low, seen) = about(&tab, "\"Low\"").await;
    tab.click(&low, &seen).await.expect("clicked");
    let (drawn, seen) = about(&tab, "\"Drawn\"").await;
    tab.click(&drawn, &seen).await.expect("clicked");
    assert!(text(&tab).await.contains("clicked low drawn"));
    browser.close().await;
}

/// The browser does not send the first form, whose page may look on or say so itself; the others it sends.
const CHECKED: &str = r#"<!doctype html><title>Checked</title>
<form action="/send" method=post id=checked><label>First name <input name=first required></label>
<input name=zip placeholder="Postal code" pattern="[0-9]{5}" value="none"><button><b>Save</b></button></form>
<form action="/send" method=post novalidate><input required><button>Save unchecked</button></form>
<form action="/send" method=post><input required><button formnovalidate>Save a draft</button></form>
<form action="/send" method=post onsubmit="return false"><input value=x required><button>Save by script</button></form>
<form action="/send" method=post><input required><button type=button onclick="this.form.checkValidity()">Only look</button></form>
<script>addEventListener('invalid', (e) => e.preventDefault(), true);</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_on_a_form_that_the_browser_does_not_send_says_so_and_names_the_control() {
    let server = Server::start();
    server.page("shop.example", "/", CHECKED);
    server.page("shop.example", "/send", "<title>Thanks</title><p>thanks</p>");
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let sent = || server.requests().iter().filter(|it| it.method == "POST").count();

    let (save, seen) = about(&tab, "\"Save\"").await;
    assert_eq!(tab.click(&save, &seen).await, Err(BridgeError::FormIncomplete));
    assert_eq!(tab.take_asked_for().as_deref(), Some("First name"));
    let (first, seen) = about(&tab, "\"First name\"").await;
    tab.type_text(&first, "Ann", &seen).await.expect("typed");
    let (save, seen) = about(&tab, "\"Save\"").await;
    assert_eq!(tab.click(&save, &seen).await, Err(BridgeError::FormIncomplete));
    assert_eq!(tab.take_asked_for().as_deref(), Some("Postal code"));
    for button in ["\"Save by script\"", "\"Only look\""] {
        let (button, seen) = about(&tab, button).await;
        assert_eq!(tab.click(&button, &seen).await, Ok(()));
        assert_eq!(tab.take_asked_for(), None);
    }
    assert_eq!(sent(), 0);
    for (count, button) in [(1, "\"Save unchecked\""), (2, "\"Save a draft\"")] {
        let (button, seen) = about(&tab, button).await;
        assert_eq!(tab.click(&button, &seen).await, Ok(()));
        assert_eq!(sent(), count);
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    }
    browser.close().await;
}

/// Boxes with and without a form, a link and a text area; the log has the keys that a script hears.
const FOCUS: &str = r#"<!doctype html><title>t</title><form action="/find"><input aria-label="Find" name="q"></form>
    <form action="/send"><input aria-label="Needed" name="n" required></form>
    <input aria-label="Loose"><textarea aria-label="Story"></textarea><a href="/next">Next</a><p id="log"></p>
    <script>addEventListener('keydown', (e) => log.textContent += e.target.getAttribute('aria-label') + ' ' + e.key);</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn enter_acts_where_the_focus_is_and_nowhere_else() {
    let server = Server::start();
    for (path, html) in [("/", FOCUS), ("/find", "<p>found</p>"), ("/next", "<p>next page</p>")] {
        server.page("shop.example", path, html);
    }
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    let focus_on = async |words: &str| {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        assert_eq!(tab.focused().await, Ok(None), "nothing has the focus at first");
        let (element, seen) = about(&tab, words).await;
        match words.contains("Next") {
            true => {
                for _ in 0..5 {
                    tab.press("Tab", None).await.expect("pressed");
                }
            }
            false => tab.type_text(&element, "tea", &seen).await.expect("typed"),
        }
        let focus = tab.focused().await.expect("the page is there").expect("a focus");
        let decided = tab.observe(ObservationTarget::Element(&focus)).await.expect("a snapshot");
        let node = |page: &Observed<Snapshot>| page.target.as_ref().map(|it| it.node);
        assert_eq!(node(&decided), node(&seen), "{words}");
        decided
    };
    for (words, outcome, then) in [
        ("\"Find\"", Ok(()), "found"),
        ("\"Loose\"", Ok(()), "\"Loose Enter\""),
        ("\"Story\"", Err(BridgeError::NotApplicable), "\"Story\""),
        ("\"Next\"", Ok(()), "next page"),
    ] {
        let decided = focus_on(words).await;
        assert_eq!(tab.press("Enter", Some(&decided)).await, outcome, "{words}");
        let text = text(&tab).await;
        assert!(text.contains(then), "{words}:\n{text}");
        assert_eq!(text.contains("Enter"), then.contains("Enter"), "{words}:\n{text}");
    }
    // The focus has moved since the decision, or the box now sends another form.
    let decided = focus_on("\"Find\"").await;
    tab.press("Tab", None).await.expect("pressed");
    assert_eq!(tab.press("Enter", Some(&decided)).await, Err(BridgeError::Stale));
    // A form that the browser does not send says what it asks for.
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (_, seen) = about(&tab, "\"Needed\"").await;
    for _ in 0..2 {
        tab.press("Tab", None).await.expect("pressed");
    }
    assert_eq!(tab.press("Enter", Some(&seen)).await, Err(BridgeError::FormIncomplete));
    assert_eq!(tab.take_asked_for().as_deref(), Some("Needed"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_has_the_button_the_keys_and_the_number_that_it_was_given() {
    let server = Server::start();
    let html = "<!doctype html><title>t</title><button>Press</button><p id=log></p><script>\
        for (const name of ['click', 'dblclick', 'auxclick', 'contextmenu']) addEventListener(name, (e) => {\
          const keys = ['altKey', 'ctrlKey', 'metaKey', 'shiftKey'].filter((key) => e[key]);\
          log.textContent += [name, e.button, ...keys].join(' ') + '; '; });</script>";
    server.page("shop.example", "/", html);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    let held = HeldKeys { control: true, shift: true, ..HeldKeys::default() };
    for (manner, heard) in [
        (ClickManner::default(), "\"click 0;\""),
        (ClickManner { twice: true, ..ClickManner::default() }, "\"click 0; click 0; dblclick 0;\""),
        (ClickManner { button: MouseButton::Right, ..ClickManner::default() }, "contextmenu 2;"),
        (ClickManner { held, ..ClickManner::default() }, "\"click 0 ctrlKey shiftKey;\""),
    ] {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (button, seen) = about(&tab, "\"Press\"").await;
        tab.click_as(&button, manner, &seen).await.expect("clicked");
        let text = text(&tab).await;
        assert!(text.contains(heard), "{manner:?}:\n{text}");
    }
    browser.close().await;
}

/// A page that moves the focus to a button while Enter is pressed.
const MOVES: &str = "<!doctype html><title>t</title><input aria-label=Find onkeydown='order.focus()'>\
    <button id=order type=button onclick=\"fetch('/ordered')\">Order</button>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_does_not_follow_a_focus_that_the_page_moves() {
    let server = Server::start();
    server.page("shop.example", "/", MOVES);
    let browser = launch(&server).await;
    let ordered = || server.requests().iter().filter(|it| it.path == "/ordered").count();
    let tab = tab(&browser, &server, Container::T1).await;
    for guarded in [true, false] {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (find, seen) = about(&tab, "\"Find\"").await;
        tab.type_text(&find, "tea", &seen).await.expect("typed");
        let focus = tab.focused().await.expect("the page is there").expect("a focus");
        let decided = tab.observe(ObservationTarget::Element(&focus)).await.expect("a snapshot");
        if guarded {
            assert_eq!(tab.press("Enter", Some(&decided)).await, Err(BridgeError::Occluded));
            text(&tab).await;
            assert_eq!(ordered(), 0);
        } else {
            // Without the check the key presses the button.
            tab.press("Enter", None).await.expect("pressed");
            server.requests_with(|all| all.iter().any(|it| it.path == "/ordered")).await;
            assert_eq!(ordered(), 1);
        }
    }
    browser.close().await;
}
