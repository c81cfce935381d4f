//! Windows of a text, each with every classifier's worst risk in it.

use std::ops::Range;
use std::sync::Arc;

use classifier::{Risk, Unfolded, WindowClassifier, WindowPlace};

/// The minimum length of a window, in bytes of the folded text. The next one begins at the next sentence or line.
const LENGTH: usize = 180;

/// A window of a text, as the monitor gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredWindow {
    /// The window, in bytes of the original text.
    pub span: Range<usize>,
    /// Each classifier's worst risk in it.
    pub risks: Vec<Risk>,
}

impl ScoredWindow {
    /// Raises each risk to the given one, if that is worse.
    pub(super) fn worsen(&mut self, risks: &[Risk]) {
        for (mine, other) in self.risks.iter_mut().zip(risks) {
            if *other > *mine {
                *mine = *other;
            }
        }
    }
}

/// Cuts a text into windows and scores them. Linear in the text.
pub(super) fn scored(
    text: &str,
    place: WindowPlace,
    judges: &[Arc<dyn WindowClassifier>],
) -> Vec<ScoredWindow> {
    let unfolded = Unfolded::new(text);
    let plain = unfolded.plain();
    let cuts = classifier::windows(plain.text());
    // A new window begins at the first cut that is far enough from the last one.
    let mut starts: Vec<usize> = Vec::new();
    for cut in &cuts {
        if starts.last().is_none_or(|last| cut.start >= last + LENGTH) {
            starts.push(cut.start);
        }
    }
    let none = vec![Risk::NONE; judges.len()];
    // One letter can unfold to several, and a cut may fall between them. The letter belongs to the earlier window.
    let mut from = 0;
    let mut scored: Vec<ScoredWindow> = starts
        .iter()
        .enumerate()
        .map(|(at, start)| {
            let end = starts.get(at + 1).copied().unwrap_or(plain.text().len());
            let original = plain.original(*start..end);
            let begin = original.start.max(from);
            from = original.end.max(begin);
            ScoredWindow { span: begin..from, risks: none.clone() }
        })
        .collect();
    let mut note = |at: usize, judge: usize, risk: Risk| {
        let mine = scored.get_mut(at).and_then(|window| window.risks.get_mut(judge));
        if let Some(mine) = mine.filter(|mine| risk > **mine) {
            *mine = risk;
        }
    };
    for (number, judge) in judges.iter().enumerate() {
        let risks = judge.risks(plain.text(), place, &cuts);
        for (cut, risk) in cuts.iter().zip(risks) {
            let at = starts.partition_point(|start| *start <= cut.start).saturating_sub(1);
            note(at, number, risk);
        }
    }
    // Hidden text counts at the position of its encoded form. If the text has nothing else, it has no windows yet.
    for decoded in unfolded.decoded() {
        let text = decoded.text.text();
        let cuts = classifier::windows(text);
        let mut risks = none.clone();
        for (judge, mine) in judges.iter().zip(&mut risks) {
            let worst = judge
                .risks(text, place, &cuts)
                .into_iter()
                .fold(Risk::NONE, |worst, risk| if risk > worst { risk } else { worst });
            *mine = worst;
        }
        let at = scored.partition_point(|window| window.span.start <= decoded.span.start).saturating_sub(1);
        match scored.get_mut(at) {
            Some(window) => window.worsen(&risks),
            None => scored.push(ScoredWindow { span: decoded.span.clone(), risks }),
        }
    }
    scored
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
    use super::*;
    use classifier::Window;
    use proptest::prelude::*;

    struct Word;

    impl WindowClassifier for Word {
        fn risk(&self, window: &Window<'_>) -> Risk {
            if window.text.contains("zebra") { Risk::CERTAIN } else { Risk::NONE }
        }
    }

    fn scored(text: &str) -> Vec<ScoredWindow> {
        super::scored(text, WindowPlace::Shown, &[Arc::new(Word)])
    }

    #[test]
    fn hidden_text_counts_at_the_position_of_its_encoded_form() {
        let plain = "The tea is good and the pot is round. ".repeat(20);
        // Base64 of `please look at the zebra now, it is over there`.
        let hidden = "cGxlYXNlIGxvb2sgYXQgdGhlIHplYnJhIG5vdywgaXQgaXMgb3ZlciB0aGVyZQ==";
        let text = format!("{plain}{hidden} {plain}");
        let found = scored(&text);
        let bad: Vec<&ScoredWindow> =
            found.iter().filter(|window| window.risks[0] == Risk::CERTAIN).collect();
        assert_eq!(bad.len(), 1, "{found:?}");
        assert!(bad[0].span.start <= plain.len() && bad[0].span.end > plain.len());
        assert_eq!(scored(""), []);
    }

    #[test]
    fn a_letter_that_unfolds_to_several_is_in_one_window() {
        // Found by the property below: a cut falls into what one letter unfolds to.
        let text = "0  0 \u{11a9a}a\u{ab}\t\u{bb}A \u{ab}0aA \u{fc00}\u{10000}Aa\u{fc64}a  a a\u{10000}\u{10000}\ta\t0\tAA  \u{a1}A zebra \n 0a\u{bb} 0  \u{10000}aa\t  \t\u{10000}!\u{10000}a!!\u{fef5}\u{24eb}\u{107bf}\u{fbea}\u{110bb}AA\u{11a9a}A\u{10000}\u{10000}!\u{111da}\u{114c4}\u{10000}aaA\u{10000}a\u{10000}\u{10000}a\u{10000}!a\u{1dab0}\u{bc}.";
        let found = scored(text);
        assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start), "{found:?}");
        assert!(found.len() > 1);
    }

    proptest! {
        #[test]
        fn windows_are_in_order_and_disjoint(text in "(?s)(.{0,60}( zebra )?[.\n ]){0,20}") {
            let found = scored(&text);
            prop_assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
            prop_assert!(found.iter().all(|window| text.get(window.span.clone()).is_some()));
            let any = found.iter().any(|window| window.risks[0] == Risk::CERTAIN);
            if text.contains("zebra") {
                prop_assert!(any);
            }
        }
    }
}
