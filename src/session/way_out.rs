//! The container's way out: a proxy that is there before the container, and narrower before a value goes.

use browser_signals::Origin;
use browser_signals::playwright::Browser;
use policy_dfa::Reason;
use vault::Entropy;

use super::driver::SessionError;
use crate::egress_proxy::EgressProxy;

/// The most refusals that go on record for one action of the agent: a page can make any number of them.
const MOST_RECORDED: u64 = 100;

/// Starts a proxy for one container, with the names and the private hosts that the browser was started with.
pub(super) async fn open(
    browser: &Browser,
    payment: &[Origin],
    entropy: &mut (dyn Entropy + Send),
) -> Result<EgressProxy, SessionError> {
    let started = EgressProxy::of(browser.settings(), payment, entropy).await;
    started.map_err(|error| SessionError::Proxy(error.to_string()))
}

/// Leaves these origins open and nothing else, and only then lets a value go to one of them. Where a way to elsewhere
/// stays open, nothing goes.
pub(super) async fn narrowed<T, F: Future<Output = T>>(
    proxy: &EgressProxy,
    open: &[Origin],
    release: impl FnOnce() -> F,
) -> Result<T, Reason> {
    proxy.narrow_to(open).await.map_err(|_| Reason::EgressBlocked)?;
    Ok(release().await)
}

/// How many refusals to record.
pub(super) fn refused(proxy: &EgressProxy) -> u64 {
    proxy.take_refused().min(MOST_RECORDED)
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

    /// Asks the proxy for a tunnel to a server of this machine, and says what it answers.
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
    async fn a_value_goes_only_once_every_other_way_is_cut() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = format!("evil.test:{}", server.local_addr().unwrap().port());
        let before = OpenRule { private_hosts: vec!["evil.test".to_owned()], payment: Vec::new() };
        let (rules, names) = (HostRules::parse("MAP *.test 127.0.0.1").unwrap(), Arc::new(SystemResolver));
        let proxy = EgressProxy::start(before, rules, names, Limits::default(), [7; 64]).await.unwrap();
        let (mut early, answer) = tunnel(&proxy, &to).await;
        assert!(answer.contains("200"), "{answer}");
        let shop = Origin::parse("https://shop.example").unwrap();
        // What a release would meet: the tunnel from before is gone, and no new one opens.
        let way = &proxy;
        let release = move || async move {
            let gone = early.read(&mut [0; 8]).await.unwrap_or(0) == 0;
            (gone, tunnel(way, &to).await.1)
        };
        let (gone, answer) = narrowed(&proxy, &[shop], release).await.unwrap();
        assert!(gone);
        assert!(!answer.contains(" 200"), "{answer}");
    }
}
