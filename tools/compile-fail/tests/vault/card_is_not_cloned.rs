fn twice(card: vault::SealedCard) {
    let _ = card.clone();
}

fn main() {}
