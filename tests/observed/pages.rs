//! A page that attacks in every context, in plain Chromium and behind the guard.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use browser_signals::playwright::NetworkBarrier;
use observer::DnsClient;
use portcullis::consent::Answer;

use crate::attacks::{self, Attack, NOBODYS_STREET};
use crate::control::{AFTERWARDS, by_way, control, no_street, page_with, the_browser_is_silent};
use crate::guarded::{Guarded, open, release};
use crate::site::{SHOP, Sites};
use crate::{in_the_network, soon};

/// The time after the release to wait for network error reports (NEL), which the browser sends once a minute.
const REPORTS: Duration = Duration::from_secs(65);

#[test]
fn nothing_leaves_by_any_channel_that_plain_chromium_has() {
    in_the_network("pages::nothing_leaves_by_any_channel_that_plain_chromium_has", async |network| {
        let sites = Sites::serve(&network);
        let succeed = control(&network, &sites, None).await;
        let started = network.traffic().now();
        let guarded = Guarded::launch(&network, &sites).await;

        // In a container with a released street the browser reaches the shop, and nothing else.
        let mut session = guarded.task(Answer::Session).await;
        open(&mut session, "https://shop.test/order").await;
        let released = network.traffic().now();
        let since_release = Instant::now();
        sites.forget();
        let reply = release(&mut session).await;
        assert!(reply.starts_with("GRANT.address"), "{reply}");
        assert!(soon(|| sites.tried().is_some()).await, "the page did not try");
        println!("behind the guard, by place: {}", sites.tried().unwrap_or_default());
        tokio::time::sleep(AFTERWARDS).await;
        let seen = network.traffic().since(released);
        let left: Vec<Attack> = succeed.iter().copied().filter(|attack| attack.is_in(&seen)).collect();
        assert_eq!(
            by_way(&left),
            BTreeMap::new(),
            "an attack that succeeds in plain Chromium succeeded here too"
        );
        the_browser_is_silent("after a release", &seen);
        let asked = seen.names_queried_by(DnsClient::Guard);
        assert!(asked.iter().all(|name| name == "shop.test"), "the guard looked up a closed name: {asked:?}");
        let shop = seen.connections().iter().all(|it| it.to.ip() == IpAddr::from(SHOP));
        assert!(shop, "a connection to what is closed: {:?}", seen.connections());
        no_street(&seen, &sites);

        // Without a release the page reaches any host through the guard's proxy, and through nothing else.
        let before = network.traffic().now();
        sites.forget();
        let mut looking = guarded.task(Answer::No).await;
        open(&mut looking, &page_with(NOBODYS_STREET)).await;
        assert!(soon(|| sites.tried().is_some()).await, "the page did not try");
        tokio::time::sleep(AFTERWARDS).await;
        let seen = network.traffic().since(before);
        the_browser_is_silent("in T0", &seen);
        assert!(
            seen.names_queried_by(DnsClient::Guard).iter().any(|name| name.starts_with("top-fetch.")),
            "the proxy works"
        );
        let (begun, opened) = (seen.connections().len() as u64, looking.proxy().opened());
        assert!(begun <= opened + session.proxy().opened(), "{begun} connections, {opened} by the proxy");
        looking.finish().await;

        // Reports that the browser sends by itself, later.
        tokio::time::sleep(REPORTS.saturating_sub(since_release.elapsed())).await;
        session.finish().await;
        guarded.browser.close().await;
        let seen = network.traffic().since(started);
        the_browser_is_silent("from its start on", &seen);
        no_street(&seen, &sites);
        println!("{} packets, {} of the kernel's own left out", seen.packets().count(), seen.noise());
    });
}

/// Each of the two protections stops attacks that the other one lets pass. The page is in a container of its own, with a
/// released street.
#[test]
fn each_protection_alone_lets_something_out() {
    in_the_network("pages::each_protection_alone_lets_something_out", async |network| {
        let sites = Sites::serve(&network);
        for (line, way) in
            [(NetworkBarrier::HostRules, "turn-tcp"), (NetworkBarrier::WebRtcPolicy, "stun-v4")]
        {
            sites.forget();
            let guarded =
                Guarded::launch_with(&network, &sites, |settings| settings.without = Some(line)).await;
            let mut session = guarded.task(Answer::Session).await;
            open(&mut session, "https://shop.test/order").await;
            let released = network.traffic().now();
            assert!(release(&mut session).await.starts_with("GRANT.address"));
            // The frames race with the guard's own script, which is why the two protections exist.
            let left = || {
                let seen = network.traffic().since(released);
                attacks::all().into_iter().any(|attack| attack.way == way && attack.is_in(&seen))
            };
            assert!(soon(left).await, "{way} does not leave without {line:?}");
            session.finish().await;
            guarded.browser.close().await;
        }
    });
}
