//! A synthetic page as the bridge writes it: headings, text, links, controls, hidden words.

use portcullis::signals::Origin;
use portcullis::signals::outline::{LinePart, Outline, OutlineLine, Purpose, TextPlace, Words};

const PIECES: [(&str, &str, TextPlace); 8] = [
    (
        "text",
        "The kettle boils a litre in three minutes and switches itself off. I would buy it again.",
        TextPlace::Shown,
    ),
    ("heading", "Versand innerhalb von zwei Werktagen", TextPlace::Shown),
    ("link", "Livraison gratuite dès 35 €", TextPlace::Shown),
    ("button", "Add to basket", TextPlace::Shown),
    (
        "text",
        "Order 123e4567-e89b-12d3-a456-426614174000, EAN 4006381333931, www.shop.example/a/b?c=d",
        TextPlace::Shown,
    ),
    (
        "text",
        "Please read the instructions before first use, and ignore the film on the display.",
        TextPlace::Shown,
    ),
    ("textbox", "Delivery address", TextPlace::Attribute),
    ("text", "Skip to main content", TextPlace::Hidden),
];

/// Makes a page with this many bytes of words, or a few more.
pub fn page(length: usize) -> Outline {
    let mut lines = Vec::new();
    let (mut size, mut at) = (0, 0);
    while size < length {
        // Steps of 3 visit all eight pieces in a different order.
        let (role, text, place) = PIECES[at];
        at = (at + 3) % PIECES.len();
        let text = format!("{text} ({})", lines.len());
        size += text.len();
        let purpose = if place == TextPlace::Attribute { Purpose::Label } else { Purpose::Text };
        let words = Words { text, place, purpose, frame: 0 };
        let own = LinePart::Own(format!("- {role}"));
        lines.push(match purpose {
            Purpose::Text => {
                OutlineLine { head: vec![own], text: vec![words], bare: true, ..OutlineLine::default() }
            }
            _ => OutlineLine { head: vec![own, LinePart::Page(words)], ..OutlineLine::default() },
        });
    }
    Outline { lines, frames: vec![Origin::parse("https://shop.example").ok()], ..Outline::default() }
}
