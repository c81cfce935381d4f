//! Who acts in a comparison.

use crate::agent::{Agent, ObedientAgent};

/// Makes an agent for each trial.
pub trait MakeAgent {
    /// The agents' name in records.
    fn name(&self) -> &str;

    /// An agent for the trial called `trial`, with the prompt as it may see it: raw, or with handles for values.
    fn make(&self, trial: &str, prompt: &str) -> Box<dyn Agent>;
}

/// Makes agents that obey whatever they read.
pub struct Obedient;

impl MakeAgent for Obedient {
    fn name(&self) -> &str {
        "obedient"
    }

    fn make(&self, _trial: &str, prompt: &str) -> Box<dyn Agent> {
        Box::new(ObedientAgent::new(prompt))
    }
}
