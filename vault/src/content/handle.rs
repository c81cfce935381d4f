//! Handles, the names of records. The model sees them, so they must not carry a value.

/// The kinds of record, which are the words before the colon.
const KINDS: [&str; 6] = ["card", "address", "contact", "identity", "login", "otp"];

/// The longest name, in bytes.
const LONGEST: usize = 32;

/// The most digits in a name. Four could hold the last digits of a card number.
const MOST_DIGITS: usize = 3;

/// Tells if `handle` is a kind, a colon and a name.
pub(crate) fn is_valid(handle: &str) -> bool {
    let Some((kind, name)) = handle.split_once(':') else {
        return false;
    };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    KINDS.contains(&kind)
        && (1..=LONGEST).contains(&name.len())
        && name.bytes().all(plain)
        && name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && name.bytes().filter(u8::is_ascii_digit).count() <= MOST_DIGITS
}

/// The name for a record of this host: its letters, with a dash for everything else. There are no digits, since a number may follow.
pub(crate) fn name_of_host(host: &str) -> String {
    let parts = host.split(|c: char| !c.is_ascii_alphabetic()).filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let name = name.get(..name.len().min(LONGEST - "-99".len())).unwrap_or_default().trim_end_matches('-');
    if name.is_empty() { "site".to_owned() } else { name.to_owned() }
}

/// The kind of a valid handle.
pub(crate) fn kind_of(handle: &str) -> &str {
    handle.split_once(':').map_or("", |(kind, _)| kind)
}

/// The name in a valid handle, which is that of the persona.
pub(crate) fn name_of(handle: &str) -> &str {
    handle.split_once(':').map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{is_valid, name_of_host};

    #[test]
    fn names_of_the_right_form() {
        for handle in
            ["card:personal", "address:home", "contact:me", "identity:eu-1", "login:shop_2", "otp:x"]
        {
            assert!(is_valid(handle), "{handle}");
        }
    }

    #[test]
    fn a_host_gives_a_name() {
        let long = format!("{}.example", "shop".repeat(10));
        for (host, name) in [
            ("www.shop.example", "www-shop-example"),
            ("Shop24.example", "shop-example"),
            ("127.0.0.1", "site"),
            ("[::1]", "site"),
            ("xn--mnchen-3ya.example", "xn-mnchen-ya-example"),
            (&long, "shopshopshopshopshopshopshops"),
        ] {
            assert_eq!(name_of_host(host), name, "{host}");
            assert!(is_valid(&format!("login:{name}-99")), "{host}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let long = format!("card:{}", "a".repeat(33));
        for handle in [
            "",
            "card",
            "card:",
            ":home",
            "Card:home",
            "card:Home",
            "card:a b",
            "card:a:b",
            "purse:home",
            "card:-a",
            "card:4111111111111111",
            "card:x1234",
            "card:é",
            &long,
        ] {
            assert!(!is_valid(handle), "{handle}");
        }
    }
}
