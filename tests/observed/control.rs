//! The attacking page in plain Chromium, as the control of the tests behind the guard.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use observer::traffic::Seen;
use observer::{DnsClient, Network};

use crate::attacks::{self, Attack, STREET, hex};
use crate::plain::{Openers, Plain};
use crate::site::Sites;
use crate::soon;

/// The quiet time to wait for after the page reports its last attempt, since attempts go on in the background.
pub const AFTERWARDS: Duration = Duration::from_secs(3);

/// The minimum number of attacks that must succeed in plain Chromium. On an idle machine it is 385 of about 460.
const FEWEST: usize = 250;

/// The attacks that succeed in plain Chromium. Only these say something about the guard. With `openers`, the page opens
/// another program too.
pub async fn control(network: &Network, sites: &Sites, openers: Option<&Openers>) -> Vec<Attack> {
    let begun = network.traffic().now();
    let page = page_with(STREET);
    let _plain = match openers {
        Some(openers) => Plain::open_beside(network, sites, &format!("{page}&letter"), openers),
        None => Plain::open(network, sites, &page),
    };
    assert!(soon(|| sites.tried().is_some()).await, "plain Chromium did not show the page");
    if let Some(openers) = openers {
        assert!(soon(|| openers.told().contains(&hex(STREET))).await, "plain Chromium starts no program");
    }
    let (mut left, mut end) = (attacks::all(), Instant::now() + AFTERWARDS * 2);
    while Instant::now() < end && !left.is_empty() {
        let seen = network.traffic().since(begun);
        let before = left.len();
        left.retain(|attack| !attack.is_in(&seen));
        if left.len() < before {
            end = Instant::now() + AFTERWARDS * 2;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    sites.forget();
    let open: Vec<Attack> = attacks::all().into_iter().filter(|attack| !left.contains(attack)).collect();
    println!("in plain Chromium {} of {} attacks succeed", open.len(), attacks::all().len());
    for (way, places) in by_way(&open) {
        println!("  {way}: {}", places.join(", "));
    }
    println!("without effect in plain Chromium:");
    for (way, places) in by_way(&left) {
        println!("  {way}: {}", places.join(", "));
    }
    assert!(open.len() >= FEWEST, "too few to say anything about the guard");
    for way in [
        "stun",
        "turn-udp",
        "turn-tcp",
        "turns",
        "stun-v4",
        "stun-v6",
        "ice-v4",
        "ice-v6",
        "local",
        "transport",
    ] {
        assert!(by_way(&open).contains_key(way), "{way} does not succeed in plain Chromium");
    }
    open
}

/// The page that starts with this street at once.
pub fn page_with(street: &str) -> String {
    format!("https://shop.test/order?street={}", street.replace(' ', "%20"))
}

/// The number of attacks by channel.
pub fn by_way(attacks: &[Attack]) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    attacks.iter().for_each(|attack| ways.entry(attack.way).or_default().push(attack.place));
    ways
}

/// Asserts that the browser looked up no name and sent only connections.
pub fn the_browser_is_silent(when: &str, seen: &Seen) {
    for asker in [DnsClient::Browser, DnsClient::Other] {
        let names = seen.names_queried_by(asker);
        assert!(names.is_empty(), "{when}: looked up by Chromium itself: {names:?}");
    }
    let datagrams = seen.datagrams();
    assert!(datagrams.is_empty(), "{when}: datagrams left: {datagrams:?}");
    assert!(seen.others().is_empty(), "{when}: {:?}", seen.others());
}

/// Asserts that the traffic does not contain the street, in plain or in an encoding that a page would use.
pub fn no_street(seen: &Seen, sites: &Sites) {
    let spelled = hex(STREET);
    let mut texts: Vec<String> = seen.dns_queries().into_iter().map(|it| it.name).collect();
    texts.extend(seen.payloads());
    texts.extend(sites.told().into_iter().map(|told| format!("{}{}", told.host, told.text)));
    for text in texts {
        assert!(!text.to_lowercase().contains(&spelled), "the street left in hexadecimal digits: {text}");
        assert_eq!(canary::find(&text, STREET), None, "the street left: {text}");
    }
}
