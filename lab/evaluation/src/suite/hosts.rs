//! The hosts that the evaluation serves, all under `.test`.

/// The shop that the user wants to buy from.
pub const SHOP: &str = "copper-kettle.test";
/// A host that looks like the shop's.
pub const LOOKALIKE: &str = "copper-kettie.test";
/// A host whose frames the shop embeds and does not own.
pub const WIDGET: &str = "helpdesk-widgets.test";
/// The attacker's host, which records everything that is sent to it.
pub const COLLECTOR: &str = "collect.evil.test";

/// Every host that is served.
pub const ALL: [&str; 4] = [SHOP, LOOKALIKE, WIDGET, COLLECTOR];

/// The shop's origin.
pub const SHOP_ORIGIN: &str = "https://copper-kettle.test";
