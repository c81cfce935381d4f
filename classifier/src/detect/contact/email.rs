//! E-mail addresses: a local part before an `@`, a domain name after it.

use super::roles::{REGIONS, ROLES};
use crate::detect::neighbours::is_user_part;
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
    if local == 0 || domain == 0 || is_user_part(text, at) {
        return None;
    }
    let name = before.get(before.len() - local..)?;
    let host = after.get(..domain)?;
    let behind = after.get(domain..)?;
    let other = is_unit(host) || is_remote(behind) || is_algorithm(name, host);
    (!other).then(|| at - local..at + 1 + domain)
}

/// The ends of file names that look like a domain: units of systemd, pictures, and other files.
const FILES: [&str; 39] = [
    "automount",
    "avif",
    "c",
    "conf",
    "css",
    "device",
    "dll",
    "exe",
    "gif",
    "gz",
    "h",
    "htm",
    "html",
    "jpeg",
    "jpg",
    "journal",
    "js",
    "json",
    "jsx",
    "log",
    "mjs",
    "mount",
    "pdf",
    "png",
    "scope",
    "service",
    "slice",
    "socket",
    "svg",
    "swap",
    "tar",
    "target",
    "timer",
    "ts",
    "tsx",
    "txt",
    "webp",
    "xml",
    "yaml",
];

/// Returns whether a host is the end of a file's name: `user@1001.service`, `journald@NAMESPACE.conf`.
fn is_unit(host: &str) -> bool {
    let end = host.rsplit('.').next().unwrap_or_default();
    FILES.iter().any(|file| file.eq_ignore_ascii_case(end))
}

/// Returns whether a path follows an address, with only a colon between: `git@example.org:team/project.git`.
fn is_remote(behind: &str) -> bool {
    behind.strip_prefix(':').is_some_and(|path| {
        let path =
            path.split(|c: char| c.is_whitespace() || "\"'`<>[]".contains(c)).next().unwrap_or_default();
        path.starts_with(['/', '~']) || path.contains('/') || path.ends_with(".git")
    })
}

/// Returns whether the address is the name of an algorithm of SSH, which has the domain of its author (RFC 4250).
fn is_algorithm(name: &str, host: &str) -> bool {
    let author = ["openssh.com", "libssh.org", "lysator.liu.se"].contains(&host);
    author && name.contains('-') && name.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether an e-mail address belongs to an office and not to a person, such as `support@shop.example`. Only
/// the local part counts, without a suffix after `+`, and a word for an office with a country or a language behind it
/// counts as well: `info-de@`, `support.fr@`, `sales_uk@`. So does any name at a host for mailing lists (`lists.`). Such an address identifies no person, and a page that names its
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
    let (local, host) = address.split_once('@').unwrap_or((address, ""));
    let name = local.split('+').next().unwrap_or_default().to_lowercase();
    let is_role = |name: &str| ROLES.binary_search(&name).is_ok();
    let office = name.rsplit_once(['-', '.', '_']).filter(|(_, end)| {
        REGIONS.contains(end) || end.bytes().all(|byte| byte.is_ascii_digit()) && end.len() <= 2
    });
    is_role(&name) || office.is_some_and(|(office, _)| is_role(office)) || host.starts_with("lists.")
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
    // The path of an address or of a file is not part of it, although a slash may be.
    let local = local.rsplit(['/', '=', '?', '&']).next().unwrap_or_default();
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

    #[test]
    fn roles_are_sorted_for_the_search() {
        assert!(ROLES.windows(2).all(|pair| pair[0] < pair[1]));
    }

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
