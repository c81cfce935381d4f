//! The purchase that the user's words name: how many of one item.
//!
//! Only plain sentences are understood, such as `buy 2 x "Copper kettle"` or `order the blue teapot at ...`. Everything else, such as a
//! second item, is no wish, and a purchase is then asked about as without one.

use std::ops::Range;

use browser_signals::Origin;

use super::{named, negation};

/// The verbs of a purchase. `pay` names the means and not the item.
const BUYS: [&str; 3] = ["buy", "order", "purchase"];

/// Words that end an item's name.
const ENDS: [&str; 11] = ["at", "from", "on", "for", "in", "with", "to", "via", "and", "please", "using"];

/// Words after `and` or a comma by which a sentence goes on about the order, and not to a second item.
const GOES_ON: [&str; 12] =
    ["ship", "send", "deliver", "have", "pay", "spend", "use", "please", "at", "no", "up", "then"];

/// Words that stand for an item and name none.
const NAMES_NOTHING: [&str; 14] = [
    "it",
    "this",
    "that",
    "these",
    "them",
    "those",
    "one",
    "ones",
    "something",
    "anything",
    "everything",
    "some",
    "more",
    "me",
];

const NUMBERS: [(&str, u32); 15] = [
    ("a", 1),
    ("an", 1),
    ("the", 1),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
];

/// The most characters of an item's name.
const MAX_ITEM: usize = 80;

/// The purchase that the user's words name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// How many.
    pub quantity: u32,
    /// The name of the item in the user's words.
    pub item: String,
    /// The web addresses that the user wrote.
    pub addresses: Vec<String>,
}

/// The wish in a prompt; `None` where it names no item, or more than one.
pub(super) fn wish(prompt: &str) -> Option<Wish> {
    let links = named::links(prompt);
    let words = negation::words(prompt, &links, &[]);
    let mut verbs = words.iter().filter(|word| !word.undone && BUYS.contains(&word.text.as_str()));
    let verb = verbs.next().filter(|_| verbs.next().is_none())?;
    let rest = prompt.get(verb.span.end..)?.trim_start();
    let (quantity, rest) = quantity(rest);
    let item = item(rest)?;
    let names_one = item.chars().count() <= MAX_ITEM
        && item.split_whitespace().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3)
        && !item.to_lowercase().split_whitespace().any(|word| NAMES_NOTHING.contains(&word));
    names_one.then(|| Wish { quantity, item: item.to_owned(), addresses: addresses(prompt, links) })
}

fn addresses(prompt: &str, links: Vec<Range<usize>>) -> Vec<String> {
    let written = links.into_iter().filter_map(|span| prompt.get(span));
    let written = written.map(|link| link.trim_end_matches(['.', ',', ';', '!', '?', ')']));
    written
        .filter(|link| Origin::parse(link).is_ok() || url::Url::parse(link).is_ok())
        .map(str::to_owned)
        .collect()
}

/// How many, and the text after it. Without a number it is one.
fn quantity(text: &str) -> (u32, &str) {
    let Some((first, rest)) = text.split_once(char::is_whitespace) else { return (1, text) };
    let lower = first.to_lowercase();
    let counted = lower.trim_end_matches(['x', '×']).parse().ok().filter(|count| (1..=99).contains(count));
    let counted =
        counted.or_else(|| NUMBERS.iter().find(|(word, _)| *word == lower).map(|(_, count)| *count));
    match counted {
        None => (1, text),
        Some(count) => {
            let rest = rest.trim_start();
            let skipped = ["x ", "× ", "of the ", "pieces of "];
            (count, skipped.iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest).trim_start())
        }
    }
}

/// The name of the item at the beginning of a text, if no second item follows it.
fn item(text: &str) -> Option<&str> {
    let quotes = [('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{201e}', '\u{201c}'), ('\u{ab}', '\u{bb}')];
    let opened = quotes.iter().find_map(|(open, close)| Some((text.strip_prefix(*open)?, *close)));
    let (item, rest) = match opened {
        Some((quoted, close)) => quoted.split_once(close)?,
        None => text.split_at(end_of(text)),
    };
    let goes_on = match rest.trim_start() {
        "" => true,
        rest => match rest.strip_prefix(',').or_else(|| rest.strip_prefix("and ")) {
            Some(after) => GOES_ON.contains(&first_word(after).as_str()),
            None => rest.starts_with(['.', ';', ':', '!', '?', '\n', '[', '(']) || ends(&first_word(rest)),
        },
    };
    let item = item.trim();
    (goes_on && !item.is_empty() && !item.contains(['"', '[', ']', '\n'])).then_some(item)
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().trim_end_matches([',', '.', ':', ';']).to_lowercase()
}

fn ends(word: &str) -> bool {
    ENDS.contains(&word) || word.starts_with("http")
}

/// Where a name without quotation marks ends.
fn end_of(text: &str) -> usize {
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        if ends(&bare.to_lowercase()) || bare.starts_with('[') {
            return at;
        }
        let closed = bare.trim_end_matches([',', '.', ';', ':', '!', '?']);
        if closed.len() < bare.len() || word.contains('\n') {
            return at + closed.len();
        }
        at += word.len();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(prompt: &str) -> Option<(u32, String)> {
        wish(prompt).map(|wish| (wish.quantity, wish.item))
    }

    #[test]
    fn one_item_is_a_wish() {
        for (prompt, quantity, item) in [
            (
                "Please buy 2 x \"Copper kettle, 1.7 l\" at https://shop.example/p. Spend at most 60.00 USD",
                2,
                "Copper kettle, 1.7 l",
            ),
            ("Order the blue teapot at https://shop.example", 1, "blue teapot"),
            ("order two linen aprons, spend at most 60 USD", 2, "linen aprons"),
            ("Buy a kettle. Ship it to [address:home].", 1, "kettle"),
            ("Go to https://shop.example and purchase 3x spice mill, please", 3, "spice mill"),
            ("Buy the kettle and ship it to [address:home]", 1, "kettle"),
            ("Buy the kettle at https://shop.example and do not buy insurance", 1, "kettle"),
            ("Buy \u{201c}Walnut bread board\u{201d} from https://shop.example", 1, "Walnut bread board"),
        ] {
            assert_eq!(named(prompt), Some((quantity, item.to_owned())), "{prompt}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for prompt in [
            "",
            "Read https://shop.example",
            "Do not buy the kettle",
            "Order two of these: https://shop.example/kettle",
            "Buy it at https://shop.example",
            "Buy a kettle and a mug at https://shop.example",
            "Buy a kettle, a mug and a pan",
            "Buy the \"kettle\" and the \"mug\"",
            "Buy a kettle. Then order a mug.",
            "Buy [address:home]",
            "Buy \"unended",
            "Buy 7",
        ] {
            assert_eq!(named(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn the_addresses_are_those_that_the_user_wrote() {
        let wish = wish("Buy a kettle at https://shop.example/t/kettle?id=7. Thanks").unwrap();
        assert_eq!(wish.addresses, ["https://shop.example/t/kettle?id=7"]);
    }
}
