//! Values that grant access by themselves: keys and tokens, passwords, one-time codes.

pub(crate) mod assigned;
pub(crate) mod command;
pub(crate) mod issuer;
mod name;
pub(crate) mod one_time_code;
pub(crate) mod password;
mod randomness;
pub(crate) mod token;
