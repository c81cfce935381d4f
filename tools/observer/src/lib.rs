//! A test network in which every packet that leaves a browser is captured.
//!
//! The test program is started again in namespaces of its own. There the network of the browser and the guard is
//! connected to a second network by a veth pair and a default route. The second network simulates the internet: it
//! answers for addresses that are public to the guard, and no packet leaves the machine. Addresses on `lo` would
//! not be enough, because without a route Chromium sends neither DNS queries nor datagrams.
//!
//! The guard and the browser use different name servers ([`DnsClient`]), so that a query by the browser itself
//! differs from one of the guard's proxy. For that the browser is started through a small script
//! ([`Network::browser`]) that gives it a `/etc/resolv.conf` of its own and changes nothing else.
//!
//! | module | subject |
//! |---|---|
//! | [`namespaces`] | starting the program again in namespaces, and reporting why it cannot be |
//! | [`addresses`] | the addresses of the two networks |
//! | [`error`] | the error in making them |
//! | [`network`] | the two networks |
//! | `veth` | the veth pair between them, set up by netlink |
//! | [`dns`] | the name servers |
//! | [`traffic`] | the captured traffic: DNS queries, datagrams, connections |
//! | [`packet`] | one packet, and the packets that the kernel sends by itself |
//! | [`processes`] | ending a browser and all processes that it started |
//!
//! Only Linux has such namespaces; elsewhere this crate is empty.

#![cfg(target_os = "linux")]

pub mod addresses;
pub mod dns;
pub mod error;
pub mod namespaces;
pub mod network;
pub mod packet;
pub mod processes;
pub mod traffic;
mod veth;

pub use error::NetworkError;
pub use namespaces::{NamespaceRun, observed, run_in_namespaces};
pub use network::Network;
pub use packet::Packet;
pub use traffic::{Connection, Datagram, DnsClient, DnsQuery, Traffic};
