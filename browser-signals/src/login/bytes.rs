//! The bytes of a login's state: each part after its length, in one buffer that is wiped when dropped.

use zeroize::Zeroizing;

use super::{LoginCookie, LoginState};
use crate::Origin;

/// The first byte, by which the bytes of another version are refused.
const FORMAT: u8 = 1;

/// The bytes are not those of a login's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the content of the saved login cannot be read; save the login again")]
pub struct LoginBytesError;

impl LoginState {
    /// The state as bytes, for the vault to encrypt, in a buffer that is wiped when dropped.
    pub fn expose_to_vault(&self) -> Zeroizing<Vec<u8>> {
        let mut length = Counted(0);
        self.write(&mut length);
        // A buffer that grew would leave a copy behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(length.0));
        self.write(&mut *bytes);
        bytes
    }

    /// Reads the bytes that [`LoginState::expose_to_vault`] wrote.
    ///
    /// # Errors
    /// [`LoginBytesError`] for any other bytes.
    pub fn from_vault(bytes: &[u8]) -> Result<LoginState, LoginBytesError> {
        let mut rest = Rest(bytes);
        if rest.byte()? != FORMAT {
            return Err(LoginBytesError);
        }
        let origin = Origin::parse(rest.text()?).map_err(|_| LoginBytesError)?;
        let mut state = LoginState::new(origin);
        for _ in 0..rest.number()? {
            state.cookies.push(LoginCookie {
                name: rest.text()?.to_owned(),
                value: Zeroizing::new(rest.text()?.to_owned()),
                domain: rest.text()?.to_owned(),
                path: rest.text()?.to_owned(),
                expires: if rest.flag()? { Some(rest.seconds()?) } else { None },
                http_only: rest.flag()?,
                secure: rest.flag()?,
                same_site: rest.text()?.to_owned(),
                partition: if rest.flag()? { Some((rest.text()?.to_owned(), rest.flag()?)) } else { None },
            });
        }
        for _ in 0..rest.number()? {
            let name = Zeroizing::new(rest.text()?.to_owned());
            state.local.push((name, Zeroizing::new(rest.text()?.to_owned())));
        }
        state.databases = Zeroizing::new(rest.text()?.to_owned());
        if rest.0.is_empty() { Ok(state) } else { Err(LoginBytesError) }
    }

    fn write(&self, to: &mut impl Sink) {
        to.put(&[FORMAT]);
        text(to, &self.origin.to_string());
        number(to, self.cookies.len());
        for cookie in &self.cookies {
            let LoginCookie { name, value, domain, path, expires, http_only, secure, same_site, partition } =
                cookie;
            for part in [name, value.as_str(), domain, path] {
                text(to, part);
            }
            to.put(&[u8::from(expires.is_some())]);
            if let Some(seconds) = expires {
                to.put(&seconds.to_le_bytes());
            }
            to.put(&[u8::from(*http_only), u8::from(*secure)]);
            text(to, same_site);
            to.put(&[u8::from(partition.is_some())]);
            if let Some((site, below_others)) = partition {
                text(to, site);
                to.put(&[u8::from(*below_others)]);
            }
        }
        number(to, self.local.len());
        for (name, value) in &self.local {
            text(to, name);
            text(to, value);
        }
        text(to, &self.databases);
    }
}

trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

/// Only counts the bytes.
struct Counted(usize);

impl Sink for Counted {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

fn number(to: &mut impl Sink, number: usize) {
    to.put(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn text(to: &mut impl Sink, text: &str) {
    number(to, text.len());
    to.put(text.as_bytes());
}

/// The bytes that are not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], LoginBytesError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(LoginBytesError)?;
        self.0 = rest;
        Ok(*first)
    }

    fn byte(&mut self) -> Result<u8, LoginBytesError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn flag(&mut self) -> Result<bool, LoginBytesError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(LoginBytesError),
        }
    }

    fn number(&mut self) -> Result<usize, LoginBytesError> {
        usize::try_from(u32::from_le_bytes(self.array()?)).map_err(|_| LoginBytesError)
    }

    fn seconds(&mut self) -> Result<f64, LoginBytesError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<&'a str, LoginBytesError> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(LoginBytesError)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| LoginBytesError)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    fn state(cookies: Vec<LoginCookie>, local: Vec<(String, String)>, databases: String) -> LoginState {
        let mut state = LoginState::new(Origin::parse("https://shop.example").unwrap());
        let local = local.into_iter().map(|(name, value)| (Zeroizing::new(name), Zeroizing::new(value)));
        (state.cookies, state.local) = (cookies, local.collect());
        state.databases = Zeroizing::new(databases);
        state
    }

    type Parts = ([String; 5], Option<f64>, [bool; 2], Option<(String, bool)>);

    fn cookie((texts, expires, flags, partition): Parts) -> LoginCookie {
        let ([name, value, domain, path, same_site], [http_only, secure]) = (texts, flags);
        let value = Zeroizing::new(value);
        LoginCookie { name, value, domain, path, expires, http_only, secure, same_site, partition }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_nothing_less_or_more(
            cookies in proptest::collection::vec(any::<Parts>(), 0..4),
            local in any::<Vec<(String, String)>>(),
            databases in any::<String>(),
            end in any::<proptest::sample::Index>(),
            more in any::<u8>(),
        ) {
            let state = state(cookies.into_iter().map(cookie).collect(), local, databases);
            let bytes = state.expose_to_vault();
            prop_assert_eq!(bytes.capacity(), bytes.len(), "the buffer did not grow");
            let read = LoginState::from_vault(&bytes).unwrap();
            prop_assert!(*read.expose_to_vault() == *bytes);
            prop_assert!(LoginState::from_vault(&bytes[..end.index(bytes.len())]).is_err());
            let longer = [bytes.as_slice(), &[more]].concat();
            prop_assert!(LoginState::from_vault(&longer).is_err());
        }

        #[test]
        fn any_bytes_end_in_a_state_or_an_error(bytes in any::<Vec<u8>>()) {
            let _either = LoginState::from_vault(&bytes);
        }
    }
}
