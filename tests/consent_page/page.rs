//! The consent page in a real Chromium: the visible text, and which clicks and keys of a person count.

use std::time::Duration;

use crate::chromium::{Chromium, until, value};
use crate::consent_page_support::*;
use browser_signals::{Container, Origin, lookalike};
use playwright_rs::protocol::{Clock, Page, ScreenshotOptions, Viewport};
use policy_dfa::{ConsentScope, Reason};
use portcullis::consent::{Answer, Asked, AskedCode, ChosenFrom, HandOver, HandedOver, Notice, WhichAccount};
use serde_json::json;
use sirl::Kind;

const ARMED: &str = "[...document.querySelectorAll('button.yes')].every(b => !b.disabled)";
const DISARMED: &str = "[...document.querySelectorAll('button.yes')].every(b => b.disabled)";
const SHOWN: &str = "!document.getElementById('question').hidden";
const ENDED: &str = "!document.getElementById('end').hidden";

async fn ending(page: &Page) -> String {
    until(page, ENDED).await;
    page.locator("#ending").inner_text().await.unwrap()
}

async fn press(page: &Page, key: &str) {
    page.keyboard().press(key, None).await.unwrap();
}

/// The middle of a button, which an early click hits too.
async fn middle(page: &Page, selector: &str) -> (f64, f64) {
    let expression = format!(
        "(() => {{ const r = document.querySelector('{selector}').getBoundingClientRect(); \
         return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
    );
    let found = value(page, &expression).await;
    (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
}

async fn picture(page: &Page, name: &str) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("consent_{name}.png"));
    page.screenshot_to_file(&path, None::<ScreenshotOptions>).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answers_of_a_person_count() {
    let chromium = Chromium::launch("").await;
    let mut desk = Desk::open().await;
    every_answer(&chromium, &mut desk).await;
    the_keyboard(&chromium, &mut desk).await;
    closing_is_no(&chromium, &mut desk).await;
    a_security_code(&chromium, &mut desk).await;
    a_one_time_code(&chromium, &mut desk).await;
    an_account(&chromium, &mut desk).await;
    chromium.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_clicks_and_keys_do_not_count() {
    let chromium = Chromium::launch("").await;
    let mut desk = Desk::open().await;
    scripts_do_not_click(&chromium, &mut desk).await;
    early_clicks_do_not_count(&chromium, &mut desk).await;
    focus_is_waited_for(&chromium, &mut desk).await;
    hostile_words_are_text(&chromium, &mut desk).await;
    all_is_seen_before_a_yes(&chromium, &mut desk).await;
    only_a_word_lets_the_agent_go_on_after_an_offer(&chromium, &mut desk).await;
    time_runs_out(&chromium, &mut desk).await;
    without_a_phrase(&chromium).await;
    chromium.close().await;
}

async fn every_answer(chromium: &Chromium, desk: &mut Desk) {
    for answer in Answer::ALL {
        let question = desk.ask(prompt()).await;
        let page = chromium.open(&question.address.whole).await;
        until(&page, SHOWN).await;
        assert!(!page.url().contains('#'), "the nonce stays in the address bar");
        assert_eq!(value(&page, "document.activeElement.dataset.word").await, "no");
        assert_eq!(page.locator("#phrase").inner_text().await.unwrap(), PHRASE);
        let words =
            value(&page, "[...document.querySelectorAll('#choices button')].map(b => b.dataset.word)");
        assert_eq!(words.await, json!(["no", "once", "session", "site", "never"]));
        let text = page.locator("body").inner_text().await.unwrap();
        for part in [
            "fill your address (city, street, postal code) into a form of:",
            "into a form for an address on /checkout, sent to /orders",
            "it is sent to https://orders.shop.example",
            "from your address:home",
            "the agent was refused 2 times in this task",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        until(&page, ARMED).await;
        if answer == Answer::Once {
            picture(&page, "prompt").await;
        }
        page.locator(format!("button[data-word={}]", answer.as_str())).click(None).await.unwrap();
        let said = ending(&page).await;
        assert_eq!(said, format!("You said {answer}. You can close this window."));
        assert_eq!(desk.said(question).await, answer);
        if answer == Answer::Once {
            picture(&page, "ending").await;
        }
        page.close().await.unwrap();
    }
}

async fn the_keyboard(chromium: &Chromium, desk: &mut Desk) {
    for (keys, answer) in [
        (&["Escape"][..], Answer::No),
        (&["Enter"], Answer::No),
        (&["Tab", "Enter"], Answer::Once),
        (&["Tab", "Tab", "Tab", "Shift+Tab", "Space"], Answer::Session),
    ] {
        let question = desk.ask(prompt()).await;
        let page = chromium.open(&question.address.whole).await;
        until(&page, ARMED).await;
        for key in keys {
            press(&page, key).await;
        }
        assert_eq!(desk.said(question).await, answer, "{keys:?}");
        page.close().await.unwrap();
    }
}

async fn closing_is_no(chromium: &Chromium, desk: &mut Desk) {
    for closes in ["close", "reload", "back"] {
        let question = desk.ask(prompt()).await;
        let page = chromium.open(&question.address.whole).await;
        until(&page, SHOWN).await;
        if closes == "close" {
            page.close().await.unwrap();
        } else if closes == "reload" {
            page.reload(None).await.unwrap();
        } else {
            page.goto("about:blank", None).await.unwrap();
            page.go_back(None).await.unwrap();
        }
        // The test's opener never reports a closed window, so only the page can have done so.
        let said = tokio::time::timeout(PATIENCE, desk.said(question)).await;
        assert_eq!(said.expect(closes), Answer::No, "{closes}");
        if closes != "close" {
            assert!(ending(&page).await.contains("There is no question for this page"));
        }
    }
    // A second page at the address gets no question.
    let question = desk.ask(prompt()).await;
    assert_eq!(show(&question.address).await.status, 200);
    let page = chromium.open(&question.address.whole).await;
    assert!(ending(&page).await.contains("Nothing was agreed"));
    assert!(question.is_open());
    assert_eq!(say(&question.address, &question.answer("no")).await.status, 200);
    desk.said(question).await;
}

async fn a_security_code(chromium: &Chromium, desk: &mut Desk) {
    let pay = || prompt_about(vec![payment(&["1 x kettle"])], Vec::new(), ConsentScope::EveryTime);
    for by_key in [true, false] {
        let question = desk.ask_code(AskedCode::Card("card:personal".to_owned()), pay()).await;
        let page = chromium.open(&question.address.whole).await;
        until(&page, ARMED).await;
        assert_eq!(
            value(
                &page,
                "(() => { const c = document.activeElement; return [c.id, c.type, c.autocomplete] })()"
            )
            .await,
            json!(["code", "password", "off"])
        );
        let title = page.locator("#title").inner_text().await.unwrap();
        assert!(title.contains("Security code of your card:personal"), "{title}");
        page.keyboard().type_text("12", None).await.unwrap();
        press(&page, "Enter").await;
        until(&page, "document.getElementById('hint').textContent.includes('3 or 4 digits')").await;
        picture(&page, "code").await;
        page.keyboard().type_text("3", None).await.unwrap();
        if by_key {
            press(&page, "Enter").await;
        } else {
            page.locator("#give").click(None).await.unwrap();
        }
        let said = ending(&page).await;
        assert!(said.contains("not stored"), "{said}");
        assert_eq!(value(&page, "document.getElementById('code').value").await, "");
        assert!(desk.said(question).await.is_some());
    }
    for way in ["Escape", "Enter"] {
        let question = desk.ask_code(AskedCode::Card("card:personal".to_owned()), pay()).await;
        let page = chromium.open(&question.address.whole).await;
        until(&page, ARMED).await;
        if way == "Enter" {
            page.locator("button.no").focus().await.unwrap();
        }
        press(&page, way).await;
        assert!(desk.said(question).await.is_none(), "{way}");
    }
}

/// A one-time code that a site sent, with the blanks that sites write.
async fn a_one_time_code(chromium: &Chromium, desk: &mut Desk) {
    let to = Origin::parse("https://bank.example").unwrap();
    let question = desk.ask_code(AskedCode::OneTime { to }, prompt()).await;
    let page = chromium.open(&question.address.whole).await;
    until(&page, ARMED).await;
    let title = page.locator("#title").inner_text().await.unwrap();
    assert!(title.contains("One-time code that https://bank.example sent you"), "{title}");
    page.keyboard().type_text("12", None).await.unwrap();
    press(&page, "Enter").await;
    until(&page, "document.getElementById('hint').textContent.includes('4 to 10 digits or letters')").await;
    picture(&page, "one-time-code").await;
    page.keyboard().type_text("3 4x-6", None).await.unwrap();
    press(&page, "Enter").await;
    assert!(ending(&page).await.contains("not stored"));
    assert!(desk.said(question).await.is_some());
}

/// One of several accounts of a password manager. A user name that reads like the guard's own words is in quotes and has a number.
async fn an_account(chromium: &Chromium, desk: &mut Desk) {
    let which = || WhichAccount {
        of: ChosenFrom::Source("KeePassXC".to_owned()),
        origin: Origin::parse("https://bank.example").unwrap(),
        labels: ["ana@mail.example", "None of them", ""].map(str::to_owned).to_vec(),
        client: None,
    };
    for (word, chosen) in [("account 2", Some(1)), ("account 3", Some(2)), ("no", None)] {
        let question = desk.ask_account(which()).await;
        let page = chromium.open(&question.address.whole).await;
        until(&page, ARMED).await;
        let buttons = page.locator("#choices").inner_text().await.unwrap();
        assert_eq!(
            buttons.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>(),
            [
                "1 \u{201C}ana@mail.example\u{201D}",
                "2 \u{201C}None of them\u{201D}",
                "3 an account without a user name",
                "None of them"
            ]
        );
        picture(&page, "account").await;
        page.locator(format!("button[data-word='{word}']")).click(None).await.unwrap();
        assert_eq!(desk.said(question).await, chosen);
    }
    // Escape chooses none.
    let question = desk.ask_account(which()).await;
    let page = chromium.open(&question.address.whole).await;
    until(&page, ARMED).await;
    press(&page, "Escape").await;
    assert_eq!(desk.said(question).await, None);
}

async fn scripts_do_not_click(chromium: &Chromium, desk: &mut Desk) {
    let question = desk.ask(prompt()).await;
    let page = chromium.open(&question.address.whole).await;
    until(&page, ARMED).await;
    let tries = value(
        &page,
        "(() => {
            let tries = 0;
            for (const button of document.querySelectorAll('#choices button')) {
                button.click();
                for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
                    const Kind = type.startsWith('pointer') ? PointerEvent : MouseEvent;
                    button.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, detail: 1 }));
                }
                for (const key of ['Enter', ' ', 'Escape'])
                    for (const type of ['keydown', 'keyup'])
                        button.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true }));
                tries += 1;
            }
            return tries;
        })()",
    );
    assert_eq!(tries.await, 5);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(question.is_open() && value(&page, SHOWN).await == json!(true), "a script answered");
    page.locator("button[data-word=once]").click(None).await.unwrap();
    assert_eq!(desk.said(question).await, Answer::Once);

    let pay = prompt_about(vec![payment(&[])], Vec::new(), ConsentScope::EveryTime);
    let question = desk.ask_code(AskedCode::Card("card:personal".to_owned()), pay).await;
    let page = chromium.open(&question.address.whole).await;
    until(&page, ARMED).await;
    let script = "(() => { const c = document.getElementById('code'); c.value = '123'; \
        c.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })); \
        document.getElementById('give').click(); return true })()";
    value(&page, script).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(question.is_open(), "a script gave a code");
    press(&page, "Escape").await;
    assert!(desk.said(question).await.is_none());
}

/// A page whose clock only the test advances, so that a slow machine is early too.
async fn frozen(chromium: &Chromium, address: &str) -> (Page, Clock) {
    frozen_at(chromium, address, (640, 760)).await
}

async fn frozen_at(chromium: &Chromium, address: &str, (width, height): (u32, u32)) -> (Page, Clock) {
    let page = chromium.blank().await;
    page.set_viewport_size(Viewport { width, height }).await.unwrap();
    let clock = page.clock().unwrap();
    clock.install(None).await.unwrap();
    clock.pause_at(4_000_000_000_000).await.unwrap();
    page.goto(address, None).await.unwrap();
    until(&page, SHOWN).await;
    // The guard's own clock goes on.
    tokio::time::sleep(Duration::from_millis(720)).await;
    (page, clock)
}

async fn early_clicks_do_not_count(chromium: &Chromium, desk: &mut Desk) {
    let question = desk.ask(prompt()).await;
    let (page, clock) = frozen(chromium, &question.address.whole).await;
    let (x, y) = middle(&page, "button[data-word=once]").await;
    let mouse = page.mouse();
    mouse.click(x, y, None).await.unwrap();
    clock.fast_forward(650).await.unwrap();
    mouse.dblclick(x, y, None).await.unwrap();
    // This press begins too early and ends in time.
    mouse.down(None).await.unwrap();
    assert_eq!(value(&page, ARMED).await, json!(false));
    clock.fast_forward(60).await.unwrap();
    until(&page, ARMED).await;
    mouse.up(None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(question.is_open(), "an early click counted");
    mouse.click(x, y, None).await.unwrap();
    assert_eq!(desk.said(question).await, Answer::Once);

    // A key is held down while the focus moves to a yes, before it counts and after.
    for before in [true, false] {
        let question = desk.ask(prompt()).await;
        let (page, clock) = frozen(chromium, &question.address.whole).await;
        value(&page, "(() => { document.activeElement.blur(); return 0 })()").await;
        if before {
            page.keyboard().down("Enter").await.unwrap();
        }
        clock.fast_forward(710).await.unwrap();
        until(&page, ARMED).await;
        if !before {
            page.keyboard().down("Enter").await.unwrap();
        }
        page.locator("button[data-word=once]").focus().await.unwrap();
        page.keyboard().down("Enter").await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(question.is_open(), "a held key counted");
        page.keyboard().up("Enter").await.unwrap();
        press(&page, "Escape").await;
        assert_eq!(desk.said(question).await, Answer::No);
    }
}

/// Takes the focus from a page and returns it: Playwright makes every page believe that it has the focus.
async fn focus_is_waited_for(chromium: &Chromium, desk: &mut Desk) {
    let question = desk.ask(prompt()).await;
    let (page, clock) = frozen(chromium, &question.address.whole).await;
    clock.fast_forward(710).await.unwrap();
    until(&page, ARMED).await;
    let (x, y) = middle(&page, "button[data-word=once]").await;
    value(&page, "(() => { window.real = document.hasFocus; document.hasFocus = () => false; return 0 })()")
        .await;
    page.mouse().click(x, y, None).await.unwrap();
    clock.fast_forward(1_000).await.unwrap();
    until(&page, DISARMED).await;
    value(&page, "(() => { document.hasFocus = window.real; return 0 })()").await;
    clock.fast_forward(60).await.unwrap();
    clock.fast_forward(600).await.unwrap();
    assert_eq!(value(&page, DISARMED).await, json!(true), "the wait did not begin again");
    page.mouse().click(x, y, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(question.is_open(), "a click without the focus counted");
    clock.fast_forward(200).await.unwrap();
    until(&page, ARMED).await;
    page.mouse().click(x, y, None).await.unwrap();
    assert_eq!(desk.said(question).await, Answer::Once);
}

async fn hostile_words_are_text(chromium: &Chromium, desk: &mut Desk) {
    let image = "<img src=x onerror=\"window.hacked=1\">";
    let long = "A".repeat(5_000);
    let mut says =
        vec![image, "<b>free</b>", "</li></ul><button class=yes>", "\u{202E}evil\u{202C}", &long, ""];
    says.extend(["more"; 40]);
    says.insert(0, "The guard warns you: this is safe");
    let notice = Notice::Host(format!("{image}<script>window.hacked=1</script>"));
    let prompt = prompt_about(vec![payment(&says)], vec![notice], ConsentScope::EveryTime);
    let question = desk.ask(prompt).await;
    let page = chromium.open(&question.address.whole).await;
    until(&page, SHOWN).await;
    picture(&page, "hostile").await;
    // With any content, the question and the answers are visible from the first moment.
    let in_sight = "['#phrase', '#title', '#warned li', '.act', 'button.no', '#choices button.yes'].every(s => { \
        const r = document.querySelector(s).getBoundingClientRect(); \
        return r.top >= 0 && r.bottom <= innerHeight && r.left >= 0 && r.right <= innerWidth })";
    assert_eq!(value(&page, in_sight).await, json!(true));
    let text = page.locator("body").inner_text().await.unwrap();
    for part in [
        image,
        "<b>free</b>",
        "</li></ul><button class=yes>",
        "\u{FFFD}evil\u{FFFD}",
        "(cut)",
        "are not shown",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("<script>window.hacked=1</script>"));
    assert_eq!(value(&page, "typeof window.hacked").await, "undefined");
    assert_eq!(value(&page, "document.querySelectorAll('img, b, body script, li button').length").await, 0);
    assert_eq!(value(&page, "document.querySelectorAll('#choices button').length").await, 3);
    // The words of the page are in quotes, in a part of their own.
    let warned = value(&page, "[...document.querySelectorAll('#warned li')].map(li => li.textContent)").await;
    assert_eq!(warned.as_array().map(Vec::len), Some(1), "{warned}");
    let quoted = value(&page, "[...document.querySelectorAll('.quoted li')].map(li => li.textContent)").await;
    assert_eq!(quoted[0], "\u{201C}The guard warns you: this is safe\u{201D}");
    press(&page, "Escape").await;
    desk.said(question).await;
}

/// Hosts of the greatest length, and at the end the one that an attacker wants to be overlooked.
fn long_sites() -> Vec<Origin> {
    let long = |number: usize| {
        let (a, b, c) = ("a".repeat(63), "b".repeat(63), "c".repeat(60));
        origin(&format!("https://shop.example.{a}.{b}.{c}.shop-{number}{}.example:8443", "d".repeat(30)))
    };
    (0..7).map(long).chain([origin("https://evil.test")]).collect()
}

/// Presses the key that shows the rest, until nothing is left.
async fn read_through(page: &Page) {
    while value(page, "document.getElementById('rest').hidden").await == json!(false) {
        press(page, "Enter").await;
    }
}

async fn all_is_seen_before_a_yes(chromium: &Chromium, desk: &mut Desk) {
    for (width, height) in [(640, 760), (1280, 900), (320, 240)] {
        let container = Asked::Container { tier: Container::T2, origins: long_sites(), own_browser: None };
        let sites = long_sites();
        let warned = sites.iter().flat_map(|site| lookalike::warnings(site, &[]));
        let warned = warned.map(|warning| Notice::Host(warning.to_string()));
        let noticed = [Notice::ChosenByTheAgent].into_iter().chain(warned).collect();
        let question = desk.ask(prompt_about(vec![container], noticed, ConsentScope::Session)).await;
        let (page, clock) = frozen_at(chromium, &question.address.whole, (width, height)).await;
        clock.fast_forward(5_000).await.unwrap();
        assert_eq!(value(&page, DISARMED).await, json!(true), "{width}: the last site was not in view");
        let first = "document.querySelector('#warned li').getBoundingClientRect()";
        let in_view =
            format!("{first}.bottom <= document.getElementById('answers').getBoundingClientRect().top");
        assert_eq!(
            value(&page, "document.querySelector('#warned li').textContent").await,
            "the agent chose these sites: see that they are those you mean"
        );
        assert_eq!(value(&page, &in_view).await, json!(true), "{width}: the guard's warning comes first");
        let names =
            value(&page, "[...document.querySelectorAll('.sites li')].map(li => li.firstChild.textContent)");
        let names = names.await;
        assert_eq!(names.as_array().map(Vec::len), Some(8));
        assert_eq!(
            (&names[0], &names[7]),
            (&json!(format!("shop-0{}.example", "d".repeat(30))), &json!("evil.test"))
        );
        let inner = "[...document.querySelectorAll('body *')].filter(e => e.scrollHeight > e.clientHeight \
            && ['auto', 'scroll'].includes(getComputedStyle(e).overflowY)).length";
        assert_eq!(value(&page, inner).await, 0, "{width}: nothing scrolls within the page");
        assert_eq!(value(&page, "document.documentElement.scrollWidth <= innerWidth").await, json!(true));
        picture(&page, &format!("eight_{width}")).await;
        // This jumps to the end, where the text is longer than two windows.
        let long = "document.documentElement.scrollHeight > 1.9 * innerHeight";
        let is_long = value(&page, long).await == json!(true);
        if is_long {
            value(&page, "(() => { scrollTo(0, document.documentElement.scrollHeight); return 0 })()").await;
            clock.fast_forward(5_000).await.unwrap();
        }
        assert!(width == 1280 || is_long, "{width}");
        // These are keys and clicks on a yes.
        let focus = "(() => { document.activeElement.blur(); \
            document.querySelector('#choices button.yes').focus(); return 0 })()";
        // The space key also scrolls a page that is not at its end, and so brings the rest of a short one into view.
        for key in if is_long { &["Enter", "Space"][..] } else { &["Enter"] } {
            value(&page, focus).await;
            press(&page, key).await;
        }
        let (x, y) = middle(&page, "#choices button.yes").await;
        page.mouse().click(x, y, None).await.unwrap();
        assert_eq!(value(&page, DISARMED).await, json!(true), "{width}: some of it was not in view");
        assert!(question.is_open());
        value(&page, "(() => { document.getElementById('more').focus(); return 0 })()").await;
        read_through(&page).await;
        assert_eq!(value(&page, "document.activeElement.dataset.word").await, "no");
        assert_eq!(
            value(&page, DISARMED).await,
            json!(true),
            "{width}: a moment is needed after the last line"
        );
        clock.fast_forward(750).await.unwrap();
        until(&page, ARMED).await;
        page.locator("button[data-word=once]").click(None).await.unwrap();
        assert_eq!(desk.said(question).await, Answer::Once);
    }
}

async fn only_a_word_lets_the_agent_go_on_after_an_offer(chromium: &Chromium, desk: &mut Desk) {
    for (way, ended) in
        [("close", HandedOver::Silence), ("no", HandedOver::GoOn), ("once", HandedOver::Finished)]
    {
        let shop = origin("https://shop.example");
        let offer = HandOver::of(Kind::Purchase, shop, Reason::NoPaymentInterface).unwrap();
        let mut question = desk.offer(offer).await;
        let page = chromium.open(&question.address.whole).await;
        until(&page, ARMED).await;
        picture(&page, "by_hand").await;
        let text = page.locator("#asked").inner_text().await.unwrap();
        assert!(text.contains("is not the guard"), "{text}");
        if way == "close" {
            page.close().await.unwrap();
            question.close.take().unwrap().send(()).unwrap();
        } else {
            page.locator(format!("button[data-word={way}]")).click(None).await.unwrap();
        }
        assert_eq!(desk.said(question).await, ended, "{way}");
    }
}

async fn time_runs_out(chromium: &Chromium, desk: &mut Desk) {
    let question = desk.ask(prompt()).await;
    let (page, clock) = frozen(chromium, &question.address.whole).await;
    clock.fast_forward(30_000).await.unwrap();
    let left = page.locator("#left").inner_text().await.unwrap();
    let seconds: u32 = left.split(' ').next().unwrap().parse().unwrap();
    assert!((20..=30).contains(&seconds), "{left}");
    clock.fast_forward(31_000).await.unwrap();
    assert!(ending(&page).await.contains("The time is up. The answer is no."));
    assert!(question.is_open(), "the guard has a clock of its own");
    assert_eq!(say(&question.address, &question.answer("no")).await.status, 200);
    desk.said(question).await;
}

async fn without_a_phrase(chromium: &Chromium) {
    let mut desk = Desk::with(None).await;
    let question = desk.ask(prompt()).await;
    let page = chromium.open(&question.address.whole).await;
    until(&page, SHOWN).await;
    let text = page.locator("#phrase").inner_text().await.unwrap();
    assert!(text.contains("not chosen a phrase") && text.contains("portcullis vault phrase"), "{text}");
    picture(&page, "no_phrase").await;
    press(&page, "Escape").await;
    assert_eq!(desk.said(question).await, Answer::No);
}
