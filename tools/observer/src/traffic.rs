//! The captured traffic: DNS queries, datagrams, connections.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, setsockopt, socket, sockopt::RcvBuf,
};

use crate::addresses::{BROWSER_DNS, GATEWAY, GUARD_DNS, SENDER, is_name_server};
use crate::dns::question;
use crate::error::{NetworkError, failed};
use crate::packet::{Packet, Transport};

/// The longest time from sending a packet to its capture.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(30);

/// The port of name servers.
const DNS_PORT: u16 = 53;

/// The port of markers, packets that show how far the capture is.
const MARKER_PORT: u16 = 9;

/// Every captured packet, in order.
#[derive(Clone)]
pub struct Traffic(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    packets: Vec<Packet>,
    marks: u64,
    marked: BTreeSet<u64>,
}

/// The sender of a DNS query, by the name server that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DnsClient {
    /// The guard, for a connection that its proxy makes.
    Guard,
    /// The browser itself.
    Browser,
    /// A program that uses another name server than the two.
    Other,
}

/// A DNS query.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DnsQuery {
    /// The sender.
    pub client: DnsClient,
    /// The name.
    pub name: String,
}

/// A datagram that is no DNS query.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Datagram {
    /// The destination.
    pub to: SocketAddr,
    /// The payload.
    pub payload: Vec<u8>,
}

/// A connection that was opened or attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// The source port.
    pub from_port: u16,
    /// The destination.
    pub to: SocketAddr,
}

impl Traffic {
    /// Starts the capture in the network that this thread is in.
    pub(crate) fn watch() -> Result<Traffic, NetworkError> {
        let every = (AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll);
        let packets = socket(every.0, every.1, every.2, every.3).map_err(failed("a packet socket"))?;
        setsockopt(&packets, RcvBuf, &(8 << 20)).map_err(failed("the receive buffer"))?;
        let shared = Arc::new(Shared { state: Mutex::default(), arrived: Condvar::new() });
        let traffic = Traffic(Arc::clone(&shared));
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 17];
            while let Ok(length) = recv(packets.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                let frame = buffer.get(..length).unwrap_or_default();
                // Packets in the other direction, or within the simulated internet, are captured too.
                let left = frame.get(6..12) == Some(SENDER.as_slice());
                if let Some(packet) = left.then(|| Packet::read(frame)).flatten() {
                    shared.take(packet);
                }
            }
        });
        Ok(traffic)
    }

    /// The number of captured packets, after every packet that was sent before this call.
    pub fn now(&self) -> usize {
        self.catch_up();
        self.0.state().packets.len()
    }

    /// The packets after the first `count`, including every packet that was sent before this call.
    pub fn since(&self, count: usize) -> Seen {
        self.catch_up();
        Seen { packets: self.0.state().packets.get(count..).unwrap_or_default().to_vec() }
    }

    /// Sends a marker and waits until it is captured, since then all packets before it are captured too.
    ///
    /// # Panics
    /// The marker is not captured, so no count would be reliable.
    fn catch_up(&self) {
        let mut state = self.0.state();
        state.marks += 1;
        let mark = state.marks;
        drop(state);
        let sent = UdpSocket::bind("0.0.0.0:0")
            .and_then(|socket| socket.send_to(&mark.to_be_bytes(), (GATEWAY, MARKER_PORT)));
        let end = Instant::now() + CAPTURE_TIMEOUT;
        let mut state = self.0.state();
        while !state.marked.remove(&mark) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(sent.is_ok() && !left.is_zero(), "the marker was not captured: {sent:?}");
            let waited = self.0.arrived.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, packet: Packet) {
        let mut state = self.state();
        let mark = (packet.transport == Transport::Udp && packet.to == GATEWAY && packet.port == MARKER_PORT)
            .then(|| packet.payload.as_slice().try_into().ok().map(u64::from_be_bytes))
            .flatten();
        match mark {
            Some(mark) => {
                state.marked.insert(mark);
                self.arrived.notify_all();
            }
            None => state.packets.push(packet),
        }
    }
}

/// A part of the captured packets.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    packets: Vec<Packet>,
}

impl Seen {
    /// Every packet but those that the kernel sends by itself ([`Packet::noise`]).
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().filter(|packet| packet.noise().is_none())
    }

    /// The number of packets that the kernel sent by itself.
    pub fn noise(&self) -> usize {
        self.packets.len() - self.packets().count()
    }

    /// The DNS queries, each once.
    pub fn dns_queries(&self) -> BTreeSet<DnsQuery> {
        let queries =
            self.packets().filter(|packet| packet.transport == Transport::Udp && packet.port == DNS_PORT);
        queries
            .filter_map(|packet| {
                let (name, _) = question(&packet.payload)?;
                Some(DnsQuery { client: client_of(packet.to), name })
            })
            .collect()
    }

    /// The names that one client queried.
    pub fn names_queried_by(&self, client: DnsClient) -> BTreeSet<String> {
        self.dns_queries().into_iter().filter(|it| it.client == client).map(|it| it.name).collect()
    }

    /// Datagrams except DNS queries to the two name servers. For other servers, port 53 is a port like others.
    pub fn datagrams(&self) -> Vec<Datagram> {
        let udp = self.packets().filter(|packet| packet.transport == Transport::Udp);
        udp.filter(|packet| packet.port != DNS_PORT || !is_name_server(packet.to))
            .map(|packet| Datagram { to: (packet.to, packet.port).into(), payload: packet.payload.clone() })
            .collect()
    }

    /// The connections that were opened or attempted, each once.
    pub fn connections(&self) -> BTreeSet<Connection> {
        let opening = self.packets().filter(|packet| packet.transport == Transport::Tcp { opens: true });
        opening
            .map(|packet| Connection { from_port: packet.from_port, to: (packet.to, packet.port).into() })
            .collect()
    }

    /// Packets that are neither UDP nor TCP.
    pub fn others(&self) -> Vec<&Packet> {
        self.packets().filter(|packet| matches!(packet.transport, Transport::Other { .. })).collect()
    }

    /// The payload of each packet as text.
    pub fn payloads(&self) -> Vec<String> {
        self.packets().map(|packet| String::from_utf8_lossy(&packet.payload).into_owned()).collect()
    }
}

impl fmt::Display for DnsQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.name, self.client)
    }
}

fn client_of(server: IpAddr) -> DnsClient {
    match server {
        server if server == GUARD_DNS => DnsClient::Guard,
        server if server == BROWSER_DNS => DnsClient::Browser,
        _ => DnsClient::Other,
    }
}
