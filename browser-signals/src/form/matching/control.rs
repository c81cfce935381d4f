//! Matches a single control to a kind of data: the first source of evidence that names one decides.

use super::Asked::{self, *};
use super::folded::words;
use super::options::{OptionsAre, options_are};
use super::vocabulary::Said;
use super::{Evidence, Match};
use crate::Control;

/// The `autocomplete` tokens of the HTML standard that name a field of ours.
const TOKENS: [(&str, Asked); 35] = [
    ("name", FullName),
    ("honorific-prefix", HonorificPrefix),
    ("given-name", GivenName),
    ("additional-name", AdditionalName),
    ("family-name", FamilyName),
    ("username", Username),
    ("new-password", NewPassword),
    ("current-password", Password),
    ("one-time-code", OneTimeCode),
    ("organization", Company),
    ("street-address", Street),
    ("address-line1", Street),
    ("address-line2", StreetLine2),
    ("address-line3", StreetLine3),
    ("address-level1", Region),
    ("address-level2", City),
    ("country", Country),
    ("country-name", Country),
    ("postal-code", PostalCode),
    ("cc-name", CardName),
    ("cc-given-name", GivenName),
    ("cc-family-name", FamilyName),
    ("cc-number", CardNumber),
    ("cc-exp", CardExpiry),
    ("cc-exp-month", CardExpiryMonth),
    ("cc-exp-year", CardExpiryYear),
    ("cc-csc", CardCode),
    ("cc-type", CardType),
    ("bday", BirthDate),
    ("bday-day", BirthDay),
    ("bday-month", BirthMonth),
    ("bday-year", BirthYear),
    ("tel", Phone),
    ("tel-national", Phone),
    ("email", Email),
];

/// Tokens of the standard that name nothing of ours. The standard's token for the country code of a phone is among the fields.
const OTHER_TOKENS: [&str; 12] = [
    "tel-extension",
    "tel-local-suffix",
    "nickname",
    "organization-title",
    "transaction-amount",
    "transaction-currency",
    "url",
    "photo",
    "impp",
    "sex",
    "language",
    "honorific-suffix",
];

/// The longest text that counts as a whole, in characters; of a longer one only the beginning does.
const LONG_TEXT: usize = 100;

/// The words at the beginning of a text that are tried before the whole.
const BEGINNING: usize = 4;

/// Whether a control is an entry of a form, and no button.
pub fn is_entry(control: &Control) -> bool {
    matches!(control.tag.as_str(), "input" | "select" | "textarea")
        && !matches!(control.input_type.as_str(), "hidden" | "submit" | "button" | "image" | "reset")
}

/// Returns whether a person selects an option in the control instead of writing text.
pub fn is_choice(control: &Control) -> bool {
    matches!(control.input_type.as_str(), "checkbox" | "radio" | "file" | "color" | "range")
}

/// The field's token: the last one, apart from the token of passkeys.
fn last_token(autocomplete: &str) -> Option<String> {
    let small = autocomplete.to_ascii_lowercase();
    let token = small.split_ascii_whitespace().rfind(|token| *token != "webauthn");
    token.map(str::to_owned)
}

fn by_token(token: &str) -> Option<Asked> {
    if token == "tel-country-code" {
        return Some(PhoneCountryCode);
    }
    TOKENS.iter().find(|(name, _)| *name == token).map(|(_, asked)| *asked)
}

/// Whether a control of this kind and length can hold the field.
fn fits(control: &Control, asked: Asked) -> bool {
    if control.tag == "textarea" {
        return asked == Street;
    }
    if control.tag == "select" {
        return matches!(
            asked,
            Country
                | Region
                | City
                | CardExpiry
                | CardExpiryMonth
                | CardExpiryYear
                | BirthDay
                | BirthMonth
                | BirthYear
                | HonorificPrefix
                | PhoneCountryCode
                | CardType
        );
    }
    match control.input_type.as_str() {
        "checkbox" | "radio" | "file" | "color" | "range" | "search" => return false,
        "date" => return asked == BirthDate,
        "month" => return asked == CardExpiry,
        "password" => {
            return matches!(
                asked,
                Password | NewPassword | CardCode | CardNumber | OneTimeCode | GovernmentId
            );
        }
        "email" => return matches!(asked, Email | Username | UsernameOrEmail),
        // An address of the web, whatever its label says.
        "url" => return false,
        _ => {}
    }
    let Some(most) = control.words.max_length else { return true };
    match asked {
        CardNumber => most >= 12 || most == 4,
        Email | Street | City | FullName => most >= 6,
        CardCode => most >= 3,
        Password => most > 3,
        CardExpiryMonth | BirthDay | BirthMonth => most >= 2,
        _ => most > 1 || asked == OneTimeCode,
    }
}

/// The words of one source.
struct Source {
    words: Vec<String>,
    said: Said,
    evidence: Evidence,
    is_identifier: bool,
}

impl Source {
    fn of(words: Vec<String>, evidence: Evidence, is_identifier: bool) -> Source {
        let said = Said::of(&words, is_identifier);
        Source { words, said, evidence, is_identifier }
    }

    /// Whether it names the short number that some banks have for a password, and not that of a gift card.
    fn names_a_pin(&self) -> bool {
        self.words.iter().any(|word| word == "pin") && !self.words.iter().any(|word| word.starts_with("gift"))
    }

    /// Whether the text is of the control's own, and not only beside it.
    fn is_own(&self) -> bool {
        !matches!(self.evidence, Evidence::NearText | Evidence::Data)
    }
}

/// The sources of a control, in the order in which they are tried. Part of a text may come before the whole.
fn sources(control: &Control) -> Vec<Source> {
    let it = &control.words;
    let has_own = [&it.labels, &it.labelled_by, &it.aria_label, &it.placeholder, &it.title];
    // The label that the bridge computes falls back on other texts, which are sources of their own.
    let label = if has_own.iter().all(|text| text.is_empty()) { &control.label } else { &it.labels };
    let texts = [
        (label, Evidence::Label),
        (&it.labelled_by, Evidence::LabelledBy),
        (&it.aria_label, Evidence::AriaLabel),
        (&it.placeholder, Evidence::Placeholder),
        (&control.name, Evidence::Name),
        (&it.id, Evidence::Id),
        (&it.title, Evidence::Title),
        (&it.near, Evidence::NearText),
        (&it.data, Evidence::Data),
    ];
    let mut sources = Vec::new();
    for (text, evidence) in texts.into_iter().filter(|(text, _)| !text.is_empty()) {
        let is_name = matches!(evidence, Evidence::Name | Evidence::Id);
        let is_identifier = is_name || evidence == Evidence::Data;
        if is_name {
            // The last part of a name says what the control is; those before it say what it belongs to.
            let whole = text.trim_end_matches([']', '"', '\'']);
            let divides = |c: char| matches!(c, '.' | '/' | '$' | ':' | '[' | '#');
            let begins =
                whole.rmatch_indices(divides).take(2).filter_map(|(at, mark)| whole.get(at + mark.len()..));
            for end in begins.filter(|end| end.len() > 2) {
                sources.push(Source::of(words(end), evidence, true));
            }
        } else if let Some((head, _)) = text.split_once(['(', '*']).filter(|_| !is_identifier)
            && head.trim().len() > 2
        {
            sources.push(Source::of(words(head), evidence, false));
        }
        let mut all = words(text);
        // Some frameworks begin every id with the word.
        if evidence == Evidence::Id && all.len() > 1 && all.first().is_some_and(|first| first == "id") {
            all.remove(0);
        }
        if let Some(beginning) = all.get(..BEGINNING).filter(|_| !is_identifier && all.len() > BEGINNING + 1)
        {
            sources.push(Source::of(beginning.to_vec(), evidence, false));
        }
        if text.chars().count() <= LONG_TEXT {
            sources.push(Source::of(all, evidence, is_identifier));
        }
    }
    sources
}

/// Matches a control by its own evidence, without the other controls of the form.
pub fn match_alone(control: &Control) -> Match {
    if is_choice(control) || control.input_type == "search" {
        return Match::none(Evidence::Type, true);
    }
    let sources = sources(control);
    if sources.iter().any(|source| source.words.iter().any(|word| word.contains("captcha"))) {
        return Match::none(Evidence::Captcha, true);
    }
    let own = sources.iter().take_while(|source| source.evidence != Evidence::NearText);
    let confirms = own.into_iter().any(|source| source.said.confirms());
    let token = last_token(&control.autocomplete);
    if token.as_deref().is_some_and(|token| OTHER_TOKENS.contains(&token)) {
        return Match::none(Evidence::Autocomplete, true);
    }
    if control.input_type == "password" {
        return match_password(&sources, token.as_deref(), confirms);
    }
    if let Some(asked) = token.as_deref().and_then(by_token)
        && fits(control, asked)
        && !matches!(asked, Password | NewPassword)
    {
        return Match::of(asked, Evidence::Autocomplete, confirms);
    }
    if control.tag == "select"
        && let Some(asked) = by_options(options_are(control))
    {
        return Match::of(asked, Evidence::Options, confirms);
    }
    match_words(control, &sources, confirms)
}

const fn by_options(options: OptionsAre) -> Option<Asked> {
    match options {
        OptionsAre::Countries => Some(Country),
        OptionsAre::States => Some(Region),
        OptionsAre::DialCodes => Some(PhoneCountryCode),
        OptionsAre::Titles => Some(HonorificPrefix),
        OptionsAre::YearsAhead => Some(CardExpiryYear),
        OptionsAre::Months | OptionsAre::Days | OptionsAre::YearsBack | OptionsAre::Other => None,
    }
}

/// Matches a control of `type=password`: it asks for a password unless the page's words name another secret.
fn match_password(sources: &[Source], token: Option<&str>, confirms: bool) -> Match {
    for source in sources {
        match source.said.field() {
            // Sites that send passwords, and passcodes, name both in one label.
            Some(Some(OneTimeCode)) if source.words.iter().any(|word| word.starts_with("pass")) => break,
            Some(Some(asked @ (CardCode | OneTimeCode | GovernmentId | CardNumber)))
                if source.evidence != Evidence::NearText =>
            {
                return Match::of(asked, source.evidence, confirms);
            }
            Some(Some(Password)) => break,
            Some(None) if source.is_own() && !source.names_a_pin() => {
                return Match::none(source.evidence, true);
            }
            _ => {}
        }
    }
    let by_token = token.and_then(by_token).filter(|asked| asked.is_secret() && *asked != GovernmentId);
    let present = match by_token {
        Some(asked) => asked == Password,
        None => sources.iter().any(|source| source.is_own() && source.said.present()),
    };
    Match { present, ..Match::of(by_token.unwrap_or(Password), Evidence::Type, confirms) }
}

fn match_words(control: &Control, sources: &[Source], confirms: bool) -> Match {
    let mut refused = None;
    for source in sources {
        match source.said.field() {
            // What stands beside a control does not outweigh its own name.
            Some(Some(_)) if refused.is_some() && !source.is_own() => {}
            Some(Some(asked)) if fits(control, asked) => return Match::of(asked, source.evidence, confirms),
            Some(None) if source.is_own() => {
                refused.get_or_insert(source.evidence);
                if !source.is_identifier {
                    break;
                }
            }
            _ => {}
        }
    }
    match (control.input_type.as_str(), refused) {
        ("email", _) => Match::of(Email, Evidence::Type, confirms),
        (_, Some(evidence)) => Match::none(evidence, true),
        ("tel", None) => Match::of(Phone, Evidence::Type, confirms),
        (_, None) => Match::none(Evidence::Nothing, false),
    }
}
