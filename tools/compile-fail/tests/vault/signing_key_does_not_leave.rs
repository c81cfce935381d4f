fn read(vault: &vault::Vault) {
    let _ = vault.signing.sealed;
    let _ = vault.keys;
}

fn main() {}
