use super::Asked::{self, *};
use super::{Evidence, Match, Section, match_form};
use crate::{Control, ControlWords, Fact, FormWords, NodeId};

fn control(input_type: &str, name: &str, label: &str) -> Control {
    Control {
        node: NodeId(1),
        form: None,
        tag: "input".into(),
        input_type: input_type.into(),
        autocomplete: String::new(),
        name: name.into(),
        label: label.into(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words: ControlWords { labels: label.into(), ..ControlWords::default() },
    }
}

fn select(name: &str, label: &str, options: &[String]) -> Control {
    let mut control = Control { tag: "select".into(), ..control("", name, label) };
    control.words.options = options.iter().map(|text| (text.clone(), text.clone())).collect();
    control
}

fn matched(controls: &[Control]) -> Vec<Match> {
    match_form(controls, &FormWords::default())
}

fn asked(controls: &[Control]) -> Vec<Option<Asked>> {
    matched(controls).into_iter().map(|found| found.asked).collect()
}

fn alone(label: &str) -> Option<Asked> {
    asked(&[control("text", "", label)]).first().copied().flatten()
}

#[test]
fn labels_of_many_languages_name_their_fields() {
    for (label, expected) in [
        ("First name", GivenName),
        ("Nachname", FamilyName),
        ("Adresse e-mail", Email),
        ("Primera línea de la dirección", Street),
        ("Zweite Adresszeile", StreetLine2),
        ("CAP", PostalCode),
        ("Woonplaats", City),
        ("Województwo", Region),
        ("Land", Country),
        ("Matkapuhelin", Phone),
        ("Kortnummer", CardNumber),
        ("Karteninhaber", CardName),
        ("Data ważności", CardExpiry),
        ("Prüfnummer", CardCode),
        ("Jméno a příjmení", FullName),
        ("Kullanıcı adı", Username),
        ("Telefonszám", Phone),
        ("Фамилия", FamilyName),
        ("郵便番号", PostalCode),
        ("邮箱", Email),
        ("비밀번호", Password),
        ("Ταχυδρομικός κώδικας", PostalCode),
        ("House number", HouseNumber),
        ("Date of birth", BirthDate),
    ] {
        assert_eq!(alone(label), Some(expected), "{label}");
    }
    for label in
        ["Sportart", "Search", "Gift note", "Coupon code", "Website", "Security question", "Nickname", ""]
    {
        assert_eq!(alone(label), None, "{label}");
    }
}

#[test]
fn each_source_is_evidence_and_the_first_decides() {
    let mut it = control("text", "billing[post_code]", "");
    assert_eq!(matched(std::slice::from_ref(&it))[0].evidence, Evidence::Name);
    it.words.placeholder = "Town".into();
    let found = matched(std::slice::from_ref(&it)).remove(0);
    assert_eq!((found.asked, found.evidence), (Some(City), Evidence::Placeholder));
    it.autocomplete = "shipping address-line2".into();
    let found = matched(std::slice::from_ref(&it)).remove(0);
    assert_eq!((found.asked, found.evidence), (Some(StreetLine2), Evidence::Autocomplete));
    assert_eq!(found.section, Some(Section::Shipping));
    it.autocomplete = "nope".into();
    assert_eq!(asked(std::slice::from_ref(&it)), [Some(City)], "an invented token is no evidence");
    it.autocomplete = "nickname".into();
    assert_eq!(asked(std::slice::from_ref(&it)), [None]);
    it.autocomplete = "username webauthn".into();
    assert_eq!(asked(&[it]), [Some(Username)], "the token of passkeys is no field");
    let mut near = control("text", "x1", "");
    near.words.near = "Postcode".into();
    assert_eq!(matched(&[near])[0].evidence, Evidence::NearText);
}

#[test]
fn a_hidden_text_is_no_password_where_words_say_so() {
    for (label, expected) in [
        ("Password", Some(Password)),
        ("", Some(Password)),
        ("CVV", Some(CardCode)),
        ("Social security number", Some(GovernmentId)),
        ("One-time code", Some(OneTimeCode)),
        ("Security question", None),
        ("Gift card PIN", None),
        ("PIN", Some(Password)),
    ] {
        assert_eq!(asked(&[control("password", "x", label)]), [expected], "{label}");
    }
    let captcha = control("text", "captcha_password", "Password");
    assert_eq!(matched(&[captcha])[0].evidence, Evidence::Captcha);
}

#[test]
fn the_kind_and_length_of_a_control_limit_the_answers() {
    let mut city = control("text", "", "City");
    city.words.max_length = Some(3);
    assert_eq!(asked(&[city]), [None]);
    assert_eq!(asked(&[select("email", "E-mail", &[])]), [None]);
    assert_eq!(asked(&[control("checkbox", "", "E-mail")]), [None]);
    let mut area = control("", "", "Notes");
    area.tag = "textarea".into();
    assert_eq!(asked(&[area]), [None]);
}

#[test]
fn neighbours_settle_what_one_control_leaves_open() {
    let text = |label| control("text", "", label);
    assert_eq!(asked(&[text("Prénom"), text("Nom")]), [Some(GivenName), Some(FamilyName)]);
    assert_eq!(asked(&[text("Address"), text("Address")]), [Some(Street), Some(StreetLine2)]);
    let card = [text("Name"), text("Card number"), text("Expiry"), text("Verification code")];
    assert_eq!(asked(&card), [Some(CardName), Some(CardNumber), Some(CardExpiry), Some(CardCode)]);
    let library = [text("First name"), text("Library card number"), text("City")];
    assert_eq!(asked(&library)[1], None, "the card of a library pays nothing");
    let login = [text("E-mail or customer number"), control("password", "p", "Password")];
    assert_eq!(asked(&login), [Some(Username), Some(Password)]);
    let new =
        [text("E-mail"), control("password", "p", "Password"), control("password", "q", "Repeat password")];
    assert_eq!(asked(&new), [Some(Email), Some(NewPassword), Some(NewPassword)]);
    assert!(matched(&new)[2].confirms);
}

#[test]
fn a_present_password_is_told_from_one_that_is_set() {
    let password =
        |label: &str, token: &str| Control { autocomplete: token.into(), ..control("password", "", label) };
    let new = Some(NewPassword);
    for (controls, expected) in [
        // A step of a registration that asks for nothing else.
        (vec![password("Password", ""), password("Confirm password", "")], vec![new, new]),
        (vec![password("Current password", ""), password("New password", "")], vec![Some(Password); 2]),
        (vec![password("Altes Passwort", ""), password("Neues Passwort", "")], vec![Some(Password); 2]),
        (
            vec![password("Password", "current-password"), password("Password", "new-password")],
            vec![Some(Password), new],
        ),
        (vec![password("Password", ""), password("Password", "new-password")], vec![Some(Password), new]),
    ] {
        assert_eq!(asked(&controls), expected, "{:?}", controls[0].label);
    }
    // A profile that asks for the present password before it is changed is no registration.
    let profile = [
        control("text", "", "First name"),
        control("text", "", "Last name"),
        control("tel", "", "Phone"),
        password("Password", "current-password"),
    ];
    assert_eq!(asked(&profile)[3], Some(Password));
    let joins = [&profile[..3], &[password("Password", "")]].concat();
    assert_eq!(asked(&joins)[3], new);
}

#[test]
fn dates_in_parts_are_told_by_their_options() {
    let numbers = |range: std::ops::RangeInclusive<u32>| range.map(|n| n.to_string()).collect::<Vec<_>>();
    let (days, months) = (numbers(1..=31), numbers(1..=12));
    let (back, ahead) = (numbers(1920..=2010), numbers(2026..=2040));
    let birth = [select("a", "", &days), select("b", "", &months), select("c", "", &back)];
    assert_eq!(asked(&birth), [Some(BirthDay), Some(BirthMonth), Some(BirthYear)]);
    let card = [control("text", "", "Card number"), select("m", "", &months), select("y", "", &ahead)];
    assert_eq!(asked(&card), [Some(CardNumber), Some(CardExpiryMonth), Some(CardExpiryYear)]);
    let quantity = [control("text", "", "Colour"), select("m", "", &months)];
    assert_eq!(asked(&quantity), [None, None], "a list of twelve numbers alone is no month");
}

#[test]
fn sections_are_told_by_names_and_legends() {
    let mut billing = control("text", "city", "City");
    billing.words.legend = "Rechnungsadresse".into();
    let shipping = control("text", "shipping_city", "City");
    let sections: Vec<_> = matched(&[billing, shipping]).into_iter().map(|found| found.section).collect();
    assert_eq!(sections, [Some(Section::Billing), Some(Section::Shipping)]);
}

#[test]
fn no_secret_goes_into_a_control_that_only_sounds_like_it() {
    let card = [
        control("text", "a", "Card number"),
        control("text", "b", "Expiry date"),
        control("text", "c", "CVV"),
    ];
    let first = |label: &str, name: &str, rest: &[Control]| {
        let mut all = vec![control("text", name, label)];
        all.extend(rest.iter().cloned());
        asked(&all)
    };
    for (label, name) in [
        ("Card message", "x"),
        ("Message on card", "x"),
        ("", "card_message"),
        ("Greeting card text", "x"),
        ("Gate code so the courier can get in", "x"),
        ("Last 4 digits of card", "x"),
        ("Bonus card number", "x"),
        ("Building access code", "x"),
        ("SMS code", "x"),
    ] {
        let found = first(label, name, &card);
        assert!(!matches!(found[0], Some(CardNumber | CardCode)), "{label} {name}: {found:?}");
        assert_eq!(found[1..], [Some(CardNumber), Some(CardExpiry), Some(CardCode)], "{label} {name}");
    }
    let password = [control("password", "p", "Μυστικός κωδικός")];
    for label in ["Κωδικός χρήστη", "Parking pass", "Clave de rastreo", "Password"] {
        let found = first(label, "x", &password);
        assert!(!matches!(found[0], Some(Password | NewPassword)), "{label}: {found:?}");
        assert!(matches!(found[1], Some(Password | NewPassword)), "{label}: {found:?}");
    }
    for label in ["Nie wypełniaj tego pola", "Liczba dni"] {
        assert_eq!(asked(&[control("text", "x", label)]), [None], "{label}");
    }
    assert_eq!(asked(&[control("text", "x", "DNI")]), [Some(GovernmentId)]);
    let mut nickname = control("password", "x", "");
    nickname.autocomplete = "nickname".into();
    assert_eq!(asked(&[nickname]), [None]);
}

/// The code beside a card has many names, some of which are those of other codes.
#[test]
fn a_verification_code_beside_a_card_is_that_of_the_card() {
    let controls = [control("text", "a", "Card number"), control("text", "b", "Verification code")];
    assert_eq!(asked(&controls), [Some(CardNumber), Some(CardCode)]);
}

/// django-oscar's form for a card asks when the card became valid, too.
#[test]
fn the_first_month_of_a_card_is_not_its_expiry() {
    let months: Vec<(String, String)> =
        (1..=12).map(|month| (format!("{month:02}"), format!("{month:02}"))).collect();
    let years = |from: u32, to: u32| (from..=to).map(|year| (year.to_string(), year.to_string())).collect();
    let list = |name: &str, near: &str, options: Vec<(String, String)>| {
        let mut list = control("select", name, "");
        list.tag = "select".into();
        list.words.near = near.into();
        list.words.options = options;
        list
    };
    let controls = [
        control("text", "number", "Card number"),
        list("start_month_0", "", months.clone()),
        list("start_month_1", "", years(2021, 2026)),
        list("a", "Valid from", months.clone()),
        list("expiry_month_0", "Valid to", months),
        list("expiry_month_1", "", years(2026, 2035)),
    ];
    let expected = [Some(CardNumber), None, None, None, Some(CardExpiryMonth), Some(CardExpiryYear)];
    assert_eq!(asked(&controls), expected);
}
