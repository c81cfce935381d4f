//! Classifies a control or a button by the words that the page uses for it, in six languages.
//!
//! All of it is the page's word. It decides how much a user is shown, and what stays typable beside a form that is filled by
//! grants only; one word that decides something outweighs every word that sounds harmless.

use crate::Control;

/// A subject that decides where goods go, who gets them, who pays, or how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decisive {
    /// A part of a postal address.
    Address,
    /// How or where goods are delivered: a locker, a branch, a pick-up point.
    Delivery,
    /// A person's name, e-mail or phone.
    Person,
    /// An account: user name, password, recovery.
    Account,
    /// Money: cards, banks, bills, amounts.
    Payment,
    /// A recurring charge or delivery: a subscription, a membership.
    Recurs,
}

/// A purpose that decides nothing of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harmless {
    /// A search.
    Search,
    /// How many.
    Quantity,
    /// Which variant: colour, size.
    Variant,
    /// A coupon.
    Coupon,
    /// A note that goes with the goods.
    Note,
}

/// The meaning of words. An unknown one does not count as harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It decides something.
    Decisive(Decisive),
    /// It is known to decide nothing.
    Harmless(Harmless),
    /// Nobody knows.
    Unknown,
}

/// Beginnings of words, in English, German, French, Spanish, Italian and Dutch; one with a `*` in front stands anywhere in a
/// word, as German and Dutch join theirs, and one with a `=` is a whole word.
const DECISIVE: [(Decisive, &[&str]); 6] = [
    (
        Decisive::Recurs,
        &[
            "subscri",
            "*abonn",
            "=abo",
            "=abos",
            "suscri",
            "abbonament",
            "monthly",
            "*monatlich",
            "mensuel",
            "mensual",
            "mensil",
            "maandelijks",
            "weekly",
            "yearly",
            "annual",
            "recurring",
            "renew",
            "*verlänger",
            "autoship",
            "membership",
            "*mitglied",
        ],
    ),
    (
        Decisive::Address,
        &[
            "*address",
            "*adress",
            "*adres",
            "direcci",
            "indirizz",
            "*street",
            "*strasse",
            "*straße",
            "*straat",
            "=calle",
            "=rue",
            "=via",
            "civico",
            "postal",
            "*postcode",
            "*postleitzahl",
            "=zip",
            "*zipcode",
            "=plz",
            "=cap",
            "=city",
            "=town",
            "=ville",
            "*stadt",
            "=ort",
            "*wohnort",
            "ciudad",
            "poblaci",
            "localid",
            "=città",
            "=citta",
            "=comune",
            "*plaats",
            "=stad",
            "=region",
            "=région",
            "=región",
            "=regione",
            "provin",
            "*bundesland",
            "=state",
            "=county",
            "countr",
            "=land",
            "=pays",
            "=país",
            "=pais",
            "=paese",
            "nazion",
            "*housenumber",
            "*hausnummer",
            "*huisnummer",
            "apartment",
        ],
    ),
    (
        Decisive::Delivery,
        &[
            "deliver",
            "ship",
            "*versand",
            "*liefer",
            "livr",
            "envío",
            "envio",
            "entrega",
            "consegn",
            "spedi",
            "*bezorg",
            "*verzend",
            "lever",
            "*locker",
            "*packstation",
            "pickup",
            "pick",
            "*abhol",
            "relais",
            "recogid",
            "recoger",
            "ritiro",
            "*afhaal",
            "*paket",
            "parcel",
            "colis",
            "paquete",
            "pacco",
            "*pakket",
            "branch",
            "*filiale",
            "depot",
        ],
    ),
    (
        Decisive::Account,
        &[
            "*password",
            "*passwort",
            "*kennwort",
            "passe",
            "contrase",
            "*wachtwoord",
            "=user",
            "username",
            "*benutzer",
            "utilisateur",
            "usuario",
            "utente",
            "gebruiker",
            "login",
            "account",
            "*konto",
            "compte",
            "cuenta",
            "recovery",
            "verification",
            "=otp",
        ],
    ),
    (
        Decisive::Payment,
        &[
            "=card",
            "creditcard",
            "cardnumber",
            "*karte",
            "=carte",
            "tarjeta",
            "=carta",
            "*kaart",
            "=iban",
            "=cvv",
            "=cvc",
            "expir",
            "*ablauf",
            "payment",
            "pay",
            "*zahlung",
            "*bezahl",
            "paiement",
            "=pago",
            "pagament",
            "*betaal",
            "*betaling",
            "=bank",
            "invoice",
            "*rechnung",
            "factur",
            "fattura",
            "billing",
            "payee",
            "amount",
            "betrag",
            "montant",
            "importe",
            "importo",
            "bedrag",
        ],
    ),
    (
        Decisive::Person,
        &[
            "=name",
            "*vorname",
            "*nachname",
            "surname",
            "firstname",
            "lastname",
            "fullname",
            "prénom",
            "prenom",
            "=nom",
            "nombre",
            "apellido",
            "cognome",
            "=nome",
            "*naam",
            "recipient",
            "receiver",
            "*empfänger",
            "*empfaenger",
            "destinat",
            "ontvanger",
            "*email",
            "=mail",
            "correo",
            "courriel",
            "phone",
            "*telefon",
            "teléfono",
            "téléphone",
            "telephone",
            "mobile",
            "=handy",
            "=tel",
        ],
    ),
];

const HARMLESS: [(Harmless, &[&str]); 5] = [
    (Harmless::Search, &["search", "*suche", "recherche", "busca", "búsqueda", "=cerca", "ricerca", "*zoek"]),
    (Harmless::Quantity, &["quantit", "=qty", "*menge", "*anzahl", "cantidad", "*aantal", "=stück"]),
    (
        Harmless::Variant,
        &[
            "colour", "color", "*farbe", "couleur", "*kleur", "=size", "*größe", "*groesse", "taille",
            "talla", "taglia", "=maat", "variant", "material", "=sort", "*sortier", "=trier", "=filter",
        ],
    ),
    (
        Harmless::Coupon,
        &[
            "coupon",
            "voucher",
            "promo",
            "discount",
            "*gutschein",
            "*rabatt",
            "réduction",
            "reduction",
            "cupón",
            "cupon",
            "descuento",
            "=buono",
            "sconto",
            "*korting",
        ],
    ),
    (
        Harmless::Note,
        &[
            "=note",
            "=notes",
            "=nota",
            "=notas",
            "*notiz",
            "*anmerkung",
            "*bemerkung",
            "remarque",
            "*opmerking",
            "=gift",
            "greeting",
            "*geschenk",
            "cadeau",
            "regalo",
            "*grußtext",
        ],
    ),
];

/// Words on buttons that finish something: an order, a confirmation.
const FINISHES: [&str; 17] = [
    "order",
    "=buy",
    "purchase",
    "*bestell",
    "*kauf",
    "command",
    "achet",
    "compra",
    "pedido",
    "acquist",
    "ordin",
    "=kopen",
    "confirm",
    "*bestätig",
    "conferm",
    "*bevestig",
    "checkout",
];

/// Words on buttons that only lead on within a shop.
const LEADS_ON: [&str; 44] = [
    "cart",
    "basket",
    "=bag",
    "*warenkorb",
    "panier",
    "carrito",
    "cesta",
    "carrello",
    "*winkelwagen",
    "*winkelmand",
    "next",
    "*weiter",
    "suivant",
    "siguiente",
    "avanti",
    "volgende",
    "back",
    "*zurück",
    "retour",
    "close",
    "*schließ",
    "fermer",
    "cerrar",
    "chiudi",
    "*sluiten",
    "more",
    "*mehr",
    "=plus",
    "=más",
    "=meer",
    "menu",
    "cookie",
    "accept",
    "*akzeptier",
    "agree",
    "apply",
    "*anwenden",
    "details",
    "review",
    "=ok",
    "continue",
    "show",
    "*anzeigen",
    "=tab",
];

impl Meaning {
    /// What a control is about, by everything that the page calls it.
    pub fn of(control: &Control) -> Meaning {
        let hints = control.autocomplete.to_ascii_lowercase();
        let hinted = hints.split_ascii_whitespace().any(|hint| !matches!(hint, "on" | "off"));
        let said = [control.label.as_str(), control.name.as_str()];
        if control.input_type == "password" {
            return Meaning::Decisive(Decisive::Account);
        }
        if matches!(control.input_type.as_str(), "email" | "tel") {
            return Meaning::Decisive(Decisive::Person);
        }
        match Meaning::of_words(&said) {
            // A page that has the browser fill a control in says that it is the user's data.
            Meaning::Harmless(_) | Meaning::Unknown if hinted => match decisive(&[&hints]) {
                Some(decisive) => Meaning::Decisive(decisive),
                None if hints.contains("cc-") => Meaning::Decisive(Decisive::Payment),
                None => Meaning::Unknown,
            },
            Meaning::Unknown if control.input_type == "search" => Meaning::Harmless(Harmless::Search),
            meaning => meaning,
        }
    }

    /// What these words are about together.
    pub fn of_words(said: &[&str]) -> Meaning {
        if let Some(decisive) = decisive(said) {
            return Meaning::Decisive(decisive);
        }
        let found = HARMLESS.iter().find(|(_, stems)| is_said(said, stems));
        found.map_or(Meaning::Unknown, |(harmless, _)| Meaning::Harmless(*harmless))
    }
}

/// What these words decide, if they decide something.
pub fn decisive(said: &[&str]) -> Option<Decisive> {
    DECISIVE.iter().find(|(_, stems)| is_said(said, stems)).map(|(decisive, _)| *decisive)
}

/// Whether a button with these words only leads on: it finishes nothing and decides nothing.
pub fn leads_on(label: &str) -> bool {
    let said = [label];
    let goes_on = is_said(&said, &LEADS_ON) || matches!(Meaning::of_words(&said), Meaning::Harmless(_));
    goes_on && decisive(&said).is_none() && !is_said(&said, &FINISHES)
}

fn is_said(said: &[&str], stems: &[&str]) -> bool {
    said.iter().flat_map(|text| words(text)).any(|word| {
        stems.iter().any(|stem| match (stem.strip_prefix('*'), stem.strip_prefix('=')) {
            (Some(part), _) => word.contains(part),
            (None, Some(whole)) => word == whole,
            (None, None) => word.starts_with(stem),
        })
    })
}

/// The words of a text in small letters. `shipToName` is three; `e-mail` is one.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.replace("e-mail", "email").replace("E-Mail", "email").replace("E-mail", "email").chars() {
        if !c.is_alphanumeric() || (was_small && c.is_uppercase()) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_decide_outweigh_those_that_sound_harmless() {
        for (text, meaning) in [
            ("Street and number", Meaning::Decisive(Decisive::Address)),
            ("Hausnummer", Meaning::Decisive(Decisive::Address)),
            ("Lieferadresse", Meaning::Decisive(Decisive::Address)),
            ("Point relais", Meaning::Decisive(Decisive::Delivery)),
            ("Ciudad", Meaning::Decisive(Decisive::Address)),
            ("Indirizzo", Meaning::Decisive(Decisive::Address)),
            ("Straatnaam", Meaning::Decisive(Decisive::Address)),
            ("shipToName", Meaning::Decisive(Decisive::Delivery)),
            ("Monthly subscription", Meaning::Decisive(Decisive::Recurs)),
            ("Gift note: street", Meaning::Decisive(Decisive::Address)),
            ("E-Mail", Meaning::Decisive(Decisive::Person)),
            ("Gift note", Meaning::Harmless(Harmless::Note)),
            ("Menge", Meaning::Harmless(Harmless::Quantity)),
            ("Kleur", Meaning::Harmless(Harmless::Variant)),
            ("Code promo", Meaning::Harmless(Harmless::Coupon)),
            ("Rechercher", Meaning::Harmless(Harmless::Search)),
            ("Anything else?", Meaning::Unknown),
            ("", Meaning::Unknown),
        ] {
            assert_eq!(Meaning::of_words(&[text]), meaning, "{text}");
        }
    }

    #[test]
    fn a_button_leads_on_unless_it_finishes_or_decides_something() {
        for label in ["Add to cart", "In den Warenkorb", "Search", "Next", "Accept all cookies", "Show more"]
        {
            assert!(leads_on(label), "{label}");
        }
        for label in [
            "Locker 17",
            "Place order",
            "Ship here",
            "Continue to payment",
            "Jetzt kaufen",
            "Use this one",
            "",
        ] {
            assert!(!leads_on(label), "{label}");
        }
    }
}
