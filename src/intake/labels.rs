//! The labels and phrases before a value that name its field, in English, German, French and Spanish.

use std::ops::Range;

use sirl::Field;

use super::readers;
use super::text::{Bond, Certainty, Text};

use Bond::{Bare, Colon, Said};

/// Labels, separated by bars, with the field that they announce and the least connection to the value that they need.
const LABELS: [(Field, Bond, &str); 25] = [
    (
        Field::Name,
        Colon,
        "name|recipient|addressee|name on card|nom|pr\u{e9}nom|nombre|apellidos|destinataire|\
         destinatario|empf\u{e4}nger|vorname|nachname",
    ),
    (
        Field::Name,
        Said,
        "full name|first name|last name|surname|my name|her name|his name|mein name|\
         vollst\u{e4}ndiger name|nom complet|mon nom|nombre completo|mi nombre|\
         nombre y apellidos|the name|under the name of",
    ),
    (
        Field::Name,
        Bare,
        "my name is|my full name is|under the name|cardholder|in the name of|on behalf of|\
         auf den namen|im namen von|mein name ist|ich hei\u{df}e|ich heisse|au nom de|\
         je m'appelle|mon nom est|a nombre de|me llamo|mi nombre es",
    ),
    (
        Field::Street,
        Colon,
        "street|address|street address|address line|stra\u{df}e|strasse|anschrift|adresse|rue|\
         calle|direcci\u{f3}n|direccion|domicilio|lieferadresse",
    ),
    (
        Field::PostalCode,
        Said,
        "postal code|postcode|post code|zip code|zip|zipcode|plz|postleitzahl|code postal|\
         c\u{f3}digo postal|codigo postal|cp",
    ),
    (Field::City, Colon, "city|town|stadt|ort|wohnort|ville|ciudad|poblaci\u{f3}n|localidad"),
    (
        Field::Region,
        Colon,
        "region|state|province|county|bundesland|r\u{e9}gion|d\u{e9}partement|provincia|\
         regi\u{f3}n",
    ),
    (Field::Country, Colon, "country|land|pays|pa\u{ed}s|pais"),
    (Field::Email, Colon, "e-mail|email|mail|e-mail-adresse|courriel|correo|correo electr\u{f3}nico"),
    (
        Field::Phone,
        Colon,
        "phone|phone number|telephone|mobile|cell|tel|telefon|telefonnummer|handy|handynummer|\
         t\u{e9}l\u{e9}phone|portable|tel\u{e9}fono|telefono|m\u{f3}vil",
    ),
    (
        Field::CardNumber,
        Bare,
        "card number|card|credit card|debit card|visa|mastercard|kartennummer|karte|kreditkarte|\
         num\u{e9}ro de carte|carte|carte bancaire|n\u{fa}mero de tarjeta|tarjeta",
    ),
    (
        Field::CardExpiry,
        Bare,
        "exp|expiry|expires|expiring|valid until|valid thru|expiration|g\u{fc}ltig bis|\
         valable jusqu'au|v\u{e1}lida hasta|vence|exp date|expiry date|expiration date|\
         expires on|ablaufdatum|verfallsdatum|date d'expiration|expire|caducidad|caduca|\
         fecha de caducidad|vencimiento",
    ),
    (
        Field::CardCode,
        Bare,
        "cvv|cvc|cvv2|cvc2|cid|security code|card code|pr\u{fc}fziffer|pr\u{fc}fnummer|\
         sicherheitscode|kartenpr\u{fc}fnummer|cryptogramme|code de s\u{e9}curit\u{e9}|\
         c\u{f3}digo de seguridad",
    ),
    (
        Field::GovernmentId,
        Bare,
        "ssn|social security number|social security|passport number|passport no|passport|\
         national id|government id|id card number|national insurance number|driver's license|\
         driver's licence|driver's license number|tax id",
    ),
    (
        Field::GovernmentId,
        Bare,
        "personalausweis|personalausweisnummer|ausweisnummer|reisepass|reisepassnummer|steuer-id|\
         sozialversicherungsnummer",
    ),
    (
        Field::GovernmentId,
        Bare,
        "num\u{e9}ro de passeport|passeport|num\u{e9}ro de s\u{e9}curit\u{e9} sociale|\
         carte d'identit\u{e9}",
    ),
    (
        Field::GovernmentId,
        Bare,
        "dni|nie|nif|pasaporte|n\u{fa}mero de pasaporte|n\u{fa}mero de la seguridad social|curp",
    ),
    (Field::GovernmentId, Said, "id number|id"),
    (
        Field::Password,
        Bare,
        "password|passphrase|passcode|pwd|pw|passwort|kennwort|mot de passe|contrase\u{f1}a|clave",
    ),
    (
        Field::OneTimeCode,
        Bare,
        "one-time code|one time code|one-time password|otp|verification code|login code|sms code|\
         2fa code|2fa|security code|texted me",
    ),
    (
        Field::OneTimeCode,
        Bare,
        "einmalcode|best\u{e4}tigungscode|sms-code|tan|code de v\u{e9}rification|\
         code de confirmation|c\u{f3}digo de verificaci\u{f3}n|c\u{f3}digo de un solo uso",
    ),
    (
        Field::OneTimeCode,
        Bare,
        "the code is|my code is|the code|my code|der code ist|der code lautet|le code est|\
         el c\u{f3}digo es",
    ),
    (Field::OneTimeCode, Said, "code|c\u{f3}digo"),
    (
        Field::Username,
        Colon,
        "username|user name|login name|account name|benutzername|anmeldename|nom d'utilisateur|identifiant|\
         nombre de usuario|usuario",
    ),
    (
        Field::BirthDate,
        Said,
        "date of birth|birth date|birthdate|birthday|dob|geburtsdatum|geburtstag|date de naissance|\
         fecha de nacimiento|born on|geboren am|n\u{e9} le|n\u{e9}e le|nacido el|nacida el",
    ),
];

/// Labels that are also common words. They count only where no other word qualifies them, as in `product name` and
/// `error code`.
const COMMON: [&str; 37] = [
    "name",
    "nom",
    "nombre",
    "street",
    "address",
    "adresse",
    "rue",
    "calle",
    "city",
    "town",
    "stadt",
    "ort",
    "ville",
    "ciudad",
    "region",
    "state",
    "province",
    "county",
    "country",
    "land",
    "pays",
    "code",
    "c\u{f3}digo",
    "id",
    "cp",
    "card",
    "mail",
    "exp",
    "expires",
    "expire",
    "vence",
    "portable",
    "cell",
    "mobile",
    "zip",
    "the code",
    "clave",
];

/// Words that may come before such a label.
const QUALIFIERS: [&str; 61] = [
    "my",
    "the",
    "our",
    "a",
    "his",
    "her",
    "their",
    "shipping",
    "delivery",
    "billing",
    "home",
    "work",
    "postal",
    "mailing",
    "recipient",
    "customer",
    "contact",
    "passenger",
    "guest",
    "full",
    "legal",
    "and",
    "with",
    "use",
    "enter",
    "is",
    "to",
    "on",
    "credit",
    "debit",
    "mein",
    "meine",
    "meiner",
    "unser",
    "unsere",
    "der",
    "die",
    "das",
    "und",
    "mit",
    "mon",
    "ma",
    "notre",
    "le",
    "la",
    "et",
    "avec",
    "mi",
    "nuestra",
    "el",
    "su",
    "y",
    "con",
    "that",
    "it",
    "then",
    "sms",
    "verification",
    "date",
    "pay",
    "cell",
];

/// Words that connect a label with its value.
const COPULAS: [&str; 7] = ["is", "ist", "lautet", "est", "es", "was", "reads"];

/// Words between a label and its number.
const FILLERS: [&str; 10] =
    ["number", "no", "nr", "#", "nummer", "num\u{e9}ro", "n\u{fa}mero", "n\u{b0}", "ending", "date"];

/// Words before the site or purpose of a password or code.
const PREPOSITIONS: [&str; 11] =
    ["for", "to", "at", "on", "f\u{fc}r", "bei", "auf", "pour", "sur", "para", "en"];

/// Words about cards, one of which must come before an expiry without a colon.
const CARD_WORDS: [&str; 13] = [
    "card",
    "visa",
    "mastercard",
    "amex",
    "karte",
    "kreditkarte",
    "kartennummer",
    "carte",
    "tarjeta",
    "credit",
    "debit",
    "pay",
    "cvv",
];

/// The labelled values of a prompt, with their certainty.
pub(super) fn values(text: &Text<'_>) -> Vec<(Range<usize>, Field, Certainty)> {
    let mut values = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match labelled(text, at) {
            Some((span, field, sure)) => {
                at = text.token_at(span.end).max(at + 1);
                values.push((span, field, sure));
            }
            None => at += 1,
        }
    }
    values
}

/// The value of the longest label at a token that has a value.
fn labelled(text: &Text<'_>, at: usize) -> Option<(Range<usize>, Field, Certainty)> {
    if !text.is_word(at) {
        return None;
    }
    let mut here: Vec<(usize, Field, Bond)> = Vec::new();
    for (field, bond, labels) in LABELS {
        for label in labels.split('|') {
            let alone = !COMMON.contains(&label) || stands_alone(text, at);
            here.extend(text.phrase(at, label).filter(|_| alone).map(|end| (end, field, bond)));
        }
    }
    here.sort_by_key(|(end, ..)| std::cmp::Reverse(*end));
    here.into_iter().find_map(|(end, field, least)| {
        let (value, bond) = tied(text, end, field);
        if bond < least || (field == Field::CardExpiry && bond == Bare && !about_a_card(text, at)) {
            return None;
        }
        readers::read(text, value, field, bond, at).map(|(span, sure)| (span, field, sure))
    })
}

fn stands_alone(text: &Text<'_>, at: usize) -> bool {
    let before = at.checked_sub(1);
    before.is_none_or(|before| {
        !text.is_word(before)
            || text.word(before).starts_with(|c: char| c.is_ascii_digit())
            || text.is_one_of(before, &QUALIFIERS)
    })
}

fn about_a_card(text: &Text<'_>, at: usize) -> bool {
    let end_of_number =
        |at: usize| text.word(at).len() >= 4 && text.word(at).bytes().all(|b| b.is_ascii_digit());
    (at.saturating_sub(12)..at).any(|before| text.is_one_of(before, &CARD_WORDS))
        || (at.saturating_sub(2)..at).any(end_of_number)
}

/// The first token of the value of a label that ends before token `at`, and the connection between them.
fn tied(text: &Text<'_>, mut at: usize, field: Field) -> (usize, Bond) {
    let number = matches!(
        field,
        Field::CardNumber
            | Field::CardExpiry
            | Field::CardCode
            | Field::GovernmentId
            | Field::Phone
            | Field::Name
    );
    while number && text.is_one_of(at, &FILLERS) {
        at += 1;
    }
    if matches!(field, Field::Password | Field::OneTimeCode) && text.is_one_of(at, &PREPOSITIONS) {
        let ties = |at: &usize| matches!(text.low(*at), ":" | "=") || text.is_one_of(*at, &COPULAS);
        let open = |at: &usize| text.is_closed(*at) || !text.ends_sentence(*at);
        if let Some(tie) = (at + 1..at + 14).take_while(open).filter(|at| !text.is_closed(*at)).find(ties) {
            at = tie;
        }
    }
    let mut bond = Bare;
    if text.is_one_of(at, &COPULAS) && !text.is_closed(at) {
        (at, bond) = (at + 1, Said);
    }
    if matches!(text.low(at), ":" | "=") && !text.is_closed(at) {
        (at, bond) = (at + 1, Colon);
    }
    (at, bond)
}
