//! A replay of AgentDojo's tasks: the calls with an effect that are granted without a prompt, and the user's own tasks
//! on which a prompt is needed.
//!
//! No model takes part. The calls that solve a user's task are made in order, and after any of its reads an agent that
//! obeys everything it reads makes the calls of an injected task. A call that only reads is the verb `read`, any other
//! the verb `submit`; the arguments of a call are labelled by the source of their text, and `policies/tool_agent.policy`
//! decides.
//!
//! | module | subject |
//! |---|---|
//! | [`suite`] | the files |
//! | [`tools`] | every tool, its results or effect, and the roles of its arguments |
//! | [`state`] | the environment: the results and effects of calls |
//! | [`label`] | the source of the text of an argument |
//! | [`rule`] | the arguments that matter: our rule, and the rules that it is compared with |
//! | [`replay`] | user tasks alone, and each with each injected task |
//! | [`probe`] | effects that no suite lists, tried under every user task |
//! | [`table`] | the counts |

pub mod label;
pub mod probe;
pub mod replay;
pub mod rule;
pub mod state;
pub mod suite;
pub mod table;
pub mod tools;
