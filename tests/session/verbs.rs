//! Verbs: allowed and refused typing, opening and clicking.

use crate::played::{BLOCK, Played, SHOP, STREET, origin};
use browser_signals::{Container, Destination, ElementRef, Fact, NodeId, Sink, Snapshot, Verb};
use portcullis::Action;

#[test]
fn typed_values_and_values_of_the_same_form_are_blocked_alike() {
    let target = ElementRef("e1".into());
    let type_text =
        |played: &mut Played, text: &str| played.act(Action::Verb(Verb::typed(target.clone(), text)));
    let chat = |page: &mut Snapshot| {
        page.sink = Fact::Known(Sink::FreeText);
    };
    let mut played = Played::new(Container::T2);
    chat(&mut played.looks[0]);
    assert_eq!(type_text(&mut played, "two kettles please"), "ok");
    // The vault's own card, and another one.
    for card in ["4111 1111 1111 1111", "5555 5555 5555 4444"] {
        assert_eq!(type_text(&mut played, card), "DENY.verb {\"reason\":\"egress_blocked\"}");
    }
    // The agent did not get the street from the guard, so sensitive access ends.
    assert_eq!(
        type_text(&mut played, "17%20canary%20Quarry%20Road"),
        "DENY.verb {\"reason\":\"egress_blocked\"}"
    );
    assert_eq!(type_text(&mut played, STREET), "DENY.verb {\"reason\":\"tainted_session\"}");
    assert_eq!(type_text(&mut played, "two kettles please"), "DENY.verb {\"reason\":\"tainted_session\"}");
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"tainted_session\"}");
}

#[test]
fn no_handle_is_written_into_a_page_or_an_address() {
    let mut played = Played::new(Container::T2);
    played.looks[0].sink = Fact::Known(Sink::FreeText);
    let mut type_text = |text: &str| played.act(Action::Verb(Verb::typed(ElementRef("e1".into()), text)));
    // A record that is there and one that is not are refused alike.
    for text in ["[card:personal]", "Hello, [address:task]!", "my number: [contact:nobody-has-this]"] {
        assert_eq!(type_text(text), "DENY.verb {\"reason\":\"handle_in_text\"}", "{text}");
    }
    for text in ["card: personal", "[sic]", "see [note:1]", "I like [cards]"] {
        assert_eq!(type_text(text), "ok", "{text}");
    }
    let mut open = |url: String| played.act(Action::Verb(Verb::Open { url }));
    for query in ["q=[card:task]", "q=%5Bcard%3Atask%5D", "q=a+[address:task]"] {
        assert_eq!(
            open(format!("{SHOP}/search?{query}")),
            "DENY.verb {\"reason\":\"handle_in_text\"}",
            "{query}"
        );
    }
    assert_eq!(open(format!("{SHOP}/search?q=card")), "ok");
}

/// A search that the agent wrote itself is no text of the site in whose box it stands. The same words of the page's own are.
#[test]
fn the_agents_own_text_is_not_read_at_the_site_that_it_was_typed_at() {
    let words = "quiet kettle for two";
    let other = "https://other.example";
    for (line, typed, answer) in [
        ("- textbox \"Search\" [ref=e1]: ", vec![words.to_owned()], "ok"),
        // The page has changed its text, and the agent's is told all the same.
        (
            "- paragraph [ref=e2]: \"beside\"\n  - textbox [ref=e1]: ",
            vec!["a".into(), words.to_owned()],
            "ok",
        ),
        ("- paragraph [ref=e1]: ", Vec::new(), "DENY.verb {\"reason\":\"cross_origin_flow\"}"),
        ("- heading [ref=e1] ", vec![words.to_owned()], "DENY.verb {\"reason\":\"cross_origin_flow\"}"),
    ] {
        let mut played = Played::new(Container::T0);
        (played.read_at, played.typed) = (other, typed);
        played.reads = format!("- document {other} \"Shop\"\n  {line}\"{words}\" (the page has changed it)");
        played.act(Action::Verb(Verb::Read));
        played.read_at = SHOP;
        played.looks[0].sink = Fact::Known(Sink::FreeText);
        let again = Verb::typed(ElementRef("e1".into()), words);
        assert_eq!(played.act(Action::Verb(again)), answer, "{line}");
    }
}

#[test]
fn sensitive_forms_are_not_typed_into() {
    let target = ElementRef("e1".into());
    let mut played = Played::new(Container::T2);
    let reply = played.act(Action::Verb(Verb::typed(target, "1 Other Street")));
    assert_eq!(reply, "DENY.verb {\"reason\":\"form_protected\"}");
}

#[test]
fn the_agent_leaves_the_task_only_with_the_users_consent() {
    let mut played = Played::new(Container::T2);
    let mut open = |url: &str| played.act(Action::Verb(Verb::Open { url: url.into() }));
    assert_eq!(open("https://shop.example/kettles"), "ok");
    assert!(open("https://evil.example/").starts_with("DENY.verb"));
    assert!(open("https://shop.example@evil.example/").starts_with("DENY.verb"));
    assert!(open("https://shop.example/?q=4111111111111111").contains("egress_blocked"));
    assert!(open("javascript:alert(1)").contains("address_refused"));
}

#[test]
fn a_click_that_submits_is_decided_as_a_submit() {
    let target = ElementRef("e1".into());
    let mut played = Played::new(Container::T2);
    let page = &mut played.looks[0];
    page.controls[0].tag = "button".into();
    page.controls[0].input_type = "submit".into();
    page.destination = Fact::Known(Destination {
        origin: origin("https://evil.example"),
        path: "/".into(),
        method: "POST".into(),
    });
    let reply = played.act(Action::Verb(Verb::click(target)));
    assert_eq!(reply, "DENY.verb {\"reason\":\"wrong_destination\"}");
    let mut played = Played::new(Container::T2);
    played.looks[0].destination = Fact::Unknown;
    let reply = played.act(Action::Verb(Verb::Press { key: "Enter".into() }));
    assert_eq!(reply, "DENY.verb {\"reason\":\"signal_unknown:destination\"}");
    assert_eq!(played.act(Action::Verb(Verb::Press { key: "Tab".into() })), "ok");
}

#[test]
fn enter_is_decided_as_what_it_does_where_the_focus_is() {
    let enter = || Action::Verb(Verb::Press { key: "Enter".into() });
    let to = |site: &str| Destination { origin: origin(site), path: "/find".into(), method: "POST".into() };
    let focus_on = |tag: &str, kind: &str, form: Option<NodeId>, site: &str| {
        let mut played = Played::new(Container::T2);
        let page = &mut played.looks[0];
        let mut control = page.controls[0].clone();
        (control.tag, control.input_type, control.form) = (tag.into(), kind.into(), form);
        (page.form, page.target) = (form, Some(control));
        page.destination = Fact::Known(to(site));
        played
    };
    let form = Some(NodeId(100));
    let evil = "https://evil.example";
    // A box sends its form, which goes to another site here.
    let reply = focus_on("input", "search", form, evil).act(enter());
    assert_eq!(reply, "DENY.verb {\"reason\":\"wrong_destination\"}");
    assert_eq!(focus_on("input", "search", form, SHOP).act(enter()), "ok");
    // Without a form only the page's script hears the key, as on a button that sends nothing.
    assert_eq!(focus_on("input", "search", None, evil).act(enter()), "ok");
    assert_eq!(focus_on("button", "button", form, evil).act(enter()), "ok");
    // Nothing is known of a widget of the page's own.
    let reply = focus_on("fancy-box", "", None, evil).act(enter());
    assert_eq!(reply, "DENY.verb {\"reason\":\"wrong_destination\"}");
}
