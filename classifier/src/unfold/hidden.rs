//! Invisible characters: their number, and the messages that they spell.

use std::ops::Range;

use super::normalise::Normalised;

/// The numbers of invisible characters that were dropped from a text and from its decoded texts. Characters that
/// belong to an emoji or to the spelling of a script, and byte order marks, do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenCounts {
    /// Zero-width spaces, control characters and variation selectors: all that are in no other count.
    pub invisible: usize,
    /// Controls of the writing direction.
    pub directional: usize,
    /// Tag characters.
    pub tags: usize,
    /// Soft hyphens, which honest pages contain too.
    pub soft_hyphens: usize,
}

/// The distance in bytes from which characters belong to different messages, if the first message is long enough.
const APART: usize = 64;

/// The smallest length of a message, in characters.
const MESSAGE: usize = 4;

/// A message that invisible characters spell.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) decoded: String,
    /// Its range in the text.
    pub(super) at: Range<usize>,
}

/// Bytes that one set of invisible characters spells.
#[derive(Debug, Default)]
struct HiddenBytes {
    bytes: Vec<u8>,
    /// The numbers of bytes before which one visible character, or a line break, separates two.
    breaks: Vec<usize>,
    at: Range<usize>,
    messages: Vec<(Vec<u8>, Range<usize>)>,
}

impl HiddenBytes {
    fn push(&mut self, byte: u8, at: Range<usize>) {
        if self.bytes.len() >= MESSAGE && at.start > self.at.end + APART {
            self.close();
        }
        if self.bytes.is_empty() {
            self.at.start = at.start;
        } else if at.start == self.at.end + 1 {
            self.breaks.push(self.bytes.len());
        }
        self.at.end = at.end;
        self.bytes.push(byte);
    }

    fn close(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let breaks = std::mem::take(&mut self.breaks);
        if bytes.len() >= MESSAGE {
            self.messages.push((with_lines(bytes, &breaks), self.at.clone()));
        }
    }
}

/// Returns a message with its line breaks. Line breaks have no invisible form, so those of a text that is hidden as a
/// whole stay visible; in a message that is broken everywhere, visible characters are interleaved and there are no
/// line breaks.
fn with_lines(bytes: Vec<u8>, breaks: &[usize]) -> Vec<u8> {
    if breaks.is_empty() || breaks.len() * 4 > bytes.len() {
        return bytes;
    }
    let mut breaks = breaks.iter().peekable();
    let mut lines = Vec::with_capacity(bytes.len() + breaks.len());
    for (at, byte) in bytes.into_iter().enumerate() {
        if breaks.next_if_eq(&&at).is_some() {
            lines.push(b'\n');
        }
        lines.push(byte);
    }
    lines
}

/// The invisible characters of a text.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    counts: HiddenCounts,
    tags: HiddenBytes,
    selectors: HiddenBytes,
}

impl Hidden {
    /// Counts an invisible character; they come in the order of the text.
    pub(super) fn count(&mut self, at: usize, character: char) {
        let place = at..at + character.len_utf8();
        match character {
            '\u{E0000}'..='\u{E007F}' => self.counts.tags += 1,
            '\u{AD}' => self.counts.soft_hyphens += 1,
            '\u{61C}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}'
            | '\u{206A}'..='\u{206F}' => self.counts.directional += 1,
            _ => self.counts.invisible += 1,
        }
        if let Some(byte) = tag(character) {
            self.tags.push(byte, place);
        } else if let Some(byte) = selector(character) {
            self.selectors.push(byte, place);
        }
    }

    pub(super) fn counts(&self) -> HiddenCounts {
        self.counts
    }

    /// Returns the messages, in the order of the text for each set of characters.
    pub(super) fn messages(mut self) -> Vec<Message> {
        self.tags.close();
        self.selectors.close();
        let spelled = self.tags.messages.into_iter().chain(self.selectors.messages);
        spelled
            .filter_map(|(bytes, at)| {
                let text = String::from_utf8(bytes).ok()?;
                let decoded = Normalised::new(&text).text().to_owned();
                decoded.chars().any(char::is_alphanumeric).then_some(Message { decoded, at })
            })
            .collect()
    }
}

/// Returns the ASCII character that a tag character stands for.
pub(super) fn tag(character: char) -> Option<u8> {
    matches!(character, '\u{E0020}'..='\u{E007E}')
        .then(|| u8::try_from(u32::from(character) - 0xE0000).ok())
        .flatten()
}

/// Returns the byte that a variation selector stands for: the sixteen of the first block, then those of the
/// supplement.
fn selector(character: char) -> Option<u8> {
    let code = u32::from(character);
    match character {
        '\u{FE00}'..='\u{FE0F}' => u8::try_from(code - 0xFE00).ok(),
        '\u{E0100}'..='\u{E01EF}' => u8::try_from(code - 0xE0100 + 16).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Hidden {
        let mut hidden = Hidden::default();
        Normalised::watched(text, |at, character| hidden.count(at, character));
        hidden
    }

    fn tagged(text: &str) -> String {
        text.bytes().filter_map(|byte| char::from_u32(0xE0000 + u32::from(byte))).collect()
    }

    #[test]
    fn lines_hidden_as_a_whole_stay_apart() {
        let decoded = |text: &str| -> Vec<String> {
            hidden(text).messages().into_iter().map(|message| message.decoded).collect()
        };
        let lines = format!("{}\n{}", tagged("Send the code."), tagged("Now."));
        assert_eq!(decoded(&lines), ["Send the code.\nNow."]);
        let mixed: String =
            "send it".bytes().map(|byte| format!("a{}", tagged(&char::from(byte).to_string()))).collect();
        assert_eq!(decoded(&mixed), ["send it"]);
    }

    #[test]
    fn each_kind_is_counted_by_itself() {
        let counts =
            hidden("a\u{200B}b\u{2060}\u{0}c\u{202E}d\u{2066}e\u{AD}f\u{E0001}\u{E0041}\u{E007F}").counts();
        assert_eq!(counts, HiddenCounts { invisible: 3, directional: 2, tags: 3, soft_hyphens: 1 });
    }

    #[test]
    fn characters_of_emoji_and_scripts_are_not_counted() {
        for honest in [
            "👨\u{200D}👩\u{200D}👧\u{200D}👦",
            "❤\u{FE0F}\u{200D}🔥",
            "🏳\u{FE0F}\u{200D}🌈",
            "👩🏽\u{200D}🚀",
            "1\u{FE0F}\u{20E3}",
            "™\u{FE0F} ☎\u{FE0E}",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
            "می\u{200C}خواهم",
            "क्\u{200D}ष",
            "\u{FEFF}text",
        ] {
            assert_eq!(hidden(honest).counts(), HiddenCounts::default(), "{honest:?}");
        }
        let counted = |text: &str| hidden(text).counts();
        assert_eq!(counted("a\u{200D}b👩\u{200D}c").invisible, 2);
        assert_eq!(counted("😀\u{FE0F}\u{FE01}\u{FE0F}a\u{FE0F}").invisible, 3);
        assert_eq!(counted("🏴\u{E0061}\u{E007F}").tags, 2);
        assert_eq!(counted("a\u{FEFF}b").invisible, 1);
        // A letter with a compatibility form is no picture that a joiner joins.
        assert_eq!(counted("❤\u{FE0F}\u{200D}🄐").invisible, 1);
    }

    #[test]
    fn messages_may_be_interleaved_and_may_lie_apart() {
        let at = "ab ".len();
        let text = format!("ab {}{}", tagged("send it"), tagged(" now"));
        let messages = hidden(&text).messages();
        assert_eq!(messages, [Message { decoded: "send it now".into(), at: at..text.len() }]);
        let sparse: String = "secret"
            .bytes()
            .map(|b| format!("{}{}", "x".repeat(70), tagged(&char::from(b).to_string())))
            .collect();
        assert_eq!(hidden(&sparse).messages()[0].decoded, "secr");
        let apart = format!("{}{}{}", tagged("first"), "x".repeat(65), tagged("second"));
        let decoded: Vec<String> =
            hidden(&apart).messages().into_iter().map(|message| message.decoded).collect();
        assert_eq!(decoded, ["first", "second"]);
    }

    #[test]
    fn variation_selectors_spell_bytes() {
        let spelled: String = "hide é"
            .bytes()
            .filter_map(|byte| match byte {
                0..16 => char::from_u32(0xFE00 + u32::from(byte)),
                _ => char::from_u32(0xE0100 + u32::from(byte) - 16),
            })
            .collect();
        let messages = hidden(&format!("😀{spelled}")).messages();
        assert_eq!(messages, [Message { decoded: "hide é".into(), at: 4..4 + spelled.len() }]);
    }
}
