use browser_signals::{Observed, Snapshot};
use policy_dfa::{Fill, Grant, Millis};

fn pay(vault: &vault::Vault, grant: Grant<Fill>, page: &Observed<Snapshot>) {
    let _ = vault.open_payment(grant, page, Millis(0));
}

fn main() {}
