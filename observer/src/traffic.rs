//! What was seen: look-ups, datagrams, connections.

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

use crate::cable::SENDER;
use crate::names::question;
use crate::network::{BROWSERS_NAMES, GATEWAY, GUARDS_NAMES, NetworkError, is_name_server, trying};
use crate::packet::{Carried, Packet};

/// How long a packet may take from one end of the cable to whoever counts it.
const ARRIVES_WITHIN: Duration = Duration::from_secs(30);

/// The port of name servers.
const NAMES: u16 = 53;

/// The port to which marks go.
const MARKS: u16 = 9;

/// Every packet that left, in order.
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

/// Who asked for a name: each has a name server of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// The guard, for a connection that its proxy makes.
    Guard,
    /// The browser itself.
    Browser,
    /// Somebody who asks a name server that nobody was told of.
    Stranger,
}

/// A question to a name server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookUp {
    /// Who asked.
    pub asker: Asker,
    /// For which name.
    pub name: String,
}

/// A datagram that is no look-up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Datagram {
    /// Where it goes.
    pub to: SocketAddr,
    /// What it says.
    pub payload: Vec<u8>,
}

/// A connection that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// The port that it comes from.
    pub from_port: u16,
    /// Where it goes.
    pub to: SocketAddr,
}

impl Traffic {
    /// Begins to count, in the network that this thread is in.
    pub(crate) fn watch() -> Result<Traffic, NetworkError> {
        let every = (AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll);
        let packets = socket(every.0, every.1, every.2, every.3).map_err(trying("a packet socket"))?;
        setsockopt(&packets, RcvBuf, &(8 << 20)).map_err(trying("room for packets"))?;
        let shared = Arc::new(Shared { state: Mutex::default(), arrived: Condvar::new() });
        let traffic = Traffic(Arc::clone(&shared));
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 17];
            while let Ok(length) = recv(packets.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                let frame = buffer.get(..length).unwrap_or_default();
                // What goes the other way, or within the world, comes by here too.
                let left = frame.get(6..12) == Some(SENDER.as_slice());
                if let Some(packet) = left.then(|| Packet::read(frame)).flatten() {
                    shared.take(packet);
                }
            }
        });
        Ok(traffic)
    }

    /// How many packets have left. Everything that was sent before is counted.
    pub fn now(&self) -> usize {
        self.catch_up();
        self.0.state().packets.len()
    }

    /// What has left since there were so many packets. Everything that was sent before is counted.
    pub fn since(&self, count: usize) -> Seen {
        self.catch_up();
        Seen { packets: self.0.state().packets.get(count..).unwrap_or_default().to_vec() }
    }

    /// Waits until a packet that is sent now has been seen: those sent before it have been, too.
    ///
    /// # Panics
    /// Where it does not come: then nothing is counted, and no count means anything.
    fn catch_up(&self) {
        let mut state = self.0.state();
        state.marks += 1;
        let mark = state.marks;
        drop(state);
        let sent = UdpSocket::bind("0.0.0.0:0")
            .and_then(|socket| socket.send_to(&mark.to_be_bytes(), (GATEWAY, MARKS)));
        let end = Instant::now() + ARRIVES_WITHIN;
        let mut state = self.0.state();
        while !state.marked.remove(&mark) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(sent.is_ok() && !left.is_zero(), "the observer does not see what leaves: {sent:?}");
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
        let mark = (packet.carried == Carried::Udp && packet.to == GATEWAY && packet.port == MARKS)
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

/// Packets that left.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    packets: Vec<Packet>,
}

impl Seen {
    /// Every packet but the kernel's own ([`Packet::noise`]).
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().filter(|packet| packet.noise().is_none())
    }

    /// How many packets were left out, the kernel's own.
    pub fn noise(&self) -> usize {
        self.packets.len() - self.packets().count()
    }

    /// The names that were asked for, each once.
    pub fn look_ups(&self) -> BTreeSet<LookUp> {
        let asked = self.packets().filter(|packet| packet.carried == Carried::Udp && packet.port == NAMES);
        asked
            .filter_map(|packet| {
                let (name, _) = question(&packet.payload)?;
                Some(LookUp { asker: asker(packet.to), name })
            })
            .collect()
    }

    /// The names that one of them asked for.
    pub fn asked_by(&self, asker: Asker) -> BTreeSet<String> {
        self.look_ups().into_iter().filter(|it| it.asker == asker).map(|it| it.name).collect()
    }

    /// Datagrams but for look-ups at the two name servers: to anywhere else port 53 is a port like others.
    pub fn datagrams(&self) -> Vec<Datagram> {
        let udp = self.packets().filter(|packet| packet.carried == Carried::Udp);
        udp.filter(|packet| packet.port != NAMES || !is_name_server(packet.to))
            .map(|packet| Datagram { to: (packet.to, packet.port).into(), payload: packet.payload.clone() })
            .collect()
    }

    /// The connections that were begun, each once, whatever became of them.
    pub fn connections(&self) -> BTreeSet<Connection> {
        let opening = self.packets().filter(|packet| packet.carried == Carried::Tcp { opens: true });
        opening
            .map(|packet| Connection { from_port: packet.from_port, to: (packet.to, packet.port).into() })
            .collect()
    }

    /// Packets that are neither datagrams nor pieces of connections.
    pub fn others(&self) -> Vec<&Packet> {
        self.packets().filter(|packet| matches!(packet.carried, Carried::Other { .. })).collect()
    }

    /// Everything that the packets said, one text for each.
    pub fn said(&self) -> Vec<String> {
        self.packets().map(|packet| String::from_utf8_lossy(&packet.payload).into_owned()).collect()
    }
}

impl fmt::Display for LookUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.name, self.asker)
    }
}

fn asker(server: IpAddr) -> Asker {
    match server {
        server if server == GUARDS_NAMES => Asker::Guard,
        server if server == BROWSERS_NAMES => Asker::Browser,
        _ => Asker::Stranger,
    }
}
