//! Hosts: whose page it is.

pub mod address;
pub mod lookalike;
pub mod origin;
pub mod site;
