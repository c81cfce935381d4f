fn text(wire: &browser_signals::SealedWire) -> serde_json::Result<String> {
    serde_json::to_string(wire)
}

fn main() {}
