fn make(other: vault::UnlockKey) -> vault::UnlockKey {
    vault::UnlockKey { vault: [0; 16], data: other.data }
}

fn main() {}
