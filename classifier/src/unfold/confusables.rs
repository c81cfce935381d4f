//! Letters that look like Latin ones.

use std::ops::Range;

use super::collector::{Collector, Disguise, ENOUGH, Piece, report_passages};

/// The number of words on either side that determine the script of a text.
const NEIGHBOURS: usize = 3;

/// The shortest word with look-alike letters that is recognised by itself.
const SHORTEST: usize = 3;

/// Finds words that mix Latin letters, or letters of several scripts, with letters that look like Latin ones; words
/// of Latin letters that no language writes (small capitals, enclosed letters); words of look-alike letters alone
/// among Latin words; and one or two such letters next to disguised words. Every foreign letter of a word must look
/// like a Latin one; a word with another letter, and its neighbours, are genuine.
pub(super) fn find(collector: &mut Collector<'_>) {
    let text = collector.text();
    if text.is_ascii() {
        return;
    }
    let words = words(text);
    let mut pieces = Vec::new();
    for (number, word) in words.iter().enumerate() {
        let next_to_disguised = || neighbours(&words, number, 1).contains(&WordScript::Mixed);
        let among = |scripts: &[WordScript]| {
            let near = neighbours(&words, number, NEIGHBOURS);
            near.iter().any(|script| scripts.contains(script)) && !near.contains(&WordScript::Genuine)
        };
        let disguised = match word.script {
            WordScript::Mixed => true,
            WordScript::Alike => next_to_disguised() || among(&[WordScript::Latin, WordScript::Mixed]),
            WordScript::Short => next_to_disguised() || among(&[WordScript::Mixed]),
            WordScript::Latin | WordScript::Genuine => false,
        };
        if disguised {
            let original = text.get(word.at.clone()).unwrap_or_default();
            let decoded = original.chars().map(|letter| look(letter).unwrap_or(letter)).collect();
            pieces.push(Piece { at: word.at.clone(), decoded, weight: ENOUGH });
        }
    }
    report_passages(collector, Disguise::Confusables, &pieces);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordScript {
    /// Latin letters as languages write them.
    Latin,
    /// Certainly disguised.
    Mixed,
    /// Letters of one other script, which all look like Latin ones.
    Alike,
    /// One or two letters, some of them foreign and look-alike: a unit, a variable, or a part of a disguised text.
    Short,
    /// Another script.
    Genuine,
}

struct WordRange {
    at: Range<usize>,
    script: WordScript,
}

fn words(text: &str) -> Vec<WordRange> {
    let is_letter = |character: char| character.is_alphabetic() || enclosed(character).is_some();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(start) = rest.find(is_letter).map(|start| at + start) else { break };
        let run = text.get(start..).unwrap_or_default();
        let length = run.find(|character| !is_letter(character)).unwrap_or(run.len());
        at = start + length;
        words.push(WordRange { at: start..at, script: word_script(run.get(..length).unwrap_or_default()) });
    }
    words
}

fn word_script(word: &str) -> WordScript {
    if word.is_ascii() {
        return WordScript::Latin;
    }
    let (mut latin, mut odd, mut length) = (0, 0, 0);
    let mut foreign: Option<Script> = None;
    let mut several = false;
    for letter in word.chars() {
        length += 1;
        match letter_script(letter) {
            Script::Latin => latin += 1,
            Script::Odd => odd += 1,
            other => {
                several |= foreign.is_some_and(|known| known != other);
                foreign = Some(other);
            }
        }
        if letter_script(letter) == Script::Unlike {
            return WordScript::Genuine;
        }
        if letter_script(letter) != Script::Latin && look(letter).is_none() {
            return if foreign.is_some() { WordScript::Genuine } else { WordScript::Latin };
        }
    }
    match foreign {
        None if odd == 0 => WordScript::Latin,
        _ if length < SHORTEST => WordScript::Short,
        None => WordScript::Mixed,
        Some(_) if several || latin > 0 || odd > 0 => WordScript::Mixed,
        Some(_) => WordScript::Alike,
    }
}

/// Returns the scripts of the words around one, itself included.
fn neighbours(words: &[WordRange], number: usize, reach: usize) -> Vec<WordScript> {
    let before = reach.min(number);
    words.iter().skip(number - before).take(before + 1 + reach).map(|word| word.script).collect()
}

/// The scripts that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    /// Latin by name, but of phonetic alphabets and of enclosed letters.
    Odd,
    Greek,
    Cyrillic,
    Armenian,
    /// Scripts with some letters that look Latin.
    Similar,
    /// All other scripts.
    Unlike,
}

fn letter_script(letter: char) -> Script {
    match letter {
        'a'..='z' | 'A'..='Z' => Script::Latin,
        'ı' => Script::Latin,
        '\u{AA}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => Script::Latin,
        '\u{250}'..='\u{2AF}'
        | '\u{1D00}'..='\u{1DBF}'
        | '\u{2C60}'..='\u{2C7F}'
        | '\u{A720}'..='\u{A7FF}' => Script::Odd,
        '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
        '\u{400}'..='\u{52F}' | '\u{1C80}'..='\u{1C8F}' => Script::Cyrillic,
        '\u{531}'..='\u{58F}' => Script::Armenian,
        _ if enclosed(letter).is_some() => Script::Odd,
        // Coptic, Cherokee, Lisu, Deseret.
        '\u{2C80}'..='\u{2CFF}'
        | '\u{13A0}'..='\u{13FF}'
        | '\u{AB70}'..='\u{ABBF}'
        | '\u{A4D0}'..='\u{A4FF}'
        | '\u{10400}'..='\u{1044F}' => Script::Similar,
        _ => Script::Unlike,
    }
}

/// Returns the Latin letter that a letter looks like.
fn look(letter: char) -> Option<char> {
    if letter.is_ascii() {
        return None;
    }
    let listed = ALIKE.binary_search_by_key(&letter, |(known, _)| *known).ok();
    let listed = listed.and_then(|place| ALIKE.get(place)).map(|(_, latin)| *latin);
    listed.or_else(|| enclosed(letter)).or_else(|| {
        if matches!(letter_script(letter), Script::Latin | Script::Unlike) {
            return None;
        }
        let mut buffer = [0; 4];
        let mut skeleton = unicode_security::skeleton(letter.encode_utf8(&mut buffer));
        let latin = skeleton.next().filter(char::is_ascii_alphabetic)?;
        // The prototype of a capital i is a small l.
        let latin = if latin == 'l' && letter.is_uppercase() { 'I' } else { latin };
        skeleton.next().is_none().then_some(latin)
    })
}

/// Returns the letter in a filled circle or square; open ones have a compatibility form.
fn enclosed(character: char) -> Option<char> {
    let code = u32::from(character);
    let place = match character {
        '\u{1F150}'..='\u{1F169}' => code - 0x1F150,
        '\u{1F170}'..='\u{1F189}' => code - 0x1F170,
        _ => return None,
    };
    char::from_u32(u32::from('A') + place)
}

/// Letters that people read as Latin ones and for which Unicode's table of confusables has no entry or another one:
/// small letters that look like small capitals, small capitals themselves, Greek letters by their sound.
#[rustfmt::skip]
const ALIKE: [(char, char); 63] = [
    ('ɑ', 'a'), ('ɗ', 'd'), ('ɡ', 'g'), ('ɢ', 'g'), ('ɩ', 'i'), ('ɪ', 'i'), ('ɴ', 'n'), ('ʀ', 'r'),
    ('ʏ', 'y'), ('ʙ', 'b'), ('ʜ', 'h'), ('ʟ', 'l'), ('Ι', 'I'), ('α', 'a'), ('β', 'b'), ('γ', 'y'),
    ('ε', 'e'), ('η', 'n'), ('ι', 'i'), ('κ', 'k'), ('ν', 'v'), ('ο', 'o'), ('ρ', 'p'), ('σ', 'o'),
    ('τ', 't'), ('υ', 'u'), ('χ', 'x'), ('ω', 'w'), ('І', 'I'), ('в', 'b'), ('г', 'r'), ('к', 'k'),
    ('м', 'm'), ('н', 'h'), ('п', 'n'), ('т', 't'), ('я', 'r'), ('є', 'e'), ('ҝ', 'k'), ('һ', 'h'),
    ('ԍ', 'g'), ('ո', 'n'), ('ս', 'u'), ('ᴀ', 'a'), ('ᴄ', 'c'), ('ᴅ', 'd'), ('ᴇ', 'e'), ('ᴊ', 'j'),
    ('ᴋ', 'k'), ('ᴍ', 'm'), ('ᴏ', 'o'), ('ᴘ', 'p'), ('ᴛ', 't'), ('ᴜ', 'u'), ('ᴠ', 'v'), ('ᴡ', 'w'),
    ('ᴢ', 'z'), ('ᴦ', 'r'), ('ꜰ', 'f'), ('ꜱ', 's'), ('ꞯ', 'q'), ('ꟾ', 'I'), ('𐑃', 'b'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(ALIKE.is_sorted_by(|left, right| left.0 < right.0));
    }

    #[test]
    fn words_have_scripts() {
        for mixed in ["іgnоrе", "pаsswоrd", "ɪɢɴᴏʀᴇ", "αdmin", "🅸🅶🅽🅾🆁🅴", "ԍrосеrу", "ոаmе"]
        {
            assert_eq!(word_script(mixed), WordScript::Mixed, "{mixed}");
        }
        for alike in ["раура", "ΝΑΤΟ", "сосо", "ΤΗΕ"] {
            assert_eq!(word_script(alike), WordScript::Alike, "{alike}");
        }
        for short in ["tо", "о", "αs"] {
            assert_eq!(word_script(short), WordScript::Short, "{short}");
        }
        for genuine in ["привет", "μm", "kΩ", "Δx", "λόγος", "日本", "שלום", "मानक", "iPhoneы"]
        {
            assert_eq!(word_script(genuine), WordScript::Genuine, "{genuine}");
        }
        for latin in ["naïve", "Größe", "łódź", "ışık", "əsas", "Đặng", "ŋoni"] {
            assert_eq!(word_script(latin), WordScript::Latin, "{latin}");
        }
    }
}
