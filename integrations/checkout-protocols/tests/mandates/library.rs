//! Mandates that AP2's own library made with keys of ours: `vectors/ap2_sdk.json`. Its chains are read as ours are.

use checkout_protocols::{
    Expected, KeySet, MandateFault, Mandates, Merchant, Shop, SignedCheckout, UsedMandates, VerifiedCheckout,
};
use serde_json::Value;

use crate::parties::{ORIGIN, merchant, profile_with};

/// What the library made for the shop of these tests, with other keys and a checkout of its own.
struct Made {
    vectors: Value,
    merchant: Merchant,
}

impl Made {
    fn read() -> Made {
        let vectors: Value = serde_json::from_str(include_str!("vectors/ap2_sdk.json")).unwrap();
        Made { vectors, merchant: merchant() }
    }

    fn text(&self, name: &str) -> &str {
        self.vectors[name].as_str().unwrap()
    }

    /// The checkout, verified as one of the shop at this origin.
    fn checkout(&self, origin: &str) -> VerifiedCheckout {
        let profile = profile_with(origin, &self.vectors["keys"]["shop"]);
        SignedCheckout::compact(self.text("checkout_jwt")).verify(&profile).unwrap()
    }

    fn shown(&self, mandates: &Mandates, origin: &str, nonce: &str) -> Result<(), MandateFault> {
        let surfaces = KeySet::from_jwks(std::slice::from_ref(&self.vectors["keys"]["surface"])).unwrap();
        let shop = Shop { merchant: &self.merchant, surfaces: &surfaces };
        let (checkout, now) = (self.checkout(origin), self.vectors["at"].as_u64().unwrap());
        let expected = Expected { checkout: &checkout, nonce, now };
        shop.accept(mandates, &expected, &mut UsedMandates::default()).map(|_| ())
    }
}

#[test]
fn the_librarys_mandates_are_accepted() {
    let made = Made::read();
    assert_eq!(made.text("audience"), ORIGIN);
    assert_eq!(made.checkout(ORIGIN).hash(), made.text("checkout_hash"));
    let mandates =
        Mandates { checkout: made.text("checkout_chain").into(), payment: made.text("payment_chain").into() };
    let nonce = made.text("nonce");
    assert_eq!(made.shown(&mandates, ORIGIN, nonce), Ok(()));
    assert_eq!(made.shown(&mandates, "https://other.example", nonce), Err(MandateFault::Audience));
    assert_eq!(made.shown(&mandates, ORIGIN, "nonce-2"), Err(MandateFault::Nonce));
    let swapped = Mandates { checkout: mandates.payment.clone(), payment: mandates.checkout.clone() };
    assert_eq!(made.shown(&swapped, ORIGIN, nonce), Err(MandateFault::Kind));
    // The library looks at neither the audience nor the nonce of a single token, nor of a chain whose last token is open.
    let single = Mandates { checkout: made.text("single").into(), ..mandates.clone() };
    assert_eq!(made.shown(&single, ORIGIN, nonce), Err(MandateFault::Chain));
    let open = mandates.checkout.split_once("~~").unwrap().0;
    let last_open = Mandates { checkout: format!("{open}~~{open}~"), ..mandates.clone() };
    assert_eq!(made.shown(&last_open, ORIGIN, nonce), Err(MandateFault::Kind));
}
