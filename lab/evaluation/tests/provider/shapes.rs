//! Honest shops with our provider: one frame with all fields, and one frame a field.

use crate::pages::{all_fields, checkout, frame, one_field_each};
use crate::runs::{ALL, CODE, NUMBER, Paying, policy};
use crate::stage::{FRAME, SHOP, Stage, TOKEN};

/// The frames of a provider that has one for each field.
fn three() -> String {
    ["/number", "/expiry", "/code"].map(|path| frame(FRAME, path, "")).concat()
}

async fn pays(stage: &Stage, policy: &str) -> Vec<String> {
    let mut paying = Paying::begin(stage, policy).await;
    paying.read_until("Security code").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("GRANT.payment ") && answer.lines().count() == 1, "{answer}");
    for field in ["card_number", "card_expiry", "card_code"] {
        assert!(answer.contains(field), "{answer}");
    }
    assert_eq!(paying.click("Place the order").await, "ok");
    paying.until(|| stage.world.has(SHOP, "/order")).await;
    paying.read_until("Thank you").await;
    assert_eq!(stage.world.got(NUMBER), [TOKEN], "the number goes to the provider, and not to the shop");
    assert_eq!(stage.world.got(CODE), [TOKEN]);
    // There is one payment in a task.
    let again = paying.ask(ALL).await;
    assert!(again.contains("limit_reached"), "{again}");
    let asked = paying.asked();
    paying.finish().await;
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_paid_in_one_frame_with_all_fields() {
    let stage = Stage::set_up().await;
    stage.world.serve(&[checkout(&frame(FRAME, "/card", "")), all_fields(FRAME, "")]);
    let asked = pays(&stage, &policy("frame top or provider")).await;
    let [question] = asked.as_slice() else { panic!("{asked:?}") };
    for words in [
        "the amount cannot be checked: this site can charge any amount".to_owned(),
        "Order total: 42.00 USD".to_owned(),
        "card number, card expiry, card code".to_owned(),
        format!("https://{FRAME}"),
        format!("the frame of the payment provider \"Our pay\" of your policy, in a page of https://{SHOP}"),
        format!("the provider sends them to https://{TOKEN}"),
    ] {
        assert!(question.contains(&words), "{words} is not in\n{question}");
    }
    // The shipped policy names no provider, and the same page gets nothing.
    stage.world.serve(&[checkout(&frame(FRAME, "/card", "")), all_fields(FRAME, "")]);
    let mut paying = Paying::begin(&stage, portcullis::APPROACH_A_POLICY).await;
    paying.read_until("Security code").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.contains("origin_mismatch"), "{answer}");
    paying.finish().await;
    assert_eq!(stage.world.got(NUMBER), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_paid_in_one_frame_a_field_with_one_question() {
    let stage = Stage::set_up().await;
    let pages: Vec<_> = one_field_each().into_iter().chain([checkout(&three())]).collect();
    stage.world.serve(&pages);
    let asked = pays(&stage, &policy("frame provider")).await;
    let [question] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(question.matches("fill your payment").count(), 1, "{question}");
    assert!(question.contains("card number, card expiry, card code"), "{question}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_no_frame_takes_is_refused_before_any_is_filled() {
    let stage = Stage::set_up().await;
    let two = ["/number", "/expiry"].map(|path| frame(FRAME, path, "")).concat();
    let pages: Vec<_> = one_field_each().into_iter().chain([checkout(&two)]).collect();
    stage.world.serve(&pages);
    let mut paying = Paying::begin(&stage, &policy("frame provider")).await;
    paying.read_until("Expiry").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.contains("no_control") && answer.lines().count() == 1, "{answer}");
    assert_eq!(paying.asked(), Vec::<String>::new());
    // Those that are there can be asked for, since nothing was filled.
    let answer = paying.ask("REQ.payment fields=[\"card_number\",\"card_expiry\"]\nREQ.end").await;
    assert!(answer.starts_with("GRANT.payment "), "{answer}");
    paying.finish().await;
}
