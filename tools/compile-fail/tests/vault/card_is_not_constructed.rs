fn forge(card: vault::SealedCard) -> vault::SealedCard {
    vault::SealedCard { handle: String::from("card:other"), ..card }
}

fn main() {}
