//! Masking by form, and the published contacts of a page.
//!
//! A page's own contacts are of use to the reader: the mailbox of an office (`info@`, `support@`), and what a link to a
//! mailbox or a phone shows (`mailto:`, `tel:`). They stay readable by their place and form alone and are never compared
//! with the vault, so a page of guesses reads alike for every user. Where a login was released a page may show the
//! user's own contacts in such places, so nothing of its site is exempt there.

use std::ops::Range;

use browser_signals::outline::ADDRESS;
use browser_signals::rendered::{Mark, quoted_words};
use browser_signals::{Origin, Site};
use classifier::{Detector, Detectors, Finding, SensitiveKind, is_role_address, mask};

use super::scrub::{Scrubbed, ScrubbedLine};

/// A part of a text in which contacts stay readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Readable {
    /// The part, in bytes.
    pub(super) span: Range<usize>,
    /// Whether it is a link to a mailbox or a phone; otherwise only the mailboxes of offices stay.
    pub(super) link: bool,
}

/// The origins at which the user was logged in within a container.
#[derive(Debug, Clone)]
pub(super) enum LoggedIn {
    /// These origins.
    At(Vec<Origin>),
    /// Any page may show the user's account, as in the user's own browser.
    Anywhere,
}

impl LoggedIn {
    pub(super) fn is_nowhere(&self) -> bool {
        matches!(self, LoggedIn::At(origins) if origins.is_empty())
    }

    /// Whether a page of this origin may show the user's own account: it belongs to the site of a login. So may a frame
    /// without an origin.
    fn may_show_account(&self, origin: Option<&Origin>) -> bool {
        let LoggedIn::At(logins) = self else { return true };
        let Some(origin) = origin else { return !logins.is_empty() };
        logins.iter().any(|login| login == origin || Site::of(login).is_ok_and(|site| site.contains(origin)))
    }

    /// The parts of a scrubbed page in which contacts stay readable.
    pub(super) fn readable(&self, lines: &[ScrubbedLine]) -> Vec<Readable> {
        lines
            .iter()
            .filter(|line| !self.may_show_account(line.origin.as_ref()))
            .map(|line| Readable { span: line.span.clone(), link: line.contact })
            .collect()
    }
}

/// Masks text that has the form of personal data or of a secret. Mailboxes of offices (`support@...`) stay. Only the form
/// counts, so that the result reveals nothing of the vault. The caller has no place of the text, and no login.
pub fn mask_by_form(text: &str, detectors: &Detectors) -> String {
    mask_except(text, detectors, &[Readable { span: 0..text.len(), link: false }])
}

/// Masks a scrubbed page as [`mask_by_form`] does; what links to mailboxes and phones show stays too.
pub fn mask_page(page: &Scrubbed, detectors: &Detectors) -> String {
    mask_except(&page.text, detectors, &LoggedIn::At(Vec::new()).readable(&page.lines))
}

/// Masks a text by form, except for contacts in the readable parts, which are in order.
pub(super) fn mask_except(text: &str, detectors: &Detectors, readable: &[Readable]) -> String {
    let mut found = detectors.detect(text);
    found.retain(|one| {
        let after = readable.partition_point(|part| part.span.start <= one.span.start);
        let part = after.checked_sub(1).and_then(|at| readable.get(at));
        let Some(part) = part.filter(|part| one.span.end <= part.span.end) else { return true };
        let words = text.get(one.span.clone()).unwrap_or_default();
        match one.kind {
            SensitiveKind::Email => !part.link && !is_role_address(words),
            SensitiveKind::Phone => !part.link,
            _ => true,
        }
    });
    found.extend(found_in_addresses(text, detectors));
    mask(text, &found)
}

/// The values in the addresses of a rendered text. In running text digits in a path are no card number, and the part of an address before
/// `@` is no mailbox; a page that tells a value in a path is searched for it segment by segment, and for a card over segments.
fn found_in_addresses(text: &str, detectors: &Detectors) -> Vec<Finding> {
    if !text.contains(ADDRESS) {
        return Vec::new();
    }
    let (mut apart, mut together) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
    for line in text.split_inclusive('\n') {
        let addresses = quoted_words(line).into_iter().filter(|words| words.mark == Mark::Address);
        let mut from = 0;
        for words in addresses.map(|address| address.words) {
            // All else is left out, byte for byte, so that the places stay.
            let before = "\n".repeat(words.start - from);
            let address = line.get(words.clone()).unwrap_or_default();
            from = words.start + address.len();
            apart.extend([&before, &address.replace('/', "\n")].map(String::as_str));
            together.extend([&before, &address.replace('/', " ")].map(String::as_str));
        }
        let after = "\n".repeat(line.len() - from);
        apart.push_str(&after);
        together.push_str(&after);
    }
    let mut found = detectors.detect(&apart);
    let is_card = |one: &Finding| one.kind == SensitiveKind::CardNumber;
    found.extend(detectors.detect(&together).into_iter().filter(is_card));
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn page(lines: &[(&str, &str, bool)]) -> Scrubbed {
        let mut page = Scrubbed::default();
        for (line, origin, contact) in lines {
            let from = page.text.len();
            page.text.push_str(line);
            let origin = Origin::parse(origin).ok();
            page.lines.push(ScrubbedLine { span: from..page.text.len(), origin, contact: *contact });
        }
        page
    }

    #[test]
    fn contacts_stay_by_place_and_form() {
        let detectors = Detectors::standard().unwrap();
        let text = "Write to support@shop.example or ann@shop.example.";
        assert_eq!(mask_by_form(text, &detectors), "Write to support@shop.example or [email].");
        let page = page(&[
            ("- text: \"ann@shop.example, info@shop.example\"\n", "https://shop.example", false),
            ("- link \"ann@shop.example\"\n", "https://shop.example", true),
            ("- link \"+49 30 901820\"\n", "https://shop.example", true),
            ("- link \"4111 1111 1111 1111\"\n", "https://shop.example", true),
        ]);
        assert_eq!(
            mask_page(&page, &detectors),
            "- text: \"[email], info@shop.example\"\n- link \"ann@shop.example\"\n- link \"+49 30 901820\"\n\
             - link \"[card number]\"\n"
        );
    }

    #[test]
    fn values_in_addresses_are_masked_though_they_would_stay_in_a_path_of_a_text() {
        let detectors = Detectors::standard().unwrap();
        for (address, told) in [
            ("/orders/4111111111111111", "/orders/[card number]"),
            ("https://b.example/4111/1111/1111/1111/x", "https://b.example/[card number]/x"),
            ("/card/4111-1111-1111-1111", "/card/[card number]"),
            ("/u/ann@mail.example/edit", "/u/[email]/edit"),
            ("/call/+1 628 555 0173", "/call/[phone]"),
            ("/shop/kettle-2/2026/11/03/1234567890", "/shop/kettle-2/2026/11/03/1234567890"),
            (
                "https://b.example:8443/caf\u{e9}/ISBN/9783161484100",
                "https://b.example:8443/caf\u{e9}/ISBN/9783161484100",
            ),
        ] {
            let text = format!("- link \"A\" [ref=e1] /url \"{address}\": \"b/c\"\n");
            let expected = format!("- link \"A\" [ref=e1] /url \"{told}\": \"b/c\"\n");
            assert_eq!(mask_by_form(&text, &detectors), expected);
        }
        let text = "- text: \"/orders/4111111111111111\"\n";
        assert_eq!(mask_by_form(text, &detectors), text);
    }

    #[test]
    fn nothing_is_exempt_on_the_site_of_a_login() {
        let detectors = Detectors::standard().unwrap();
        let page = page(&[
            ("- link \"ann@mail.example\"\n", "https://www.shop.example", true),
            ("- text: \"info@mail.example\"\n", "https://shop.example", false),
            ("- link \"ann@mail.example\"\n", "", true),
            ("- link \"ann@mail.example\"\n", "https://other.example", true),
        ]);
        let masked = |logins: &[&str]| {
            let logins = LoggedIn::At(logins.iter().map(|login| Origin::parse(login).unwrap()).collect());
            mask_except(&page.text, &detectors, &logins.readable(&page.lines))
        };
        assert_eq!(masked(&[]), page.text);
        let anywhere = mask_except(&page.text, &detectors, &LoggedIn::Anywhere.readable(&page.lines));
        assert!(!anywhere.contains('@'), "{anywhere}");
        assert_eq!(
            masked(&["https://login.shop.example"]),
            "- link \"[email]\"\n- text: \"[email]\"\n- link \"[email]\"\n- link \"ann@mail.example\"\n"
        );
    }
}
