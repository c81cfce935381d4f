//! Orders at a shop that signs nothing, in the first form of the protocol: the same comparisons hold.

use checkout_protocols::{
    AnswerFault, CheckoutFault, Credential, Difference, OrderFault, Preparing, Receipt, Version,
};
use serde_json::{Value, json};
use ucp_shop::{Behaviour, TEST_TOKEN};

use super::buyer::{End, Fate, Line, order, wish};

fn ended(mut line: Line) -> (End, Line) {
    let end = order(&mut line, wish(), &mut None);
    (end, line)
}

#[test]
fn an_honest_shop_sells_once_what_was_wanted() {
    let (end, line) = ended(Line::unsigned());
    let End::Bought(bought) = end else { panic!("{end:?}") };
    assert_eq!((bought.receipt, bought.differs), (Receipt::Missing, None));
    // The destination, then the delivery.
    let calls = ["POST checkout-sessions", "PUT one", "PUT one", "GET one", "POST complete"];
    assert_eq!(line.sent, calls);
    let [sale] = line.shop.ledger() else { panic!() };
    assert_eq!((&sale.order, sale.total.amount), (&bought.order, 2 * 1900 + 500 + 304));
    assert_eq!(sale.destination.street_address, super::buyer::STREET);
}

/// A shop that takes mandates is paid by nothing else, and one that signs nothing gets no mandate.
#[test]
fn a_means_of_payment_fits_one_kind_of_shop() {
    let mut signing = Line { token: Some(TEST_TOKEN), ..Line::new() };
    let mut unsigned = Line { token: None, ..Line::unsigned() };
    for line in [&mut signing, &mut unsigned] {
        assert_eq!(order(line, wish(), &mut None), End::NotBought(OrderFault::NotOffered));
        assert_eq!((line.sent.len(), line.sales()), (0, 0));
    }
    // Without a currency there is nothing to say in the first form.
    let shop = Line::unsigned().profile().unwrap();
    assert_eq!((shop.version(), shop.takes_mandates()), (Version::January11, false));
    let mut wish = wish();
    wish.means.credential = Credential::Token;
    assert_eq!(Preparing::begin(shop, wish, &mut || [0; 16]).err(), Some(OrderFault::NotOffered));
}

#[test]
fn what_the_shop_changes_is_refused_before_and_after_the_yes() {
    for (behaviour, fault) in [
        (Behaviour::AddsLine, OrderFault::Differs(Difference::Lines)),
        (Behaviour::ChangesQuantity, OrderFault::Differs(Difference::Lines)),
        (Behaviour::EscalatesElsewhere, OrderFault::Elsewhere),
        (Behaviour::EndpointElsewhere, OrderFault::NotOffered),
        (Behaviour::RedirectsProfile, OrderFault::NotOffered),
        (
            Behaviour::Recurring,
            OrderFault::Answer(AnswerFault::Checkout(CheckoutFault::Unknown("payment_terms".into()))),
        ),
    ] {
        let mut line = Line::unsigned();
        line.shop.behave(behaviour);
        let (end, line) = ended(line);
        assert_eq!((end, line.sales()), (End::NotBought(fault), 0), "{behaviour:?}");
    }
    for (behaviour, difference) in [
        (Behaviour::RaisesTotalAfterReady, Difference::Total),
        (Behaviour::AddsLine, Difference::Lines),
        (Behaviour::ChangesCurrency, Difference::Currency),
        (Behaviour::ChangesAddress, Difference::Address),
        (Behaviour::RenamesPart, Difference::Parts),
    ] {
        let (end, line) = ended(Line { later: Some(behaviour), ..Line::unsigned() });
        assert_eq!(
            (end, line.sales()),
            (End::NotBought(OrderFault::Differs(difference)), 0),
            "{behaviour:?}"
        );
    }
}

/// The shop refuses by a status alone. The user reads it, and the checkout is cancelled.
#[test]
fn a_refused_token_ends_in_a_cancelled_checkout_and_the_reason() {
    let (end, line) = ended(Line { token: Some("another-token"), ..Line::unsigned() });
    assert_eq!(end, End::NotBought(OrderFault::Answer(AnswerFault::Status(402))));
    assert_eq!((line.sales(), line.sent.last().unwrap().as_str()), (0, "POST cancel"));
}

/// The reference server answers a repeated key with whatever it sold under it first. Another checkout's end is not this one's.
#[test]
fn the_end_of_another_checkout_is_not_taken_for_this_one() {
    fn of_another(checkout: &mut Value) {
        if checkout["status"] == "completed" {
            checkout["id"] = "chk_of_another".into();
        }
    }
    let (end, _) = ended(Line { rewrites: Some(of_another), ..Line::unsigned() });
    assert_eq!(end, End::Unknown);
}

/// A token does not end by itself. A shop that neither sells nor cancels leaves the end unknown, however long it takes.
#[test]
fn time_alone_never_ends_a_purchase_by_token() {
    let mut line = Line::unsigned();
    line.shop.behave(Behaviour::DropsComplete);
    line.fate = Box::new(|_, call| {
        let is_cancelling = call.url().path().ends_with("/cancel");
        if is_cancelling { Fate::IsLost } else { Fate::Arrives }
    });
    line.now += 10;
    assert_eq!(order(&mut line, wish(), &mut None), End::Unknown);
    assert_eq!(line.sales(), 0);
}

/// The call may be under way when no answer came, so the token is not sent again, and the checkout is not cancelled: it is found out later.
#[test]
fn a_token_is_sent_once() {
    for fate in [Fate::IsLost, Fate::AnswerIsLost] {
        let mut line = Line::unsigned();
        let mut is_over = false;
        line.fate = Box::new(move |_, call| {
            is_over |= call.url().path().ends_with("/complete");
            if is_over { fate } else { Fate::Arrives }
        });
        let sales = usize::from(fate == Fate::AnswerIsLost);
        assert_eq!((order(&mut line, wish(), &mut None), line.sales()), (End::Unknown, sales));
        let sent = |what: &str| line.sent.iter().filter(|call| *call == what).count();
        assert_eq!((sent("POST complete"), sent("POST cancel")), (1, 0));
    }
}

/// Nothing ties a sale without a mandate to the address, so what the shop says of it is compared.
#[test]
fn a_sale_to_another_address_is_told() {
    fn to_another(checkout: &mut Value) {
        if checkout["status"] == "completed" {
            checkout["fulfillment"]["methods"][0]["destinations"][0]["street_address"] =
                "1 Other Road".into();
        }
    }
    let (end, _) = ended(Line { rewrites: Some(to_another), ..Line::unsigned() });
    let End::Bought(bought) = end else { panic!("{end:?}") };
    assert_eq!(bought.differs, Some(Difference::Address));
}

/// The shop is told names of items as titles, and a currency. What it repeats of them says nothing.
#[test]
fn an_offer_in_another_currency_or_without_titles_or_of_another_seller_is_refused() {
    for (change, difference) in [
        ((|it: &mut Value| it["currency"] = "EUR".into()) as fn(&mut Value), Difference::Currency),
        (|it| it["line_items"][0]["item"]["title"] = "kettle".into(), Difference::Lines),
        (
            |it| it["merchant"] = json!({"id": "m", "name": "Other", "website": "https://other.example"}),
            Difference::Payee,
        ),
    ] {
        let (end, line) = ended(Line { rewrites: Some(change), ..Line::unsigned() });
        assert_eq!((end, line.sales()), (End::NotBought(OrderFault::Differs(difference)), 0));
        if difference == Difference::Currency {
            assert_eq!(line.sent, ["POST checkout-sessions"], "the shop was not told the address");
        }
    }
}

/// What the first form writes in another way.
#[test]
fn a_discount_is_above_zero_in_the_first_form_alone() {
    let offered = |change: fn(&mut Value)| {
        let mut line = Line { rewrites: Some(change), ..Line::unsigned() };
        let end = order(&mut line, wish(), &mut None);
        (end, line.sales())
    };
    let (end, sales) = offered(|it| discount(it, 100, 100));
    assert!(matches!(end, End::Bought(_)), "{end:?}");
    assert_eq!(sales, 1);
    for change in [(|it: &mut Value| discount(it, -100, 100)) as fn(&mut Value), |it| discount(it, 100, -100)]
    {
        let (end, sales) = offered(change);
        assert!(matches!(end, End::NotBought(_)), "{end:?}");
        assert_eq!(sales, 0);
    }
    // A code that somebody applied, and a member that nobody knows.
    for change in [
        (|it: &mut Value| it["discounts"] = json!({"codes": ["10OFF"], "applied": null})) as fn(&mut Value),
        |it| it["subscription"] = json!({"interval": "month"}),
        |it| it["payment"]["terms"] = json!({"instalments": 12}),
        |it| it["platform"] = json!({"membership": "gold"}),
        |it| it["line_items"][0]["parent_id"] = json!("line_9"),
    ] {
        let (end, sales) = offered(change);
        assert!(
            matches!(
                end,
                End::NotBought(OrderFault::Answer(AnswerFault::Checkout(CheckoutFault::Unknown(_))))
            ),
            "{end:?}"
        );
        assert_eq!(sales, 0);
    }
}

fn discount(checkout: &mut Value, amount: i64, by: i64) {
    let totals = checkout["totals"].as_array_mut().unwrap();
    let total = totals.last_mut().unwrap();
    total["amount"] = (total["amount"].as_i64().unwrap() - by).into();
    totals.insert(1, json!({"type": "discount", "display_text": null, "amount": amount}));
}
