//! The vault's file on a disk, and how many bodies had arrived at the shop when something was first written into it.

use std::io;
use std::sync::{Arc, Mutex};

use portcullis::DEFAULT_POLICY;
use portcullis::guard::{SystemEntropy, VaultKeeper};
use portcullis::policy::{Policy, Verifier, authority};
use vault::{KdfParams, Secret, Vault};

use crate::shop::Shop;

pub const PASSPHRASE: &str = "quz vopelki 83 trandubo";

/// A disk with the vault's file.
#[derive(Clone)]
pub struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    arrived_before: Arc<Mutex<Option<usize>>>,
    is_awaited: fn(&Vault) -> bool,
    is_full: bool,
}

impl Disk {
    /// An empty disk, on which a vault that satisfies the predicate is awaited.
    pub fn awaiting(is_awaited: fn(&Vault) -> bool) -> Disk {
        Disk { bytes: Arc::default(), arrived_before: Arc::default(), is_awaited, is_full: false }
    }

    /// The same disk without space for another file.
    pub fn full(self) -> Disk {
        Disk { is_full: true, ..self }
    }

    /// Writes a new vault that `fill` filled, and returns its bytes.
    pub fn begin(&self, fill: impl FnOnce(&mut Vault)) -> Vec<u8> {
        let passphrase = Secret::new(PASSPHRASE);
        let mut vault =
            Vault::create(&passphrase, &mut SystemEntropy, KdfParams::FLOOR, verifier(1)).unwrap();
        fill(&mut vault);
        let bytes = vault.to_bytes(&mut SystemEntropy).unwrap();
        self.bytes.lock().unwrap().clone_from(&bytes);
        bytes
    }

    /// The vault as a program finds it that opens the file now.
    pub fn vault(&self) -> Vault {
        Vault::unlock(&self.bytes.lock().unwrap(), &Secret::new(PASSPHRASE), verifier(2)).unwrap()
    }

    /// The number of bodies that had arrived when the awaited was first on the disk.
    pub fn arrived_before(&self) -> Option<usize> {
        *self.arrived_before.lock().unwrap()
    }

    /// The disk as a guard writes to it.
    pub fn keeper(&self, shop: &Shop) -> Box<dyn VaultKeeper> {
        Box::new(Keeper(self.clone(), shop.clone()))
    }
}

struct Keeper(Disk, Shop);

impl VaultKeeper for Keeper {
    fn save(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Keeper(disk, shop) = self;
        if disk.is_full {
            return Err(io::Error::other("no space left"));
        }
        *disk.bytes.lock().unwrap() = bytes.to_vec();
        if (disk.is_awaited)(&disk.vault()) {
            disk.arrived_before.lock().unwrap().get_or_insert(shop.arrived().len());
        }
        Ok(())
    }
}

fn verifier(seed: u8) -> Verifier {
    let checked = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check();
    authority(checked.unwrap_or_else(|_| panic!("it holds")), [seed; 16]).1
}
