//! What a token is like, for a model that knows classes of words.

use crate::WordClass;
use crate::features::mix;
use crate::word::Word;

/// A token at two grains: a word by its class, a mark as itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) fine: u32,
    pub(crate) coarse: u32,
}

impl Kind {
    pub(crate) fn mark(mark: u32) -> Kind {
        Kind { fine: mark, coarse: mark }
    }

    pub(crate) fn of(class: WordClass) -> Kind {
        Kind { fine: mix(0xF1_7E, u32::from(class.fine)), coarse: mix(0xC0_A5, u32::from(class.coarse)) }
    }

    /// A word without a class: by whether it has a capital, and in the fine grain by a few endings of English.
    pub(crate) fn unknown(word: &Word) -> Kind {
        let coarse = mix(0x0_0DD, u32::from(word.has_capital()));
        Kind { fine: mix(coarse, ending(word.all())), coarse }
    }
}

/// Which of a few endings a word has; the mark of its end is its last character.
fn ending(word: &[u32]) -> u32 {
    let letters = word.split_last().map_or(word, |(_, letters)| letters);
    let is = |ending: &str| {
        let length = ending.len();
        letters.len() > length + 1
            && letters.iter().rev().zip(ending.bytes().rev()).all(|(letter, byte)| *letter == u32::from(byte))
    };
    ["ing", "ed", "ly", "ion", "s"].iter().zip(1..).find(|(ending, _)| is(ending)).map_or(0, |(_, at)| at)
}
