//! The form of a consent: its purpose, its page, and the path that it is sent to.

use std::fmt;

use sirl::Kind;

/// The most bytes of a path in a consent. A form with a longer one needs a question every time.
const MAX_PATH_BYTES: usize = 120;

/// The purpose of a form, by its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// A delivery or billing address.
    Address,
    /// Contact data and nothing else.
    Contact,
    /// A newsletter.
    Newsletter,
    /// A text for others to read: a review, a comment, a post.
    Review,
    /// A new account.
    Registration,
    /// An existing account.
    Login,
    /// A card, with or without an address.
    Payment,
    /// An order that the guard places by the shop's own protocol. It has no form.
    Order,
    /// A search.
    Search,
    /// None of these with certainty.
    Unknown,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Purpose; 10] = [
        Purpose::Address,
        Purpose::Contact,
        Purpose::Newsletter,
        Purpose::Review,
        Purpose::Registration,
        Purpose::Login,
        Purpose::Payment,
        Purpose::Order,
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
            Purpose::Order => "order",
            Purpose::Search => "search",
            Purpose::Unknown => "unknown",
        }
    }

    /// The purpose for a word.
    pub fn from_word(word: &str) -> Option<Purpose> {
        Purpose::ALL.into_iter().find(|purpose| purpose.as_str() == word)
    }

    /// Whether a yes to a plan, before any form was examined, covers forms of this purpose. It never covers one of unknown
    /// purpose.
    pub const fn is_planned_for(self, kind: Kind) -> bool {
        match kind {
            Kind::Address => matches!(self, Purpose::Address | Purpose::Payment | Purpose::Order),
            Kind::Contact => {
                matches!(self, Purpose::Contact | Purpose::Address | Purpose::Payment | Purpose::Order)
            }
            Kind::Login | Kind::Otp => matches!(self, Purpose::Login),
            Kind::Payment | Kind::Purchase => matches!(self, Purpose::Payment),
            Kind::Identity => false,
        }
    }

    /// Whether the data goes to the site itself on each page and for each order. A contact form may reach another person
    /// on each page of one site.
    const fn goes_to_the_site(self) -> bool {
        matches!(self, Purpose::Address | Purpose::Payment | Purpose::Login | Purpose::Order)
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
            Purpose::Order => "an order that Portcullis places",
            Purpose::Search => "a search form",
            Purpose::Unknown => "a form of which nobody knows what it is for",
        })
    }
}

/// Why others than the site may read the data of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposed {
    /// The form has a box for free text, or one is near it, as in forms that publish a text.
    FreeText,
    /// The data becomes part of a web address.
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

/// The form that a consent is bound to. The paths are those of web addresses, without the query; in forms for an address, a
/// payment or a login, a segment that is a number (such as that of an order) is `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormPlace {
    /// Its purpose.
    pub purpose: Purpose,
    /// The path of its page; none where the page has no address of its own.
    pub page: Option<String>,
    /// The path that it is sent to; none where that is unknown.
    pub action: Option<String>,
    /// Why others may read its data.
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
            |path: &str| if purpose.goes_to_the_site() { numberless(path) } else { path.to_owned() };
        FormPlace { purpose, page: page.map(pattern), action: action.map(pattern), exposed }
    }

    /// Whether an answer may be kept for the next question about this form. Otherwise the user is asked every time.
    pub fn can_stand(&self) -> bool {
        let fits = |path: &Option<String>| path.as_ref().is_some_and(|path| path.len() <= MAX_PATH_BYTES);
        self.exposed.is_none() && self.purpose != Purpose::Search && fits(&self.page) && fits(&self.action)
    }

    /// Whether a no to this form is also a no to the other: another path with the same purpose, or another purpose at the
    /// same path, is not a new question.
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

/// A path with `*` for each segment that is a number or an identifier of digits and letters.
fn numberless(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').map(|part| if is_number(part) { "*" } else { part }).collect();
    parts.join("/")
}

/// Whether a segment of a path is an identifier: digits alone, or a long word of letters and at least four digits.
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
    fn the_number_of_an_order_is_ignored_and_the_number_of_a_seller_is_not() {
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
    fn a_form_without_paths_or_with_other_readers_needs_a_question_every_time() {
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
    fn a_plan_covers_no_form_with_other_readers_or_of_unknown_purpose() {
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
