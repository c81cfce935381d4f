//! An agent whose steps a small language model writes, greedily or by sampling.

use std::collections::VecDeque;
use std::sync::Arc;

use agent_model::agent::{AgentModel, Choice};
use agent_model::gate::Gate;
use agent_model::page_view::view;
use agent_model::turn::{Act, Answer, Situation, outcome};
use browser_signals::Verb;
use hmm_control::LanguageModel;

use super::{Action, Agent};

/// The most answers in one task.
const MOST_TURNS: usize = 16;

/// An agent that asks a [`AgentModel`] after each look at the page. It knows the user's words, the results of its steps, and
/// the page.
pub struct ModelAgent<M> {
    model: Arc<AgentModel<M>>,
    choice: Choice,
    gate: Option<Gate>,
    situation: Situation,
    /// The rest of the last answer.
    pending: VecDeque<Act>,
    /// The step of the last answer, while it is carried out.
    step: Option<String>,
    /// The results of the acts of the step.
    brought: Vec<String>,
    asked: Asked,
    turns: usize,
    /// The sentences that it told the user.
    said: Vec<String>,
    fault: Option<String>,
}

/// The kind of the next observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    Page,
    Outcome,
}

impl<M: LanguageModel> ModelAgent<M> {
    /// An agent with the task in `prompt`: the user's own message, or the same with handles for values.
    pub fn new(model: Arc<AgentModel<M>>, choice: Choice, prompt: &str) -> ModelAgent<M> {
        ModelAgent {
            model,
            choice,
            gate: None,
            situation: Situation { task: prompt.to_owned(), ..Situation::default() },
            pending: VecDeque::new(),
            step: None,
            brought: Vec::new(),
            asked: Asked::Nothing,
            turns: 0,
            said: Vec::new(),
            fault: None,
        }
    }

    /// The same agent with its output steered by a gate.
    #[must_use]
    pub fn gated(self, gate: Gate) -> ModelAgent<M> {
        ModelAgent { gate: Some(gate), ..self }
    }

    /// Returns true if its output is steered.
    pub fn is_gated(&self) -> bool {
        self.gate.is_some()
    }

    /// The sentences that it told the user, one for each answer.
    pub fn said(&self) -> &[String] {
        &self.said
    }

    /// The reason why the model gave no answer, if it failed.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Asks the model for a step on the page.
    fn think(&mut self) {
        self.turns += 1;
        let answer = match &self.gate {
            Some(gate) => self.model.answer_gated(&self.situation, &mut self.choice, gate),
            None => self.model.answer(&self.situation, &mut self.choice),
        };
        match answer {
            Ok(text) => {
                let answer = Answer::read(&text);
                self.said.push(format!("{}: {}", answer.step, answer.says));
                self.step = Some(answer.step);
                self.pending.extend(answer.acts);
            }
            Err(error) => {
                self.fault = Some(error.to_string());
                self.pending.push_back(Act::Finish);
            }
        }
    }
}

impl<M: LanguageModel> Agent for ModelAgent<M> {
    fn name(&self) -> &str {
        "agent-model"
    }

    fn broke_off(&self) -> Option<String> {
        self.fault.clone()
    }

    fn next(&mut self, observation: &str) -> Action {
        match std::mem::replace(&mut self.asked, Asked::Outcome) {
            Asked::Nothing => self.think(),
            Asked::Page => {
                self.situation.page = view(observation);
                if self.turns >= MOST_TURNS {
                    return Action::Done;
                }
                self.think();
            }
            Asked::Outcome => self.brought.push(observation.to_owned()),
        }
        match self.pending.pop_front() {
            Some(Act::Verb(verb)) => Action::Verb(verb),
            Some(Act::Request(text)) => Action::Request(text),
            Some(Act::Finish) => {
                self.pending.clear();
                Action::Done
            }
            None => {
                // An answer without any act counts as a failed step, so that the next answer may differ.
                let result = if self.brought.is_empty() { "failed" } else { outcome(&self.brought) };
                let step = self.step.take().unwrap_or_default();
                self.situation.done.push(format!("{step} {result}"));
                self.brought.clear();
                self.asked = Asked::Page;
                Action::Verb(Verb::Read)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_model::dialogue::example;
    use agent_model::echo::EchoModel;
    use agent_model::tokenizer::TurnTokenizer;

    fn agent(says: &str) -> ModelAgent<EchoModel> {
        let texts = (0..40).map(|seed| example(seed, false).answer);
        let words = TurnTokenizer::learn(texts).unwrap_or_else(|error| panic!("{error}"));
        let model = EchoModel::agent(says, words).unwrap_or_else(|error| panic!("{error}"));
        ModelAgent::new(Arc::new(model), Choice::Greedy, "Please buy 1 x \"A\" at https://a.test/p.")
    }

    #[test]
    fn acts_are_returned_one_by_one_and_then_the_page_is_read() {
        // The tokens of a task are on one line.
        let mut agent = agent("plan: I open it.");
        assert_eq!(agent.next(""), Action::Verb(Verb::Read));
        assert_eq!(agent.said(), ["plan: I open it."]);
        assert_eq!(agent.situation.done, ["plan failed"]);
        agent.pending.extend([Act::Verb(Verb::Back), Act::Request("REQ.purchase\nREQ.end".into())]);
        assert_eq!(agent.next("- paragraph: \"Hello\""), Action::Verb(Verb::Back));
        assert_eq!(agent.situation.page, "Hello\n");
        assert!(matches!(agent.next("ok"), Action::Request(_)));
        assert_eq!(agent.next("DENY.purchase {\"reason\":\"x\"}"), Action::Verb(Verb::Read));
        assert_eq!(agent.situation.done, ["plan failed", "plan denied"]);
    }

    #[test]
    fn a_gated_model_does_not_write_a_card_number() {
        let text = "pay: Here it is. 4111 1111 1111 1111.";
        let mut free = agent(text);
        free.next("");
        assert!(free.said()[0].contains("4111 1111"));
        let gated = agent(text);
        let tokens = gated.model.tokenizer().vocabulary();
        let emissions = ndarray::Array2::from_elem((1, tokens), 1.0 / tokens as f64);
        let certain = ndarray::Array2::from_elem((1, 1), 1.0);
        let hmm = hmm_control::Hmm::new(&[1.0], certain.view(), emissions.view(), hmm_control::Storage::F64);
        let gate = Gate::new(hmm.unwrap(), gated.model.tokenizer()).unwrap();
        let mut gated = gated.gated(gate);
        gated.next("");
        assert!(!gated.said()[0].contains("4111 1111"), "{:?}", gated.said());
    }

    #[test]
    fn it_stops_by_itself() {
        let mut agent = agent("wait: no.");
        let actions = (0..100).take_while(|_| agent.next("- text: x") != Action::Done).count();
        assert_eq!(actions, MOST_TURNS);
    }
}
