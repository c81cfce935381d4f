//! The third shape: a shop that leads the browser to the provider's own page. The policy names its origin, and the user names it as
//! a second site of the task or agrees to it. The page takes the card as a shop's own form does, and leads back to the shop.

use crate::pages::{hosted, leads_to, thanks};
use crate::runs::{ALL, CODE, NUMBER, Paying, policy_naming, unguarded};
use crate::stage::{EVIL, HOSTED, HOSTED_LOOK_ALIKE, SHOP, Stage};

/// The policy of approach A that names the provider by the origin of its own page.
fn policy() -> String {
    policy_naming([HOSTED, HOSTED], "frame top or provider")
}

/// A shop that leads to `host`, whose page leads `back` after the payment.
fn serve(stage: &Stage, host: &'static str, back: &str) {
    let pages: Vec<_> = hosted(host, back).into_iter().chain([leads_to(host), thanks()]).collect();
    stage.world.serve(&pages);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_paid_on_the_providers_own_page() {
    let stage = Stage::set_up().await;
    serve(&stage, HOSTED, &format!("https://{SHOP}/thanks?paid=tok_1"));
    let mut paying = Paying::begin_with_hosted(&stage, &policy()).await;
    assert_eq!(paying.click("Go to payment").await, "ok");
    paying.read_until("Security code").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("GRANT.payment ") && answer.contains("card_code"), "{answer}");
    assert_eq!(paying.click("Place the order").await, "ok");
    paying.read_until("Thank you").await;
    assert!(stage.world.has(SHOP, "/thanks?paid=tok_1"));
    assert_eq!(stage.world.got(NUMBER), [HOSTED], "the number goes to the provider, and not to the shop");
    assert_eq!(stage.world.got(CODE), [HOSTED]);
    let asked = paying.asked();
    let [question] = asked.as_slice() else { panic!("{asked:?}") };
    let amount = "the amount cannot be checked: this site can charge any amount";
    assert!(question.contains(amount) && question.contains(HOSTED), "{question}");
    paying.finish().await;
    // Where the policy does not name the provider, its page gets the card, and does not lead back.
    serve(&stage, HOSTED, &format!("https://{SHOP}/thanks?paid=tok_1"));
    let mut paying = Paying::begin_with_hosted(&stage, portcullis::APPROACH_A_POLICY).await;
    assert_eq!(paying.click("Go to payment").await, "ok");
    paying.read_until("Security code").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("GRANT.payment "), "{answer}");
    let _stopped = paying.click("Place the order").await;
    paying.until(|| stage.world.has(HOSTED, "/confirm")).await;
    paying.read().await;
    paying.finish().await;
    assert!(!stage.world.has(SHOP, "/thanks?paid=tok_1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hosted_page_that_the_task_does_not_name_gets_nothing() {
    let stage = Stage::set_up().await;
    serve(&stage, HOSTED_LOOK_ALIKE, &format!("https://{SHOP}/thanks"));
    let mut paying = Paying::begin_with_hosted(&stage, &policy()).await;
    let clicked = paying.click("Go to payment").await;
    assert!(clicked.starts_with("DENY."), "{clicked}");
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("DENY.payment "), "{answer}");
    paying.finish().await;
    assert_eq!(stage.world.got(NUMBER), Vec::<String>::new());
    unguarded(&stage, &format!("https://{HOSTED_LOOK_ALIKE}/pay"), HOSTED_LOOK_ALIKE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hosted_page_that_leads_on_with_the_number_does_not_reach_shop_or_attacker() {
    let stage = Stage::set_up().await;
    for host in [SHOP, EVIL] {
        serve(&stage, HOSTED, &format!("https://{host}/thanks?n={NUMBER}"));
        unguarded(&stage, &format!("https://{HOSTED}/pay"), host).await;
        serve(&stage, HOSTED, &format!("https://{host}/thanks?n={NUMBER}"));
        let mut paying = Paying::begin_with_hosted(&stage, &policy()).await;
        assert_eq!(paying.click("Go to payment").await, "ok");
        paying.read_until("Security code").await;
        let answer = paying.ask(ALL).await;
        assert!(answer.starts_with("GRANT.payment "), "{answer}");
        paying.click("Place the order").await;
        paying.until(|| stage.world.has(HOSTED, "/confirm")).await;
        paying.read().await;
        paying.finish().await;
        assert_eq!(stage.world.got(NUMBER), [HOSTED], "{host}");
    }
}
