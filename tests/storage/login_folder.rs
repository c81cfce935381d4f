//! The power fails at every call of the renewal of a saved login, and every disk that this may leave is opened: the vault names a login whose
//! file is whole.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::storage_support::{Fault, Order, SimulatedDisk};
use portcullis::storage::AtomicFile;
use portcullis::storage::login_folder::LoginFolder;
use portcullis::vault::logins::LoginFile;

/// The vault's file, which has the number of the login that it names, and the folder beside it.
struct Store {
    vault: AtomicFile,
    logins: LoginFolder,
}

fn file(number: u8) -> LoginFile {
    LoginFile([number; 16])
}

fn sealed(number: u8) -> Vec<u8> {
    vec![number; 40]
}

impl Store {
    fn on(disk: &Arc<SimulatedDisk>, home: &Path) -> Store {
        let logins = LoginFolder::beside_on(disk.clone(), &home.join("n"));
        Store { vault: AtomicFile::new(disk.clone(), home, "n", 1000).unwrap(), logins }
    }

    /// Renews the login as a guard does: the new file, the vault, and then the old file goes.
    fn renew(&self, number: u8) -> io::Result<()> {
        self.logins.write(file(number), &sealed(number))?;
        self.vault.save(&[number; 4]).map_err(io::Error::other)?;
        self.logins.keep_only(&[file(number)])
    }
}

fn logins_on(disk: &SimulatedDisk) -> usize {
    disk.files().keys().filter(|name| name.ends_with(".login")).count()
}

#[test]
fn a_power_cut_in_a_renewal_leaves_a_login_whose_file_is_whole() {
    let home = tempfile::tempdir().unwrap();
    let started = Arc::new(SimulatedDisk::default());
    let store = Store::on(&started, home.path());
    store.logins.write(file(1), &sealed(1)).unwrap();
    store.vault.create(&[1; 4]).unwrap();
    let mut seen = [0; 3];
    for order in [Order::Journal, Order::Any] {
        for stop in 0.. {
            let disk = Arc::new(started.settled());
            disk.set(Some(Fault::Stop(stop)));
            let done = Store::on(&disk, home.path()).renew(2).is_ok();
            for left in disk.after_power_cut(order) {
                let left = Arc::new(left);
                let store = Store::on(&left, home.path());
                store.vault.recover().unwrap();
                let named = left.files()["n"][0];
                assert!(named == 2 || (named == 1 && !done), "call {stop} of {:#?}", disk.calls());
                let found = store.logins.read(file(named));
                assert_eq!(found.unwrap(), sealed(named), "call {stop} of {:#?}", disk.calls());
                store.renew(3).unwrap();
                assert_eq!((logins_on(&left), store.logins.read(file(3)).unwrap()), (1, sealed(3)));
                seen[usize::from(named)] += 1;
            }
            if disk.calls().len() <= stop {
                break;
            }
        }
    }
    assert!(seen[1] > 0 && seen[2] > 0, "the earlier login and the renewed one: {seen:?}");
}
