//! What remains of a malformed block.

use memchr::memchr;

use crate::parse::Form;

/// Looks for the last line of a block that is not read any more. Lines may be of any length and of any bytes.
pub(super) struct Remains {
    form: Form,
    line: Line,
}

/// How much of the last line the line being read has been so far.
#[derive(Clone, Copy)]
enum Line {
    /// This many bytes of its word.
    Word(usize),
    /// The word and blanks.
    Blanks,
    /// The word, blanks, and a carriage return.
    Return,
    /// Another line.
    Other,
}

impl Remains {
    /// Begins behind `line`, which is all that was read of the line being read.
    pub(super) fn behind(form: Form, line: &[u8]) -> Remains {
        let mut remains = Remains { form, line: Line::Word(0) };
        line.iter().for_each(|byte| remains.take(*byte));
        remains
    }

    /// Reads to the end of the line, or of `bytes`. Returns how many bytes that was, and whether the line was
    /// the last of the block if it has ended.
    pub(super) fn read(&mut self, bytes: &[u8]) -> (usize, Option<bool>) {
        let end = memchr(b'\n', bytes);
        let mut line = bytes.iter().take(end.unwrap_or(bytes.len()));
        while !matches!(self.line, Line::Other)
            && let Some(byte) = line.next()
        {
            self.take(*byte);
        }
        match end {
            None => (bytes.len(), None),
            Some(end) => {
                let is_last = match self.line {
                    Line::Word(read) => read == self.form.end_line().len(),
                    Line::Blanks | Line::Return => true,
                    Line::Other => false,
                };
                self.line = Line::Word(0);
                (end + 1, Some(is_last))
            }
        }
    }

    fn take(&mut self, byte: u8) {
        let word = self.form.end_line().as_bytes();
        self.line = match (self.line, byte) {
            (Line::Word(read), byte) if word.get(read) == Some(&byte) => Line::Word(read + 1),
            (Line::Word(read), b' ' | b'\t') if read == word.len() => Line::Blanks,
            (Line::Word(read), b'\r') if read == word.len() => Line::Return,
            (Line::Blanks, b' ' | b'\t') => Line::Blanks,
            (Line::Blanks, b'\r') => Line::Return,
            _ => Line::Other,
        };
    }
}
