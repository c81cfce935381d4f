fn write(value: &browser_signals::SealedValue) -> String {
    serde_json::to_string(value).unwrap()
}

fn main() {}
