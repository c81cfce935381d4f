fn read(wire: &browser_signals::SealedWire) -> Option<&[u8]> {
    wire.fields.first().map(|field| field.value.expose())
}

fn main() {}
