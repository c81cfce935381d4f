//! The rest of a malformed block, which is skipped.

use memchr::memchr;

use crate::form::BlockForm;

/// Finds the last line of a malformed block. Lines may have any length and any bytes.
pub(super) struct BlockSkipper {
    form: BlockForm,
    line: EndLine,
}

/// How far the current line agrees with the last line of the block.
#[derive(Clone, Copy)]
enum EndLine {
    /// It has this many bytes of the word.
    Word(usize),
    /// It has the word and blanks.
    Blanks,
    /// It has the word, blanks, and a carriage return.
    Return,
    /// It is another line.
    Other,
}

impl BlockSkipper {
    /// Starts after `line`, which is the part of the current line that was read.
    pub(super) fn behind(form: BlockForm, line: &[u8]) -> BlockSkipper {
        let mut skipper = BlockSkipper { form, line: EndLine::Word(0) };
        line.iter().for_each(|byte| skipper.take(*byte));
        skipper
    }

    /// Reads to the end of the line, or of `bytes`. Returns the number of bytes, and if the line has ended, true for
    /// the last line of the block.
    pub(super) fn read(&mut self, bytes: &[u8]) -> (usize, Option<bool>) {
        let end = memchr(b'\n', bytes);
        let mut line = bytes.iter().take(end.unwrap_or(bytes.len()));
        while !matches!(self.line, EndLine::Other)
            && let Some(byte) = line.next()
        {
            self.take(*byte);
        }
        match end {
            None => (bytes.len(), None),
            Some(end) => {
                let is_last = match self.line {
                    EndLine::Word(read) => read == self.form.end_line().len(),
                    EndLine::Blanks | EndLine::Return => true,
                    EndLine::Other => false,
                };
                self.line = EndLine::Word(0);
                (end + 1, Some(is_last))
            }
        }
    }

    fn take(&mut self, byte: u8) {
        let word = self.form.end_line().as_bytes();
        self.line = match (self.line, byte) {
            (EndLine::Word(read), byte) if word.get(read) == Some(&byte) => EndLine::Word(read + 1),
            (EndLine::Word(read), b' ' | b'\t') if read == word.len() => EndLine::Blanks,
            (EndLine::Word(read), b'\r') if read == word.len() => EndLine::Return,
            (EndLine::Blanks, b' ' | b'\t') => EndLine::Blanks,
            (EndLine::Blanks, b'\r') => EndLine::Return,
            _ => EndLine::Other,
        };
    }
}
