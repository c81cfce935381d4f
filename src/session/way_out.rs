//! The container's way out: a proxy that is there before the container, and narrower before a value goes.

use std::sync::Arc;

use browser_signals::Origin;
use browser_signals::playwright::Browser;
use policy_dfa::Reason;
use vault::Entropy;

use super::driver::SessionError;
use crate::egress_proxy::{EgressProxy, HostRules, Limits, OpenRule, SystemResolver};

/// The most refusals that go on record for one action of the agent: a page can make any number of them.
const MOST_RECORDED: u64 = 100;

/// Starts a proxy for one container, with the names and the private hosts that the browser was started with.
pub(super) async fn open(
    browser: &Browser,
    payment: &[Origin],
    entropy: &mut (dyn Entropy + Send),
) -> Result<EgressProxy, SessionError> {
    let settings = browser.settings();
    let rules = HostRules::parse(settings.host_rules.as_deref().unwrap_or_default());
    let rules = rules.map_err(|error| SessionError::Proxy(error.to_string()))?;
    let before = OpenRule { private_hosts: settings.private_hosts.clone(), payment: payment.to_vec() };
    let mut random = [0; 64];
    entropy.fill(&mut random);
    let started =
        EgressProxy::start(before, rules, Arc::new(SystemResolver), Limits::default(), random).await;
    started.map_err(|error| SessionError::Proxy(error.to_string()))
}

/// Leaves these origins open and nothing else, before a value goes to one of them.
pub(super) async fn narrow(proxy: &EgressProxy, open: &[Origin]) -> Result<(), Reason> {
    proxy.narrow_to(open).await.map_err(|_| Reason::EgressBlocked)
}

/// How many refusals to record.
pub(super) fn refused(proxy: &EgressProxy) -> u64 {
    proxy.take_refused().min(MOST_RECORDED)
}
