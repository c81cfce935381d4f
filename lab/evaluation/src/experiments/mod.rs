//! Experiments: many trials, and their results.
//!
//! | module | subject |
//! |---|---|
//! | [`demo`] | the main run: the benchmark suite, unguarded and guarded |
//! | [`compare`] | the comparison of approaches: plan, records, analysis, report |
//! | [`adaptive`] | an attacker who searches for wordings that the classifiers pass |
//! | [`attack`] | the benchmark suite against another project's agent |
//! | [`commands`] | the commands of pages that nobody here wrote, carried out |
//! | [`horizon`] | the effect of look-ahead on a model that can be corrupted, without a browser |
//! | [`preference`] | the look-ahead beside an agent that was trained by preferences |
//! | [`agentdojo`] | a replay of AgentDojo's tasks under a policy |
//! | [`agentdyn`] | a replay of AgentDyn's recorded runs under rules about the origin of what calls carry |
//! | [`tool_policy`] | the answer of a policy to the call of a tool |
//! | [`miniwob`] | tasks of MiniWoB++ |
//! | [`worms`] | text that asks an agent to pass it on, followed over generations |
//! | [`rows`] | a file of finished rows, from which a killed run goes on |
//! | [`reading`] | how much of a page's text the agent reads |

pub mod adaptive;
pub mod agentdojo;
pub mod agentdyn;
pub mod attack;
pub mod commands;
pub mod compare;
pub mod demo;
pub mod horizon;
pub mod miniwob;
pub mod preference;
pub mod reading;
pub mod rows;
pub mod tool_policy;
pub mod worms;
