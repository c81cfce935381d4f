//! Obfuscated texts, which a reader still understands and a pattern does not match. They serve to judge a model;
//! training uses only harmless ones.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::document::{CorpusPart, Document, hash};

/// A way to hide a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Obfuscation {
    /// A zero-width character after every character, of three kinds in turn.
    ZeroWidth,
    /// Printable ASCII as tag characters, U+E0000 to U+E007F, which are invisible.
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

    /// Returns a short name.
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

    /// Returns the text, hidden. Characters without a hidden form (letters without a look-alike, for example) stay.
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

/// Returns the letter that looks like another, if there is one.
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

/// The ways whose results contain other text than the original. Zero-width characters and the like are gone after
/// normalisation.
const WAYS: [Obfuscation; 5] = [
    Obfuscation::Base64,
    Obfuscation::Hexadecimal,
    Obfuscation::Percent,
    Obfuscation::SpacedOut,
    Obfuscation::Reversed,
];

/// The length of text that is encoded of each document, in characters; more adds nothing new.
const LENGTH: usize = 240;

/// The largest number of documents in each way.
const MOST: usize = 300;

/// Returns beginnings of harmless texts of the training part, hidden in each way. The look of encoded text is
/// unrelated to its content: a model without such examples confuses single letters or hexadecimal bytes with whatever
/// they resemble by chance.
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
