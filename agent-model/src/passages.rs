//! Texts that an agent may repeat: pieces of the task, whole to their end, and words of the page.
//!
//! A piece of the task ends where a comma, a semicolon, a colon or a full stop and a space follow: a number in four
//! groups is one piece. A copy begins with any word of a piece and goes on to the piece's end, so that no value is
//! given in part. What is copied from the page may end behind any of its words. Several are joined by `, `, `. ` or a
//! space, and `Please ship to ` may lead.

/// What stands between two pieces.
const JOINS: [&str; 4] = [". Please ship to ", ", ", ". ", " "];

/// What may stand before the first.
const LEAD: &str = "Please ship to ";

/// The texts, each from a word on.
#[derive(Debug, Clone)]
pub(crate) struct Passages {
    texts: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Text {
    bytes: Vec<u8>,
    /// Where a copy may end.
    ends: Vec<usize>,
}

impl Passages {
    /// What the task and the page hold.
    pub(crate) fn of(task: &str, page: &str) -> Passages {
        let mut texts = Vec::new();
        for piece in pieces(task) {
            texts.extend(from_each_word(piece, |text| vec![text.len()]));
        }
        for piece in page.lines().flat_map(pieces) {
            texts.extend(from_each_word(piece, |text| {
                let ends = text.match_indices(' ').map(|(at, _)| at);
                ends.chain([text.len()]).collect()
            }));
        }
        // The page's commas stand between pieces: a place is copied with `, ` between its own.
        texts.sort();
        texts.dedup();
        Passages { texts }
    }

    /// Whether `text` is the beginning of such texts; where `whole`, whether it ends where one ends.
    pub(crate) fn spell(&self, text: &[u8], whole: bool) -> bool {
        let mut starts = std::collections::BTreeSet::from([0]);
        if begins(text, LEAD.as_bytes()) {
            if text.len() < LEAD.len() {
                return !whole;
            }
            starts.insert(LEAD.len());
        }
        while let Some(start) = starts.pop_first() {
            let Some(rest) = text.get(start..) else { continue };
            for passage in &self.texts {
                let same = passage.bytes.iter().zip(rest).take_while(|(one, other)| one == other).count();
                if same == rest.len() && (!whole || (passage.ends.contains(&same) && same > 0)) {
                    return true;
                }
                for end in passage.ends.iter().filter(|end| **end <= same && **end > 0) {
                    let after = rest.get(*end..).unwrap_or(&[]);
                    for join in JOINS {
                        if !begins(after, join.as_bytes()) {
                            continue;
                        }
                        if after.len() >= join.len() {
                            starts.insert(start + end + join.len());
                        } else if !whole {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }
}

/// Whether the shorter of two begins the longer.
fn begins(one: &[u8], other: &[u8]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// Parts of a line between marks that a space or the end follows.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let marks = [',', ';', ':', '.'];
    text.split_inclusive(' ')
        .scan((0, 0), move |(from, at), word| {
            *at += word.len();
            let ends = word.trim_end().ends_with(marks) || *at == text.len();
            let piece = if ends { text.get(std::mem::replace(from, *at)..*at) } else { Some("") };
            piece.map(|piece| piece.trim_end().trim_end_matches(marks))
        })
        .filter(|piece| !piece.is_empty())
}

fn from_each_word<'a>(
    piece: &'a str,
    ends: impl Fn(&str) -> Vec<usize> + 'a,
) -> impl Iterator<Item = Text> + 'a {
    let starts = piece.match_indices(' ').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).filter_map(move |from| {
        let text = piece.get(from..).filter(|text| !text.is_empty())?;
        Some(Text { bytes: text.as_bytes().to_vec(), ends: ends(text) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_falls_into_its_values() {
        let task = "Ship it to: name: Ana Rui; street: 12 Low Lane; email: a.b@mail.test. Pay with card 4111 11, exp 01/30.";
        assert_eq!(
            pieces(task).collect::<Vec<_>>(),
            [
                "Ship it to",
                "name",
                "Ana Rui",
                "street",
                "12 Low Lane",
                "email",
                "a.b@mail.test",
                "Pay with card 4111 11",
                "exp 01/30"
            ]
        );
    }

    #[test]
    fn copies_end_where_values_end() {
        let passages = Passages::of(
            "card number 4111 1111 1111 1111, exp 01/30. [card:me]; x.",
            "Go to 9 Salt Way, now",
        );
        for (text, viable, whole) in [
            ("4111 1111 1111 1111", true, true),
            ("4111 1111 1111", true, false),
            ("4111 1111 1112", false, false),
            ("4111 1111 1111 1111, 01/30", true, true),
            ("4111 1111 1111 1111, ", true, false),
            ("[card:me]. Please ship to 9 Salt Way", true, true),
            ("Please ship to 9 Salt", true, true),
            ("Please ship", true, false),
            ("9 Sal", true, false),
            ("Hello", false, false),
            ("", true, false),
        ] {
            assert_eq!(
                (passages.spell(text.as_bytes(), false), passages.spell(text.as_bytes(), true)),
                (viable, whole),
                "{text}"
            );
        }
    }
}
