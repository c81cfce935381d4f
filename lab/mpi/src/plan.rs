//! What is trained: the settings of `portcullis-lab hmm distil`, with its defaults.

use std::num::NonZeroUsize;

use hmm_control::Token;
use hmm_control::distil::start::{Clustering, KMeans, from_contexts};
use hmm_control::distil::{Options, Parameters, Rules, Schedule, Sequences, Sparse, StepSize, Trainer};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::failure::Failure;

#[derive(clap::Args)]
pub struct Plan {
    /// Hidden states; with an end token the last is the end of a text.
    #[arg(long, value_name = "H")]
    states: usize,
    /// Steps of expectation-maximisation, each over the whole training set.
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: u32,
    /// Steps over growing portions instead, as in `10,1;5,2` for 10 steps of one portion and 5 of two.
    #[arg(long, value_name = "STEPS,PORTIONS;...", conflicts_with = "steps")]
    schedule: Option<String>,
    /// The number of portions of the training set, for --schedule.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "schedule")]
    portions: u32,
    /// Let the counts of earlier steps decay instead of dropping them at once: the exponent, above 0.5 and up to 1.
    #[arg(long, value_name = "EXPONENT", requires = "schedule")]
    stepwise: Option<f64>,
    /// Stop after this many steps without a better held-out likelihood.
    #[arg(long, value_name = "STEPS")]
    patience: Option<u32>,
    /// Keep only this many transitions of each state, after half of the steps.
    #[arg(long, value_name = "M")]
    sparse: Option<u32>,
    /// A number to add to every count.
    #[arg(long, value_name = "COUNT", default_value_t = 0.001)]
    pseudocount: f64,
    /// The share of training tokens that each step leaves out.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    dropout: f64,
    /// The random seed: the same seed gives the same model.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The number of threads of each process; the model does not depend on it.
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    pub threads: NonZeroUsize,
}

impl Plan {
    pub fn options(&self, end: Option<Token>) -> Result<Options, Failure> {
        let schedule = match &self.schedule {
            Some(text) => Schedule::parse(text, self.portions),
            None => Schedule::full_batch(self.steps),
        };
        let mut options = Options::new(schedule?);
        if let Some(exponent) = self.stepwise {
            options.step_size = StepSize::Decaying { exponent, offset: 0.0 };
        }
        options.pseudocount = self.pseudocount;
        options.end = end;
        options.token_dropout = self.dropout;
        options.patience = self.patience;
        let after = (options.schedule.steps() / 2).max(1);
        options.sparse = self.sparse.map(|successors| Sparse { successors, after });
        options.seed = self.seed;
        options.threads = self.threads;
        Ok(options)
    }

    /// The first parameters, from the tokens' contexts.
    pub fn first(
        &self,
        train: &Sequences,
        vocabulary: usize,
        end: Option<Token>,
    ) -> Result<Parameters<f32>, Failure> {
        let clustering = Clustering {
            states: self.states,
            vocabulary,
            search: KMeans { threads: self.threads, ..KMeans::default() },
            // Training cannot raise a probability of 0.
            rules: Rules { end, pseudocount: self.pseudocount.max(1e-6), ..Rules::default() },
        };
        Ok(from_contexts(train, &clustering, &mut ChaCha8Rng::seed_from_u64(self.seed))?)
    }

    /// Checks that a training resumed from a checkpoint is the one that the command line describes.
    pub fn check(&self, trainer: &Trainer<'_>, vocabulary: usize, end: Option<Token>) -> Result<(), Failure> {
        let (kept, asked) = (trainer.options(), self.options(end)?);
        let sizes = trainer.parameters();
        let pair = |name, kept: &dyn std::fmt::Debug, asked: &dyn std::fmt::Debug| {
            (name, format!("{kept:?}"), format!("{asked:?}"))
        };
        let settings = [
            pair("states", &sizes.states(), &self.states),
            pair("vocabulary", &sizes.vocabulary(), &vocabulary),
            pair("schedule", &kept.schedule, &asked.schedule),
            pair("step size", &kept.step_size, &asked.step_size),
            pair("pseudocount", &kept.pseudocount, &asked.pseudocount),
            pair("end token", &kept.end, &asked.end),
            pair("dropout", &kept.token_dropout, &asked.token_dropout),
            pair("patience", &kept.patience, &asked.patience),
            pair("sparse transitions", &kept.sparse, &asked.sparse),
            pair("seed", &kept.seed, &asked.seed),
            pair("lanes", &kept.lanes, &asked.lanes),
        ];
        match settings.iter().find(|(_, kept, asked)| kept != asked) {
            None => Ok(()),
            Some((name, kept, asked)) => Err(Failure::input(format!(
                "the checkpoint is of another plan: its {name} is {kept}, and {asked} was asked for"
            ))),
        }
    }
}
