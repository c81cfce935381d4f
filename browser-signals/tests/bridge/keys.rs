//! Keys that change text, in the text box with the focus.

use crate::filling::sealed;
use crate::support::{Open, Server, about, launch, ref_of, tab};
use browser_signals::playwright::{BridgeError, ObservationTarget, Tab};
use browser_signals::{Container, WritingKey};

async fn text(tab: &Tab) -> String {
    tab.read(&Open).await.expect("text").text
}

/// Puts the focus into a box, with a text of the agent's where there is one.
async fn focus_on(tab: &Tab, needle: &str, words: Option<&str>) {
    let (target, seen) = about(tab, needle).await;
    match words {
        Some(words) => tab.type_text(&target, words, &seen).await.expect("typed"),
        None => tab.click(&target, &seen).await.expect("clicked"),
    }
}

/// Presses a key as a guard does: the text that it leads to is looked at, decided, and then the key is pressed.
async fn press(tab: &Tab, name: &str) -> Result<String, BridgeError> {
    let Some(key) = WritingKey::named(name) else {
        let focus = tab.focused().await?.ok_or(BridgeError::Stale)?;
        let decided = tab.observe(ObservationTarget::Element(&focus)).await?;
        return tab.press(name, Some(&decided)).await.map(|()| String::new());
    };
    let (target, text) = tab.text_after(key).await?;
    let decided = tab.observe(ObservationTarget::Element(&target)).await?;
    tab.type_key(&target, key, &text, &decided).await.map(|()| text)
}

/// Boxes of several kinds. Each shows its value and the keys that it heard.
const BOXES: &str = r#"<!doctype html><title>t</title><input aria-label="Search"><input type=email aria-label="Mail">
    <input type=number aria-label="Count"><textarea aria-label="Note"></textarea><input aria-label="Own" value="of the page">
    <input type=checkbox aria-label="Gift"><button aria-label="Order" onclick="told.textContent='ordered'">Order</button>
    <div contenteditable aria-label="Chat"></div><input aria-label="Upper" oninput="this.value = this.value.toUpperCase()"><p id=told></p><p id=heard></p><script>
    for (const name of ['keydown', 'keypress', 'input', 'keyup']) addEventListener(name, (e) => {
      heard.textContent += [name, e.key ?? e.data, e.code, e.shiftKey || ''].join(' ').trim() + ';';
      told.textContent = 'holds <' + e.target.value + '>'; });</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_write_and_delete_in_the_box_with_the_focus() {
    let server = Server::start();
    server.page("shop.example", "/", BOXES);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    for (control, words, keys, then) in [
        ("Search", None, &["T", "e", "Shift+a", "Space", "2", "é", "@"][..], "TeA 2é@"),
        ("Search", Some("teas"), &["Backspace", "!"], "tea!"),
        ("Search", Some("tea"), &["Home", "Delete", "s", "End", "t"], "seat"),
        ("Search", Some("tea"), &["ArrowLeft", "Backspace"], "ta"),
        ("Search", Some("tea"), &["ControlOrMeta+a", "x"], "x"),
        ("Search", Some("tea"), &["ControlOrMeta+a", "Backspace", "y"], "y"),
        ("Mail", Some("a@b"), &["c", "ControlOrMeta+a", "d", "e"], "de"),
        ("Mail", Some("a@bc"), &["Home", "Backspace"], "a@b"),
        ("Count", Some("1"), &["2", "Backspace", "3"], "13"),
        ("Note", Some("two\r\nlines"), &["s"], "two\nliness"),
        ("Search", Some("😀"), &["😀", "."], "😀😀."),
    ] {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        focus_on(&tab, &format!("\"{control}\""), words).await;
        let mut last = String::new();
        for key in keys {
            let text = press(&tab, key).await;
            let text = text.unwrap_or_else(|error| panic!("{control} {keys:?} {key}: {error}"));
            if WritingKey::named(key).is_some() {
                last = text;
            }
        }
        assert_eq!(last, then, "{control} {keys:?}");
        let page = text(&tab).await;
        let told = then.replace('\n', " ");
        assert!(page.contains(&format!("holds <{told}>")), "{control} {keys:?}:\n{page}");
        assert!(page.contains(&format!(": \"{told}\"\n")), "the agent reads its own text:\n{page}");
    }
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    focus_on(&tab, "\"Search\"", None).await;
    press(&tab, "A").await.expect("pressed");
    let page = text(&tab).await;
    assert!(page.contains("keydown A KeyA true;keypress A KeyA true;input A;keyup A KeyA true;"), "{page}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_change_no_text_that_the_guard_does_not_know() {
    let server = Server::start();
    server.page("shop.example", "/", BOXES);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    assert_eq!(press(&tab, "a").await, Err(BridgeError::Stale), "nothing has the focus");
    for control in ["Own", "Gift", "Order", "Chat"] {
        // A click would press the button and tick the box.
        let has_focus = async || {
            let Some(focus) = tab.focused().await.expect("the page is there") else { return false };
            let seen = tab.observe(ObservationTarget::Element(&focus)).await.expect("a snapshot");
            seen.target.as_ref().is_some_and(|target| target.label == control)
        };
        while !has_focus().await {
            tab.press("Tab", None).await.expect("pressed");
        }
        let before = text(&tab).await;
        for key in ["a", "Space", "Backspace", "Delete"] {
            assert_eq!(press(&tab, key).await, Err(BridgeError::NotApplicable), "{control} {key}");
        }
        if control != "Own" {
            assert_eq!(press(&tab, "ControlOrMeta+a").await, Err(BridgeError::NotApplicable), "{control}");
        }
        assert_eq!(text(&tab).await, before, "{control}");
    }
    // The page has changed the agent's text.
    focus_on(&tab, "\"Upper\"", Some("tea")).await;
    for key in ["s", "Backspace"] {
        assert_eq!(press(&tab, key).await, Err(BridgeError::NotApplicable), "{key}");
    }
    press(&tab, "ControlOrMeta+a").await.expect("pressed");
    assert_eq!(press(&tab, "s").await, Err(BridgeError::NotApplicable));
    // Clipboard, undoing and the rest.
    for key in ["ControlOrMeta+x", "ControlOrMeta+c", "ControlOrMeta+v", "ControlOrMeta+z", "Shift+Insert"] {
        assert_eq!(press(&tab, key).await, Err(BridgeError::NotApplicable), "{key}");
    }
    // A person may have typed too.
    focus_on(&tab, "\"Search\"", Some("tea")).await;
    press(&tab, "s").await.expect("pressed");
    tab.end_typed();
    assert_eq!(press(&tab, "s").await, Err(BridgeError::NotApplicable));
    browser.close().await;
}

const CARD: &str = r#"<!doctype html><title>t</title><form action="/send" method="post">
    <input name=card aria-label="Card"><button>Send</button></form><p id=told></p><script>
    addEventListener('input', (e) => told.textContent = 'changed');</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_control_that_took_a_value_of_the_users_takes_no_key() {
    let server = Server::start();
    server.page("shop.example", "/", CARD);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T2).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    focus_on(&tab, "\"Card\"", Some("41")).await;
    press(&tab, "1").await.expect("pressed");
    let card = ref_of(&text(&tab).await, "\"Card\"");
    let seen = tab.observe(ObservationTarget::Form(&card)).await.expect("a snapshot");
    tab.fill(sealed(&seen, &[("card", "4111111111111111")])).await.expect("filled");
    assert!(tab.focused().await.expect("the page is there").is_some());
    for key in ["1", "Backspace", "Delete", "Space", "ControlOrMeta+a"] {
        assert_eq!(press(&tab, key).await, Err(BridgeError::Filled), "{key}");
    }
    assert_eq!(tab.changed_since_filled().await, Ok(Vec::new()));
    browser.close().await;
}

/// A page that moves the focus to another box as an event of a key passes.
const MOVES: &str = r#"<!doctype html><title>t</title><input aria-label="Find"><input aria-label="Other" id=other value="ab">
    <p id=told>other holds &lt;ab&gt;</p><script>const find = document.querySelector('[aria-label=Find]');
    find.addEventListener('EVENT', () => { other.focus(); other.setSelectionRange(2, 2); });
    setInterval(() => { told.textContent = 'other holds <' + other.value + '>'; }, 5);</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_changes_no_other_control() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    for event in ["keydown", "keypress", "textInput", "beforeinput"] {
        for key in ["c", "Backspace"] {
            server.page("shop.example", "/", &MOVES.replace("EVENT", event));
            tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
            focus_on(&tab, "\"Find\"", Some("tea")).await;
            let pressed = press(&tab, key).await;
            tab.wait(50).await;
            let page = text(&tab).await;
            // There the deletion has begun. A script of the page could change the box as well.
            let deletes = (event, key) == ("beforeinput", "Backspace");
            assert!(deletes || page.contains("other holds <ab>"), "{event} {key}: {pressed:?}\n{page}");
            if deletes || event == "keydown" {
                assert_eq!(pressed, Err(BridgeError::Occluded), "{event} {key}");
            }
        }
    }
    browser.close().await;
}

/// The text that a key leads to is decided on a box that the page may change until the key is pressed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_leads_to_the_text_of_its_decision_or_is_not_pressed() {
    let server = Server::start();
    server.page("shop.example", "/", BOXES);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    focus_on(&tab, "\"Search\"", Some("tea")).await;
    let key = WritingKey::Character('s');
    let (target, leads_to) = tab.text_after(key).await.expect("a box");
    let decided = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    assert_eq!(leads_to, "teas");
    tab.press("Home", None).await.expect("pressed");
    assert_eq!(tab.type_key(&target, key, &leads_to, &decided).await, Err(BridgeError::Stale));
    tab.press("Tab", None).await.expect("pressed");
    assert_eq!(tab.type_key(&target, key, &leads_to, &decided).await, Err(BridgeError::Stale));
    assert!(text(&tab).await.contains(": \"tea\"\n"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_goes_in_key_by_key() {
    let server = Server::start();
    server.page("shop.example", "/", BOXES);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    for (control, words, told) in [
        ("Search", "Hi!", "Hi!"),
        ("Mail", "a@b.example", "a@b.example"),
        ("Own", "mine", "mine"),
        ("Note", "2 é", "2 é"),
        ("Count", "12", "12"),
        ("Search", "", ""),
    ] {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        for _ in 0..2 {
            let (target, seen) = about(&tab, &format!("\"{control}\"")).await;
            tab.type_slowly(&target, words, &seen).await.expect("typed");
        }
        let page = text(&tab).await;
        assert!(words.is_empty() || page.contains(&format!("holds <{told}>")), "{control}:\n{page}");
        assert!(words.is_empty() || page.contains(&format!(": \"{told}\"\n")), "{control}:\n{page}");
    }
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (target, seen) = about(&tab, "\"Search\"").await;
    tab.type_slowly(&target, "Hi", &seen).await.expect("typed");
    let heard = "keydown H KeyH true;keypress H KeyH true;input H;keyup H KeyH true;\
        keydown i KeyI;keypress i KeyI;input i;keyup i KeyI;";
    let page = text(&tab).await;
    assert!(page.contains(heard), "{page}");
    press(&tab, "!").await.expect("a key goes on where they ended");
    assert!(text(&tab).await.contains("holds <Hi!>"));
    let (chat, seen) = about(&tab, "\"Chat\"").await;
    tab.type_slowly(&chat, "one two", &seen).await.expect("typed");
    assert!(text(&tab).await.contains(": \"one two\"\n"));
    for words in ["two\nlines", "a\tb"] {
        let (note, seen) = about(&tab, "\"Note\"").await;
        assert_eq!(tab.type_slowly(&note, words, &seen).await, Err(BridgeError::NotApplicable));
    }
    let (gift, seen) = about(&tab, "\"Gift\"").await;
    assert_eq!(tab.type_slowly(&gift, "x", &seen).await, Err(BridgeError::NotApplicable));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_a_text_reach_no_other_control() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T2).await;
    for event in ["keydown", "keypress", "input", "keyup"] {
        server.page("shop.example", "/", &MOVES.replace("EVENT", event));
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (find, seen) = about(&tab, "\"Find\"").await;
        let typed = tab.type_slowly(&find, "tea", &seen).await;
        tab.wait(50).await;
        let page = text(&tab).await;
        assert!(page.contains("other holds <ab>"), "{event}:\n{page}");
        // Between a key and its character Chromium keeps the place, and with it the focus.
        let expected = if event == "keypress" { Ok(()) } else { Err(BridgeError::Occluded) };
        assert_eq!(typed, expected, "{event}");
        assert_eq!(page.contains("tea"), typed.is_ok(), "no text is told that did not go in:\n{page}");
    }
    server.page("shop.example", "/", CARD);
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let seen = tab.observe(ObservationTarget::Form(&ref_of(&text(&tab).await, "\"Card\""))).await;
    let seen = seen.expect("a snapshot");
    tab.fill(sealed(&seen, &[("card", "4111111111111111")])).await.expect("filled");
    let (card, seen) = about(&tab, "\"Card\"").await;
    assert_eq!(tab.type_slowly(&card, "4", &seen).await, Err(BridgeError::Filled));
    assert_eq!(tab.changed_since_filled().await, Ok(Vec::new()));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_without_a_form_is_sent_by_enter() {
    let server = Server::start();
    let html = "<!doctype html><title>t</title><input aria-label=Search onkeypress=\"told.textContent = \
        event.key + ' <' + this.value + '>'\"><textarea aria-label=Note></textarea><button>Press</button><p id=told></p>";
    server.page("shop.example", "/", html);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (search, seen) = about(&tab, "\"Search\"").await;
    tab.type_text(&search, "tea", &seen).await.expect("typed");
    // Wherever the focus is by then.
    tab.press("Tab", None).await.expect("pressed");
    let (search, seen) = about(&tab, "\"Search\"").await;
    tab.submit(&search, &seen).await.expect("pressed");
    assert!(text(&tab).await.contains("Enter <tea>"));
    for other in ["\"Note\"", "\"Press\""] {
        let (other, seen) = about(&tab, other).await;
        assert_eq!(tab.submit(&other, &seen).await, Err(BridgeError::Diverted));
    }
    browser.close().await;
}

/// Controls whose value an arrow changes, and two whose it does not. The button gives each the focus in turn.
const STEPPED: &str = r#"<!doctype html><title>t</title><select class=c><option>one<option selected>two<option>three</select>
    <input class=c type=number value=2><input class=c type=range value=2><input class=c type=date value=2026-01-02>
    <input class=c type=radio name=r value=2 checked><input class=c type=radio name=r value=3><input class=c list=l value=2>
    <datalist id=l><option value=2><option value=3></datalist><input class=c value=2><button class=c>Own</button>
    <button onclick="boxes[at++].focus()">Next</button><p id=told></p><script>
    const boxes = document.querySelectorAll('.c'); let at = 0;
    const show = () => { told.textContent = 'values ' + [...boxes].map((it) => it.type === 'radio' ? it.checked : it.value).join(' ') };
    addEventListener('input', show); show()
    </script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_arrow_changes_no_value() {
    let server = Server::start();
    server.page("shop.example", "/", STEPPED);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let values = "\"values two 2 2 2026-01-02 true false 2 2\"";
    crate::support::text_with(&tab, values).await;
    for control in 0..9 {
        focus_on(&tab, "\"Next\"", None).await;
        for key in ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"] {
            let pressed = tab.press(key, None).await;
            let expected = if control < 7 { Err(BridgeError::NotApplicable) } else { Ok(()) };
            assert_eq!(pressed, expected, "{key} in control {control}");
            let page = text(&tab).await;
            assert!(page.contains(values), "{key} in control {control}: {page}");
        }
    }
    browser.close().await;
}
