//! Every packet that leaves is captured, and no other.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics fails")]

use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::process::Command;

use observer::{DnsClient, observed};

#[test]
fn packets_that_leave_are_captured_and_classified() {
    observed("packets_that_leave_are_captured_and_classified", |network| {
        let site = Ipv4Addr::new(44, 128, 70, 1);
        network.dns().set("*.site.test", site);
        let listener = network.listen((site, 443).into()).unwrap();
        let begun = network.traffic().now();

        let found: Vec<SocketAddr> = ("shop.site.test", 443).to_socket_addrs().unwrap().collect();
        assert_eq!(found, [SocketAddr::from((site, 443))]);
        assert!(("elsewhere.test", 443).to_socket_addrs().is_err());
        let mut connection = TcpStream::connect(found[0]).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        drop(accepted);
        assert_eq!(connection.read(&mut [0; 8]).unwrap(), 0);
        // An address of the simulated internet without a listener, and one outside of it.
        TcpStream::connect((Ipv4Addr::new(44, 128, 70, 2), 80)).unwrap_err();
        let socket = UdpSocket::bind("[::]:0").unwrap();
        let far: SocketAddr = (Ipv6Addr::new(0x2600, 0, 0, 0, 0, 0, 0, 7), 3478).into();
        socket.send_to(b"over the link", far).unwrap();
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"not over it", "127.0.0.1:9").unwrap();

        let seen = network.traffic().since(begun);
        let asked: Vec<String> = seen.names_queried_by(DnsClient::Guard).into_iter().collect();
        assert_eq!(asked, ["elsewhere.test", "shop.site.test"]);
        assert!(seen.names_queried_by(DnsClient::Browser).is_empty());
        let datagrams = seen.datagrams();
        assert_eq!(datagrams.len(), 1);
        assert_eq!((datagrams[0].to, datagrams[0].payload.as_slice()), (far, b"over the link".as_slice()));
        let connections: Vec<SocketAddr> = seen.connections().iter().map(|it| it.to).collect();
        assert_eq!(connections.len(), 2);
        assert!(seen.others().is_empty(), "{:?}", seen.others());

        // The browser's script runs the program with its arguments, which uses the other name server.
        let program = network.browser("/usr/bin/getent".as_ref()).unwrap();
        let begun = network.traffic().now();
        let output =
            Command::new(program).env("PATH", "/nowhere").args(["hosts", "a.site.test"]).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("44.128.70.1"), "{output:?}");
        let seen = network.traffic().since(begun);
        assert!(seen.names_queried_by(DnsClient::Browser).contains("a.site.test"));
        assert!(seen.names_queried_by(DnsClient::Guard).is_empty());
        assert_eq!(seen.dns_queries().iter().filter(|it| it.client == DnsClient::Other).count(), 0);
    });
}
