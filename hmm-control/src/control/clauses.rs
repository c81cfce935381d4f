//! Text from tokens: decoding UTF-8 piece by piece, and finding where a clause ends.

/// Words that begin a new clause after a comma.
const CONJUNCTIONS: [&str; 11] =
    ["and", "but", "or", "nor", "so", "yet", "because", "although", "while", "whereas", "unless"];

/// The longest of them, in characters.
const LONGEST_CONJUNCTION: usize = 8;

/// The possible boundary that the next characters decide.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    No,
    /// Punctuation that ends a clause if white space follows.
    Sign,
    /// A comma; the word that follows decides, once it is complete.
    Comma {
        spaced: bool,
        word: String,
    },
}

/// The decision of a character about the possible boundary before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Not decided yet.
    Undecided,
    /// It is a boundary.
    Boundary,
    /// It is not a boundary.
    Nothing,
}

/// The boundary after a character, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// No boundary.
    Nothing,
    /// A boundary, if the next characters decide so.
    Possible,
    /// A boundary.
    Boundary,
}

/// Finds the ends of clauses, one character at a time.
///
/// A clause ends
/// - after a line that is not blank (so list items are clauses of their own);
/// - after `. ! ? ... ; :` and the quotes, brackets and stars that close there, if white space follows, so that numbers,
///   times, e-mail and web addresses are not split. Not after a single letter (`e.g.`, initials) nor after the number
///   of a list item. Punctuation of scripts without spaces ends a clause at once;
/// - after a comma, if a conjunction follows as a whole word (English ones).
///
/// A boundary too early only makes rewrites finer; one too late makes them coarser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splitter {
    open: Open,
    /// Letters and digits since the last other character, counted to 2.
    word: usize,
    digits_only: bool,
    /// True if only white space precedes this word on its line.
    first_of_line: bool,
    clause_is_blank: bool,
}

impl Splitter {
    pub(crate) fn new() -> Splitter {
        Splitter { open: Open::No, word: 0, digits_only: true, first_of_line: true, clause_is_blank: true }
    }

    /// Starts a clause here and drops a possible boundary.
    pub(crate) fn settle(&mut self) {
        self.open = Open::No;
        self.clause_is_blank = true;
    }

    /// Reads one character.
    pub(crate) fn feed(&mut self, c: char) -> (Before, After) {
        let before = self.before(c);
        match before {
            Before::Boundary => self.settle(),
            Before::Nothing => self.open = Open::No,
            Before::Undecided => {}
        }
        let after = self.after(c);
        if !c.is_whitespace() {
            self.clause_is_blank = false;
        }
        if after == After::Boundary {
            self.settle();
        }
        self.remember(c);
        (before, after)
    }

    fn before(&mut self, c: char) -> Before {
        match &mut self.open {
            Open::No => Before::Undecided,
            // Closing punctuation and the end of the line belong to the clause.
            Open::Sign if c == '\n' || closes(c) => Before::Undecided,
            Open::Sign if c.is_whitespace() => Before::Boundary,
            Open::Sign => Before::Nothing,
            Open::Comma { spaced, word } if c.is_whitespace() && word.is_empty() => {
                *spaced = true;
                Before::Undecided
            }
            Open::Comma { word, .. } if c.is_whitespace() && CONJUNCTIONS.contains(&word.as_str()) => {
                Before::Boundary
            }
            Open::Comma { spaced: true, word }
                if c.is_ascii_alphabetic() && word.len() < LONGEST_CONJUNCTION =>
            {
                word.push(c.to_ascii_lowercase());
                Before::Undecided
            }
            Open::Comma { .. } => Before::Nothing,
        }
    }

    fn after(&mut self, c: char) -> After {
        let open = match c {
            '\n' if !self.clause_is_blank => return After::Boundary,
            '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{ff1b}' | '\u{ff1a}' => return After::Boundary,
            '.' if self.word == 1 && !self.digits_only => return After::Nothing,
            '.' if self.word > 0 && self.digits_only && self.first_of_line => return After::Nothing,
            '.' | '!' | '?' | ';' | ':' | '\u{2026}' | '\u{061f}' | '\u{0964}' => Open::Sign,
            ',' => Open::Comma { spaced: false, word: String::new() },
            c if closes(c) && self.open == Open::Sign => Open::Sign,
            _ => return After::Nothing,
        };
        self.open = open;
        After::Possible
    }

    fn remember(&mut self, c: char) {
        if c == '\n' {
            self.first_of_line = true;
            self.word = 0;
        } else if c.is_alphanumeric() {
            if self.word == 0 {
                self.digits_only = true;
            }
            self.word = (self.word + 1).min(2);
            self.digits_only &= c.is_numeric();
        } else {
            // A list marker may precede the number.
            self.first_of_line &= self.word == 0;
            self.word = 0;
        }
    }
}

/// Closing punctuation, which may follow the end of a sentence before the white space.
fn closes(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | ')' | ']' | '}' | '*' | '_' | '`' | '\u{2019}' | '\u{201d}' | '\u{201c}' | '\u{bb}'
    )
}

/// Decodes UTF-8 incrementally: the text does not depend on how the bytes are split, and equals that of
/// [`String::from_utf8_lossy`] for all of them. Buffers at most three bytes of an unfinished character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Decoder {
    unfinished: Vec<u8>,
}

impl Decoder {
    /// Appends to `text` the characters that the bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8], text: &mut String) {
        self.unfinished.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.unfinished);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let rest = chunk.invalid();
            if rest.is_empty() {
                continue;
            }
            let may_go_on = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_go_on {
                self.unfinished = rest.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// Ends the bytes: an unfinished character becomes a replacement character.
    pub(crate) fn finish(&mut self, text: &mut String) {
        if !self.unfinished.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            self.unfinished.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The clauses of a text.
    fn clauses(text: &str) -> Vec<&str> {
        let (mut splitter, mut from, mut candidate, mut clauses) = (Splitter::new(), 0, None, Vec::new());
        for (place, c) in text.char_indices() {
            let (before, after) = splitter.feed(c);
            match before {
                Before::Boundary => {
                    let to = candidate.take().unwrap();
                    clauses.push(&text[from..to]);
                    from = to;
                }
                Before::Nothing => candidate = None,
                Before::Undecided => {}
            }
            match after {
                After::Boundary => {
                    clauses.push(&text[from..place + c.len_utf8()]);
                    from = place + c.len_utf8();
                    candidate = None;
                }
                After::Possible => candidate = Some(place + c.len_utf8()),
                After::Nothing => {}
            }
        }
        clauses.push(&text[from..]);
        clauses
    }

    #[test]
    fn clauses_end_at_sentences_lines_and_conjunctions() {
        for (text, wanted) in [
            ("One. Two! Three?", vec!["One.", " Two!", " Three?"]),
            ("He said \"Stop!\" then left.", vec!["He said \"Stop!\"", " then left."]),
            ("**Note.** Read (all of it.) Now", vec!["**Note.**", " Read (all of it.)", " Now"]),
            ("a; b: c", vec!["a;", " b:", " c"]),
            ("- one\n- two\n\n3. three\n", vec!["- one\n", "- two\n", "\n3. three\n", ""]),
            ("First.\nSecond", vec!["First.\n", "Second"]),
            ("I came, and I saw, so there", vec!["I came,", " and I saw,", " so there"]),
            ("Well... yes\u{2026} no", vec!["Well...", " yes\u{2026}", " no"]),
            (
                "\u{4f60}\u{597d}\u{3002}\u{518d}\u{89c1}",
                vec!["\u{4f60}\u{597d}\u{3002}", "\u{518d}\u{89c1}"],
            ),
            ("It costs 5. Fine", vec!["It costs 5.", " Fine"]),
        ] {
            assert_eq!(clauses(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn punctuation_inside_words_is_no_boundary() {
        for text in [
            "3.14 and 1,000.5 at 12:30",
            "write to ann.lee@mail.example.org or call",
            "see https://shop.example/a;b?x=1,2:3#y.z for it",
            "apples, pears, android phones, andes",
            "e.g. this, i.e. that, J. Smith",
            "12. an item",
            "x,and y",
            "v1.2.3-rc.4",
            "\n\n \n",
        ] {
            assert_eq!(clauses(text), [text], "{text:?}");
        }
    }

    /// Bytes that are mostly parts of characters, so that splits and damage are common.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            any::<char>().prop_map(|c| c.to_string().into_bytes()),
            any::<char>().prop_map(|c| {
                let mut bytes = c.to_string().into_bytes();
                bytes.pop();
                bytes
            }),
            any::<u8>().prop_map(|byte| vec![byte]),
        ];
        prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_split_decodes_to_the_same_text(bytes in bytes(), cuts in prop::collection::vec(0usize..80, 0..12)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let (mut decoder, mut text, mut from) = (Decoder::default(), String::new(), 0);
            for to in cuts {
                decoder.push(&bytes[from..to], &mut text);
                prop_assert!(decoder.unfinished.len() <= 3);
                from = to;
            }
            decoder.finish(&mut text);
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
