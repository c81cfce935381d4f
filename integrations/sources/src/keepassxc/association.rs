//! The key that a database in KeePassXC knows the guard by.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::KeePassXcError;

/// The length of a key in bytes.
pub(super) const KEY: usize = 32;

/// The longest name in bytes.
const LONGEST_NAME: usize = 256;

/// The mark of the stored form, with its version.
const MARK: &[u8] = b"keepassxc-1:";

/// An association: the name that the user gave it in KeePassXC, and its identification key.
///
/// The protocol calls the key public, but who knows it can ask for logins: the private half is never used. So the
/// key is random, has no private half, and is kept as a secret. It cannot be printed, cloned or serialised.
pub struct Association {
    name: String,
    key: Zeroizing<[u8; KEY]>,
}

impl Association {
    pub(super) fn new(name: String, key: Zeroizing<[u8; KEY]>) -> Option<Association> {
        let fits = (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
        fits.then_some(Association { name, key })
    }

    /// The name that the user gave in KeePassXC, which lists it in its database settings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key as the protocol writes it.
    pub(super) fn key(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.key.as_slice()))
    }

    /// The association as one line of text, to be stored in the vault as [`vault::StateName::KeePassXc`].
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let key = self.key();
        // The room is there from the start, so that no copy stays behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MARK.len() + key.len() + 1 + self.name.len()));
        for part in [MARK, key.as_bytes(), b":", self.name.as_bytes()] {
            bytes.extend_from_slice(part);
        }
        bytes
    }

    /// Reads the bytes of [`Association::to_bytes`].
    ///
    /// # Errors
    /// [`KeePassXcError::NotAnAssociation`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Association, KeePassXcError> {
        Association::read(bytes).ok_or(KeePassXcError::NotAnAssociation)
    }

    fn read(bytes: &[u8]) -> Option<Association> {
        let text = std::str::from_utf8(bytes.strip_prefix(MARK)?).ok()?;
        let (key, name) = text.split_once(':')?;
        let mut room = Zeroizing::new([0; KEY]);
        let written = STANDARD.decode_slice(key, room.as_mut_slice()).ok()?;
        if written == KEY { Association::new(name.to_owned(), room) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use static_assertions::assert_not_impl_any;
    use zeroize::Zeroizing;

    use super::Association;
    use crate::keepassxc::KeePassXcError;

    assert_not_impl_any!(Association: std::fmt::Debug, std::fmt::Display, Clone, serde::Serialize);

    #[test]
    fn the_stored_form_is_read_again() {
        let association =
            Association::new("guard: Ana's laptop".to_owned(), Zeroizing::new([7; 32])).unwrap();
        let text = "keepassxc-1:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=:guard: Ana's laptop";
        assert_eq!(*association.to_bytes(), text.as_bytes());
        let again = Association::from_bytes(text.as_bytes()).ok().unwrap();
        assert_eq!(again.name(), association.name());
        assert_eq!(*again.key(), *association.key());
    }

    #[test]
    fn damage_is_noticed() {
        let long_name =
            format!("keepassxc-1:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=:{}", "n".repeat(257));
        for text in [
            "",
            "keepassxc-1:",
            "keepassxc-1:BwcH:n",
            "keepassxc-2:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=:n",
            "keepassxc-1:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=:",
            &long_name,
        ] {
            let error = Association::from_bytes(text.as_bytes()).err().unwrap();
            assert_eq!(error, KeePassXcError::NotAnAssociation, "{text}");
        }
    }
}
