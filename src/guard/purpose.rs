//! The purpose of a form, by the controls that the browser found in it.
//!
//! The purpose decides which later prompts a yes answers, and never whether a form may have a value. The page's words can
//! only make a prompt more likely: they can turn a contact form into a review, but a form is a contact form only if it
//! asks for nothing else.

use browser_signals::matching::{FormKind, kind_of_form, match_form};
use browser_signals::{Control, Sink, Snapshot};
use sirl::Field;
use vault::field_of;

use super::placement::fields_of;
use crate::consent::{Exposed, FormPlace, Purpose};

/// Words of forms whose contents other people read. They do not count in an address form, where a shop may say "review
/// your order".
const PUBLISHED: [&str; 30] = [
    "review",
    "reviews",
    "rating",
    "ratings",
    "comment",
    "comments",
    "feedback",
    "guestbook",
    "testimonial",
    "testimonials",
    "forum",
    "thread",
    "publish",
    "question",
    "bewertung",
    "bewertungen",
    "rezension",
    "kommentar",
    "kommentare",
    "gästebuch",
    "avis",
    "commentaire",
    "commentaires",
    "opinión",
    "opiniones",
    "reseña",
    "comentario",
    "recensione",
    "commento",
    "beoordeling",
];

/// Words of forms that subscribe to something.
const NEWS: [&str; 9] = [
    "newsletter",
    "newsletters",
    "subscribe",
    "subscription",
    "abonnieren",
    "inscription",
    "suscribirse",
    "iscriviti",
    "nieuwsbrief",
];

/// Words of forms that create an account.
const ACCOUNT: [&str; 12] = [
    "register",
    "registration",
    "signup",
    "join",
    "registrieren",
    "registrierung",
    "konto",
    "inscrire",
    "registrarse",
    "registro",
    "registrati",
    "registreren",
];

/// Words of searches.
const SEARCH: [&str; 8] = ["search", "query", "q", "suche", "suchen", "recherche", "buscar", "cerca"];

/// Words of controls by which an account is reached, protected or paid.
const REACHES: [&str; 25] = [
    "recovery",
    "backup",
    "2fa",
    "mfa",
    "factor",
    "authenticator",
    "passkey",
    "iban",
    "bic",
    "payout",
    "payouts",
    "routing",
    "wiederherstellung",
    "récupération",
    "recuperación",
    "recupero",
    "ssh",
    "apikey",
    "payee",
    "kontonummer",
    "kontoverbindung",
    "auszahlung",
    "faktor",
    "cuenta",
    "rekeningnummer",
];

/// Whether the control of an observation says how an account is reached, protected or paid: by its field, or by its words.
pub fn reaches_the_account(page: &Snapshot) -> bool {
    let Some(target) = &page.target else { return false };
    let alone = std::slice::from_ref(target);
    let controls =
        if page.controls.iter().any(|it| it.node == target.node) { &*page.controls } else { alone };
    let fields = match_form(controls, &page.words);
    let of_target = controls.iter().zip(fields).find(|(it, _)| it.node == target.node);
    let field = of_target.and_then(|(_, found)| found.asked.and_then(field_of));
    let says = [&target.label, &target.name].into_iter().flat_map(|text| words(text));
    field.is_some_and(reaches)
        || target.input_type == "password"
        || says.into_iter().any(|word| REACHES.contains(&word.as_str()))
}

/// Whether a form has a control by which an account is reached: it may log in, or change the account.
pub fn has_account_control(page: &Snapshot) -> bool {
    let by_kind = page.controls.iter().any(|control| control.input_type == "password");
    by_kind || fields_of(page).into_iter().flatten().any(reaches)
}

/// Whether an account is reached by this field.
fn reaches(field: Field) -> bool {
    matches!(
        field,
        Field::Email
            | Field::Phone
            | Field::Username
            | Field::Password
            | Field::NewPassword
            | Field::OneTimeCode
    )
}

/// The identity of the observed form, to which an answer is bound. `free_text_nearby` is whether the same page has a
/// free-text control that no form owns.
pub fn form_place(page: &Snapshot, free_text_nearby: bool) -> FormPlace {
    let destination = page.destination.known();
    let exposed = if free_text_nearby || page.controls.iter().any(is_free_text) {
        Some(Exposed::FreeText)
    } else {
        destination.filter(|to| !to.method.eq_ignore_ascii_case("POST")).map(|_| Exposed::InTheAddress)
    };
    let action = destination.map(|to| &*to.path);
    FormPlace::new(purpose_of(page), page.path.known().map(|path| &**path), action, exposed)
}

/// Whether a person may write freely into a control. A hidden control counts too, since an editor may draw its own.
pub fn is_free_text(control: &Control) -> bool {
    !matches!(control.tag.as_str(), "input" | "select" | "button" | "fieldset" | "output" | "object")
}

/// The controls and words of a form that determine its purpose.
struct Entries<'a> {
    all: Vec<&'a Control>,
    fields: Vec<Option<Field>>,
    words: Vec<String>,
}

impl<'a> Entries<'a> {
    fn of(page: &'a Snapshot) -> Entries<'a> {
        let asks = |control: &&Control| {
            matches!(control.tag.as_str(), "input" | "select")
                && !matches!(
                    control.input_type.as_str(),
                    "hidden" | "submit" | "button" | "image" | "reset" | "checkbox"
                )
        };
        let texts = page.controls.iter().flat_map(|control| [&control.label, &control.name]);
        let path = page.destination.known().map(|to| to.path.to_string());
        let words = texts.chain(path.as_ref()).flat_map(|text| words(text)).collect();
        let fields = page.controls.iter().zip(fields_of(page)).filter(|(control, _)| asks(control));
        let fields = fields.map(|(_, field)| field).collect();
        Entries { all: page.controls.iter().filter(asks).collect(), fields, words }
    }

    fn has_word(&self, some: &[&str]) -> bool {
        self.words.iter().any(|word| some.contains(&word.as_str()))
    }

    fn passwords(&self) -> usize {
        self.all.iter().filter(|control| control.input_type == "password").count()
    }

    /// Whether the entries in sight ask for the name of an account and for nothing else, and the form is one to log in: the first
    /// page of a login that asks for the password later.
    fn begin_login(&self, page: &Snapshot) -> bool {
        let in_sight = || {
            let all = self.all.iter().zip(&self.fields);
            all.filter(|(control, _)| control.visible.known() == Some(&true)).map(|(_, field)| *field)
        };
        let is_name = |field: Option<Field>| matches!(field, Some(Field::Username | Field::Email));
        in_sight().count() == 1
            && in_sight().all(is_name)
            && kind_of_form(&page.controls, &page.words) == FormKind::Login
            && !self.has_word(&ACCOUNT)
    }

    /// Whether there are entries and each is one of these fields.
    fn are_all(&self, fields: &[Field]) -> bool {
        let is_one = |field: &Option<Field>| field.is_some_and(|field| fields.contains(&field));
        !self.fields.is_empty() && self.fields.iter().all(is_one)
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn purpose_of(page: &Snapshot) -> Purpose {
    const REACHED: [Field; 7] = [
        Field::Name,
        Field::Email,
        Field::Phone,
        Field::Country,
        Field::Region,
        Field::City,
        Field::PostalCode,
    ];
    /// The fields that a parcel needs. With fewer than two boxes for a place, the browser's facts call no form an address
    /// form.
    const DELIVERED: [Field; 8] = [
        Field::Name,
        Field::Email,
        Field::Phone,
        Field::Country,
        Field::Region,
        Field::City,
        Field::PostalCode,
        Field::Street,
    ];
    let entries = Entries::of(page);
    // A search box next to other boxes looks up an address, or is of unknown use.
    if let [only] = entries.all.as_slice()
        && (only.input_type == "search" || entries.has_word(&SEARCH))
    {
        return Purpose::Search;
    }
    match (page.sink.known(), entries.passwords()) {
        (Some(Sink::PaymentForm), 0) => return Purpose::Payment,
        (Some(Sink::AddressForm), 0) => return Purpose::Address,
        (_, 0) => {}
        (_, 1) if entries.begin_login(page) => return Purpose::Login,
        (_, passwords) => return of_account(&entries, passwords),
    }
    if entries.has_word(&PUBLISHED) {
        Purpose::Review
    } else if !entries.has_word(&NEWS) && entries.begin_login(page) {
        Purpose::Login
    } else if entries.has_word(&NEWS) || (entries.all.len() == 1 && entries.are_all(&[Field::Email])) {
        Purpose::Newsletter
    } else if entries.has_word(&ACCOUNT) {
        Purpose::Registration
    } else if entries.are_all(&[Field::OneTimeCode]) {
        Purpose::Login
    } else if entries.are_all(&REACHED) {
        Purpose::Contact
    } else if entries.are_all(&DELIVERED) {
        Purpose::Address
    } else {
        Purpose::Unknown
    }
}

/// A form with a password. A login has one, the account's name, and nothing else. Where every password is out of sight, as on a
/// page of settings that shows it on demand, nothing says that an account is made.
fn of_account(entries: &Entries<'_>, passwords: usize) -> Purpose {
    let is_in_sight =
        |control: &&Control| control.input_type == "password" && control.visible.known() == Some(&true);
    if !entries.all.iter().any(is_in_sight) {
        return Purpose::Unknown;
    }
    let new = |control: &&Control| control.autocomplete.to_ascii_lowercase().contains("new-password");
    if passwords > 1 || entries.all.iter().any(new) || entries.has_word(&ACCOUNT) {
        Purpose::Registration
    } else if entries.all.len() <= 2 {
        Purpose::Login
    } else {
        Purpose::Unknown
    }
}

#[cfg(test)]
mod tests {
    use browser_signals::{
        Container, ContainerId, Destination, DocumentId, Fact, FrameId, NodeId, Origin, TlsState,
    };

    use super::*;

    fn control(tag: &str, input_type: &str, label: &str) -> Control {
        Control {
            node: NodeId(1),
            form: Some(NodeId(9)),
            tag: tag.to_owned(),
            input_type: input_type.to_owned(),
            autocomplete: String::new(),
            name: String::new(),
            label: label.to_owned(),
            visible: Fact::Known(true),
            hit: Fact::Known(true),
            editable: true,
            filled: false,
            words: Default::default(),
        }
    }

    fn form(sink: Sink, action: &str, method: &str, controls: &[Control]) -> Snapshot {
        let shop = Origin::parse("https://shop.example").unwrap();
        Snapshot {
            container: Fact::Known(Container::T2),
            container_id: ContainerId::new("c"),
            frame: FrameId::new("f"),
            document: Fact::Known(DocumentId::new("d")),
            top_document: Fact::Known(DocumentId::new("d")),
            origin: Fact::Known(shop.clone()),
            path: Fact::Known("/page".into()),
            top_origin: Fact::Known(shop.clone()),
            ancestors: Fact::Known(Vec::new()),
            tls: Fact::Known(TlsState::Valid),
            sandboxed: Fact::Known(false),
            secure_context: Fact::Known(true),
            form: Some(NodeId(9)),
            destination: Fact::Known(Destination {
                origin: shop,
                path: action.into(),
                method: method.into(),
            }),
            sink: Fact::Known(sink),
            target: None,
            controls: controls.to_vec(),
            words: Default::default(),
        }
    }

    #[test]
    fn the_purpose_follows_from_the_controls() {
        let text = |label: &str| control("input", "text", label);
        let person = || vec![text("Full name"), text("E-mail"), text("Phone")];
        let with = |more: Control| person().into_iter().chain([more]).collect::<Vec<_>>();
        let password = || control("input", "password", "Password");
        let hidden = || Control { visible: Fact::Known(false), ..password() };
        let send = |label: &str| control("button", "submit", label);
        let of = |sink, action, controls: &[Control]| purpose_of(&form(sink, action, "POST", controls));
        for (expected, sink, action, controls) in [
            (Purpose::Contact, Sink::Other, "/send", person()),
            (Purpose::Contact, Sink::Other, "/send", with(control("input", "checkbox", "I agree"))),
            (Purpose::Review, Sink::Other, "/product/7/reviews", person()),
            (Purpose::Review, Sink::Other, "/send", with(send("Write a review"))),
            (Purpose::Unknown, Sink::Other, "/send", with(control("input", "radio", "5 stars"))),
            (Purpose::Unknown, Sink::Other, "/send", with(control("select", "", "Stars"))),
            (Purpose::Unknown, Sink::Other, "/send", Vec::new()),
            (Purpose::Newsletter, Sink::FreeText, "/send", vec![text("E-mail")]),
            (Purpose::Newsletter, Sink::Other, "/send", with(send("Subscribe"))),
            (Purpose::Registration, Sink::Other, "/send", with(send("Register"))),
            (Purpose::Registration, Sink::LoginForm, "/in", vec![text("E-mail"), password(), password()]),
            (Purpose::Login, Sink::LoginForm, "/in", vec![text("Customer"), password()]),
            (Purpose::Unknown, Sink::LoginForm, "/in", vec![text("E-mail"), hidden(), hidden()]),
            (Purpose::Login, Sink::LoginForm, "/in", vec![text("E-mail"), hidden()]),
            (Purpose::Unknown, Sink::LoginForm, "/in", vec![text("E-mail"), text("Name"), hidden()]),
            (Purpose::Unknown, Sink::Other, "/in", with(password())),
            (Purpose::Address, Sink::AddressForm, "/review", vec![text("Street"), text("City")]),
            (Purpose::Address, Sink::FreeText, "/order", vec![text("Street")]),
            (Purpose::Address, Sink::Other, "/order", with(text("Street"))),
            (Purpose::Review, Sink::Other, "/reviews", with(text("Street"))),
            (Purpose::Payment, Sink::PaymentForm, "/pay", vec![text("Card number"), text("City")]),
            (Purpose::Search, Sink::FreeText, "/find", vec![control("input", "search", "City")]),
            (Purpose::Search, Sink::FreeText, "/search", vec![text("City")]),
            (Purpose::Unknown, Sink::Other, "/send", with(control("input", "search", "Find"))),
        ] {
            let labels: Vec<&str> = controls.iter().map(|control| control.label.as_str()).collect();
            assert_eq!(of(sink, action, &controls), expected, "{action} {labels:?}");
        }
    }

    #[test]
    fn the_first_page_of_a_login_is_told_by_its_texts() {
        let of = |labels: &[&str], button: &str, named: &str| {
            let controls: Vec<Control> =
                labels.iter().map(|label| control("input", "email", label)).collect();
            let mut page = form(Sink::FreeText, "/next", "POST", &controls);
            page.words.buttons = vec![button.to_owned()];
            page.words.attributes = vec![named.to_owned()];
            page.words.headings = vec!["Sign in".to_owned()];
            purpose_of(&page)
        };
        assert_eq!(of(&["E-mail"], "Next", "login-form"), Purpose::Login);
        assert_eq!(of(&["Email or phone"], "Sign in", ""), Purpose::Login);
        assert_eq!(of(&["E-mail"], "Next", "stay-informed"), Purpose::Newsletter);
        assert_eq!(of(&["Sign in to our newsletter"], "Log in", "login"), Purpose::Newsletter);
        assert_eq!(of(&["E-mail"], "Create account", "register"), Purpose::Newsletter);
        assert_ne!(of(&["E-mail"], "Reset password", "forgot-password"), Purpose::Login);
        assert_ne!(of(&["E-mail", "Phone"], "Log in", "login"), Purpose::Login);
    }

    #[test]
    fn free_text_and_get_forms_are_exposed_to_others() {
        let entries = [control("input", "text", "Street"), control("input", "text", "City")];
        let place = |method: &str, more: &[Control], free_text_nearby| {
            let controls: Vec<Control> = entries.iter().chain(more).cloned().collect();
            form_place(&form(Sink::AddressForm, "/save", method, &controls), free_text_nearby)
        };
        assert_eq!(place("POST", &[], false).exposed, None);
        assert_eq!(place("post", &[], false).exposed, None);
        assert_eq!(place("GET", &[], false).exposed, Some(Exposed::InTheAddress));
        assert_eq!(place("dialog", &[], false).exposed, Some(Exposed::InTheAddress));
        assert_eq!(place("POST", &[], true).exposed, Some(Exposed::FreeText));
        let mut hidden = control("textarea", "", "Anything else?");
        hidden.visible = Fact::Known(false);
        assert_eq!(place("POST", &[hidden], false).exposed, Some(Exposed::FreeText));
        assert_eq!(place("POST", &[control("div", "", "")], false).exposed, Some(Exposed::FreeText));
    }
}
