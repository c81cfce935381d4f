//! Controls that the agent points at: the guard compares its word with what the page says.

use browser_signals::{Container, Fact, NodeId};
use portcullis::DEFAULT_POLICY;
use portcullis::consent::Answer;

use crate::played::{BLOCK, Played, control};

const UNSAID: &str = "Nothing on the page says what the box";

fn pointing(at: &str) -> String {
    format!("REQ.address fields=[\"street\",\"city\"] at={at}\nREQ.end")
}

/// A form with a box for the city and one of which the page says nothing but its name.
fn unlabelled() -> Played {
    let mut played = Played::new(Container::T2);
    played.looks[0].controls[0].autocomplete = String::new();
    played.looks[0].controls[0].name = "field_7".to_owned();
    played
}

#[test]
fn a_box_of_which_the_page_says_nothing_is_filled_where_the_agent_points_and_the_user_agrees() {
    let mut played = unlabelled();
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"no_control\"}");
    let granted = "GRANT.address {\"delivered\":\"filled\",\"fields\":[\"city\",\"street\"]}";
    assert_eq!(played.request(&pointing("{\"street\":\"e1\"}")), granted);
    let line = format!("{UNSAID} \"field_7\" is for; the agent says that it is for your street.");
    assert!(played.prompts[0].contains(&line), "{}", played.prompts[0]);
    assert!(played.prompts[0].contains("/checkout"), "{}", played.prompts[0]);
    // The yes was for this one time, although the user chose the session.
    assert_eq!(played.answer, Answer::Session);
    assert_eq!(played.request(&pointing("{\"street\":\"e1\"}")), granted);
    assert_eq!((played.prompts.len(), played.fills), (2, 2));
    played.answer = Answer::No;
    let refused = "DENY.address {\"reason\":\"consent_denied\"}";
    assert_eq!(played.request(&pointing("{\"street\":\"e1\"}")), refused);
}

#[test]
fn a_box_that_the_page_names_needs_no_word_of_the_agent() {
    let mut played = Played::new(Container::T2);
    assert!(played.request(&pointing("{\"street\":\"e1\"}")).starts_with("GRANT"));
    assert!(!played.prompts[0].contains(UNSAID), "{}", played.prompts[0]);
    assert!(played.request(&pointing("{\"street\":\"e1\",\"city\":\"e2\"}")).starts_with("GRANT"));
    assert_eq!(played.prompts.len(), 1, "the first yes stands, since the page says what each box is for");
}

/// A way in which the agent's word is not enough.
type Fault = (&'static str, fn(&mut Played));

#[test]
fn the_agents_word_is_not_enough_against_the_page_or_for_what_others_read() {
    let faults: [Fault; 8] = [
        ("the page says that it is for a note", |played| {
            played.looks[0].controls[0].autocomplete = "address-level2".into();
        }),
        ("a nickname", |played| played.looks[0].controls[0].autocomplete = "username".into()),
        ("a search box", |played| played.looks[0].controls[0].input_type = "search".into()),
        ("a text area", |played| played.looks[0].controls[0].tag = "textarea".into()),
        ("an editable element", |played| played.looks[0].controls[0].tag = "div".into()),
        ("covered", |played| played.looks[0].controls[0].hit = Fact::Known(false)),
        ("out of sight", |played| played.looks[0].controls[0].visible = Fact::Known(false)),
        ("a form that is sent by GET", |played| {
            let Fact::Known(to) = &mut played.looks[0].destination else { return };
            to.method = "GET".into();
        }),
    ];
    for (what, spoil) in faults {
        let mut played = unlabelled();
        spoil(&mut played);
        let answer = played.request(&pointing("{\"street\":\"e1\"}"));
        assert_eq!(answer, "DENY.address {\"reason\":\"control_mismatch\"}", "{what}");
        assert_eq!((played.prompts.len(), played.fills), (0, 0), "{what}");
    }
}

#[test]
fn a_secret_goes_only_where_the_page_says() {
    let policy = DEFAULT_POLICY.replace(
        "request payment {\n    consent every time\n    deliver nothing\n}",
        "request payment { container covers the fields origin is the task's tls valid frame top destination \
         origin is the task's destination https visible consent every time deliver fill }",
    );
    let policy = policy.replace("prove never deliver payment to fill\n", "");
    let request = "REQ.payment fields=[\"card_number\"] at={\"card_number\":\"e1\"}\nREQ.end";
    let mut played = Played::under(&policy, Container::T2);
    played.looks[0].controls[0].autocomplete = String::new();
    assert_eq!(played.request(request), "DENY.payment {\"reason\":\"control_mismatch\"}");
    played.looks[0].controls[0].autocomplete = "cc-number".into();
    assert!(played.request(request).starts_with("GRANT.payment"));
}

#[test]
fn a_control_of_another_section_or_form_is_not_the_agents_to_choose() {
    let mut played = Played::new(Container::T2);
    let controls = &mut played.looks[0].controls;
    controls[0].autocomplete = "shipping street-address".into();
    controls[1].autocomplete = "shipping address-level2".into();
    controls.push(control(3, "billing street-address"));
    let mut nameless = control(4, "");
    nameless.name = "billing_line".into();
    controls.push(nameless);
    let denied = "DENY.address {\"reason\":\"control_mismatch\"}";
    assert_eq!(played.request(&pointing("{\"street\":\"e3\"}")), denied);
    assert_eq!(played.request(&pointing("{\"street\":\"e4\"}")), denied);
    assert!(played.request(&pointing("{\"street\":\"e1\"}")).starts_with("GRANT"));
    // The second control is in another form by the time that it is looked at.
    let mut played = unlabelled();
    let mut other = played.looks[0].clone();
    other.form = Some(NodeId(200));
    played.looks = vec![played.looks[0].clone(), played.looks[0].clone(), other];
    let both = pointing("{\"street\":\"e1\",\"city\":\"e2\"}");
    assert_eq!(played.request(&both), denied);
}

#[test]
fn a_page_that_renames_the_box_after_the_yes_gets_nothing() {
    for (renamed, reason) in [("nickname", "control_mismatch"), ("address-level2", "control_mismatch")] {
        let mut played = unlabelled();
        let asked = played.looks[0].clone();
        let mut later = asked.clone();
        later.controls[0].autocomplete = renamed.into();
        // The survey, the control, the decision, and then the fresh look for the release.
        played.looks = vec![asked.clone(), asked.clone(), later.clone()];
        let answer = played.request(&pointing("{\"street\":\"e1\"}"));
        assert_eq!(answer, format!("DENY.address {{\"reason\":\"{reason}\"}}"), "{renamed}");
        let mut played = unlabelled();
        played.looks = vec![asked.clone(), asked.clone(), asked, later];
        let answer = played.request(&pointing("{\"street\":\"e1\"}"));
        assert_eq!(answer, "DENY.address {\"reason\":\"stale_document\"}", "{renamed}");
        assert_eq!(played.fills, 0);
    }
}
