//! Bringing to light what is hidden in any text: places fit, nothing is lost, nothing grows without end.

use classifier::{Normalised, Unfolded};

use crate::input;

/// Unfolds the input, and again in the midst of prose.
///
/// # Panics
/// Where the plain text is another than folding gives, something decoded stands nowhere or leads back to no characters
/// of the text, more is decoded than is allowed, or it depends on the time of day.
pub fn run(input: &[u8]) {
    let text = input::text(input);
    let unfolded = judge(&text);
    assert_eq!(format!("{unfolded:?}"), format!("{:?}", Unfolded::new(&text)), "unfolded twice");
    judge(&format!("The kettle is blue.\n{text}\nIt boils a litre."));
}

fn judge(text: &str) -> Unfolded {
    let unfolded = Unfolded::new(text);
    assert_eq!(unfolded.plain().text(), Normalised::new(text).text(), "the plain text");
    let mut total = 0;
    for decoded in unfolded.decoded() {
        let says = decoded.text.text();
        total += says.len();
        assert!(!says.is_empty(), "{:?} says nothing", decoded.disguise);
        let span = text.get(decoded.span.clone());
        assert!(span.is_some_and(|part| !part.is_empty()), "{:?} at {:?}", decoded.disguise, decoded.span);
        // A step that is no divisor of anything.
        for at in (0..says.len()).step_by(7) {
            let place = decoded.text.original(at..at + 5);
            assert!(
                text.get(place.clone()).is_some(),
                "byte {at} of {:?} leads to {place:?}",
                decoded.disguise
            );
        }
    }
    // Eight disguises, reversed text twice, four times as much in the layers below; folding makes eighteen of one.
    assert!(total <= 18 * (13 * text.len() + 4096), "{total} bytes of {}", text.len());
    unfolded
}
