//! Locking the vault of a running guard: by a call, by a signal, or when the user has been away; and opening it again.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use vault::{UnlockKey, Vault};

use crate::guard::shared_vault::SharedVault;

/// Locks one guard's vault, from any thread. Afterwards nothing is released, not even in running sessions.
#[derive(Clone)]
pub struct LockHandle {
    vault: Weak<Mutex<Vault>>,
}

impl LockHandle {
    pub(crate) fn new(vault: &SharedVault) -> LockHandle {
        LockHandle { vault: vault.downgrade() }
    }

    /// Wipes the keys. For a guard that is gone it does nothing.
    pub fn lock(&self) {
        if let Some(vault) = self.vault.upgrade() {
            vault.lock().unwrap_or_else(PoisonError::into_inner).lock();
        }
    }
}

/// Finds the key of a vault that was locked, so that a running guard goes on once the user unlocks it again.
pub trait FindKey: Send + Sync {
    /// The key, if the user unlocked the vault elsewhere, such as by `portcullis vault unlock`. With `may_ask`, which is at the beginning of
    /// a task, the user is asked for it otherwise. It may block.
    fn find(&self, may_ask: bool) -> Option<UnlockKey>;

    /// Removes the key that is stored, since the user has been away.
    fn forget(&self);
}

/// Locks the vault at each signal `SIGUSR1`, which `portcullis vault lock` sends. It ends with the runtime.
///
/// # Errors
/// Where no handler can be installed.
#[cfg(unix)]
pub fn lock_on_signal(handle: LockHandle) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut signals = signal(SignalKind::user_defined1())?;
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            handle.lock();
        }
    });
    Ok(())
}

/// Signals a process that has a vault open to lock it.
///
/// # Errors
/// Where there is no such process, or it is another user's.
#[cfg(unix)]
pub fn signal(process: u32) -> std::io::Result<()> {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    let process = process.ok_or(std::io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::kill_process(process, rustix::process::Signal::USR1)?)
}

/// Returns an error: only Unix has such a signal.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn signal(_: u32) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Locks the vault some time after the user's last answer. The agent's actions do not postpone it: an agent under attack
/// could go on for ever.
pub(crate) struct IdleLock {
    after: Duration,
    last: Arc<Mutex<Instant>>,
    watch: Option<tokio::task::AbortHandle>,
}

impl IdleLock {
    pub(crate) fn new(after: Duration) -> IdleLock {
        IdleLock { after, last: Arc::new(Mutex::new(Instant::now())), watch: None }
    }

    /// Notes that the user is present.
    pub(crate) fn touch(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Starts the timer, if it does not run yet. It needs a runtime.
    /// A key that `finder` finds is removed first: else the agent's next action would open the vault again.
    pub(crate) fn watch(&mut self, handle: LockHandle, finder: Option<Arc<dyn FindKey>>) {
        if self.watch.is_some() {
            return;
        }
        let (after, last) = (self.after, self.last.clone());
        let watch = tokio::spawn(async move {
            loop {
                let since = last.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
                match after.checked_sub(since).filter(|left| !left.is_zero()) {
                    Some(left) => tokio::time::sleep(left).await,
                    None => {
                        finder.iter().for_each(|finder| finder.forget());
                        handle.lock();
                        // The user may open it again.
                        tokio::time::sleep(after).await;
                    }
                }
            }
        });
        self.watch = Some(watch.abort_handle());
    }
}

impl Drop for IdleLock {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use policy_dfa::{Policy, Verifier, authority};
    use vault::{KdfParams, Secret};

    use super::*;
    use crate::audit::MemoryLog;
    use crate::consent::TerminalAnswerer;
    use crate::guard::{Guard, Replaced, SystemEntropy, UserVault, VaultKey};

    fn verifier() -> Verifier {
        let compiled = Policy::parse(crate::DEFAULT_POLICY).unwrap().compile().unwrap();
        let checked = compiled.check().unwrap_or_else(|_| panic!("the policy holds"));
        authority(checked, [1; 16]).1
    }

    fn vault() -> SharedVault {
        SharedVault::new(Vault::ephemeral(&mut SystemEntropy, verifier()))
    }

    fn is_locked(vault: &SharedVault) -> bool {
        vault.lock().unwrap().is_locked()
    }

    async fn wait_until_locked(vault: &SharedVault) {
        let locked = async {
            while !is_locked(vault) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), locked).await.unwrap();
    }

    #[test]
    fn a_handle_locks_and_keeps_nothing_alive() {
        let vault = vault();
        let handle = LockHandle::new(&vault);
        handle.clone().lock();
        assert!(is_locked(&vault));
        drop(vault);
        handle.lock();
        assert!(handle.vault.upgrade().is_none());
    }

    #[tokio::test]
    async fn a_present_user_keeps_the_vault_open_and_an_absent_one_does_not() {
        let vault = vault();
        let mut idle = IdleLock::new(Duration::from_secs(6));
        let finder = Arc::new(Played {
            key: || unreachable!("nobody looks for the key"),
            is_unlocked: true.into(),
            asked: 0.into(),
        });
        idle.watch(LockHandle::new(&vault), Some(finder.clone()));
        for _ in 0..4 {
            tokio::time::sleep(Duration::from_secs(2)).await;
            assert!(!is_locked(&vault), "the user was present a moment ago");
            idle.touch();
        }
        wait_until_locked(&vault).await;
        assert!(!finder.is_unlocked.load(Ordering::SeqCst), "the stored key is removed too");
    }

    #[tokio::test]
    async fn a_guard_that_is_gone_is_not_watched() {
        let vault = vault();
        let mut idle = IdleLock::new(Duration::from_millis(1));
        idle.watch(LockHandle::new(&vault), None);
        drop(idle);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!is_locked(&vault));
    }

    /// The key of a vault, which it gives once the user unlocked it or is asked.
    struct Played {
        key: fn() -> UnlockKey,
        is_unlocked: AtomicBool,
        asked: AtomicUsize,
    }

    impl FindKey for Played {
        fn find(&self, may_ask: bool) -> Option<UnlockKey> {
            self.asked.fetch_add(usize::from(may_ask), Ordering::SeqCst);
            (self.is_unlocked.load(Ordering::SeqCst) || may_ask).then(self.key)
        }

        fn forget(&self) {
            self.is_unlocked.store(false, Ordering::SeqCst);
        }
    }

    const PASSPHRASE: &str = "seven quiet herons";

    fn file() -> &'static [u8] {
        static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let passphrase = Secret::new(PASSPHRASE);
            let made = Vault::create(&passphrase, &mut SystemEntropy, KdfParams::FLOOR, verifier());
            made.unwrap().to_bytes(&mut SystemEntropy).unwrap()
        });
        &FILE
    }

    /// A guard whose vault is open, and that finds its key so.
    fn guard_with(finder: Arc<dyn FindKey>) -> Guard {
        let passphrase = Secret::new(PASSPHRASE);
        let user = UserVault {
            bytes: file(),
            key: VaultKey::Passphrase(&passphrase),
            keeper: None,
            replaced: Replaced::Nothing,
        };
        let (log, nobody) = (Box::new(MemoryLog::default()), Box::new(TerminalAnswerer::default()));
        let guard = Guard::with_vault(crate::DEFAULT_POLICY, user, log, nobody, Box::new(SystemEntropy));
        guard.unwrap().with_key_from(finder)
    }

    #[tokio::test]
    async fn a_locked_vault_is_opened_again_by_its_own_key_and_by_no_other() {
        let own = || Vault::unlock_key(file(), &Secret::new(PASSPHRASE)).unwrap();
        let other = || {
            let passphrase = Secret::new("another one");
            let made = Vault::create(&passphrase, &mut SystemEntropy, KdfParams::FLOOR, verifier()).unwrap();
            Vault::unlock_key(&made.to_bytes(&mut SystemEntropy).unwrap(), &passphrase).unwrap()
        };
        for (key, is_its_own) in [(own as fn() -> UnlockKey, true), (other, false)] {
            let finder = Arc::new(Played { key, is_unlocked: false.into(), asked: 0.into() });
            let mut guard = guard_with(finder.clone());
            let is_locked = |guard: &Guard| is_locked(&guard.dependencies.vault);
            // An open vault asks for nothing.
            guard.dependencies.reopen(true).await;
            assert_eq!(finder.asked.load(Ordering::SeqCst), 0);
            guard.lock();
            guard.dependencies.reopen(false).await;
            assert!(is_locked(&guard), "nobody unlocked it");
            finder.is_unlocked.store(true, Ordering::SeqCst);
            guard.dependencies.reopen(false).await;
            assert_eq!(is_locked(&guard), !is_its_own);
            finder.is_unlocked.store(false, Ordering::SeqCst);
            guard.lock();
            guard.dependencies.reopen(true).await;
            assert_eq!((is_locked(&guard), finder.asked.load(Ordering::SeqCst)), (!is_its_own, 1));
        }
    }

    /// Finds the key, while the user locks the vault once more.
    struct FoundTooLate(std::sync::Mutex<Option<LockHandle>>);

    impl FindKey for FoundTooLate {
        fn find(&self, _may_ask: bool) -> Option<UnlockKey> {
            self.0.lock().unwrap().as_ref().unwrap().lock();
            Some(Vault::unlock_key(file(), &Secret::new(PASSPHRASE)).unwrap())
        }

        fn forget(&self) {}
    }

    #[tokio::test]
    async fn a_key_that_was_looked_for_before_the_last_lock_opens_nothing() {
        let finder = Arc::new(FoundTooLate(None.into()));
        let mut guard = guard_with(finder.clone());
        *finder.0.lock().unwrap() = Some(guard.lock_handle());
        guard.lock();
        guard.dependencies.reopen(true).await;
        assert!(is_locked(&guard.dependencies.vault));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_signal_locks() {
        let vault = vault();
        lock_on_signal(LockHandle::new(&vault)).unwrap();
        signal(std::process::id()).unwrap();
        wait_until_locked(&vault).await;
    }
}
