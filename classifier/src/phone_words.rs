//! The words around a number that say whether it is a phone number.

/// What the nearest telling word before a number says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Phone,
    Other,
    Neither,
}

/// Words that announce a phone number.
const PHONE_WORDS: [&str; 35] = [
    "phone",
    "phones",
    "telephone",
    "tel",
    "mobile",
    "mob",
    "cell",
    "cellphone",
    "call",
    "calling",
    "fax",
    "whatsapp",
    "sms",
    "telefon",
    "telefonnummer",
    "handy",
    "handynummer",
    "mobil",
    "mobilnummer",
    "rufnummer",
    "anrufen",
    "telefax",
    "portable",
    "téléphone",
    "teléfono",
    "telefono",
    "móvil",
    "celular",
    "cellulare",
    "telefone",
    "telefoon",
    "hotline",
    "answering",
    "reach",
    "dial",
];

/// Words behind a number that say what line it is.
const LABELS: [&str; 10] =
    ["office", "fax", "mobile", "home", "work", "cell", "phone", "tel", "landline", "hotline"];

/// Words that announce some other number.
const OTHER_WORDS: [&str; 37] = [
    "order",
    "invoice",
    "item",
    "sku",
    "isbn",
    "issn",
    "ean",
    "upc",
    "gtin",
    "asin",
    "doi",
    "ref",
    "reference",
    "tracking",
    "article",
    "artikel",
    "art",
    "part",
    "model",
    "serial",
    "ticket",
    "id",
    "version",
    "bestellung",
    "bestellnummer",
    "rechnung",
    "artikelnummer",
    "commande",
    "facture",
    "pedido",
    "factura",
    "product",
    "case",
    "parcel",
    "shipment",
    "code",
    "barcode",
];

/// How far back a telling word is looked for, in characters.
const REACH: usize = 32;

/// The nearest telling word before a number, with no other number, bracket or line end between.
pub(crate) fn nearest_word(before: &str) -> Word {
    let start = before.char_indices().rev().take(REACH).last().map_or(before.len(), |(at, _)| at);
    let window = before.get(start..).unwrap_or_default();
    let near = window
        .rsplit(|c: char| c.is_numeric() || matches!(c, '[' | ']' | ';' | '|'))
        .next()
        .unwrap_or_default();
    // A word that the window cuts in two says nothing.
    let whole = near.len() < window.len() || start == 0;
    let words: Vec<String> = near
        .split(|character: char| !character.is_alphabetic())
        .skip(usize::from(!whole))
        .map(str::to_lowercase)
        .collect();
    words
        .iter()
        .rev()
        .find_map(|word| match word.as_str() {
            word if PHONE_WORDS.contains(&word) => Some(Word::Phone),
            word if OTHER_WORDS.contains(&word) => Some(Word::Other),
            _ => None,
        })
        .unwrap_or(Word::Neither)
}

/// Whether the text ends with a word that announces a phone number, and one sign: `tel=`, `phone/`.
pub(crate) fn names_phone(before: &str) -> bool {
    let word = before.get(..before.len().saturating_sub(1)).unwrap_or_default();
    nearest_word(word) == Word::Phone
}

/// Whether a word behind a number says what line it is.
pub(crate) fn is_label(word: &str) -> bool {
    LABELS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_decides() {
        assert_eq!(nearest_word("Phone number: "), Word::Phone);
        assert_eq!(nearest_word("Order by phone: "), Word::Phone);
        assert_eq!(nearest_word("phone order "), Word::Other);
        assert_eq!(nearest_word("Téléphone : "), Word::Phone);
        assert_eq!(nearest_word("iPhone "), Word::Neither);
        assert_eq!(nearest_word("phone 1, "), Word::Neither);
        assert_eq!(nearest_word("[phone] "), Word::Neither);
        assert_eq!(nearest_word(&format!("phone{}", " x".repeat(REACH))), Word::Neither);
        assert_eq!(nearest_word(&format!("xphone{}", " ".repeat(REACH - 5))), Word::Neither);
    }
}
