//! A network of its own for tests, in which every packet that leaves a browser is seen.
//!
//! The test program is started again in namespaces of its own. There the side of the browser and the guard is
//! joined to a second network by one cable (a veth pair) and a default route, and that second network is the
//! world: it answers for addresses that are public to the guard, and nothing of it leads out of the machine.
//! Addresses on `lo` alone would show nothing: Chromium sends neither look-ups nor datagrams where there is no
//! route.
//!
//! The guard and the browser ask different name servers ([`Asker`]), so that a look-up by the browser itself is
//! told from one that the guard's proxy makes. For that the browser is started through a small script
//! ([`Network::browser`]) that gives it a `/etc/resolv.conf` of its own and changes nothing else.
//!
//! | module | subject |
//! |---|---|
//! | [`entering`] | starting the program again inside, and saying aloud where that cannot be |
//! | [`network`] | the two sides, the cable, and the name servers' addresses |
//! | `cable` | the same by netlink |
//! | [`names`] | the name servers |
//! | [`traffic`] | what was seen: look-ups, datagrams, connections |
//! | [`packet`] | one packet, and which packets are the kernel's own |
//! | [`processes`] | ending a browser with everything that it started |
//!
//! Only Linux has such namespaces; elsewhere this crate is empty.

#![cfg(target_os = "linux")]

mod cable;
pub mod entering;
pub mod names;
pub mod network;
pub mod packet;
pub mod processes;
pub mod traffic;

pub use entering::{Entered, enter, observed};
pub use network::{Network, NetworkError};
pub use packet::Packet;
pub use traffic::{Asker, Connection, Datagram, LookUp, Traffic};
