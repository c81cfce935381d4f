//! The bytes of the list of saved logins: each entry has fixed numbers, the login's key, and its origin after its length.

use browser_signals::Origin;
use zeroize::Zeroizing;

use super::{LoginFile, LoginId, SavedLogin};
use crate::crypto::cipher::Key;

/// The first byte, by which the list of another version is refused.
const FORMAT: u8 = 1;

/// One saved login, with what opens its file.
pub(super) struct Entry {
    pub(super) login: SavedLogin,
    pub(super) key: Key,
}

/// The list as bytes.
pub(super) fn write(list: &[Entry]) -> Zeroizing<Vec<u8>> {
    // A buffer that grew would leave a copy of the keys behind.
    let length = list.iter().map(|entry| 96 + entry.login.origin.to_string().len()).sum::<usize>();
    let mut bytes = Zeroizing::new(Vec::with_capacity(1 + length));
    bytes.push(FORMAT);
    for Entry { login: SavedLogin { id, origin, made_ms, ends_ms, file }, key } in list {
        let origin = origin.to_string();
        bytes.extend_from_slice(&id.0);
        bytes.extend_from_slice(&file.0);
        bytes.extend_from_slice(&made_ms.to_le_bytes());
        bytes.extend_from_slice(&ends_ms.to_le_bytes());
        bytes.extend_from_slice(key.expose_to_wrap());
        bytes.extend_from_slice(&u16::try_from(origin.len()).unwrap_or(u16::MAX).to_le_bytes());
        bytes.extend_from_slice(origin.as_bytes());
    }
    bytes
}

/// Reads the list; none if the bytes are no list. No bytes are an empty one.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut rest = match bytes.split_first() {
        None => return Some(Vec::new()),
        Some((format, rest)) => (*format == FORMAT).then_some(rest)?,
    };
    let mut list = Vec::new();
    while !rest.is_empty() {
        let id = LoginId(array(&mut rest)?);
        let file = LoginFile(array(&mut rest)?);
        let made_ms = u64::from_le_bytes(array(&mut rest)?);
        let ends_ms = u64::from_le_bytes(array(&mut rest)?);
        let (key, after) = rest.split_at_checked(32)?;
        rest = after;
        let key = Key::try_filled(|out| {
            out.copy_from_slice(key);
            Ok::<(), ()>(())
        });
        let length = usize::from(u16::from_le_bytes(array(&mut rest)?));
        let (origin, after) = rest.split_at_checked(length)?;
        rest = after;
        let origin = Origin::parse(std::str::from_utf8(origin).ok()?).ok()?;
        let login = SavedLogin { id, origin, made_ms, ends_ms, file };
        list.push(Entry { login, key: key.ok()? });
    }
    Some(list)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}
