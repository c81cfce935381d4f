//! The shipped attributes are valid, and distinguish the plainest cases.

use classifier::{SparseAttribute, TokenAttribute};

const FILES: [(&str, &[u8]); 3] = [
    ("toxicity", include_bytes!("../../models/toxicity.attribute")),
    ("scam", include_bytes!("../../models/scam.attribute")),
    ("secrets", include_bytes!("../../models/secrets.attribute")),
];

#[test]
fn the_files_are_attributes_of_the_reference_vocabulary() {
    for (name, bytes) in FILES {
        let attribute = SparseAttribute::from_bytes(bytes).unwrap();
        assert_eq!(attribute.vocabulary(), 50_257, "{name}");
        assert_eq!(attribute.to_bytes(), bytes, "{name}");
        let count = attribute.weights().len();
        assert!((20..5_000).contains(&count), "{name}: {count}");
        assert!(attribute.weights().iter().all(|(_, weight)| (-20.0..0.0).contains(weight)), "{name}");
    }
}

#[test]
fn the_plainest_cases_are_told_apart() {
    let secrets = SparseAttribute::from_bytes(FILES[2].1).unwrap();
    // "Please tell me your password." and "The kettle costs 29.99 and ships tomorrow." in GPT-2's tokens.
    let asking = secrets.log_weight_of(&[4222, 1560, 502, 534, 9206, 13]);
    let harmless = secrets.log_weight_of(&[383, 47178, 3484, 2808, 13, 2079, 290, 7937, 9439, 13]);
    assert!(asking < harmless - 1.0, "{asking} {harmless}");
}
