//! The safety of read pages, under the policies with thresholds.

use crate::played::{BLOCK, Played};
use browser_signals::{Container, Verb};
use classifier::Safety;
use portcullis::Action;
use portcullis::{APPROACH_A_POLICY, APPROACH_C_POLICY, DEFAULT_POLICY};

const CARD: &str = "REQ.payment fields=[\"card_number\"]\nREQ.end";
const CARD_CONTROLS: [(i64, &str); 1] = [(1, "cc-number")];

fn read(played: &mut Played, safety: Option<f64>) {
    played.safety = safety.map(|value| Safety::new(value).unwrap());
    played.act(Action::Verb(Verb::Read));
}

#[test]
fn an_unjudged_page_is_refused_and_a_safe_one_is_granted() {
    for policy in [APPROACH_A_POLICY, APPROACH_C_POLICY] {
        // A street is of tier T2: 0.60.
        for (safety, reply) in [
            (None, "DENY.address {\"reason\":\"signal_unknown:safety\"}"),
            (Some(0.0), "DENY.address {\"reason\":\"low_safety\"}"),
            (Some(0.599), "DENY.address {\"reason\":\"low_safety\"}"),
            (Some(0.60), "GRANT.address"),
            (Some(1.0), "GRANT.address"),
        ] {
            let mut played = Played::under(policy, Container::T2);
            read(&mut played, safety);
            assert!(played.request(BLOCK).starts_with(reply), "{safety:?}");
            let granted = reply.starts_with("GRANT");
            // A request that is refused anyway causes no prompt.
            assert_eq!((played.fills, played.prompts.len()), (usize::from(granted), usize::from(granted)));
        }
    }
    // The shipped policy of approach B has no thresholds.
    let mut played = Played::under(DEFAULT_POLICY, Container::T2);
    read(&mut played, Some(0.0));
    assert!(played.request(BLOCK).starts_with("GRANT.address"));
}

#[test]
fn the_least_safe_page_of_an_origin_counts_for_the_task() {
    let mut played = Played::under(APPROACH_C_POLICY, Container::T2);
    read(&mut played, Some(1.0));
    read(&mut played, Some(0.3));
    read(&mut played, Some(1.0));
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"low_safety\"}");
    // A page that could not be judged does not raise the safety.
    read(&mut played, None);
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"low_safety\"}");
}

#[test]
fn the_user_is_warned_once_without_a_value() {
    let mut played = Played::under(APPROACH_A_POLICY, Container::T2);
    read(&mut played, Some(0.2));
    played.request(BLOCK);
    played.request(BLOCK);
    let warnings = played.core.take_warnings();
    assert_eq!((warnings.len(), played.core.counts().warnings), (1, 1));
    let words = warnings[0].to_string();
    assert!(
        words.starts_with("The agent asked for your address on https://shop.example and did not get it."),
        "{words}"
    );
    assert!(!words.contains("Berkeley") && !words.contains("low_safety"));
    assert!(played.core.take_warnings().is_empty());
}

#[test]
fn a_card_goes_into_a_form_under_approach_a_only() {
    let with_card = |policy| {
        let mut played = Played::under(policy, Container::T2);
        played.looks[0].controls =
            CARD_CONTROLS.iter().map(|(id, name)| crate::played::control(*id, name)).collect();
        read(&mut played, Some(1.0));
        played.request(CARD)
    };
    assert!(with_card(APPROACH_A_POLICY).starts_with("GRANT.payment"));
    assert_eq!(with_card(APPROACH_C_POLICY), "DENY.payment {\"reason\":\"delivery_forbidden\"}");
    assert_eq!(with_card(DEFAULT_POLICY), "DENY.payment {\"reason\":\"delivery_forbidden\"}");
}
