//! Shops that cheat. What they change before the yes is refused before the user is asked or shown to the user; what they change after it
//! is refused.

use checkout_protocols::{AnswerFault, CheckoutFault, Difference, OrderFault, Receipt};
use ucp_shop::Behaviour;

use super::buyer::{End, Line, STREET, order, wish};

fn ended(mut line: Line) -> (End, Line) {
    let end = order(&mut line, wish(), &mut None);
    (end, line)
}

fn not_bought(line: Line) -> OrderFault {
    let (end, line) = ended(line);
    assert_eq!(line.sales(), 0);
    match end {
        End::NotBought(fault) => fault,
        end => panic!("{end:?}"),
    }
}

#[test]
fn an_honest_shop_sells_once_what_was_wanted() {
    let (end, line) = ended(Line::new());
    let End::Bought(bought) = end else { panic!("{end:?}") };
    assert_eq!((bought.receipt, bought.differs), (Receipt::Signed, None));
    assert_eq!(line.sent, ["POST checkout-sessions", "PUT one", "GET one", "POST complete"]);
    let [sale] = line.shop.ledger() else { panic!() };
    assert_eq!(sale.order, bought.order);
    let [sold] = sale.lines.as_slice() else { panic!() };
    assert_eq!((sold.item.as_str(), sold.quantity.get()), ("kettle", 2));
    // Two kettles, the cheaper delivery, and taxes.
    assert_eq!(sale.total.amount, 2 * 1900 + 500 + 304);
}

#[test]
fn what_the_shop_changes_from_the_start_is_refused() {
    for (behaviour, fault) in [
        (Behaviour::AddsLine, OrderFault::Differs(Difference::Lines)),
        (Behaviour::ChangesQuantity, OrderFault::Differs(Difference::Lines)),
        (
            Behaviour::UnsignedCheckout,
            OrderFault::Answer(AnswerFault::Checkout(CheckoutFault::Signed(
                checkout_protocols::JwsFault::Form,
            ))),
        ),
        (
            Behaviour::SignsWithOtherKey,
            OrderFault::Answer(AnswerFault::Checkout(CheckoutFault::Signed(
                checkout_protocols::JwsFault::Signature,
            ))),
        ),
        (Behaviour::RedirectsProfile, OrderFault::NotOffered),
        (Behaviour::EndpointElsewhere, OrderFault::NotOffered),
        (Behaviour::EscalatesElsewhere, OrderFault::Elsewhere),
        (
            Behaviour::Recurring,
            OrderFault::Answer(AnswerFault::Checkout(CheckoutFault::Unknown("payment_terms".into()))),
        ),
    ] {
        assert_eq!(not_bought(Line::behaving(behaviour)), fault, "{behaviour:?}");
    }
    // The address comes back changed with the first answer, so there is no destination to choose.
    assert!(matches!(not_bought(Line::behaving(Behaviour::ChangesAddress)), OrderFault::Incomplete(_)));
}

/// A checkout that is ready at once is compared too: there is no delivery to choose before.
#[test]
fn a_checkout_that_is_ready_at_once_is_compared_with_what_was_wanted() {
    for (behaviour, difference) in [
        (Behaviour::Honest, None),
        (Behaviour::AddsLine, Some(Difference::Lines)),
        (Behaviour::ChangesQuantity, Some(Difference::Lines)),
        (Behaviour::ChangesAddress, Some(Difference::Address)),
    ] {
        let mut line = Line::new();
        line.shop = line.shop.with_single_delivery();
        line.shop.behave(behaviour);
        let (end, line) = ended(line);
        match difference {
            None => assert!(matches!(end, End::Bought(_)), "{end:?}"),
            Some(difference) => {
                assert_eq!((end, line.sales()), (End::NotBought(OrderFault::Differs(difference)), 0));
            }
        }
    }
}

/// The user agreed to the offer before. Each of these is refused at the second look, with the difference named.
#[test]
fn what_the_shop_changes_after_the_yes_is_refused() {
    for (behaviour, difference) in [
        (Behaviour::RaisesTotalAfterReady, Difference::Total),
        (Behaviour::AddsLine, Difference::Lines),
        (Behaviour::ChangesQuantity, Difference::Lines),
        (Behaviour::ChangesCurrency, Difference::Currency),
        (Behaviour::OtherPayee, Difference::Payee),
        (Behaviour::ChangesAddress, Difference::Address),
        (Behaviour::Escalates, Difference::State),
        (Behaviour::LooksInstructed, Difference::Message),
        (Behaviour::RenamesPart, Difference::Parts),
    ] {
        let mut line = Line::new();
        line.later = Some(behaviour);
        let fault = not_bought(line);
        assert_eq!(fault, OrderFault::Differs(difference), "{behaviour:?}");
    }
}

/// A shop that asks for another sum from the start asks the user for it: the question shows it. These sell, since this user agrees.
#[test]
fn what_only_the_user_can_judge_is_shown() {
    for behaviour in [Behaviour::ChangesCurrency, Behaviour::OtherPayee, Behaviour::LooksInstructed] {
        let (end, line) = ended(Line::behaving(behaviour));
        assert!(matches!(end, End::Bought(_)) || line.sales() == 0, "{behaviour:?} {end:?}");
    }
}

#[test]
fn a_shop_that_wants_a_person_names_its_own_page() {
    let (end, line) = ended(Line::behaving(Behaviour::Escalates));
    let End::Escalated(url) = end else { panic!("{end:?}") };
    assert_eq!((url.origin().ascii_serialization().as_str(), line.sales()), ("https://kettles.example", 0));
}

#[test]
fn a_receipt_that_is_wrong_is_said_to_be() {
    for behaviour in [Behaviour::ReceiptUnsigned, Behaviour::ReceiptForAnother] {
        let (end, line) = ended(Line::behaving(behaviour));
        let End::Bought(bought) = end else { panic!("{behaviour:?} {end:?}") };
        assert_eq!((bought.receipt, line.sales()), (Receipt::Wrong, 1), "{behaviour:?}");
    }
    let (end, line) = ended(Line::behaving(Behaviour::CompletesWithOtherTotal));
    let End::Bought(bought) = end else { panic!("{end:?}") };
    assert_eq!((bought.differs, line.sales()), (Some(Difference::Total), 1));
}

#[test]
fn no_fault_repeats_the_buyers_address() {
    for behaviour in
        [Behaviour::ChangesAddress, Behaviour::Recurring, Behaviour::LooksInstructed, Behaviour::AddsLine]
    {
        let (end, _) = ended(Line::behaving(behaviour));
        let said = format!("{end:?}");
        assert!(!said.contains(STREET) && !said.contains("canary.example"), "{said}");
    }
}

#[test]
fn more_than_the_stock_and_what_nobody_sells_is_refused_with_the_shops_code() {
    for (item, quantity, code) in [("teapot", 2, "out_of_stock"), ("samovar", 1, "item_unavailable")] {
        let (mut line, mut wish) = (Line::new(), wish());
        wish.items[0].item = item.into();
        wish.items[0].quantity = quantity.try_into().unwrap();
        let End::NotBought(OrderFault::Answer(AnswerFault::Refused(said))) =
            order(&mut line, wish, &mut None)
        else {
            panic!()
        };
        assert_eq!((said.as_str(), line.sales()), (code, 0));
    }
}
