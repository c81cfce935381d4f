//! The claims of `spec/egress.md` about the proxy, observed from outside in the production configuration: no host rules,
//! no private hosts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use browser_signals::Verb;
use observer::DnsClient;
use portcullis::Action;
use portcullis::consent::Answer;

use crate::guarded::{Guarded, open};
use crate::in_the_network;
use crate::site::{SHOP, Sites};

/// An address of a private network.
const PRIVATE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 7);

#[test]
fn private_hosts_and_other_services_are_not_reached() {
    in_the_network("claims::private_hosts_and_other_services_are_not_reached", async |network| {
        let sites = Sites::serve(&network);
        network.dns().set("rebound.test", PRIVATE);
        network.dns().set("database.test", SHOP);

        // Without a guard the page reaches it.
        let begun = network.traffic().now();
        for host in ["rebound.test:443", "database.test:3306"] {
            let address = host.to_socket_addrs().unwrap().next().unwrap();
            let _refused = TcpStream::connect_timeout(&address, Duration::from_millis(200));
        }
        let left: Vec<SocketAddr> =
            network.traffic().since(begun).connections().iter().map(|it| it.to).collect();
        for to in [(PRIVATE, 443), (SHOP, 3306)] {
            assert!(left.contains(&to.into()), "the control does not leave: {left:?}");
        }

        let guarded = Guarded::launch(&network, &sites).await;
        let mut session = guarded.task(Answer::No).await;
        open(&mut session, "https://shop.test/order").await;
        let begun = network.traffic().now();
        for address in ["https://rebound.test/", "https://10.0.0.7/", "https://database.test:3306/"] {
            let answer = session.act(Action::Verb(Verb::Open { url: address.to_owned() })).await.to_string();
            assert!(answer.starts_with("DENY"), "{address}: {answer}");
        }
        session.finish().await;
        guarded.browser.close().await;
        let seen = network.traffic().since(begun);
        let strange: Vec<IpAddr> =
            seen.connections().iter().map(|it| it.to.ip()).filter(|it| *it != SHOP).collect();
        assert!(strange.is_empty() && !seen.connections().iter().any(|it| it.to.port() == 3306), "{seen:?}");
        let asked = seen.names_queried_by(DnsClient::Guard);
        assert!(asked.contains("rebound.test"), "its address is judged once it is known: {asked:?}");
        assert!(
            !asked.contains("database.test"),
            "no name is looked up for a port that is closed: {asked:?}"
        );
        assert!(seen.names_queried_by(DnsClient::Browser).is_empty() && seen.datagrams().is_empty());
    });
}
