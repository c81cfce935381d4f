//! A whole task: the container's egress is narrowed from the first release on.

use evaluation::agent::{Action, Agent, ObedientAgent};
use evaluation::guarded::truthful_user;
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use portcullis::audit::MemoryLog;
use portcullis::consent::ScriptedAnswerer;
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard, Session};

use crate::support::{has_ended, tunnel};

/// The number of attempts, each in another browser: now and then Chromium returns `NotSupportedError` to a shop that requests
/// a payment.
const ATTEMPTS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn a_release_closes_all_other_egress_and_the_task_goes_on() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    for _ in 0..ATTEMPTS {
        if ends_paid(&stage).await {
            return;
        }
        eprintln!("once more, since the shop was not let pay");
    }
    panic!("{ATTEMPTS} browsers did not let the shop ask for the payment");
}

/// Whether the task ended with a payment, and not with a browser that did not request it.
async fn ends_paid(stage: &Stage) -> bool {
    let browser = stage.browser().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::Review, false, 3);
    stage.world.begin(&scenario);
    let user = Box::new(ScriptedAnswerer(truthful_user(&scenario)));
    let log = MemoryLog::default();
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), user, Box::new(SystemEntropy)).unwrap();
    let guard = guard.with_payments(stage.payments.clone());
    let mut session = Session::begin(guard, &browser, &scenario.prompt(hosts::SHOP_ORIGIN)).await.unwrap();
    let (shop, evil) = (format!("{}:443", hosts::SHOP), format!("{}:443", hosts::COLLECTOR));
    assert_eq!(tunnel(session.proxy(), &evil).await.1, 200);
    let (mut before, _) = tunnel(session.proxy(), &evil).await;

    let mut agent = ObedientAgent::new(session.prompt());
    let (mut observation, mut released, mut paid, mut not_let) = (String::new(), false, false, false);
    let mut paths = [0; 2];
    for _ in 0..60 {
        let action = match agent.next(&observation) {
            Action::Verb(verb) => portcullis::Action::Verb(verb),
            Action::Request(text) => portcullis::Action::Request(text),
            Action::Done => break,
        };
        observation = session.act(action).await.to_string();
        paid |= observation.contains("GRANT.purchase");
        not_let |= observation.contains("no_payment_interface");
        paths[usize::from(released)] += observation.matches("/url \"/").count();
        if observation.contains("GRANT.address") && !released {
            released = true;
            assert!(has_ended(&mut before).await, "a connection of before goes on");
        }
        let expected = if released { 502 } else { 200 };
        assert_eq!(tunnel(session.proxy(), &evil).await.1, expected, "{observation}");
        assert_eq!(tunnel(session.proxy(), &shop).await.1, 200);
    }
    assert!(released && (paid || not_let), "{observation}");
    assert!(paths[0] > 0 && paths[1] == 0, "a page with values could write them into a path: {paths:?}");
    session.finish().await;
    assert!(log.text().contains("\"what\":\"request\""), "what was refused is on record");
    browser.close().await;
    paid
}
