//! Locking the vault of a running guard: by a call, by a signal, or when the user has been away.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use vault::Vault;

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
    pub(crate) fn watch(&mut self, handle: LockHandle) {
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
                        handle.lock();
                        return;
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
    use policy_dfa::{Policy, authority};

    use super::*;
    use crate::guard::SystemEntropy;

    fn vault() -> SharedVault {
        let compiled = Policy::parse(crate::DEFAULT_POLICY).unwrap().compile().unwrap();
        let checked = compiled.check().unwrap_or_else(|_| panic!("the policy holds"));
        SharedVault::new(Vault::ephemeral(&mut SystemEntropy, authority(checked, [1; 16]).1))
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
        idle.watch(LockHandle::new(&vault));
        for _ in 0..4 {
            tokio::time::sleep(Duration::from_secs(2)).await;
            assert!(!is_locked(&vault), "the user was present a moment ago");
            idle.touch();
        }
        wait_until_locked(&vault).await;
    }

    #[tokio::test]
    async fn a_guard_that_is_gone_is_not_watched() {
        let vault = vault();
        let mut idle = IdleLock::new(Duration::from_millis(1));
        idle.watch(LockHandle::new(&vault));
        drop(idle);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!is_locked(&vault));
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
