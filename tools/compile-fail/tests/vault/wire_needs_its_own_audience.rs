use browser_signals::{Observed, Snapshot};
use policy_dfa::{Fill, Grant, Millis};

fn wire(vault: &vault::Vault, grant: Grant<Fill>, page: &Observed<Snapshot>, entropy: &mut dyn vault::Entropy) {
    let _ = vault.open_wire(grant, page, Millis(0), entropy);
}

fn main() {}
