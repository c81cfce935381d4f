//! E-mail addresses: a local part before an `@`, a domain name after it.

use std::ops::Range;

/// The longest local part and the longest domain, in bytes (RFC 5321).
const LONGEST_LOCAL: usize = 64;
const LONGEST_DOMAIN: usize = 255;

/// The address around the `@` at `at` in the normalised text.
pub(crate) fn find(text: &str, at: usize) -> Option<Range<usize>> {
    let after = at + 1..text.floor_char_boundary(at + 2 + LONGEST_DOMAIN);
    let (before, after) = (text.get(..at)?, text.get(after)?);
    let local = local_length(before);
    let domain = domain_length(after);
    (local > 0 && domain > 0).then(|| at - local..at + 1 + domain)
}

/// The mailbox names of RFC 2142, and others that shops and offices use, in the languages of the detectors.
const ROLES: [&str; 44] = [
    "abuse",
    "admin",
    "billing",
    "bewerbung",
    "careers",
    "commandes",
    "contact",
    "contacto",
    "customercare",
    "customerservice",
    "datenschutz",
    "feedback",
    "hello",
    "help",
    "helpdesk",
    "hostmaster",
    "info",
    "jobs",
    "kontakt",
    "kundenservice",
    "legal",
    "marketing",
    "newsletter",
    "noreply",
    "no-reply",
    "office",
    "orders",
    "postmaster",
    "presse",
    "press",
    "privacy",
    "returns",
    "sales",
    "security",
    "service",
    "serviceclient",
    "shop",
    "soporte",
    "support",
    "team",
    "ventas",
    "vertrieb",
    "webmaster",
    "welcome",
];

/// Returns whether an e-mail address belongs to an office and not to a person, such as `support@shop.example`. Only
/// the local part counts, without a suffix after `+`. Such an address identifies no person, and a page that names its
/// contact address is of more use with it.
///
/// ```
/// use classifier::is_role_address;
///
/// assert!(is_role_address("Support@shop.example"));
/// assert!(is_role_address("orders+2024@shop.example"));
/// assert!(!is_role_address("ann.support@shop.example"));
/// ```
pub fn is_role_address(address: &str) -> bool {
    let local = address.split('@').next().unwrap_or_default();
    let name = local.split('+').next().unwrap_or_default();
    ROLES.iter().any(|role| role.eq_ignore_ascii_case(name))
}

/// Returns the length in bytes of the local part at the end of `before`.
fn local_length(before: &str) -> usize {
    let mut length = 0;
    for character in before.chars().rev() {
        let belongs = character.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(character);
        if !belongs || length + character.len_utf8() > LONGEST_LOCAL {
            break;
        }
        length += character.len_utf8();
    }
    let local = before.get(before.len() - length..).unwrap_or_default();
    // Quotes, brackets and query signs around an address are not part of it.
    local.trim_start_matches(|character: char| !character.is_alphanumeric() && character != '_').len()
}

/// Returns the length in bytes of the domain name, of two labels or more, at the beginning of `after`.
fn domain_length(after: &str) -> usize {
    let mut best = 0;
    let mut end = 0;
    for (index, label) in after.split('.').enumerate() {
        let whole: usize = label.chars().take_while(|c| is_domain(*c)).take(64).map(char::len_utf8).sum();
        let name = label.get(..whole).unwrap_or_default().trim_end_matches(['-', '_']);
        if name.is_empty() || name.starts_with('-') || name.len() > 63 || end + name.len() > LONGEST_DOMAIN {
            break;
        }
        end += name.len();
        if index > 0 && is_top_level(name) {
            best = end;
        }
        if name.len() < label.len() {
            break;
        }
        end += 1;
    }
    if is_picture(after.get(..best).unwrap_or_default()) { 0 } else { best }
}

fn is_domain(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_')
}

fn is_top_level(label: &str) -> bool {
    let letters = label.chars().count() >= 2 && label.chars().all(char::is_alphabetic);
    letters || label.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("xn--"))
}

/// File names of pictures for dense screens look like addresses: `logo@2x.png`.
fn is_picture(domain: &str) -> bool {
    let density = domain.split_once("x.").is_some_and(|(scale, _)| scale.bytes().all(|b| b.is_ascii_digit()));
    density && ["png", "jpg", "jpeg", "gif", "webp", "avif", "svg"].iter().any(|kind| domain.ends_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        find(text, text.find('@').unwrap()).map(|span| &text[span])
    }

    #[test]
    fn addresses_end_where_prose_begins() {
        assert_eq!(found("write to ann.b+c@mail.example.org."), Some("ann.b+c@mail.example.org"));
        assert_eq!(found("<ann@example.org>"), Some("ann@example.org"));
        assert_eq!(found("\'ann@example.org\'"), Some("ann@example.org"));
        assert_eq!(found("mailto:ann@example.org?subject=x"), Some("ann@example.org"));
        assert_eq!(found("ann@example.xn--p1ai/x"), Some("ann@example.xn--p1ai"));
        assert_eq!(found("jörg@müller.de-"), Some("jörg@müller.de"));
        assert_eq!(found("ann@example.org.Next sentence"), Some("ann@example.org.Next"));
    }

    #[test]
    fn other_at_signs_are_left_alone() {
        for text in
            ["@ann", "ann@", "ann@home", "2 @ 3.50", "left-pad@1.2.3", "a@.com", "logo@2x.png", "@types/x.y"]
        {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn parts_are_bounded() {
        let long = "x".repeat(5000);
        let text = format!("{long}@example.org");
        assert_eq!(found(&text).unwrap().len(), 64 + "@example.org".len());
        assert_eq!(found(&format!("ann@{long}.org")), None);
        assert_eq!(found(&format!("ann@{}", "a.".repeat(5000))), None);
    }
}
