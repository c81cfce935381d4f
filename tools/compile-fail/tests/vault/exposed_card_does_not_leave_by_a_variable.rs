fn keep(card: vault::SealedCard) {
    let mut kept = None;
    card.open(|card| kept = Some(card.number()));
    drop(kept);
}

fn main() {}
