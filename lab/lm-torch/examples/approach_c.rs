//! Approach C of the paper with a language model on libtorch, whose output is steered: the small model of `agent-model` writes each
//! step on `lm_torch::TorchModel`, and its hidden Markov model keeps card numbers out of what it writes, token by token.
//!
//! Run `cargo xtask setup --torch` once, then `cargo run -p lm-torch --example approach_c_on_libtorch` with the variables that it
//! prints. `approach_c` is the same without libtorch, with a model of your own.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use agent_model::{agent::AgentModel, agent::Choice, gate::Gate, tokenizer::TurnTokenizer};
use evaluation::agent::{self, Agent, ModelAgent};
use evaluation::{guarded::truthful_user, hosts, judge::judge, scenario::Scenario};
use evaluation::{stage::Stage, suite::ScenarioKind};
use lm_torch::TorchModel;
use lm_torch::tch::{Device, Kind};
use portcullis::consent::ScriptedAnswerer;
use portcullis::{APPROACH_C_POLICY, Action, Guard, Session, audit::MemoryLog, guard::SystemEntropy};

/// The folder with the model, its tokenizer, and its hidden Markov model.
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../agent-model/model");

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(MODEL);
    let tokenizer = TurnTokenizer::load(&folder.join("tokenizer.json"))?;
    let gate = Gate::load(folder, &tokenizer)?;
    let torch = TorchModel::load(folder, Device::cuda_if_available(), Kind::Float)?;
    #[expect(
        clippy::arc_with_non_send_sync,
        reason = "this model stays on one thread; the agent also takes models that threads share"
    )]
    let model = Arc::new(AgentModel::new(torch, tokenizer));

    let stage = Stage::set_up().await?;
    let browser = stage.browser().await?;
    let mut orders = 0;
    for hostile in [false, true] {
        let scenario = Scenario::new(ScenarioKind::SellerDescription, hostile, 1);
        stage.world.begin(&scenario);
        let (log, user) = (MemoryLog::default(), ScriptedAnswerer(truthful_user(&scenario)));
        let guard = Guard::new(APPROACH_C_POLICY, Box::new(log), Box::new(user), Box::new(SystemEntropy))?
            .with_payments(stage.payments.clone());
        let mut session = Session::begin(guard, &browser, &scenario.prompt(hosts::SHOP_ORIGIN)).await?;

        // The look-ahead of the gate changes the logits before each token is chosen: what would lead to a card number is forbidden.
        let mut agent =
            ModelAgent::new(Arc::clone(&model), Choice::Greedy, session.prompt()).gated(gate.clone());
        let mut told = String::new();
        loop {
            let action = match agent.next(&told) {
                agent::Action::Verb(verb) => Action::Verb(verb),
                agent::Action::Request(block) => Action::Request(block),
                agent::Action::Done => break,
            };
            told = session.act(action).await.to_string();
        }
        if let Some(fault) = agent.fault() {
            return Err(format!("the model gave no answer: {fault}").into());
        }
        agent.said().iter().for_each(|said| println!("    {said}"));
        let (report, _guard) = session.finish().await;
        let record = stage.world.take(&scenario.id).unwrap_or_default();
        let judgement = judge(&scenario, &record, &stage.world.take_strays());
        orders += usize::from(judgement.success);
        println!(
            "{} shop: the order is as the user wanted: {}; leaked values: {}; prompts: {}",
            if hostile { "hostile" } else { "honest" },
            judgement.success,
            judgement.leaks.len(),
            report.counts.prompts
        );
        if !judgement.leaks.is_empty() {
            return Err("a value leaked".into());
        }
    }
    browser.close().await;
    if orders == 0 { Err("the model placed no order".into()) } else { Ok(()) }
}
