//! The container's egress: a proxy that starts before the container, and is restricted before a value is released.

use browser_signals::Origin;
use browser_signals::playwright::Browser;
use policy_dfa::Reason;
use vault::Entropy;

use crate::egress_proxy::EgressProxy;
use crate::session::SessionError;

/// The maximum number of refusals that are recorded for one action of the agent. A page can cause any number of them.
const MAX_RECORDED: u64 = 100;

/// Starts a proxy for one container, with the host rules and the private hosts of the browser's settings.
pub(super) async fn start_proxy(
    browser: &Browser,
    payment: &[Origin],
    entropy: &mut (dyn Entropy + Send),
) -> Result<EgressProxy, SessionError> {
    let started = EgressProxy::of(browser.settings(), payment, entropy).await;
    started.map_err(|error| SessionError::Proxy(error.to_string()))
}

/// Restricts the egress to these origins, and then releases a value to one of them. If the restriction fails, nothing is
/// released.
pub(super) async fn release_within<T, F: Future<Output = T>>(
    proxy: &EgressProxy,
    open: &[Origin],
    release: impl FnOnce() -> F,
) -> Result<T, Reason> {
    proxy.narrow_to(open).await.map_err(|_| Reason::EgressBlocked)?;
    Ok(release().await)
}

/// The number of refusals to record since the last call.
pub(super) fn take_refusals(proxy: &EgressProxy) -> u64 {
    proxy.take_refused().min(MAX_RECORDED)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::sync::Arc;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::egress_proxy::{HostRules, Limits, OpenRule, SystemResolver};

    /// Asks the proxy for a tunnel to a server of this machine, and returns the connection and the answer.
    async fn tunnel(proxy: &EgressProxy, to: &str) -> (TcpStream, String) {
        let way = proxy.for_container();
        let mut stream = TcpStream::connect(way.address()).await.unwrap();
        let credential = STANDARD.encode(way.credential().as_bytes());
        let ask =
            format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nProxy-Authorization: Basic {credential}\r\n\r\n");
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = [0; 64];
        let length = stream.read(&mut answer).await.unwrap();
        (stream, String::from_utf8_lossy(answer.get(..length).unwrap()).into_owned())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_value_is_released_only_after_every_other_connection_is_cut() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = format!("evil.test:{}", server.local_addr().unwrap().port());
        let before = OpenRule { private_hosts: vec!["evil.test".to_owned()], payment: Vec::new() };
        let (rules, names) = (HostRules::parse("MAP *.test 127.0.0.1").unwrap(), Arc::new(SystemResolver));
        let proxy = EgressProxy::start(before, rules, names, Limits::default(), [7; 64]).await.unwrap();
        let (mut early, answer) = tunnel(&proxy, &to).await;
        assert!(answer.contains("200"), "{answer}");
        let shop = Origin::parse("https://shop.example").unwrap();
        // At the release the earlier tunnel is gone, and no new one opens.
        let way = &proxy;
        let release = move || async move {
            let gone = early.read(&mut [0; 8]).await.unwrap_or(0) == 0;
            (gone, tunnel(way, &to).await.1)
        };
        let (gone, answer) = release_within(&proxy, &[shop], release).await.unwrap();
        assert!(gone);
        assert!(!answer.contains(" 200"), "{answer}");
    }
}
