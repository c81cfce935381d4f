//! The items that a purchase names.

use std::num::NonZeroU32;

/// The most items that one purchase names.
pub const MAX_ITEMS: usize = 20;

/// The longest id of an item, in bytes.
pub const MAX_ITEM_ID_BYTES: usize = 64;

/// The most pieces of one item.
pub const MAX_QUANTITY: u32 = 999;

/// One item: the shop's id of it, and the number of pieces.
type Item = (Box<str>, NonZeroU32);

/// The memory of one item, in bytes, without its id.
pub(crate) const ITEM_BYTES: usize = size_of::<Item>();

/// The items that a purchase names: the `items` of a request, each by the shop's id of it, with the number of pieces.
///
/// They say what the guard orders where it orders from the shop itself. The order written is kept. An id has few
/// characters, so that no text of an attacker is hidden in it.
///
/// ```
/// use sirl::Items;
///
/// let items = Items::default().with("kettle", 2).and_then(|items| items.with("mug", 1)).unwrap();
/// let listed: Vec<(&str, u32)> = items.iter().map(|(id, quantity)| (id, quantity.get())).collect();
/// assert_eq!(listed, [("kettle", 2), ("mug", 1)]);
/// assert!(items.clone().with("kettle", 1).is_none(), "it is named already");
/// assert!(items.clone().with("the red mug", 1).is_none(), "this is no id");
/// assert!(items.with("spoon", 0).is_none(), "nothing would be bought");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Items {
    /// In the order written.
    listed: Vec<Item>,
}

impl Items {
    /// Adds an item behind the others. Returns `None` if
    ///
    /// - the id is not 1 to [`MAX_ITEM_ID_BYTES`] ASCII letters, digits and `_ - . : /`,
    /// - the item is named already,
    /// - the quantity is 0 or more than [`MAX_QUANTITY`], or
    /// - there are [`MAX_ITEMS`] items already.
    #[must_use]
    pub fn with(mut self, id: &str, quantity: u32) -> Option<Items> {
        let quantity = NonZeroU32::new(quantity).filter(|quantity| quantity.get() <= MAX_QUANTITY)?;
        if !is_item_id(id) || self.names(id) || self.is_full() {
            return None;
        }
        self.listed.push((id.into(), quantity));
        self.listed.shrink_to_fit();
        Some(self)
    }

    /// The ids of the items with their quantities, in the order written.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, NonZeroU32)> {
        self.listed.iter().map(|(id, quantity)| (&**id, *quantity))
    }

    /// Tells if no item is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Tells if an item with this id is named.
    pub(crate) fn names(&self, id: &str) -> bool {
        self.iter().any(|(named, _)| named == id)
    }

    /// Tells if there is no room for a further item.
    pub(crate) fn is_full(&self) -> bool {
        self.listed.len() >= MAX_ITEMS
    }

    /// The memory that it holds, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let ids = self.listed.iter().map(|(id, _)| id.len());
        self.listed.capacity() * ITEM_BYTES + ids.sum::<usize>()
    }
}

/// Tells if `text` can be the id of an item.
pub(crate) fn is_item_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/');
    (1..=MAX_ITEM_ID_BYTES).contains(&text.len()) && text.bytes().all(plain)
}

/// The quantity of this text: a whole number without a sign and without a leading zero, up to [`MAX_QUANTITY`].
pub(crate) fn quantity(text: &str) -> Option<u32> {
    if text.starts_with('0') || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|quantity| *quantity <= MAX_QUANTITY)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use super::*;

    #[test]
    fn an_id_has_few_characters() {
        let longest = "a".repeat(MAX_ITEM_ID_BYTES);
        for id in ["a", "7", "gid://shop/Item/12", "blue_mug-2.v1", "/", &longest] {
            assert!(Items::default().with(id, 1).is_some(), "{id}");
        }
        let longer = "a".repeat(MAX_ITEM_ID_BYTES + 1);
        for id in ["", " ", "a b", "a\n", "a\"", "a\\", "a,b", "{a}", "a+b", "ä", "\u{202e}a", &longer] {
            assert!(Items::default().with(id, 1).is_none(), "{id}");
        }
    }

    #[test]
    fn a_quantity_is_a_whole_number_from_one() {
        for (text, expected) in [("1", 1), ("10", 10), ("999", MAX_QUANTITY)] {
            assert_eq!(quantity(text), Some(expected));
            assert!(Items::default().with("a", expected).is_some());
        }
        for text in ["", "0", "01", "1000", "1.0", "1e2", "+1", "-1", " 1", "\u{661}", "99999999999999999999"]
        {
            assert_eq!(quantity(text), None, "{text}");
        }
        assert!(Items::default().with("a", 0).is_none());
        assert!(Items::default().with("a", MAX_QUANTITY + 1).is_none());
    }

    #[test]
    fn there_are_no_more_items_than_allowed_and_each_is_named_once() {
        let add = |items: Items, at: usize| items.with(&format!("item{at}"), 1).unwrap();
        let full = (0..MAX_ITEMS).fold(Items::default(), add);
        assert_eq!(full.iter().len(), MAX_ITEMS);
        assert_eq!(full.clone().with("one-more", 1), None);
        let one = Items::default().with("mug", 1).unwrap();
        assert_eq!(one.clone().with("mug", 2), None);
        assert!(one.with("Mug", 2).is_some(), "ids are compared as they are written");
    }
}
