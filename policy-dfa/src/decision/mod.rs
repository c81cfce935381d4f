//! The decision: from a question to a verdict, and the grant that opens the vault.

pub(crate) mod claim;
pub(crate) mod controls;
pub(crate) mod decide;
pub(crate) mod failed_rule;
pub(crate) mod grant;
pub(crate) mod history;
pub(crate) mod partial;
pub(crate) mod possible;
pub(crate) mod provider;
pub(crate) mod question;
pub(crate) mod restore;
pub(crate) mod sign_on;
pub(crate) mod valuation;
