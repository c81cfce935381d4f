fn keep(card: vault::SealedCard) -> Vec<u8> {
    let number = card.open(|card| card.number());
    number.to_vec()
}

fn main() {}
