//! The words of every reason, and those in the specification.

use policy_dfa::Reason;

#[test]
fn every_reason_is_in_the_specification_with_its_words() {
    let text = include_str!("../../../spec/reasons.md");
    for reason in Reason::ALL {
        let line = format!(
            "| `{}` | {} | {} |",
            reason.name(),
            reason.explain(),
            reason.next_step().unwrap_or("nothing")
        );
        assert!(text.contains(&line), "missing in spec/reasons.md:\n{line}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, Reason::ALL.len());
    let by_hand = Reason::ALL.into_iter().filter(|reason| reason.can_be_settled_by_hand());
    let by_hand: Vec<String> = by_hand.map(|reason| format!("`{}`", reason.name())).collect();
    let line = format!("These can be offered to the user by hand: {}.", by_hand.join(", "));
    assert!(text.contains(&line), "missing in spec/reasons.md:\n{line}");
}
