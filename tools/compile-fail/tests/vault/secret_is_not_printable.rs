fn main() {
    let secret = vault::Secret::new("4111 1111 1111 1111");
    println!("{secret:?}");
}
