fn write(secret: &vault::Secret) -> String {
    serde_json::to_string(secret).unwrap()
}

fn main() {}
