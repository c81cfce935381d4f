//! The choice of an option.

use browser_signals::Control;
use browser_signals::matching::words;

use super::Shaped;

/// The longest value of an option that a bridge reports whole, in characters.
const REPORTED: usize = 60;

/// A text without case, accents and punctuation.
pub(super) fn folded(text: &str) -> String {
    words(text).join(" ")
}

/// Chooses an option: its value if that is known whole, else its text.
pub(super) fn option((value, text): &(String, String)) -> Shaped {
    let known = !value.is_empty() && value.chars().count() < REPORTED;
    Shaped::text(if known { value } else { text })
}

/// The first option whose text or value equals one of these names, those before the others. Where there is none, the bridge
/// compares the stored value, and refuses it.
pub(super) fn equal(control: &Control, names: &[&str]) -> Shaped {
    let options = &control.words.options;
    let found =
        names.iter().map(|name| folded(name)).filter(|name| !name.is_empty()).find_map(|name| {
            options.iter().find(|(value, text)| folded(text) == name || folded(value) == name)
        });
    found.map_or(Shaped::AsStored, option)
}
