//! Which form a yes is for: its purpose, its page, and where it is sent.

use std::fmt;

use sirl::Kind;

/// The longest path, in bytes, of a form that an answer may stand for. Beyond it every question is a new one.
const LONGEST_PATH: usize = 120;

/// What a form is for, by its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Where something is sent to, or who is billed.
    Address,
    /// How somebody is reached, and nothing else.
    Contact,
    /// News by e-mail.
    Newsletter,
    /// What others read: a review, a comment, a post.
    Review,
    /// A new account.
    Registration,
    /// An account that is there.
    Login,
    /// A card, with or without an address.
    Payment,
    /// A search.
    Search,
    /// None of these for sure.
    Unknown,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Purpose; 9] = [
        Purpose::Address,
        Purpose::Contact,
        Purpose::Newsletter,
        Purpose::Review,
        Purpose::Registration,
        Purpose::Login,
        Purpose::Payment,
        Purpose::Search,
        Purpose::Unknown,
    ];

    /// The purpose as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Purpose::Address => "address",
            Purpose::Contact => "contact",
            Purpose::Newsletter => "newsletter",
            Purpose::Review => "review",
            Purpose::Registration => "registration",
            Purpose::Login => "login",
            Purpose::Payment => "payment",
            Purpose::Search => "search",
            Purpose::Unknown => "unknown",
        }
    }

    /// The purpose of this word.
    pub fn from_word(word: &str) -> Option<Purpose> {
        Purpose::ALL.into_iter().find(|purpose| purpose.as_str() == word)
    }

    /// Whether a yes that was said of a plan, before any form was seen, is for forms of this purpose. Never for one
    /// whose purpose nobody knows.
    pub const fn is_planned_for(self, kind: Kind) -> bool {
        match kind {
            Kind::Address => matches!(self, Purpose::Address | Purpose::Payment),
            Kind::Contact => matches!(self, Purpose::Contact | Purpose::Address | Purpose::Payment),
            Kind::Login | Kind::Otp => matches!(self, Purpose::Login),
            Kind::Payment | Kind::Purchase => matches!(self, Purpose::Payment),
            Kind::Identity => false,
        }
    }

    /// Whether what is filled in goes to the site itself, whichever order or page it is. What is sent by way of a
    /// contact form may reach another person on each page of one site.
    const fn is_the_sites_own(self) -> bool {
        matches!(self, Purpose::Address | Purpose::Payment | Purpose::Login)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Purpose::Address => "a form for an address",
            Purpose::Contact => "a contact form",
            Purpose::Newsletter => "a form that subscribes to news",
            Purpose::Review => "a form for a review or a comment",
            Purpose::Registration => "a form for a new account",
            Purpose::Login => "a login form",
            Purpose::Payment => "a payment form",
            Purpose::Search => "a search form",
            Purpose::Unknown => "a form of which nobody knows what it is for",
        })
    }
}

/// Why others than the site may read what a form sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposed {
    /// There is a box for free text in it or beside it, as where something is published.
    FreeText,
    /// What is sent becomes a part of an address.
    InTheAddress,
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exposed::FreeText => {
                "the form has a box for free text: what it sends may be published, for anybody to read"
            }
            Exposed::InTheAddress => {
                "the form puts what it sends into a web address, which is kept in histories and logs"
            }
        })
    }
}

/// A form as an answer is bound to it. The paths are those of addresses, without what follows a question mark; in
/// forms for an address, a payment or a login a part that is only the number of an order is `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormPlace {
    /// What it is for.
    pub purpose: Purpose,
    /// The path of its page; none where the page has no address of its own.
    pub page: Option<String>,
    /// The path that it is sent to; none where it is sent nowhere that is known.
    pub action: Option<String>,
    /// Why others may read it.
    pub exposed: Option<Exposed>,
}

impl FormPlace {
    /// A form of this purpose, on the page at one path and sent to another.
    pub fn new(
        purpose: Purpose,
        page: Option<&str>,
        action: Option<&str>,
        exposed: Option<Exposed>,
    ) -> FormPlace {
        let pattern =
            |path: &str| if purpose.is_the_sites_own() { numberless(path) } else { path.to_owned() };
        FormPlace { purpose, page: page.map(pattern), action: action.map(pattern), exposed }
    }

    /// Whether an answer may hold for the next question about it too. Otherwise each is asked.
    pub fn can_stand(&self) -> bool {
        let fits = |path: &Option<String>| path.as_ref().is_some_and(|path| path.len() <= LONGEST_PATH);
        self.exposed.is_none() && self.purpose != Purpose::Search && fits(&self.page) && fits(&self.action)
    }

    /// Whether a no to one of them is a no to the other: another path with the same purpose, or another purpose at
    /// the same path, is no new question.
    pub(super) fn resembles(&self, other: &FormPlace) -> bool {
        self.purpose == other.purpose || (&self.page, &self.action) == (&other.page, &other.action)
    }
}

impl fmt::Display for FormPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.purpose)?;
        match &self.page {
            Some(page) => write!(f, " on {page}")?,
            None => f.write_str(" on a page without an address")?,
        }
        match &self.action {
            Some(action) if self.page.as_ref() == Some(action) => Ok(()),
            Some(action) => write!(f, ", sent to {action}"),
            None => f.write_str(", sent nowhere that is known"),
        }
    }
}

/// A path with `*` for each part that is a number or an identifier made of digits and letters.
fn numberless(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').map(|part| if is_number(part) { "*" } else { part }).collect();
    parts.join("/")
}

/// Whether a part of a path numbers something: digits alone, or a long word of letters and at least four digits.
fn is_number(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let is_word = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (digits == part.len() && digits > 0) || (is_word && part.len() >= 16 && digits >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(purpose: Purpose, page: &str, action: &str) -> FormPlace {
        FormPlace::new(purpose, Some(page), Some(action), None)
    }

    #[test]
    fn the_number_of_an_order_makes_no_other_form_and_the_number_of_a_seller_does() {
        let order = |number: &str| place(Purpose::Address, &format!("/checkout/{number}/to"), "/save");
        assert_eq!(order("123"), order("124"));
        assert_eq!(order("123"), order("c56a4180-65aa-42ec-a945-5fd21dec0538"));
        assert_ne!(order("123"), order("review"));
        assert_ne!(order("123"), place(Purpose::Address, "/checkout/123/from", "/save"));
        assert_ne!(order("123"), place(Purpose::Payment, "/checkout/123/to", "/save"));
        let seller = |number: &str| place(Purpose::Contact, &format!("/seller/{number}"), "/send");
        assert_ne!(seller("123"), seller("124"));
    }

    #[test]
    fn what_cannot_be_named_or_is_read_by_others_is_asked_about_each_time() {
        assert!(place(Purpose::Unknown, "/a", "/b").can_stand());
        assert!(!place(Purpose::Search, "/a", "/b").can_stand());
        assert!(!place(Purpose::Address, &"/long".repeat(40), "/b").can_stand());
        assert!(!FormPlace::new(Purpose::Address, None, Some("/b"), None).can_stand());
        assert!(!FormPlace::new(Purpose::Address, Some("/a"), None, None).can_stand());
        for exposed in [Exposed::FreeText, Exposed::InTheAddress] {
            assert!(!FormPlace::new(Purpose::Address, Some("/a"), Some("/b"), Some(exposed)).can_stand());
        }
    }

    #[test]
    fn a_plan_is_for_no_form_that_others_read_or_that_nobody_knows() {
        for kind in Kind::ALL {
            for purpose in [Purpose::Unknown, Purpose::Review, Purpose::Search, Purpose::Newsletter] {
                assert!(!purpose.is_planned_for(kind), "{kind:?} {purpose:?}");
            }
        }
        assert!(Purpose::Address.is_planned_for(Kind::Address));
    }

    #[test]
    fn a_purpose_is_read_as_it_is_written() {
        for purpose in Purpose::ALL {
            assert_eq!(Purpose::from_word(purpose.as_str()), Some(purpose));
        }
    }
}
