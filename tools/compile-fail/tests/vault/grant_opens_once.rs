use browser_signals::{Observed, Snapshot};
use policy_dfa::{Grant, Millis, PaymentApi};

fn pay(vault: &vault::Vault, grant: Grant<PaymentApi>, page: &Observed<Snapshot>) {
    let _ = vault.open_payment(grant, page, Millis(0));
    let _ = vault.open_payment(grant, page, Millis(0));
}

fn main() {}
