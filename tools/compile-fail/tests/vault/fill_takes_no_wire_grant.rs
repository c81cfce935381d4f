use browser_signals::{Observed, Snapshot};
use policy_dfa::{Grant, Millis, Wire};

fn fill(vault: &vault::Vault, grant: Grant<Wire>, page: &Observed<Snapshot>) {
    let _ = vault.open_fill(grant, page, Millis(0));
}

fn main() {}
