fn read(vault: &vault::Vault) {
    let entry = vault.entries().next().unwrap();
    let _ = entry.value;
    let _ = vault.records;
    let _ = vault.decrypt(entry);
}

fn main() {}
