use browser_signals::{Observed, Snapshot};
use policy_dfa::{Grant, Millis, Wire};

fn twice(vault: &vault::Vault, grant: Grant<Wire>, page: &Observed<Snapshot>, entropy: &mut dyn vault::Entropy) {
    let _ = vault.open_wire(grant, page, Millis(0), entropy);
    let _ = vault.open_wire(grant, page, Millis(0), entropy);
}

fn main() {}
