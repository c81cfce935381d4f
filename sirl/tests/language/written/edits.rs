//! Changes that make other texts, within the language and outside of it.

use proptest::prelude::*;
use proptest::sample::{Index, select};

#[derive(Debug, Clone)]
pub enum Edit {
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Cut(Index),
    Swap(Index, Index),
    Double(Index, Index),
}

pub fn edit() -> impl Strategy<Value = Edit> {
    let words = [
        "REQ.",
        "REQ.end",
        "\nREQ.otp",
        " fields=",
        " ctx=",
        " items={",
        "\"mug\":12",
        "city",
        "\"zip\"",
        "origin",
        "tls:",
        "true",
        "T2",
        "\"total\":0.5",
        "JPY",
        "{",
        "}",
        "[",
        "]",
        ",",
        ", ",
        ":",
        "\"",
        "\\",
        "\\\"",
        "\\u00e9",
        " ",
        "\t",
        "\n",
        "\r\n",
        "é",
        "😀",
        "\u{202e}",
        "\u{85}",
        "0",
        "00",
        ".",
        "-",
        "E",
    ];
    let piece = prop_oneof![
        9 => select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop_oneof![
        (any::<Index>(), piece).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (any::<Index>(), 1usize..4).prop_map(|(at, count)| Edit::Remove(at, count)),
        any::<Index>().prop_map(Edit::Cut),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Edit::Swap(a, b)),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Edit::Double(a, b)),
    ]
}

pub fn edited(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut text = text.to_vec();
    for edit in edits {
        if text.is_empty() {
            break;
        }
        let count = text.len();
        match edit {
            Edit::Insert(at, piece) => {
                let at = at.index(count);
                text.splice(at..at, piece.iter().copied());
            }
            Edit::Remove(at, many) => {
                let at = at.index(count);
                text.drain(at..(at + many).min(count));
            }
            Edit::Cut(at) => text.truncate(at.index(count)),
            Edit::Swap(a, b) => text.swap(a.index(count), b.index(count)),
            Edit::Double(a, b) => {
                let (a, b) = (a.index(count).min(b.index(count)), a.index(count).max(b.index(count)));
                let part = text[a..b].to_vec();
                text.splice(b..b, part);
            }
        }
    }
    text
}
