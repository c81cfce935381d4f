//! Texts written so that a reader still gets them and a pattern does not; for judging a model, not for training it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::document::{CorpusPart, Document, hash};

/// A way to hide a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Obfuscation {
    /// A zero-width character after every character, three sorts in turn.
    ZeroWidth,
    /// Printable ASCII as tag characters, U+E0000 to U+E007F, which show nothing.
    Tags,
    /// Latin letters replaced by Cyrillic and Greek ones that look the same.
    Homoglyphs,
    /// Printable ASCII in fullwidth forms.
    Fullwidth,
    /// Base64 of the UTF-8, with padding.
    Base64,
    /// The UTF-8 in hexadecimal digits.
    Hexadecimal,
    /// Every byte but letters and digits percent-encoded, and every vowel.
    Percent,
    /// Written backwards, character by character.
    Reversed,
    /// A space between all characters, two more between words.
    SpacedOut,
}

impl Obfuscation {
    /// Every way.
    pub const ALL: [Obfuscation; 9] = [
        Obfuscation::ZeroWidth,
        Obfuscation::Tags,
        Obfuscation::Homoglyphs,
        Obfuscation::Fullwidth,
        Obfuscation::Base64,
        Obfuscation::Hexadecimal,
        Obfuscation::Percent,
        Obfuscation::Reversed,
        Obfuscation::SpacedOut,
    ];

    /// A short name.
    pub const fn name(self) -> &'static str {
        match self {
            Obfuscation::ZeroWidth => "zero-width",
            Obfuscation::Tags => "tags",
            Obfuscation::Homoglyphs => "homoglyphs",
            Obfuscation::Fullwidth => "fullwidth",
            Obfuscation::Base64 => "base64",
            Obfuscation::Hexadecimal => "hex",
            Obfuscation::Percent => "percent",
            Obfuscation::Reversed => "reversed",
            Obfuscation::SpacedOut => "spaced-out",
        }
    }

    /// The text, hidden. What a way has no form for (letters that have no look-alike, say) stays as it is.
    ///
    /// ```
    /// use classifier_training::obfuscation::Obfuscation;
    ///
    /// assert_eq!(Obfuscation::Reversed.apply("pay now"), "won yap");
    /// assert_eq!(Obfuscation::SpacedOut.apply("pay now"), "p a y   n o w");
    /// ```
    pub fn apply(self, text: &str) -> String {
        match self {
            Obfuscation::ZeroWidth => {
                let nothing = ['\u{200B}', '\u{200C}', '\u{2060}'].into_iter().cycle();
                text.chars().zip(nothing).flat_map(|(shown, hidden)| [shown, hidden]).collect()
            }
            Obfuscation::Tags => shifted(text, 0xE0000, ' '..='~'),
            Obfuscation::Homoglyphs => text.chars().map(look_alike).collect(),
            Obfuscation::Fullwidth => shifted(text, 0xFEE0, '!'..='~').replace(' ', "\u{3000}"),
            Obfuscation::Base64 => STANDARD.encode(text),
            Obfuscation::Hexadecimal => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
            Obfuscation::Percent => text.bytes().map(percent).collect(),
            Obfuscation::Reversed => text.chars().rev().collect(),
            Obfuscation::SpacedOut => {
                let letters = |word: &str| word.chars().map(String::from).collect::<Vec<String>>().join(" ");
                text.split_whitespace().map(letters).collect::<Vec<String>>().join("   ")
            }
        }
    }
}

fn shifted(text: &str, by: u32, range: std::ops::RangeInclusive<char>) -> String {
    let shift =
        |one| if range.contains(&one) { char::from_u32(u32::from(one) + by).unwrap_or(one) } else { one };
    text.chars().map(shift).collect()
}

fn percent(byte: u8) -> String {
    let vowel = matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u');
    if byte.is_ascii_alphanumeric() && !vowel { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

/// The letter that looks like another, where there is one.
fn look_alike(letter: char) -> char {
    match letter {
        'a' => 'а',
        'c' => 'с',
        'd' => 'ԁ',
        'e' => 'е',
        'h' => 'һ',
        'i' => 'і',
        'j' => 'ј',
        'o' => 'о',
        'p' => 'р',
        's' => 'ѕ',
        'x' => 'х',
        'y' => 'у',
        'A' => 'Α',
        'B' => 'Β',
        'C' => 'С',
        'E' => 'Ε',
        'H' => 'Η',
        'I' => 'Ι',
        'J' => 'Ј',
        'K' => 'Κ',
        'M' => 'Μ',
        'N' => 'Ν',
        'O' => 'Ο',
        'P' => 'Ρ',
        'S' => 'Ѕ',
        'T' => 'Τ',
        'X' => 'Χ',
        'Y' => 'Υ',
        'Z' => 'Ζ',
        other => other,
    }
}

/// What reads as another text than it is. Zero-width characters and the like are gone once a text is folded.
const WAYS: [Obfuscation; 5] = [
    Obfuscation::Base64,
    Obfuscation::Hexadecimal,
    Obfuscation::Percent,
    Obfuscation::SpacedOut,
    Obfuscation::Reversed,
];

/// What is encoded of each text, in characters: more says the same over again.
const LENGTH: usize = 240;

/// At most so many in each way.
const MOST: usize = 300;

/// Beginnings of harmless texts of the training part, in each way.
pub fn encoded(documents: &[Document]) -> Vec<Document> {
    let mut chosen: Vec<(u64, &Document)> = documents
        .iter()
        .filter(|one| one.part == CorpusPart::Training && one.harmful.is_none())
        .map(|one| (hash(&one.text), one))
        .collect();
    chosen.sort_by(|one, other| (one.0, &one.1.text).cmp(&(other.0, &other.1.text)));
    chosen.dedup_by(|one, other| one.1.text == other.1.text);
    let ways = WAYS.into_iter().cycle();
    let pairs = chosen.into_iter().take(MOST * WAYS.len()).zip(ways);
    pairs
        .map(|((_, one), way)| {
            let beginning: String = one.text.chars().take(LENGTH).collect();
            Document::harmless("encoded", CorpusPart::Training, way.apply(&beginning))
        })
        .collect()
}
