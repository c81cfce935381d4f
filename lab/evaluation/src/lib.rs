//! The evaluation of the guard: a benchmark suite of hostile shop pages, each with a benign counterpart; servers that record
//! what arrives; an agent that obeys everything it reads; and the statistics of the results.
//!
//! | module | subject |
//! |---|---|
//! | [`suite`] | the benchmark suite: scenarios, pages, servers, bank |
//! | [`agent`] | agents: one that obeys everything it reads, and ones that a model drives |
//! | [`trials`] | one trial, guarded or not, and its judge |
//! | [`experiments`] | many trials: the demo, the comparison, adaptive attacks, other benchmarks |
//! | [`statistics`] | intervals, comparisons, power |
//! | [`report`] | rows, tables, plots |
//! | [`random`] | pseudo-random choices that a seed repeats |

pub mod agent;
pub mod experiments;
mod html;
pub mod random;
pub mod report;
pub mod statistics;
pub mod suite;
pub mod trials;

pub use experiments::{
    adaptive, agentdojo, agentdyn, attack, commands, compare, demo, horizon, miniwob, preference, reading,
    tool_policy, worms,
};
pub use suite::{hosts, mock_bank, persona, record, scenario, servers, tls};
#[cfg(unix)]
pub use trials::user_browser;
pub use trials::{guarded, judge, paired, stage, unguarded, user};
