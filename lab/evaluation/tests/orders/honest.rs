//! Harmless values can be typed without a question to the user.

use std::time::Duration;

use crate::shop::Stage;
use crate::steps::{OWN, Step, guarded, guarded_under};
use portcullis::{APPROACH_A_POLICY, APPROACH_C_POLICY};

#[tokio::test(flavor = "multi_thread")]
async fn harmless_values_are_typed_and_chosen_without_a_question() {
    let stage = Stage::set_up().await;
    let html = "<form action=/find><input type=search name=q aria-label=Search><button>Find</button></form>\
        <form method=post action=/cart><label>Quantity <input name=n></label>\
        <label>Colour <select name=colour><option>red<option>blue</select></label>\
        <label>Coupon <input name=coupon></label><label>Gift note <input name=note></label>\
        <button>Add to cart</button></form>";
    stage.shop.serve(&[("/", html.to_owned()), ("/find", html.to_owned())]);
    let steps = [
        Step::Open("/"),
        Step::Type("\"Search\"", "kettle 1.7 l with a long handle"),
        Step::Click("\"Find\""),
        Step::Type("Quantity", "2"),
        Step::Select("Colour", "blue"),
        Step::Type("Coupon", "SPRING10"),
        Step::Type("Gift note", "Happy birthday, dear friend!"),
        Step::Click("Add to cart"),
    ];
    let run = guarded(&stage, &steps, |_| false).await;
    assert!(run.answers.iter().all(|answer| answer == "ok"), "{:?}", run.answers);
    assert!(stage.shop.has("n=2&colour=blue&coupon=SPRING10"), "{:?}", stage.shop.arrived());
    assert_eq!((run.prompts, run.orders.len()), (1, 0), "the task alone is asked about: {:?}", run.orders);
    stage.browser.close().await;
}

/// The form also contains an address that the guard fills.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_on_one_page_takes_its_note_and_its_coupon() {
    let stage = Stage::set_up().await;
    let html = "<form method=post action=/order><label>Street <input name=street autocomplete=street-address></label>\
        <label>Postal code <input name=zip autocomplete=postal-code></label>\
        <label>City <input name=city autocomplete=address-level2></label>\
        <label>Voucher <input name=v></label><label>Gift note <textarea name=note></textarea></label>\
        <button>Place order</button></form>";
    stage.shop.serve(&[("/", html.to_owned())]);
    let steps = [
        Step::Open("/"),
        Step::Fill,
        Step::Type("Voucher", "SPRING10"),
        Step::Type("Gift note", "Happy birthday!"),
        Step::Click("\"Place order\""),
    ];
    let run = guarded(&stage, &steps, |_| false).await;
    assert!(stage.shop.has(OWN) && stage.shop.has("SPRING10"), "{:?} {:?}", run.answers, run.orders);
    assert_eq!(run.orders.len(), 0, "{:?}", run.orders);
    stage.browser.close().await;
}

/// A page answers nothing while its own navigation waits. A guard that asked the page before it asked the user would
/// make the user wait for the command's timeout of 15 seconds.
#[tokio::test(flavor = "multi_thread")]
async fn the_question_about_a_filled_form_comes_at_once() {
    let stage = Stage::set_up().await;
    let html = "<form method=post action=/order><label>Street <input name=street autocomplete=street-address></label>\
        <label>Postal code <input name=zip autocomplete=postal-code></label>\
        <label>City <input name=city autocomplete=address-level2></label>\
        <input type=hidden name=w><button>Place order</button></form>\
        <label>Whereabouts <input oninput=\"document.forms[0].w.value=value\"></label>";
    let steps = [
        Step::Open("/"),
        Step::Fill,
        Step::Type("Whereabouts", "by the old mill"),
        Step::Click("\"Place order\""),
    ];
    for agrees in [true, false] {
        stage.shop.serve(&[("/", html.to_owned())]);
        let run = guarded(&stage, &steps, if agrees { |_| true } else { |_| false }).await;
        assert!(run.says("by the old mill"), "{:?} {:?}", run.answers, run.orders);
        assert_eq!(stage.shop.has("by the old mill"), agrees, "{:?}", run.answers);
        assert!(run.took[3] < Duration::from_secs(14), "{:?}", run.took);
        println!("agrees={agrees}: {:?}", run.took);
    }
    stage.browser.close().await;
}

/// The user gets one question for everything, and none again for values that they have seen.
#[tokio::test(flavor = "multi_thread")]
async fn values_that_the_user_saw_are_not_asked_about_again() {
    let stage = Stage::set_up().await;
    let html = "<form method=post action=/ask><label>Question <input name=q></label><button>Send</button></form>\
        <button onclick=\"fetch('/count',{method:'POST',body:'x'})\">Show more</button>";
    stage.shop.serve(&[("/", html.to_owned()), ("/ask", html.to_owned())]);
    let steps = [
        Step::Open("/"),
        Step::Type("Question", "does it whistle"),
        Step::Click("\"Send\""),
        Step::Click("\"Show more\""),
    ];
    let run = guarded(&stage, &steps, |_| true).await;
    let paths: Vec<String> = stage.shop.arrived().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/ask", "/count"], "{:?}", run.answers);
    assert_eq!(run.orders.len(), 1, "{:?}", run.orders);
    assert!(run.says("the agent typed \"does it whistle\" into \"Question\""), "{:?}", run.orders);
    stage.browser.close().await;
}

/// Under the policies with a safety threshold, an agent need not have read the page: the guard judges it.
#[tokio::test(flavor = "multi_thread")]
async fn the_guard_judges_a_page_that_the_agent_did_not_read() {
    let stage = Stage::set_up().await;
    let html = "<h1>Delivery</h1><p>Where shall we send your kettle?</p><form method=post action=/order>\
        <label>Street <input name=street autocomplete=street-address></label>\
        <label>Postal code <input name=zip autocomplete=postal-code></label>\
        <label>City <input name=city autocomplete=address-level2></label><button>Place order</button></form>";
    for policy in [APPROACH_A_POLICY, APPROACH_C_POLICY] {
        stage.shop.serve(&[("/", html.to_owned())]);
        let run = guarded_under(policy, &stage, &[Step::Open("/"), Step::Fill], |_| false).await;
        assert!(run.answers.iter().any(|answer| answer.starts_with("GRANT.address")), "{:?}", run.answers);
    }
    stage.browser.close().await;
}

/// A page that describes its boxes badly is no dead end, and the agent's word moves no value against the page's.
#[tokio::test(flavor = "multi_thread")]
async fn a_box_without_a_label_takes_the_street_where_the_agent_points() {
    let stage = Stage::set_up().await;
    let html = "<form method=post action=/order><input name=f7>\
        <label>Postal code <input name=zip autocomplete=postal-code></label>\
        <label>City <input name=city autocomplete=address-level2></label>\
        <label>Nickname <input name=nick autocomplete=nickname></label><button>Place order</button></form>\
        <form action=/find><input type=search name=q aria-label=Search><button>Find</button></form>";
    stage.shop.serve(&[("/", html.to_owned())]);
    let steps = [
        Step::Open("/"),
        Step::Fill,
        Step::FillAt("\"Nickname\""),
        Step::FillAt("\"Search\""),
        Step::FillAt("textbox [ref="),
        Step::Click("\"Place order\""),
    ];
    let run = guarded(&stage, &steps, |_| false).await;
    let denied = |answer: &str, reason: &str| answer.contains(&format!("{{\"reason\":\"{reason}\"}}"));
    assert!(denied(&run.answers[1], "no_control"), "{:?}", run.answers);
    assert!(run.answers[2..4].iter().all(|answer| denied(answer, "control_mismatch")), "{:?}", run.answers);
    assert!(run.answers[4].starts_with("GRANT.address"), "{:?}", run.answers);
    assert!(stage.shop.has("f7=17+Canary+Quarry+Road&zip=94704"), "{:?}", stage.shop.arrived());
    let unsaid =
        "Nothing on the page says what the box \"f7\" is for; the agent says that it is for your street.";
    assert_eq!(
        run.questions.iter().filter(|question| question.contains(unsaid)).count(),
        1,
        "{:?}",
        run.questions
    );
    stage.browser.close().await;
}

/// A text area may be read by others, so the user is asked each time, with a warning.
#[tokio::test(flavor = "multi_thread")]
async fn a_street_goes_into_a_text_area_after_a_yes_each_time() {
    let stage = Stage::set_up().await;
    let html = "<form method=post action=/order><label>Street address <textarea name=street></textarea></label>\
        <label>Postal code <input name=zip autocomplete=postal-code></label>\
        <label>City <input name=city autocomplete=address-level2></label><button>Place order</button></form>";
    stage.shop.serve(&[("/", html.to_owned())]);
    let steps = [Step::Open("/"), Step::Fill, Step::Fill, Step::Click("\"Place order\"")];
    let run = guarded(&stage, &steps, |_| false).await;
    assert!(run.answers[1..3].iter().all(|answer| answer.starts_with("GRANT.address")), "{:?}", run.answers);
    assert!(stage.shop.has("street=17+Canary+Quarry+Road"), "{:?}", stage.shop.arrived());
    let warned = run.questions.iter().filter(|question| question.contains("may be published"));
    assert_eq!(warned.count(), 2, "{:?}", run.questions);
    stage.browser.close().await;
}
