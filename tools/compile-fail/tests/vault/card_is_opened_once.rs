fn twice(card: vault::SealedCard) {
    card.open(|_| ());
    card.open(|_| ());
}

fn main() {}
