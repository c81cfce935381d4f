fn copy(vault: &vault::Vault) {
    let _ = vault.clone().generation();
    println!("{vault:?}");
}

fn main() {}
