//! One packet, and which packets are the kernel's own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IP protocol numbers.
const ICMP: u8 = 1;
const IGMP: u8 = 2;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP_V6: u8 = 58;

/// What one IP packet carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// A datagram.
    Udp,
    /// A piece of a connection.
    Tcp {
        /// Whether it opens one.
        opens: bool,
    },
    /// Another protocol, by its number, and its first byte: the type of an ICMP message.
    Other {
        /// The protocol's number.
        protocol: u8,
        /// The first byte of what it carries.
        kind: u8,
    },
}

/// One IP packet that left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// What it carries.
    pub carried: Carried,
    /// Where it goes.
    pub to: IpAddr,
    /// The port that it goes to; none but for UDP and TCP.
    pub port: u16,
    /// The port that it comes from.
    pub from_port: u16,
    /// What it carries beyond the heads.
    pub payload: Vec<u8>,
}

impl Packet {
    /// Reads an Ethernet frame; none where it holds no IP packet.
    pub fn read(frame: &[u8]) -> Option<Packet> {
        let packet = frame.get(14..)?;
        match frame.get(12..14)? {
            [0x08, 0x00] => Packet::read_v4(packet),
            [0x86, 0xdd] => Packet::read_v6(packet),
            _ => None,
        }
    }

    fn read_v4(packet: &[u8]) -> Option<Packet> {
        let head = usize::from(packet.first()? & 0x0f) * 4;
        let length = usize::from(two(packet, 2)?);
        let to: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
        // What is longer than a packet may be comes with a length of nought.
        let end = if length == 0 { packet.len() } else { length };
        Packet::of(*packet.get(9)?, Ipv4Addr::from(to).into(), packet.get(head..end)?)
    }

    fn read_v6(packet: &[u8]) -> Option<Packet> {
        let to: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
        let (mut next, mut rest) = (*packet.get(6)?, packet.get(40..)?);
        // Options before what is carried: those of multicast reports.
        while matches!(next, 0 | 43 | 60) {
            let length = (usize::from(*rest.get(1)?) + 1) * 8;
            (next, rest) = (*rest.first()?, rest.get(length..)?);
        }
        Packet::of(next, Ipv6Addr::from(to).into(), rest)
    }

    fn of(protocol: u8, to: IpAddr, inner: &[u8]) -> Option<Packet> {
        let (carried, head) = match protocol {
            UDP => (Carried::Udp, 8),
            TCP => {
                let opens = inner.get(13)? & 0x12 == 0x02;
                (Carried::Tcp { opens }, usize::from(inner.get(12)? >> 4) * 4)
            }
            _ => {
                let kind = inner.first().copied().unwrap_or_default();
                (Carried::Other { protocol, kind }, 0)
            }
        };
        let has_ports = !matches!(carried, Carried::Other { .. });
        let port = |at| if has_ports { two(inner, at) } else { Some(0) };
        let payload = inner.get(head..).unwrap_or_default().to_vec();
        Some(Packet { carried, to, port: port(2)?, from_port: port(0)?, payload })
    }

    /// Which of the kernel's own messages this is, if it is one: what a machine says to its neighbours on the cable
    /// whether or not a program runs, and its answers to packets that nobody waited for. Nothing else is left out of
    /// what counts.
    pub fn noise(&self) -> Option<&'static str> {
        match self.carried {
            Carried::Other { protocol: IGMP, .. } => Some("multicast groups (IGMP)"),
            Carried::Other { protocol: ICMP, kind: 3 } => Some("nobody waits for this answer (ICMP)"),
            Carried::Other { protocol: ICMP_V6, kind: 1 } => Some("nobody waits for this answer (ICMPv6)"),
            Carried::Other { protocol: ICMP_V6, kind: 130..=132 | 143 } => Some("multicast groups (MLD)"),
            Carried::Other { protocol: ICMP_V6, kind: 133..=137 } => Some("neighbour discovery"),
            _ => None,
        }
    }
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    fn frame(kind: [u8; 2], packet: &[u8]) -> Vec<u8> {
        [&[0; 12], kind.as_slice(), packet].concat()
    }

    #[test]
    fn a_datagram_is_read_with_its_ports_and_words() {
        let mut packet = vec![0x45, 0, 0, 31, 0, 0, 0, 0, 64, UDP, 0, 0, 44, 128, 0, 2, 44, 128, 64, 9];
        packet.extend([0x10, 0x00, 0x0d, 0x96, 0, 11, 0, 0, b'a', b'b', b'c']);
        // The frame is padded.
        packet.extend([0; 20]);
        let read = Packet::read(&frame([8, 0], &packet)).unwrap();
        let to = Ipv4Addr::new(44, 128, 64, 9).into();
        let payload = b"abc".to_vec();
        assert_eq!(read, Packet { carried: Carried::Udp, to, port: 3478, from_port: 4096, payload });
        assert_eq!(read.noise(), None);
    }

    #[test]
    fn a_report_of_multicast_groups_is_noise_behind_its_options() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 16, 0, 1];
        packet.extend([0; 32]);
        packet.extend([ICMP_V6, 0, 5, 2, 0, 0, 1, 0, 143, 0, 0, 0, 0, 0, 0, 0]);
        let read = Packet::read(&frame([0x86, 0xdd], &packet)).unwrap();
        assert_eq!(read.noise(), Some("multicast groups (MLD)"));
    }

    #[test]
    fn what_is_cut_short_is_no_packet() {
        for packet in [&[][..], &[0x45], &[0x45, 0, 0, 20], &[0x60; 20]] {
            assert_eq!(Packet::read(&frame([8, 0], packet)), None);
            assert_eq!(Packet::read(&frame([0x86, 0xdd], packet)), None);
        }
        assert_eq!(Packet::read(&[0; 5]), None);
    }
}
