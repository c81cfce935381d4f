//! A replay of AgentDyn's recorded runs: the attacks that a rule stops, the useful runs that it keeps, and the user's own tasks on which
//! it asks.
//!
//! No model takes part. Each call of a recorded run is decided in its order; a call that is not covered counts as left out. The data
//! say which calls an attack, or the user's task, needs. An agent that makes every call of an attack after the user's own calls is tried
//! too.
//!
//! | module | subject |
//! |---|---|
//! | [`data`] | the files |
//! | [`replay`] | the rules, and what each stops, keeps and asks |

pub mod data;
pub mod replay;
