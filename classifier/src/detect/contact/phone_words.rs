//! The words around a number that say whether it is a phone number.

/// The meaning of the nearest cue word before a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhoneCue {
    Phone,
    Other,
    None,
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

/// Words after a number that say which line it is.
const LABELS: [&str; 10] =
    ["office", "fax", "mobile", "home", "work", "cell", "phone", "tel", "landline", "hotline"];

/// Words that announce some other number.
const OTHER_WORDS: [&str; 50] = [
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
    "buffer",
    "bytes",
    "hex",
    "uid",
    "gid",
    "pid",
    "port",
    "ports",
    "range",
    "sendungsnummer",
    "imei",
    "timestamp",
    "offset",
];

/// How far back a cue word is searched, in characters.
const REACH: usize = 32;

/// Returns the meaning of the nearest cue word before a number, with no other number, bracket or line end between.
pub(crate) fn nearest_word(before: &str) -> PhoneCue {
    let start = before.char_indices().rev().take(REACH).last().map_or(before.len(), |(at, _)| at);
    let window = before.get(start..).unwrap_or_default();
    let near = window
        .rsplit(|c: char| c.is_numeric() || matches!(c, '[' | ']' | ';' | '|'))
        .next()
        .unwrap_or_default();
    // A word that the window cuts in two does not count.
    let whole = near.len() < window.len() || start == 0;
    let (near, whole) = match near.rsplit_once('\n') {
        // The line says by itself what its number is.
        Some((_, line))
            if line.split(|c: char| !c.is_alphabetic()).any(|word| word.len() > 1 && word != "text") =>
        {
            (line, true)
        }
        // Only the end of the line before is a label of this one.
        Some((above, _)) => {
            let end = above.trim_end_matches(|c: char| !c.is_alphabetic());
            let word = end.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            (word, whole || word.len() < near.len())
        }
        None => (near, whole),
    };
    let words: Vec<String> = near
        .split(|character: char| !character.is_alphabetic())
        .skip(usize::from(!whole))
        .map(str::to_lowercase)
        .collect();
    words
        .iter()
        .rev()
        .find_map(|word| match word.as_str() {
            word if PHONE_WORDS.contains(&word) => Some(PhoneCue::Phone),
            word if OTHER_WORDS.contains(&word) => Some(PhoneCue::Other),
            _ => None,
        })
        .unwrap_or(PhoneCue::None)
}

/// Returns whether the text ends with a word that announces a phone number, and one sign: `tel=`, `phone/`.
pub(crate) fn names_phone(before: &str) -> bool {
    let word = before.get(..before.len().saturating_sub(1)).unwrap_or_default();
    nearest_word(word) == PhoneCue::Phone
}

/// Returns whether a word after a number says which line it is.
pub(crate) fn is_label(word: &str) -> bool {
    LABELS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_decides() {
        assert_eq!(nearest_word("Phone number: "), PhoneCue::Phone);
        assert_eq!(nearest_word("Order by phone: "), PhoneCue::Phone);
        assert_eq!(nearest_word("phone order "), PhoneCue::Other);
        assert_eq!(nearest_word("Téléphone : "), PhoneCue::Phone);
        assert_eq!(nearest_word("iPhone "), PhoneCue::None);
        assert_eq!(nearest_word("phone 1, "), PhoneCue::None);
        assert_eq!(nearest_word("[phone] "), PhoneCue::None);
        assert_eq!(nearest_word("Phone:\n"), PhoneCue::Phone);
        assert_eq!(nearest_word("Function call interrupts\nTLB: "), PhoneCue::None);
        assert_eq!(nearest_word("call us now\n"), PhoneCue::None);
        assert_eq!(nearest_word(&format!("phone{}", " x".repeat(REACH))), PhoneCue::None);
        assert_eq!(nearest_word(&format!("xphone{}", " ".repeat(REACH - 5))), PhoneCue::None);
    }
}
