//! Saved logins: the state of a login that the user made by hand, sealed in a file of its own, which only a grant opens.
//!
//! A login's state can have megabytes, and the vault's file is written whole at every change. So each login has a file beside the vault's,
//! encrypted under a key of its own, which no other content ever has; the vault's state `logins` has the list with that key. A file that is an
//! older one, another login's, or of another vault is refused, and without the vault it is worthless.
//!
//! Like everything in the vault this has no I/O. [`Vault::save_login`] gives the bytes of the file; the caller writes them before it writes
//! the vault, so that a crash leaves the earlier login or the new one.
//!
//! | module | subject |
//! |---|---|
//! | `list` | the bytes of the list |
//! | `sealed` | the file of one login |
//! | [`error`] | why a login cannot be saved or opened |

pub mod error;
mod list;
mod sealed;

use browser_signals::login::{LoginState, PresentCookies};
use browser_signals::{Container, Observed, Origin, Snapshot};
use policy_dfa::{Grant, Millis, Restore};
use sirl::Field;
use zeroize::Zeroizing;

use crate::content::binding::Binding;
use crate::content::handle::name_of_host;
use crate::content::record::Record;
use crate::crypto::cipher::{Entropy, Key, public_bytes};
use crate::error::VaultError;
use crate::release::error::ReleaseError;
use crate::state_name::StateName;
use crate::store::vault::Vault;
pub use error::LoginError;
use list::Entry;

/// The most saved logins of a vault.
pub const MAX_LOGINS: usize = 32;

/// The longest time that a login is kept, in milliseconds: 30 days.
pub const LONGEST_MS: u64 = 30 * 86_400_000;

/// The number of a saved login, which stays the same when it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoginId(pub [u8; 16]);

/// The number of a login's file. It is another one at every change, so that no file is ever overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoginFile(pub [u8; 16]);

/// A saved login, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedLogin {
    /// Its number.
    pub id: LoginId,
    /// The origin that it is bound to.
    pub origin: Origin,
    /// When the user logged in, in milliseconds since 1970.
    pub made_ms: u64,
    /// When it ends, in milliseconds since 1970.
    pub ends_ms: u64,
    /// Its file.
    pub file: LoginFile,
}

/// The new file of a login, and the one that it replaces.
#[must_use = "the file is to be written before the vault"]
pub struct SealedLogin {
    /// The login.
    pub login: SavedLogin,
    /// The content of its file.
    pub bytes: Vec<u8>,
    /// The file that no saved login has any more.
    pub replaces: Option<LoginFile>,
}

impl Vault {
    /// The saved logins, in the order in which they were first saved.
    ///
    /// # Errors
    /// [`VaultError::Locked`], [`VaultError::StateDamaged`].
    pub fn saved_logins(&self) -> Result<Vec<SavedLogin>, VaultError> {
        Ok(self.login_list()?.into_iter().map(|entry| entry.login).collect())
    }

    /// Seals a login in place of an earlier one of the same origin. It ends when its first lasting cookie does, and after `days` days and
    /// 30 days at the latest.
    ///
    /// # Errors
    /// [`LoginError`]; then nothing changed.
    pub fn save_login(
        &mut self,
        state: &LoginState,
        days: u32,
        now_ms: u64,
        entropy: &mut dyn Entropy,
    ) -> Result<SealedLogin, LoginError> {
        if state.is_empty() {
            return Err(LoginError::Empty);
        }
        let list = self.login_list()?;
        let earlier = list.iter().find(|entry| entry.login.origin == *state.origin());
        if earlier.is_none() && list.len() >= MAX_LOGINS {
            return Err(LoginError::Full);
        }
        let longest = u64::from(days).saturating_mul(86_400_000).clamp(1, LONGEST_MS);
        let last = now_ms.saturating_add(longest);
        let login = SavedLogin {
            id: earlier.map_or_else(|| LoginId(public_bytes(entropy)), |entry| entry.login.id),
            origin: state.origin().clone(),
            made_ms: now_ms,
            ends_ms: state.ends(now_ms).map_or(last, |end| end.min(last)),
            file: LoginFile(public_bytes(entropy)),
        };
        self.seal_login(list, login, state, entropy)
    }

    /// Renews a saved login with the cookies that its container has now ([`LoginState::renew`]), and seals it again; `None` where nothing
    /// differs. Its end stays what it is. The state is not given out.
    ///
    /// # Errors
    /// [`LoginError`]; then nothing changed.
    pub fn renew_login(
        &mut self,
        id: LoginId,
        sealed: &[u8],
        now: PresentCookies,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<SealedLogin>, LoginError> {
        let list = self.login_list()?;
        let own = list.iter().find(|entry| entry.login.id == id).ok_or(LoginError::NotSaved)?;
        let mut state = sealed::open(&self.id, own, sealed)?;
        if !state.renew(now) {
            return Ok(None);
        }
        let login = SavedLogin { file: LoginFile(public_bytes(entropy)), ..own.login.clone() };
        self.seal_login(list, login, &state, entropy).map(Some)
    }

    /// Drops the tokens of restored logins, where a restore failed and its container is gone; also in a locked vault.
    pub fn forget_login_tokens(&mut self) {
        self.task.tokens.clear();
    }

    /// Forgets a login with its key, and returns its file, which the caller removes.
    ///
    /// # Errors
    /// [`LoginError::NotSaved`], and those of the vault.
    pub fn forget_login(&mut self, id: LoginId, entropy: &mut dyn Entropy) -> Result<LoginFile, LoginError> {
        let mut list = self.login_list()?;
        let at = list.iter().position(|entry| entry.login.id == id).ok_or(LoginError::NotSaved)?;
        let gone = list.remove(at);
        self.keep_login_list(&list, entropy)?;
        Ok(gone.login.file)
    }

    /// Opens a saved login for a fresh container, and keeps its tokens for the task: from now on they are masked and searched for as
    /// released values are. Returns the state, and the handle under which the tokens are released.
    ///
    /// The grant is consumed in every case. It must be for the login's own origin and for a container of tier T2.
    ///
    /// # Errors
    /// [`LoginError`].
    pub fn open_login(
        &mut self,
        grant: Grant<Restore>,
        fresh: &Observed<Snapshot>,
        now: (Millis, u64),
        sealed: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(LoginState, String), LoginError> {
        let (now, now_ms) = now;
        if self.is_locked() {
            return Err(LoginError::Vault(VaultError::Locked));
        }
        let redeemed = self.verifier.redeem(grant, fresh, now).map_err(ReleaseError::from)?;
        if fresh.container.known() != Some(&Container::T2) {
            return Err(ReleaseError::ContainerTooLow(Field::Password).into());
        }
        let origin = redeemed.terms().origin.clone();
        let list = self.login_list()?;
        let own = list.iter().find(|entry| entry.login.origin == origin).ok_or(LoginError::NotSaved)?;
        if own.login.ends_ms <= now_ms {
            return Err(LoginError::Ended);
        }
        let mut state = sealed::open(&self.id, own, sealed)?;
        state.drop_ended(now_ms);
        let handle = self.handle_of_login(&origin)?;
        let binding = Binding::Origin(origin);
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let place = (handle.as_str(), Field::Password, &binding);
        let seal = |token: &str, entropy: &mut dyn Entropy| {
            Record::seal(&self.id, &keys.records, place, 1, token.as_bytes(), entropy)
        };
        let tokens = state.tokens();
        let tokens = tokens.iter().map(|token| seal(token, entropy));
        let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
        self.task.tokens.extend(tokens);
        Ok((state, handle))
    }

    fn seal_login(
        &mut self,
        mut list: Vec<Entry>,
        login: SavedLogin,
        state: &LoginState,
        entropy: &mut dyn Entropy,
    ) -> Result<SealedLogin, LoginError> {
        let key = Key::random(entropy);
        let bytes = sealed::seal(&self.id, &login, &key, state, entropy)?;
        let new = Entry { key, login: login.clone() };
        let replaces = match list.iter_mut().find(|entry| entry.login.id == login.id) {
            Some(slot) => Some(std::mem::replace(slot, new).login.file),
            None => {
                list.push(new);
                None
            }
        };
        self.keep_login_list(&list, entropy)?;
        Ok(SealedLogin { login, bytes, replaces })
    }

    fn login_list(&self) -> Result<Vec<Entry>, VaultError> {
        let bytes = self.state(StateName::Logins)?.unwrap_or_else(|| Zeroizing::new(Vec::new()));
        list::read(&bytes).ok_or(VaultError::StateDamaged(StateName::Logins))
    }

    fn keep_login_list(&mut self, list: &[Entry], entropy: &mut dyn Entropy) -> Result<(), VaultError> {
        self.set_state(StateName::Logins, &list::write(list), entropy)
    }

    /// The guard's own handle for a restored login. No record that the guard makes has such a name.
    fn handle_of_login(&self, origin: &Origin) -> Result<String, VaultError> {
        let name = name_of_host(origin.host());
        let mut handles = ["0", "00", "000"].into_iter().map(|number| format!("login:{name}_{number}"));
        let is_free = |handle: &String| !self.entries().any(|entry| entry.handle == *handle);
        handles.find(is_free).ok_or(VaultError::BadHandle)
    }
}
