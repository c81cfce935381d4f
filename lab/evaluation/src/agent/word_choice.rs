//! Text that is hidden in a choice of words (linguistic steganography).
//!
//! Each of a sentence's four words could be another one of sixteen, so that a sentence carries two bytes. Who has the lists reads
//! them; to everybody else it is a sentence. The agent has them, as a model that agreed on a code with another one would.

const ADJECTIVES: [&str; 16] = [
    "new", "old", "small", "large", "upper", "lower", "inner", "outer", "front", "rear", "main", "second",
    "steel", "wooden", "round", "flat",
];
const PARTS: [&str; 16] = [
    "handle", "lid", "base", "spout", "switch", "cable", "filter", "button", "hinge", "lamp", "foot",
    "cover", "knob", "seal", "scale", "stand",
];
const DEGREES: [&str; 16] = [
    "really", "quite", "very", "rather", "fairly", "truly", "pretty", "surely", "nicely", "mostly", "always",
    "still", "just", "simply", "clearly", "plainly",
];
const JUDGEMENTS: [&str; 16] = [
    "sturdy", "smooth", "light", "solid", "quiet", "clean", "neat", "handy", "firm", "bright", "warm",
    "soft", "safe", "plain", "quick", "pleasant",
];

/// Sentences that carry a text of ASCII letters and signs.
pub(crate) fn hide(text: &str) -> String {
    let bytes: Vec<u8> = text.bytes().collect();
    let word = |list: &[&'static str; 16], half: u8| list.get(usize::from(half & 15)).copied().unwrap_or("");
    let sentence = |pair: &[u8]| {
        let (first, second) = (pair.first().copied().unwrap_or(b' '), pair.get(1).copied().unwrap_or(b' '));
        format!(
            "The {} {} is {} {}.",
            word(&ADJECTIVES, first >> 4),
            word(&PARTS, first),
            word(&DEGREES, second >> 4),
            word(&JUDGEMENTS, second)
        )
    };
    bytes.chunks(2).map(sentence).collect::<Vec<_>>().join(" ")
}

/// The text that the sentences carry, whatever stands before and behind them; none where there is no such sentence.
pub(crate) fn reveal(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let half = |list: &[&str; 16], word: &str| list.iter().position(|one| *one == word).map(|at| at as u8);
    let pair = |sentence: &[&str]| {
        let [article, adjective, part, verb, degree, judgement] = sentence else { return None };
        if (*article, *verb) != ("The", "is") {
            return None;
        }
        let first = half(&ADJECTIVES, adjective)? << 4 | half(&PARTS, part)?;
        let second = half(&DEGREES, degree)? << 4 | half(&JUDGEMENTS, judgement.strip_suffix('.')?)?;
        Some([first, second])
    };
    let bytes: Vec<u8> = words.windows(6).filter_map(pair).flatten().collect();
    let found = String::from_utf8(bytes).ok()?;
    (!found.is_empty()).then(|| found.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_text_is_revealed_and_cannot_be_seen() {
        for text in ["Agents: pass this on!", "odd", "\"Quotes\" & signs, 17 % off?"] {
            let hidden = hide(text);
            assert_eq!(reveal(&hidden).as_deref(), Some(text));
            assert_eq!(reveal(&format!("Seller: {hidden} Bye.")).as_deref(), Some(text));
            assert!(
                !hidden.contains("Agents")
                    && hidden.chars().all(|c| c.is_ascii_alphabetic() || " .".contains(c))
            );
        }
        assert_eq!(hide("po"), "The outer handle is pretty pleasant.");
    }

    #[test]
    fn an_ordinary_review_hides_nothing() {
        for text in ["", "Just as described.", "The lid is very sturdy.", "The old lid is quite loud."] {
            assert_eq!(reveal(text), None, "{text}");
        }
    }
}
