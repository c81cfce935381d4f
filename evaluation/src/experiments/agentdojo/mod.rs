//! A replay of AgentDojo's tasks: which calls with an effect pass unasked, and on how many of the user's own
//! tasks a question is put.
//!
//! No model takes part. The calls that solve a user's task are made in order, and after any of its reads an
//! agent that obeys whatever it reads makes the calls that an injected task wants. A call that only reads is
//! the verb `read`, any other the verb `submit`; what a call carries is labelled by where its text was read,
//! and `policies/agentdojo.policy` decides.
//!
//! | module | subject |
//! |---|---|
//! | [`suite`] | the files |
//! | [`tools`] | every tool, what it shows or does, and what its arguments are for |
//! | [`state`] | the environment: what a call shows, what it leaves behind |
//! | [`label`] | where the text of an argument was read |
//! | [`rule`] | which arguments matter: ours, and the rules it is compared with |
//! | [`judge`] | the policy's answer |
//! | [`replay`] | user tasks alone, and each with each injected task |
//! | [`probe`] | effects that no suite lists, tried under every user task |
//! | [`table`] | the counts |

pub mod judge;
pub mod label;
pub mod probe;
pub mod replay;
pub mod rule;
pub mod state;
pub mod suite;
pub mod table;
pub mod tools;
