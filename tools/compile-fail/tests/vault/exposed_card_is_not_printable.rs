fn print(card: vault::SealedCard) {
    card.open(|card| println!("{card:?}"));
}

fn main() {}
