fn copy(wire: &browser_signals::SealedWire) -> browser_signals::SealedWire {
    wire.clone()
}

fn print(wire: &browser_signals::SealedWire) {
    println!("{wire:?}");
}

fn main() {}
