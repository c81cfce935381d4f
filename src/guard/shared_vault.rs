//! The vault as the sessions of one guard use it, beside those of other guards.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LockResult, Mutex, MutexGuard, PoisonError, Weak};

use vault::{TaskSlot, Vault};

/// A vault that sessions at the same time share. Each guard has a slot of its own for the values of its task, so that no session
/// releases or finds those of another one. Clones have the same slot.
#[derive(Clone)]
pub struct SharedVault {
    vault: Arc<Mutex<Vault>>,
    slots: Arc<AtomicU64>,
    slot: Arc<Slot>,
}

/// A slot, whose values end with it.
struct Slot {
    slot: TaskSlot,
    vault: Weak<Mutex<Vault>>,
}

impl SharedVault {
    /// Shares a vault. The result has the slot that the vault began with.
    pub fn new(vault: Vault) -> SharedVault {
        let vault = Arc::new(Mutex::new(vault));
        let slot = Arc::new(Slot { slot: TaskSlot::default(), vault: Arc::downgrade(&vault) });
        SharedVault { vault, slots: Arc::default(), slot }
    }

    /// The same vault with a slot that was never used.
    #[must_use]
    pub fn with_own_slot(&self) -> SharedVault {
        let slot = TaskSlot(self.slots.fetch_add(1, Ordering::Relaxed).saturating_add(1));
        let slot = Arc::new(Slot { slot, vault: Arc::downgrade(&self.vault) });
        SharedVault { slot, ..self.clone() }
    }

    /// Locks the vault and turns it to this slot.
    ///
    /// # Errors
    /// As [`Mutex::lock`]: a thread panicked while it held the vault.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, Vault>> {
        let mut locked = self.vault.lock();
        match &mut locked {
            Ok(vault) => vault.turn_to(self.slot.slot),
            Err(poisoned) => poisoned.get_mut().turn_to(self.slot.slot),
        }
        locked
    }

    /// The vault, which ends with the last guard that shares it.
    pub(crate) fn downgrade(&self) -> Weak<Mutex<Vault>> {
        Arc::downgrade(&self.vault)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(vault) = self.vault.upgrade() else { return };
        let mut vault = vault.lock().unwrap_or_else(PoisonError::into_inner);
        vault.turn_to(self.slot);
        vault.forget_task_values();
        vault.prefer(None);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use policy_dfa::{Policy, authority};
    use sirl::Field;
    use vault::{Binding, Secret};

    use super::*;
    use crate::guard::SystemEntropy;

    fn vault() -> SharedVault {
        let checked =
            Policy::parse(crate::DEFAULT_POLICY).unwrap().compile().unwrap().check().map_err(|_| ()).unwrap();
        SharedVault::new(Vault::ephemeral(&mut SystemEntropy, authority(checked, [1; 16]).1))
    }

    fn insert(vault: &SharedVault, value: &str) {
        let mut vault = vault.lock().unwrap();
        let value = Secret::new(value);
        vault
            .insert_for_task("address:task", Field::Street, value, &Binding::Anywhere, &mut SystemEntropy)
            .unwrap();
    }

    fn finds(vault: &SharedVault, text: &str) -> bool {
        !vault.lock().unwrap().scan(text).unwrap().is_empty()
    }

    #[test]
    fn a_session_has_the_values_of_its_own_task_alone() {
        let first = vault();
        let second = first.with_own_slot();
        insert(&first, "12 Quarry Lane");
        insert(&second, "9 Harbour Road");
        for _ in 0..2 {
            assert!(finds(&first, "to 12 Quarry Lane") && !finds(&first, "to 9 Harbour Road"));
            assert!(finds(&second, "to 9 Harbour Road") && !finds(&second, "to 12 Quarry Lane"));
        }
        second.lock().unwrap().forget_task_values();
        assert!(finds(&first, "to 12 Quarry Lane") && !finds(&second, "to 9 Harbour Road"));
    }

    #[test]
    fn the_values_of_a_slot_end_with_it() {
        let first = vault();
        let second = first.with_own_slot();
        let clone = second.clone();
        insert(&second, "9 Harbour Road");
        let slot = second.slot.slot;
        drop(second);
        assert!(finds(&clone, "9 Harbour Road"), "a clone has the same slot");
        drop(clone);
        let mut vault = first.vault.lock().unwrap();
        vault.turn_to(slot);
        assert_eq!(vault.entries().count(), 0);
    }
}
