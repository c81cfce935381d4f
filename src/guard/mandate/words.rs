//! The words of a shop's lines about prices, in English, German, French, Spanish, Italian and Dutch. Each is whole and in lower case.

/// Words beside an item that say how many.
pub(super) const QUANTITY: &[&str] = &[
    "qty",
    "quantity",
    "menge",
    "anzahl",
    "quantité",
    "cantidad",
    "quantità",
    "aantal",
    "stück",
    "pieces",
    "pcs",
];

/// Other words beside an item.
pub(super) const ITEM: &[&str] =
    &["x", "item", "items", "artikel", "article", "artículo", "articolo", "each"];

/// Words beside the price of one.
pub(super) const PRICE: &[&str] = &["price", "preis", "prix", "precio", "prezzo", "prijs", "unit", "each"];

/// Words beside the sum.
pub(super) const TOTAL: &[&str] = &[
    "total",
    "subtotal",
    "sum",
    "due",
    "pay",
    "summe",
    "gesamt",
    "gesamtsumme",
    "gesamtbetrag",
    "zwischensumme",
    "zahlen",
    "montant",
    "totale",
    "importe",
    "subtotale",
    "totaal",
    "subtotaal",
    "betalen",
    "payer",
    "pagar",
];

/// The words of [`TOTAL`] for a part of the sum.
pub(super) const SUBTOTAL: &[&str] = &["subtotal", "zwischensumme", "subtotale", "subtotaal"];

/// Words beside the cost of delivery, and of taxes on top.
pub(super) const EXTRA: &[&str] = &[
    "delivery",
    "shipping",
    "postage",
    "versand",
    "versandkosten",
    "lieferung",
    "livraison",
    "envío",
    "spedizione",
    "verzending",
    "verzendkosten",
    "tax",
    "taxes",
    "vat",
    "mwst",
    "ust",
    "tva",
    "iva",
    "btw",
];

/// Words by which a tax is a part of the price already.
pub(super) const INCLUDED: &[&str] = &[
    "incl",
    "including",
    "included",
    "inkl",
    "inklusive",
    "enthalten",
    "inclus",
    "incluido",
    "incluso",
    "inbegrepen",
];

/// Beginnings of the words for `sold`.
pub(super) const SOLD: &[&str] = &["sold", "fulfilled", "verkauf", "vendu", "vendido", "venduto", "verkocht"];

/// Words for `by`.
pub(super) const BY: &[&str] = &["by", "durch", "von", "par", "por", "da", "door"];

/// Words that say nothing of their own.
pub(super) const FILLER: &[&str] = &[
    "order",
    "grand",
    "the",
    "your",
    "of",
    "in",
    "all",
    "amount",
    "to",
    "now",
    "and",
    "standard",
    "free",
    "cost",
    "costs",
    "zu",
    "der",
    "die",
    "das",
    "bestellung",
    "de",
    "la",
    "le",
    "du",
    "commande",
    "pedido",
    "ordine",
    "bestelling",
    "te",
];
