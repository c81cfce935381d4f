//! Shops that cheat a guarded agent. Each cheat has its control in `lab/ucp-shop/tests`, where a client that does not compare buys what the
//! shop changed.

use std::sync::Arc;

use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, Asked, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::signals::Verb;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use ucp_shop::Behaviour;

/// What became of one order.
struct Ended {
    answer: String,
    warnings: u64,
    sold: usize,
    questions: usize,
}

/// Orders once. The shop behaves so from the start, or from the user's yes to the purchase on.
async fn order(stage: &Stage, behaviour: Behaviour, from_the_yes: bool, seed: u64) -> Ended {
    let browser = stage.browser().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::Review, false, seed).taking_orders();
    let (world, id) = (Arc::clone(&stage.world), scenario.id.clone());
    let questions = Arc::new(std::sync::Mutex::new(0));
    let (counted, trial) = (Arc::clone(&questions), id.clone());
    let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        *counted.lock().unwrap() += 1;
        if from_the_yes && prompt.asked.iter().any(|asked| matches!(asked, Asked::Buy { .. })) {
            world.behave(&trial, behaviour);
        }
        Answer::Session
    });
    let log = MemoryLog::default();
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log), Box::new(user), Box::new(SystemEntropy)).unwrap();
    let guard = stage.ordering(guard, &scenario);
    stage.world.begin(&scenario);
    if !from_the_yes {
        stage.world.behave(&id, behaviour);
    }
    let prompt = scenario.prompt(evaluation::hosts::SHOP_ORIGIN);
    let mut session = Session::begin(guard, &browser, &prompt).await.unwrap();
    let url = scenario.product_url(evaluation::hosts::SHOP_ORIGIN);
    session.act(Action::Verb(Verb::Open { url })).await;
    let block = format!("REQ.purchase items={{\"{id}.1\":{}}}\nREQ.end", scenario.quantity);
    let answer = session.act(Action::Request(block)).await.to_string();
    let page = session.act(Action::Verb(Verb::Read)).await.to_string();
    for text in [&answer, &page] {
        assert!(!text.contains(&scenario.persona.street), "{text}");
    }
    let (report, _guard) = session.finish().await;
    let record = stage.world.take(&id).unwrap();
    browser.close().await;
    let (questions, warnings) = (*questions.lock().unwrap(), u64::from(report.counts.warnings));
    Ended { answer, warnings, sold: record.orders.len(), questions }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_shop_changes_after_the_yes_is_not_bought() {
    let stage = Stage::set_up().await.unwrap();
    for (seed, behaviour) in [
        Behaviour::RaisesTotalAfterReady,
        Behaviour::AddsLine,
        Behaviour::ChangesQuantity,
        Behaviour::ChangesCurrency,
        Behaviour::OtherPayee,
        Behaviour::ChangesAddress,
        Behaviour::UnsignedCheckout,
        Behaviour::SignsWithOtherKey,
        Behaviour::Recurring,
        Behaviour::RenamesPart,
        Behaviour::LooksInstructed,
    ]
    .into_iter()
    .enumerate()
    {
        let ended = order(&stage, behaviour, true, 10 + seed as u64).await;
        assert!(
            ended.answer.contains("DENY.purchase {\"reason\":\"checkout_differs\"}"),
            "{behaviour:?} {}",
            ended.answer
        );
        assert_eq!((ended.sold, ended.questions, ended.warnings), (0, 2, 1), "{behaviour:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_cheats_from_the_start_is_not_asked_about() {
    let stage = Stage::set_up().await.unwrap();
    for (seed, (behaviour, reason)) in [
        (Behaviour::AddsLine, "checkout_differs"),
        (Behaviour::ChangesQuantity, "checkout_differs"),
        (Behaviour::UnsignedCheckout, "checkout_differs"),
        (Behaviour::SignsWithOtherKey, "checkout_differs"),
        (Behaviour::Recurring, "checkout_differs"),
        (Behaviour::EscalatesElsewhere, "checkout_refused"),
        (Behaviour::Escalates, "checkout_escalated"),
        (Behaviour::RedirectsProfile, "no_orders"),
        (Behaviour::EndpointElsewhere, "no_orders"),
    ]
    .into_iter()
    .enumerate()
    {
        let ended = order(&stage, behaviour, false, 30 + seed as u64).await;
        assert!(
            ended.answer.contains(&format!("DENY.purchase {{\"reason\":\"{reason}")),
            "{behaviour:?} {}",
            ended.answer
        );
        // The plan alone was asked about.
        assert_eq!((ended.sold, ended.questions), (0, 1), "{behaviour:?}");
    }
    let strays = stage.world.take_strays();
    let elsewhere: Vec<&str> =
        strays.iter().map(|it| it.host.as_str()).filter(|host| *host != evaluation::hosts::SHOP).collect();
    assert_eq!(elsewhere, Vec::<&str>::new(), "nothing went to another host");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_after_the_time_out_and_doubtful_receipts_buy_once() {
    let stage = Stage::set_up().await.unwrap();
    for (seed, (behaviour, warnings)) in [
        (Behaviour::Honest, 0),
        (Behaviour::AnswersLate, 0),
        (Behaviour::InProgress, 0),
        (Behaviour::ReceiptUnsigned, 1),
        (Behaviour::ReceiptForAnother, 1),
        (Behaviour::CompletesWithOtherTotal, 1),
    ]
    .into_iter()
    .enumerate()
    {
        let ended = order(&stage, behaviour, true, 50 + seed as u64).await;
        assert!(ended.answer.contains("GRANT.purchase"), "{behaviour:?} {}", ended.answer);
        assert_eq!((ended.sold, ended.warnings), (1, warnings), "{behaviour:?}");
    }
    let ended = order(&stage, Behaviour::DropsComplete, true, 60).await;
    assert!(ended.answer.contains("DENY.purchase"), "{}", ended.answer);
    assert_eq!(ended.sold, 0);
}
