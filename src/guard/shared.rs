//! What guards of sessions at the same time share: the answerer, the entropy, the vault's file.

use std::sync::{Arc, Mutex, PoisonError};

use vault::Entropy;

use super::opening::VaultKeeper;
use crate::consent::Answerer;

/// The interface to the user, whom one session asks at a time.
#[derive(Clone)]
pub(crate) struct SharedAnswerer {
    answerer: Arc<tokio::sync::Mutex<Box<dyn Answerer>>>,
    offers_hand_over: bool,
}

impl SharedAnswerer {
    pub(crate) fn new(answerer: Box<dyn Answerer>) -> SharedAnswerer {
        let offers_hand_over = answerer.offers_hand_over();
        SharedAnswerer { answerer: Arc::new(tokio::sync::Mutex::new(answerer)), offers_hand_over }
    }

    /// Waits until no other session asks the user.
    pub(crate) async fn turn(&self) -> tokio::sync::OwnedMutexGuard<Box<dyn Answerer>> {
        self.answerer.clone().lock_owned().await
    }

    /// The turn, if no other session asks the user now.
    pub(crate) fn free_turn(&self) -> Option<tokio::sync::OwnedMutexGuard<Box<dyn Answerer>>> {
        self.answerer.clone().try_lock_owned().ok()
    }

    pub(crate) fn offers_hand_over(&self) -> bool {
        self.offers_hand_over
    }
}

/// A source of random bytes.
#[derive(Clone)]
pub(crate) struct SharedEntropy(Arc<Mutex<Box<dyn Entropy + Send>>>);

impl SharedEntropy {
    pub(crate) fn new(entropy: Box<dyn Entropy + Send>) -> SharedEntropy {
        SharedEntropy(Arc::new(Mutex::new(entropy)))
    }
}

impl Entropy for SharedEntropy {
    fn fill(&mut self, out: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(out);
    }
}

/// The vault's file.
pub(crate) struct KeptFile {
    pub keeper: Box<dyn VaultKeeper>,
    /// The generation of the file as it was last opened or saved.
    pub saved: u64,
}
