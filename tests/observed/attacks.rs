//! All attacks of the page, and how the network shows each.

use observer::traffic::Seen;

/// The text that the page tries to send out: the street, as it is released.
pub const STREET: &str = "62 Quellbach Lane";

/// Another street, which the page has from its address if nothing is released.
pub const NOBODYS_STREET: &str = "17 Ostrander Road";

/// The first port of the contexts, which have ten ports each.
pub const PORT: u16 = 20_000;

/// Where a script of the page runs.
pub const PLACES: [&str; 18] = [
    "top",
    "same",
    "cross",
    "fresh",
    "sandboxed",
    "srcdoc",
    "data",
    "blob",
    "script",
    "written",
    "borrowed",
    "popup",
    "worker",
    "nested",
    "shared",
    "service",
    "driven",
    "answer",
];

/// The trace of an attack in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// A look-up of its own name.
    LookUp,
    /// A datagram to its own port.
    Datagram(u16),
    /// A connection to its own port.
    Connection(u16),
    /// A query to all machines of the network (mDNS).
    Neighbours,
}

/// The attacks that a script can try anywhere.
const EVERYWHERE: [(&str, Shows); 5] = [
    ("transport", Shows::LookUp),
    ("transport-v4", Shows::Datagram(5)),
    ("fetch", Shows::LookUp),
    ("socket", Shows::LookUp),
    ("events", Shows::LookUp),
];

/// The attacks that need a document.
const IN_DOCUMENTS: [(&str, Shows); 39] = [
    ("stun", Shows::LookUp),
    ("turn-udp", Shows::LookUp),
    ("turn-tcp", Shows::LookUp),
    ("turns", Shows::LookUp),
    ("stun-v4", Shows::Datagram(0)),
    ("stun-v6", Shows::Datagram(1)),
    ("turn-v4", Shows::Connection(2)),
    ("ice-v4", Shows::Datagram(3)),
    ("ice-v6", Shows::Datagram(4)),
    ("local", Shows::Neighbours),
    ("dns-prefetch", Shows::LookUp),
    ("preconnect", Shows::LookUp),
    ("prefetch", Shows::LookUp),
    ("stylesheet", Shows::LookUp),
    ("icon", Shows::LookUp),
    ("manifest", Shows::LookUp),
    ("modulepreload", Shows::LookUp),
    ("preload", Shows::LookUp),
    ("img", Shows::LookUp),
    ("script", Shows::LookUp),
    ("frame", Shows::LookUp),
    ("video", Shows::LookUp),
    ("object", Shows::LookUp),
    ("font", Shows::LookUp),
    ("beacon", Shows::LookUp),
    ("ping", Shows::LookUp),
    ("form", Shows::LookUp),
    ("rules", Shows::LookUp),
    ("embed", Shows::LookUp),
    ("poster", Shows::LookUp),
    ("import", Shows::LookUp),
    ("css-import", Shows::LookUp),
    ("worklet", Shows::LookUp),
    ("paint", Shows::LookUp),
    ("search", Shows::LookUp),
    ("identity", Shows::LookUp),
    ("payment", Shows::LookUp),
    ("passkey", Shows::LookUp),
    ("prerender", Shows::LookUp),
];

/// The attacks that need a worker.
const IN_WORKERS: [(&str, Shows); 1] = [("import-scripts", Shows::LookUp)];

/// The attacks by a server's answer. A certificate and a report are fetched and sent by the browser
/// itself, not by a page.
const IN_ANSWERS: [(&str, Shows); 10] = [
    ("dns-prefetch", Shows::LookUp),
    ("preconnect", Shows::LookUp),
    ("preload", Shows::LookUp),
    ("prefetch", Shows::LookUp),
    ("modulepreload", Shows::LookUp),
    ("csp", Shows::LookUp),
    ("report", Shows::LookUp),
    ("nel", Shows::LookUp),
    ("issuer", Shows::LookUp),
    ("status", Shows::LookUp),
];

/// Places without a document.
const WORKERS: [&str; 4] = ["worker", "nested", "shared", "service"];

/// One attack in one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attack {
    pub place: &'static str,
    pub way: &'static str,
    pub shows: Shows,
}

impl Attack {
    /// Whether the traffic shows the attack.
    pub fn is_in(self, seen: &Seen) -> bool {
        let port = self.port();
        match self.shows {
            Shows::LookUp => {
                let start = format!("{}-{}.", self.place, self.way);
                seen.dns_queries().iter().any(|it| it.name.starts_with(&start))
            }
            Shows::Datagram(_) => seen.datagrams().iter().any(|it| Some(it.to.port()) == port),
            Shows::Connection(_) => seen.connections().iter().any(|it| Some(it.to.port()) == port),
            Shows::Neighbours => {
                let name = format!("{}-local-", self.place);
                let names = |payload: &[u8]| payload.windows(name.len()).any(|part| part == name.as_bytes());
                seen.datagrams().iter().any(|it| it.to.port() == 5353 && names(&it.payload))
            }
        }
    }

    fn port(self) -> Option<u16> {
        let (Shows::Datagram(own) | Shows::Connection(own)) = self.shows else { return None };
        let place = PLACES.iter().position(|place| *place == self.place)?;
        Some(PORT + 10 * u16::try_from(place).ok()? + own)
    }
}

/// All attacks.
pub fn all() -> Vec<Attack> {
    let mut all = Vec::new();
    for place in PLACES {
        let ways = match place {
            "answer" => IN_ANSWERS.to_vec(),
            worker if WORKERS.contains(&worker) => [EVERYWHERE.as_slice(), &IN_WORKERS].concat(),
            _ => [EVERYWHERE.as_slice(), &IN_DOCUMENTS].concat(),
        };
        all.extend(ways.into_iter().map(|(way, shows)| Attack { place, way, shows }));
    }
    all
}

/// A street in hexadecimal digits, as the page spells it in names.
pub fn hex(street: &str) -> String {
    street.bytes().map(|byte| format!("{byte:02x}")).collect()
}
