fn write(key: &vault::UnlockKey) -> String {
    serde_json::to_string(key).unwrap()
}

fn main() {}
