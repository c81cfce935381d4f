//! Where a clause ends.

/// Words that begin a new clause after a comma.
const CONJUNCTIONS: [&str; 11] =
    ["and", "but", "or", "nor", "so", "yet", "because", "although", "while", "whereas", "unless"];

/// The longest of them, in characters.
const LONGEST_CONJUNCTION: usize = 8;

/// What is not settled about the last boundary that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    No,
    /// A sign that ends a clause if white space follows.
    Sign,
    /// A comma; the word that follows decides, once it is complete.
    Comma {
        spaced: bool,
        word: String,
    },
}

/// What a character says of the boundary that was left open before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing yet.
    Undecided,
    /// It is one.
    Boundary,
    /// It is none.
    Nothing,
}

/// What stands right after a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Nothing new.
    Nothing,
    /// A boundary, if what follows says so.
    Perhaps,
    /// A boundary.
    Boundary,
}

/// Finds the ends of clauses, one character at a time.
///
/// A clause ends
/// - after a line that is not blank (so list items are clauses of their own);
/// - after `. ! ? ... ; :` and the quotes, brackets and stars that close there, if white space follows: inside numbers,
///   times, e-mail and web addresses none does. Not after a single letter (`e.g.`, initials) nor after the number
///   of a list item. Signs of scripts that write no space end a clause at once;
/// - after a comma, if a conjunction follows as a whole word (English ones).
///
/// Ending one too early costs nothing but a finer rewrite; ending one too late, a coarser one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splitter {
    open: Open,
    /// Letters and digits since the last other character, counted to 2.
    word: usize,
    digits_only: bool,
    /// Nothing but white space stood before this word on its line.
    first_of_line: bool,
    clause_is_blank: bool,
}

impl Splitter {
    pub(crate) fn new() -> Splitter {
        Splitter { open: Open::No, word: 0, digits_only: true, first_of_line: true, clause_is_blank: true }
    }

    /// Starts a clause here, whatever was open.
    pub(crate) fn settle(&mut self) {
        self.open = Open::No;
        self.clause_is_blank = true;
    }

    /// Takes one character in.
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
            // Closing signs, and the end of the line, belong to the clause.
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
        After::Perhaps
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
            // A list's own sign may stand before its number.
            self.first_of_line &= self.word == 0;
            self.word = 0;
        }
    }
}

/// Signs that may stand between the end of a sentence and the white space.
fn closes(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | ')' | ']' | '}' | '*' | '_' | '`' | '\u{2019}' | '\u{201d}' | '\u{201c}' | '\u{bb}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clauses of a text, in the straight way: the boundaries as they are settled.
    fn clauses(text: &str) -> Vec<&str> {
        let (mut splitter, mut from, mut perhaps, mut clauses) = (Splitter::new(), 0, None, Vec::new());
        for (place, c) in text.char_indices() {
            let (before, after) = splitter.feed(c);
            match before {
                Before::Boundary => {
                    let to = perhaps.take().unwrap();
                    clauses.push(&text[from..to]);
                    from = to;
                }
                Before::Nothing => perhaps = None,
                Before::Undecided => {}
            }
            match after {
                After::Boundary => {
                    clauses.push(&text[from..place + c.len_utf8()]);
                    from = place + c.len_utf8();
                    perhaps = None;
                }
                After::Perhaps => perhaps = Some(place + c.len_utf8()),
                After::Nothing => {}
            }
        }
        clauses.push(&text[from..]);
        clauses
    }

    #[test]
    fn ends_of_sentences_lines_and_halves() {
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
    fn what_only_looks_like_an_end() {
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
}
