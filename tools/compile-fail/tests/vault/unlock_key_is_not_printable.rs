fn print(key: &vault::UnlockKey) {
    println!("{key:?}");
}

fn main() {}
