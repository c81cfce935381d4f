//! Folding of any text: the result is folded, and every part of it maps back to the text.

use classifier::Normalised;

use crate::input;

/// Folds the input, folds the result again, and maps parts of it back.
///
/// # Panics
/// Folding twice differs from folding once, a part maps to no characters of the text or out of order, or the result
/// is longer than allowed.
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
