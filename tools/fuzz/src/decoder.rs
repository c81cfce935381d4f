//! Decoding of text that is hidden in a text: places are valid, nothing is lost, the output is bounded.

use classifier::{Normalised, Unfolded};

use crate::input;

/// Unfolds the input, and again within prose.
///
/// # Panics
/// The plain text differs from the folded one, decoded text has no place or no characters in the text, more is decoded
/// than is allowed, or the result is not deterministic.
pub fn run(input: &[u8]) {
    let text = input::text(input);
    let unfolded = check(&text);
    assert_eq!(format!("{unfolded:?}"), format!("{:?}", Unfolded::new(&text)), "unfolded twice");
    check(&format!("The kettle is blue.\n{text}\nIt boils a litre."));
}

fn check(text: &str) -> Unfolded {
    let unfolded = Unfolded::new(text);
    assert_eq!(unfolded.plain().text(), Normalised::new(text).text(), "the plain text");
    let mut total = 0;
    for decoded in unfolded.decoded() {
        let says = decoded.text.text();
        total += says.len();
        assert!(!says.is_empty(), "{:?} says nothing", decoded.disguise);
        let span = text.get(decoded.span.clone());
        assert!(span.is_some_and(|part| !part.is_empty()), "{:?} at {:?}", decoded.disguise, decoded.span);
        // The step is coprime to common lengths.
        for at in (0..says.len()).step_by(7) {
            let place = decoded.text.original(at..at + 5);
            assert!(
                text.get(place.clone()).is_some(),
                "byte {at} of {:?} leads to {place:?}",
                decoded.disguise
            );
        }
    }
    // Eight disguises, reversed text twice, four times as much in the layers below; folding makes at most 18 of one.
    assert!(total <= 18 * (13 * text.len() + 4096), "{total} bytes of {}", text.len());
    unfolded
}
