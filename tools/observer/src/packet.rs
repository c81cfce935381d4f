//! One packet, and the packets that the kernel sends by itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IP protocol numbers.
const ICMP: u8 = 1;
const IGMP: u8 = 2;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP_V6: u8 = 58;

/// The transport protocol of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// UDP: a datagram.
    Udp,
    /// TCP: a segment of a connection.
    Tcp {
        /// True if it opens the connection.
        opens: bool,
    },
    /// Another protocol.
    Other {
        /// The protocol's number.
        protocol: u8,
        /// The first byte of the payload, which is the type of an ICMP message.
        kind: u8,
    },
}

/// One captured IP packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The transport protocol.
    pub transport: Transport,
    /// The destination address.
    pub to: IpAddr,
    /// The destination port; 0 except for UDP and TCP.
    pub port: u16,
    /// The source port; 0 except for UDP and TCP.
    pub from_port: u16,
    /// The payload after the headers.
    pub payload: Vec<u8>,
}

impl Packet {
    /// Reads an Ethernet frame; `None` if it holds no IP packet.
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
        // A packet that is longer than allowed has the length 0.
        let end = if length == 0 { packet.len() } else { length };
        Packet::of(*packet.get(9)?, Ipv4Addr::from(to).into(), packet.get(head..end)?)
    }

    fn read_v6(packet: &[u8]) -> Option<Packet> {
        let to: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
        let (mut next, mut rest) = (*packet.get(6)?, packet.get(40..)?);
        // Extension headers come before the payload in multicast reports.
        while matches!(next, 0 | 43 | 60) {
            let length = (usize::from(*rest.get(1)?) + 1) * 8;
            (next, rest) = (*rest.first()?, rest.get(length..)?);
        }
        Packet::of(next, Ipv6Addr::from(to).into(), rest)
    }

    fn of(protocol: u8, to: IpAddr, inner: &[u8]) -> Option<Packet> {
        let (transport, head) = match protocol {
            UDP => (Transport::Udp, 8),
            TCP => {
                let opens = inner.get(13)? & 0x12 == 0x02;
                (Transport::Tcp { opens }, usize::from(inner.get(12)? >> 4) * 4)
            }
            _ => {
                let kind = inner.first().copied().unwrap_or_default();
                (Transport::Other { protocol, kind }, 0)
            }
        };
        let has_ports = !matches!(transport, Transport::Other { .. });
        let port = |at| if has_ports { two(inner, at) } else { Some(0) };
        let payload = inner.get(head..).unwrap_or_default().to_vec();
        Some(Packet { transport, to, port: port(2)?, from_port: port(0)?, payload })
    }

    /// Names the kind of message if the kernel sends it by itself: messages to neighbours on the link, and errors for
    /// packets to closed ports. Every other packet counts.
    pub fn noise(&self) -> Option<&'static str> {
        match self.transport {
            Transport::Other { protocol: IGMP, .. } => Some("multicast groups (IGMP)"),
            Transport::Other { protocol: ICMP, kind: 3 } => Some("port unreachable (ICMP)"),
            Transport::Other { protocol: ICMP_V6, kind: 1 } => Some("port unreachable (ICMPv6)"),
            Transport::Other { protocol: ICMP_V6, kind: 130..=132 | 143 } => Some("multicast groups (MLD)"),
            Transport::Other { protocol: ICMP_V6, kind: 133..=137 } => Some("neighbour discovery"),
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
    fn a_datagram_is_read_with_its_ports_and_payload() {
        let mut packet = vec![0x45, 0, 0, 31, 0, 0, 0, 0, 64, UDP, 0, 0, 44, 128, 0, 2, 44, 128, 64, 9];
        packet.extend([0x10, 0x00, 0x0d, 0x96, 0, 11, 0, 0, b'a', b'b', b'c']);
        // The frame is padded.
        packet.extend([0; 20]);
        let read = Packet::read(&frame([8, 0], &packet)).unwrap();
        let to = Ipv4Addr::new(44, 128, 64, 9).into();
        let payload = b"abc".to_vec();
        assert_eq!(read, Packet { transport: Transport::Udp, to, port: 3478, from_port: 4096, payload });
        assert_eq!(read.noise(), None);
    }

    #[test]
    fn a_multicast_report_after_extension_headers_is_noise() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 16, 0, 1];
        packet.extend([0; 32]);
        packet.extend([ICMP_V6, 0, 5, 2, 0, 0, 1, 0, 143, 0, 0, 0, 0, 0, 0, 0]);
        let read = Packet::read(&frame([0x86, 0xdd], &packet)).unwrap();
        assert_eq!(read.noise(), Some("multicast groups (MLD)"));
    }

    #[test]
    fn a_truncated_frame_is_no_packet() {
        for packet in [&[][..], &[0x45], &[0x45, 0, 0, 20], &[0x60; 20]] {
            assert_eq!(Packet::read(&frame([8, 0], packet)), None);
            assert_eq!(Packet::read(&frame([0x86, 0xdd], packet)), None);
        }
        assert_eq!(Packet::read(&[0; 5]), None);
    }
}
