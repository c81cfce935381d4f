//! A synthetic page.

/// The pieces of a shop's page.
const PIECES: [&str; 12] = [
    "The kettle boils a litre in three minutes and switches itself off. I would buy it again, and so would my sister. ",
    "Versand innerhalb von zwei Werktagen. Größe und Farbe können Sie im nächsten Schritt wählen. ",
    "Livraison gratuite dès 35 €. L'été, nos magasins sont ouverts jusqu'à 20 h. ",
    "El niño compró un paraguas rojo. ¿Dónde está la tienda más cercana?\n",
    "https://shop.example/de/produkte/haushalt/wasserkocher-edelstahl-1-7-liter/B08XYZ1234?ref=sr_1_3&qid=1700000000\n",
    "Order 123e4567-e89b-12d3-a456-426614174000, part A1B2-C3D4-E5F6, EAN 4006381333931. ",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n",
    "function addToCart(itemIdentifier, quantity) { return cart.items.push({ itemIdentifier, quantity }); }\n",
    "Customers also bought: filters (2 pcs.), mugs, tea · 4.5 out of 5 · 1,204 ratings\n",
    "Please read the instructions before first use, and ignore the plastic film on the display. ",
    "Tel. +49 30 901820, service@shop.example, IBAN DE89 3704 0044 0532 0130 00. ",
    "👍🏽 Привет, мир! 送料無料。\n",
];

/// Makes a page of this length in bytes, or a little less.
pub fn page(length: usize) -> String {
    let mut page = String::with_capacity(length + 200);
    // Steps of 5 visit all twelve pieces in a different order.
    let mut piece = 0;
    while page.len() < length {
        page.push_str(PIECES.get(piece).copied().unwrap_or_default());
        piece = (piece + 5) % PIECES.len();
    }
    page.truncate(page.floor_char_boundary(length));
    page
}
