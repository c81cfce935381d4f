//! Mandates that AP2's own library made with keys of ours: `vectors/ap2_sdk.json`. Its chains are read as ours are.

use checkout_protocols::{
    Expected, KeySet, MandateFault, Mandates, Merchant, Shop, SignedCheckout, UsedMandates, VerifiedCheckout,
};
use serde_json::Value;

struct Made {
    vectors: Value,
    checkout: VerifiedCheckout,
}

impl Made {
    fn read() -> Made {
        let vectors: Value = serde_json::from_str(include_str!("vectors/ap2_sdk.json")).unwrap();
        let keys = KeySet::from_jwks(std::slice::from_ref(&vectors["keys"]["shop"])).unwrap();
        let checkout =
            SignedCheckout::compact(vectors["checkout_jwt"].as_str().unwrap()).verify(&keys).unwrap();
        Made { vectors, checkout }
    }

    fn text(&self, name: &str) -> String {
        self.vectors[name].as_str().unwrap().to_owned()
    }

    fn shown(&self, mandates: &Mandates, audience: &str, nonce: &str) -> Result<(), MandateFault> {
        let merchant: Merchant = serde_json::from_value(
            serde_json::json!({"id": "m-1", "name": "Flower Shop", "website": "https://flowers.example"}),
        )
        .unwrap();
        let surfaces = KeySet::from_jwks(std::slice::from_ref(&self.vectors["keys"]["surface"])).unwrap();
        let shop = Shop { merchant: &merchant, audience, surfaces: &surfaces };
        let now = self.vectors["at"].as_u64().unwrap();
        let expected = Expected { checkout: &self.checkout, nonce, now };
        shop.accept(mandates, &expected, &mut UsedMandates::default()).map(|_| ())
    }
}

#[test]
fn the_librarys_mandates_are_accepted() {
    let made = Made::read();
    assert_eq!(made.checkout.hash(), made.text("checkout_hash"));
    let mandates = Mandates { checkout: made.text("checkout_chain"), payment: made.text("payment_chain") };
    let (audience, nonce) = (made.text("audience"), made.text("nonce"));
    assert_eq!(made.shown(&mandates, &audience, &nonce), Ok(()));
    assert_eq!(made.shown(&mandates, "https://other.example", &nonce), Err(MandateFault::Audience));
    assert_eq!(made.shown(&mandates, &audience, "nonce-2"), Err(MandateFault::Nonce));
    // The library takes each of these.
    let swapped = Mandates { checkout: mandates.payment.clone(), payment: mandates.checkout.clone() };
    assert_eq!(made.shown(&swapped, &audience, &nonce), Err(MandateFault::Kind));
    let single = Mandates { checkout: made.text("single"), ..mandates.clone() };
    assert_eq!(made.shown(&single, &audience, &nonce), Err(MandateFault::Chain));
    let open = mandates.checkout.split_once("~~").unwrap().0.to_owned() + "~";
    let last_open = Mandates { checkout: format!("{}~~{open}", open.trim_end_matches('~')), ..mandates };
    assert_eq!(made.shown(&last_open, &audience, &nonce), Err(MandateFault::Kind));
}
