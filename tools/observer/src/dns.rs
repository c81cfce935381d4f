//! The name servers. They only answer; their queries are captured as packets ([`crate::traffic`]).

use std::collections::HashMap;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

/// The types of queries.
const A: u16 = 1;
const AAAA: u16 = 28;

/// The names that the name servers know.
#[derive(Debug, Clone, Default)]
pub struct DnsNames(Arc<RwLock<HashMap<String, IpAddr>>>);

impl DnsNames {
    /// Sets the address of a name. `*.site.test` is every name under `site.test` that has none of its own.
    pub fn set(&self, name: &str, address: impl Into<IpAddr>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(name.to_owned(), address.into());
    }

    fn find(&self, name: &str) -> Option<IpAddr> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let above = name.match_indices('.').map(|(at, _)| format!("*{}", name.get(at..).unwrap_or_default()));
        known.get(name).copied().or_else(|| above.into_iter().find_map(|name| known.get(&name).copied()))
    }
}

/// Answers until the process ends.
pub(crate) fn serve(socket: UdpSocket, names: DnsNames) {
    thread::spawn(move || {
        let mut buffer = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            if let Some(answer) = buffer.get(..length).and_then(|asked| answer(asked, &names)) {
                // The client may be gone.
                let _ignored = socket.send_to(&answer, from);
            }
        }
    });
}

/// Reads the question of a message: a name in small letters, and the type of the query.
pub(crate) fn question(message: &[u8]) -> Option<(String, u16)> {
    read_question(message).map(|(name, kind, _)| (name, kind))
}

/// Reads the question and the offset of its end.
fn read_question(message: &[u8]) -> Option<(String, u16, usize)> {
    let (mut labels, mut at) = (Vec::new(), 12);
    loop {
        let length = usize::from(*message.get(at)?);
        if length == 0 {
            break;
        }
        let label = message.get(at + 1..at + 1 + length)?;
        labels.push(String::from_utf8_lossy(label).to_lowercase());
        at += 1 + length;
    }
    let kind = message.get(at + 1..at + 3)?.try_into().ok().map(u16::from_be_bytes)?;
    Some((labels.join("."), kind, at + 5))
}

fn answer(asked: &[u8], names: &DnsNames) -> Option<Vec<u8>> {
    let (name, kind, end) = read_question(asked)?;
    let known = names.find(&name);
    let address = match (kind, known) {
        (A, Some(IpAddr::V4(address))) => Some(address.octets().to_vec()),
        (AAAA, Some(IpAddr::V6(address))) => Some(address.octets().to_vec()),
        _ => None,
    };
    // The response code is 0 for a known name and 3 ("no such name") for others.
    let code = if known.is_some() { 0x80 } else { 0x83 };
    let mut message =
        [asked.get(..2)?, &[0x81, code, 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0]].concat();
    message.extend_from_slice(asked.get(12..end)?);
    if let Some(address) = address {
        // The name is a pointer to the question, and the time to live is 0.
        message.extend_from_slice(&[0xc0, 12]);
        message.extend_from_slice(&kind.to_be_bytes());
        message.extend_from_slice(&[0, 1, 0, 0, 0, 0, 0, u8::try_from(address.len()).ok()?]);
        message.extend_from_slice(&address);
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use std::net::Ipv4Addr;

    use super::*;

    fn ask(name: &str, kind: u16) -> Vec<u8> {
        let mut message = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            message.push(u8::try_from(label.len()).unwrap());
            message.extend(label.bytes());
        }
        message.push(0);
        message.extend([kind.to_be_bytes(), 1_u16.to_be_bytes()].concat());
        message
    }

    #[test]
    fn a_name_below_a_site_has_its_address_and_an_unknown_one_has_none() {
        let names = DnsNames::default();
        names.set("*.evil.test", Ipv4Addr::new(44, 128, 64, 9));
        assert_eq!(question(&ask("A.b.Evil.test", A)), Some(("a.b.evil.test".to_owned(), A)));
        let found = answer(&ask("A.b.Evil.test", A), &names).unwrap();
        assert!(found.ends_with(&[0, 4, 44, 128, 64, 9]) && found.starts_with(&[7, 9, 0x81, 0x80]));
        let none = answer(&ask("a.evil.test", AAAA), &names).unwrap();
        assert_eq!(none.get(2..8), Some([0x81, 0x80, 0, 1, 0, 0].as_slice()));
        let unknown = answer(&ask("shop.test", A), &names).unwrap();
        assert_eq!(unknown.get(3), Some(&0x83));
    }

    #[test]
    fn a_truncated_query_gets_no_answer() {
        let whole = ask("shop.test", A);
        for length in 0..whole.len() {
            assert_eq!(
                answer(whole.get(..length).unwrap(), &DnsNames::default()).map(drop),
                None,
                "{length}"
            );
        }
    }
}
