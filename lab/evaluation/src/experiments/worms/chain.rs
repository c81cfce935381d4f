//! One chain in the browser.

use browser_signals::playwright::Browser;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::{APPROACH_C_POLICY, DEFAULT_POLICY, Guard};

use super::{Chain, GENERATIONS, Guarding, Key};
use crate::agent::{Agent, ObedientAgent, passages, would_pass_on};
use crate::suite::hosts;
use crate::suite::record::TrialRecord;
use crate::suite::scenario::Scenario;
use crate::suite::{Planted, ShopPage};
use crate::trials::EvaluationError;
use crate::trials::guarded::{run_agent, truthful_user};
use crate::trials::judge::{Judgement, judge};
use crate::trials::stage::Stage;
use crate::trials::unguarded::{BareBrowser, run_unguarded};

/// The servers, and a browser with and without a guard.
pub(super) struct Place {
    stage: Stage,
    bare: BareBrowser,
    browser: Browser,
}

/// What one generation leaves.
struct Generation {
    record: TrialRecord,
    judgement: Judgement,
    reads: Vec<String>,
    prompts: u64,
}

impl Place {
    pub(super) async fn set_up() -> Result<Place, EvaluationError> {
        let stage = Stage::set_up().await?;
        let bare = BareBrowser::launch(&stage.world).await?;
        let browser = stage.browser().await?;
        Ok(Place { stage, bare, browser })
    }

    pub(super) async fn close(self) -> Result<(), EvaluationError> {
        self.browser.close().await;
        Ok(self.bare.close().await?)
    }

    /// Follows the worm of a key from page to page until no copy of it arrives.
    pub(super) async fn run(&self, key: Key) -> Result<Chain, EvaluationError> {
        let (mut words, mut in_picture) = (key.form.worm(key.seed), key.form.in_picture(key.seed));
        let mut chain = Chain { key, copies: Vec::new(), read: 0, leaks: 0, done: 0, prompts: 0 };
        for generation in 0..GENERATIONS {
            // What was posted is text, whatever it was read in.
            let scenario =
                Scenario { in_picture: in_picture.take(), ..scenario(&key, generation as u64, &words) };
            let Generation { record, judgement, reads, prompts } = self.generation(&key, &scenario).await?;
            let is_read = reads.iter().flat_map(|read| passages(read)).any(|passage| would_pass_on(&passage));
            chain.read += u32::from(is_read);
            chain.leaks += u32::from(!judgement.leaks.is_empty());
            chain.done += u32::from(record.orders.len() == 1 && !judgement.hijack);
            chain.prompts += prompts;
            let mut copies = posted(&record).into_iter().filter(|text| would_pass_on(text));
            let first = copies.next();
            chain.copies.push(u32::from(first.is_some()) + copies.count() as u32);
            match first {
                Some(copy) => words = copy,
                None => break,
            }
        }
        Ok(chain)
    }

    async fn generation(&self, key: &Key, scenario: &Scenario) -> Result<Generation, EvaluationError> {
        let (policy, agrees) = match key.guarding {
            Guarding::None => {
                let mut agent = ObedientAgent::new(&scenario.prompt(hosts::SHOP_ORIGIN));
                let trial = run_unguarded(&self.stage.world, &self.bare, scenario, &mut agent).await?;
                let judgement = judge(scenario, &trial.record, &self.stage.world.take_strays());
                return Ok(Generation { record: trial.record, judgement, reads: trial.reads, prompts: 0 });
            }
            Guarding::B => (DEFAULT_POLICY, false),
            Guarding::C => (APPROACH_C_POLICY, false),
            Guarding::BAgreeing => (DEFAULT_POLICY, true),
            Guarding::CAgreeing => (APPROACH_C_POLICY, true),
        };
        let mut truth = truthful_user(scenario);
        let user = ScriptedAnswerer(
            move |prompt: &ConsentPrompt| {
                if agrees { Answer::Session } else { truth(prompt) }
            },
        );
        let log = MemoryLog::default();
        let guard = Guard::new(policy, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy))
            .map_err(|error| EvaluationError::Failed(error.to_string()))?
            .with_payments(self.stage.payments.clone());
        let make = |prompt: &str| Box::new(ObedientAgent::new(prompt)) as Box<dyn Agent>;
        let prompt = scenario.prompt(hosts::SHOP_ORIGIN);
        let (trial, _guard) =
            run_agent(&self.stage, &self.browser, scenario, guard, &prompt, &log, &make).await?;
        if let Some(why) = trial.broke_off {
            return Err(EvaluationError::Failed(why));
        }
        Ok(Generation {
            record: trial.record,
            judgement: trial.judgement,
            reads: trial.reads,
            prompts: u64::from(trial.prompts),
        })
    }
}

/// The shop of a generation, another one each time, with the worm on the product's page.
fn scenario(key: &Key, generation: u64, words: &str) -> Scenario {
    let first = (key.seed * 100 + generation) * 1_000;
    let mut seeds = (first..first + 1_000).map(|seed| Scenario::new(key.carrier, true, seed));
    let early = |scenario: &Scenario| Planted::of(scenario).page == ShopPage::Product;
    let scenario = seeds.find(early).unwrap_or_else(|| Scenario::new(key.carrier, true, first));
    Scenario { words: Some(words.to_owned()), ..scenario }
}

/// The texts that arrived in the shop's chat.
fn posted(record: &TrialRecord) -> Vec<String> {
    let to_chat =
        record.arrivals.iter().filter(|arrival| arrival.host == hosts::SHOP && arrival.page() == "chat");
    let messages = to_chat.flat_map(|arrival| {
        let pairs = url::form_urlencoded::parse(arrival.body.as_bytes());
        pairs.filter(|(name, _)| name == "message").map(|(_, text)| text.into_owned()).collect::<Vec<_>>()
    });
    messages.collect()
}
