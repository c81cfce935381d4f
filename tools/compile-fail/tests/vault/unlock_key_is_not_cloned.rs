fn copy(key: vault::UnlockKey) -> (vault::UnlockKey, vault::UnlockKey) {
    (key.clone(), key)
}

fn main() {}
