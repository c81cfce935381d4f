use browser_signals::{Observed, Snapshot};
use policy_dfa::{Grant, Millis, Model};

fn fill(vault: &vault::Vault, grant: Grant<Model>, page: &Observed<Snapshot>) {
    let _ = vault.open_fill(grant, page, Millis(0));
}

fn main() {}
