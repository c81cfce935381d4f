//! The name servers. What they are asked is told by the packets ([`crate::traffic`]); here they only answer.

use std::collections::HashMap;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

/// Types of questions.
const A: u16 = 1;
const AAAA: u16 = 28;

/// What the name servers know.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<RwLock<HashMap<String, IpAddr>>>);

impl Names {
    /// Leads a name to an address. `*.site.test` is every name under `site.test` that has none of its own.
    pub fn lead(&self, name: &str, address: impl Into<IpAddr>) {
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
pub(crate) fn serve(socket: UdpSocket, names: Names) {
    thread::spawn(move || {
        let mut buffer = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            if let Some(answer) = buffer.get(..length).and_then(|asked| answer(asked, &names)) {
                // Whoever asked may be gone.
                let _gone = socket.send_to(&answer, from);
            }
        }
    });
}

/// The question of a message: a name in small letters, and the type that is asked for.
pub(crate) fn question(message: &[u8]) -> Option<(String, u16)> {
    read_question(message).map(|(name, kind, _)| (name, kind))
}

/// The question, and where it ends.
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

fn answer(asked: &[u8], names: &Names) -> Option<Vec<u8>> {
    let (name, kind, end) = read_question(asked)?;
    let known = names.find(&name);
    let address = match (kind, known) {
        (A, Some(IpAddr::V4(address))) => Some(address.octets().to_vec()),
        (AAAA, Some(IpAddr::V6(address))) => Some(address.octets().to_vec()),
        _ => None,
    };
    // An answer with recursion; "no such name" where nothing is known.
    let code = if known.is_some() { 0x80 } else { 0x83 };
    let mut message =
        [asked.get(..2)?, &[0x81, code, 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0]].concat();
    message.extend_from_slice(asked.get(12..end)?);
    if let Some(address) = address {
        // The name above; nobody keeps the answer.
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
    fn a_name_below_a_site_leads_to_it_and_a_strange_one_nowhere() {
        let names = Names::default();
        names.lead("*.evil.test", Ipv4Addr::new(44, 128, 64, 9));
        assert_eq!(question(&ask("A.b.Evil.test", A)), Some(("a.b.evil.test".to_owned(), A)));
        let found = answer(&ask("A.b.Evil.test", A), &names).unwrap();
        assert!(found.ends_with(&[0, 4, 44, 128, 64, 9]) && found.starts_with(&[7, 9, 0x81, 0x80]));
        let none = answer(&ask("a.evil.test", AAAA), &names).unwrap();
        assert_eq!(none.get(2..8), Some([0x81, 0x80, 0, 1, 0, 0].as_slice()));
        let strange = answer(&ask("shop.test", A), &names).unwrap();
        assert_eq!(strange.get(3), Some(&0x83));
    }

    #[test]
    fn what_is_cut_short_gets_no_answer() {
        let whole = ask("shop.test", A);
        for length in 0..whole.len() {
            assert_eq!(answer(whole.get(..length).unwrap(), &Names::default()).map(drop), None, "{length}");
        }
    }
}
