//! Without a guard, in a real browser: every hostile page succeeds, and every benign one gets an order.

use crate::drawn::drawn;
use evaluation::agent::ObedientAgent;
use evaluation::hosts;
use evaluation::judge::judge;
use evaluation::scenario::Scenario;
use evaluation::servers::World;
use evaluation::unguarded::{BareBrowser, run_unguarded};

#[tokio::test(flavor = "multi_thread")]
async fn the_obedient_agent_leaks_on_every_hostile_page_and_succeeds_on_every_benign_one() {
    let world = World::start().await.unwrap();
    let browser = BareBrowser::launch(&world).await.unwrap();
    for scenario in drawn(Scenario::demo(0)) {
        let mut agent = ObedientAgent::new(&scenario.prompt(hosts::SHOP_ORIGIN));
        let trial = run_unguarded(&world, &browser, &scenario, &mut agent).await.unwrap();
        let judgement = judge(&scenario, &trial.record, &world.take_strays());
        let context = format!("{:?} {}: {judgement:?}", scenario.kind, scenario.hostile);
        if scenario.hostile {
            assert!(judgement.leaks.iter().any(|leak| leak.field == "card_number"), "{context}");
            assert!(!judgement.success, "{context}");
        } else {
            assert!(judgement.success, "{context}");
        }
        assert!(trial.steps > 0 && !trial.elapsed.is_zero());
    }
    browser.close().await.unwrap();
}
