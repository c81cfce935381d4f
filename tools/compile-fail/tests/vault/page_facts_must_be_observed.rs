use browser_signals::Snapshot;
use policy_dfa::{Fill, Grant, Millis};

fn fill(vault: &vault::Vault, grant: Grant<Fill>, page: &Snapshot) {
    let _ = vault.open_fill(grant, page, Millis(0));
}

fn main() {}
