//! Folding any text: what comes out is folded, and every part of it leads back to the text.

use classifier::Normalised;

use crate::input;

/// Folds the input, folds the outcome again, and follows parts of it back.
///
/// # Panics
/// Where folding twice gives something else, a part leads to no characters of the text, parts lead back in another
/// order than they have, or more comes out than is allowed.
pub fn run(input: &[u8]) {
    let text = input::text(input);
    let folded = Normalised::new(&text);
    let again = Normalised::new(folded.text());
    assert_eq!(again.text(), folded.text(), "folded again");
    assert!(folded.text().chars().count() <= 18 * text.chars().count(), "more than eighteen for one");
    let length = folded.text().len();
    let mut before = 0..0;
    for at in 0..length {
        let place = folded.original(at..at + 1);
        assert!(text.get(place.clone()).is_some_and(|part| !part.is_empty()), "byte {at} leads to {place:?}");
        assert!(place.start >= before.start && place.end >= before.end, "{place:?} stands after {before:?}");
        before = place;
    }
    let whole = folded.original(0..length);
    assert!(text.get(whole).is_some(), "the whole leads nowhere");
    assert!(folded.original(length..length + 9).is_empty(), "beyond the end there is something");
}
