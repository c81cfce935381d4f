//! How well a guard holds: a family of hostile shop pages and their benign twins, servers that record
//! what arrives, an agent that obeys whatever it reads, and the statistics of it all.
//!
//! | module | subject |
//! |---|---|
//! | [`hosts`] | the small web that is served |
//! | [`tls`] | a certificate authority for one run |
//! | [`servers`] | the https listener and its ledger |
//! | [`record`] | what the servers saw |
//! | [`family`] | places for an attacker's words and ways to attack, each with a benign twin |
//! | `pages`, `attacks` | the pages' markup: the first nine kinds, and the others |
//! | [`persona`] | people who do not exist |
//! | [`scenario`] | one shopping task |
//! | [`demo`] | the main job: the whole family, unguarded and guarded |
//! | [`guarded`] | one trial under the guard, and the searches that follow |
//! | [`stage`] | everything a trial stands on |
//! | [`mock_bank`] | a stand-in for a bank |
//! | [`agent`] | an agent that obeys whatever it reads |
//! | [`attack`] | the family pointed at somebody else's agent |
//! | [`beside`] | the family in a person's own browser with the extension (Unix) |
//! | [`ways`] | two ways to the same orders, beside each other |
//! | [`judge`] | success, hijacks and leaks of one trial |
//! | [`unguarded`] | the bare browser |
//! | [`user`] | a simulated user, who errs the more the oftener asked |
//! | [`adaptive`] | an attacker who searches for wordings that the classifiers pass |
//! | [`compare`] | the comparison of approaches: plan, records, analysis, report |
//! | [`miniwob`] | tasks that nobody here wrote |
//! | [`horizon`] | what looking ahead does to a corruptible model, without a browser |
//! | [`statistics`] | intervals, comparisons, power |
//! | [`report`] | rows, table, page |
//! | [`random`] | choices that a seed repeats |
//! | [`agentdojo`] | a replay of AgentDojo's tasks under a policy |

pub mod adaptive;
pub mod agent;
pub mod agentdojo;
pub mod attack;
mod attacks;
#[cfg(unix)]
pub mod beside;
pub mod compare;
pub mod demo;
pub mod family;
pub mod guarded;
pub mod horizon;
pub mod hosts;
pub mod judge;
pub mod miniwob;
pub mod mock_bank;
mod pages;
pub mod persona;
pub mod random;
pub mod record;
pub mod report;
pub mod scenario;
pub mod servers;
mod shop;
pub mod stage;
pub mod statistics;
pub mod tls;
pub mod unguarded;
pub mod user;
pub mod ways;
mod wordings;
