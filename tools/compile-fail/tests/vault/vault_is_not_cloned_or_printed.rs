fn copy(vault: vault::Vault) -> (vault::Vault, vault::Vault) {
    (vault.clone(), vault)
}

fn print(vault: &vault::Vault) {
    println!("{vault:?}");
}

fn main() {}
