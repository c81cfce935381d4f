use browser_signals::matching::Asked;
use browser_signals::{Control, ControlWords, Fact, NodeId};

use super::{Shaped, Target, Underivable, shape};

fn control(tag: &str, max_length: Option<u32>, placeholder: &str, options: &[(&str, &str)]) -> Control {
    Control {
        node: NodeId(1),
        form: None,
        tag: tag.into(),
        input_type: if tag == "input" { "text".into() } else { String::new() },
        autocomplete: String::new(),
        name: String::new(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words: ControlWords {
            max_length,
            placeholder: placeholder.into(),
            options: options.iter().map(|(value, text)| ((*value).into(), (*text).into())).collect(),
            ..ControlWords::default()
        },
    }
}

fn shaped(value: &str, asked: Asked, form: &[Asked], control: &Control) -> Result<String, Underivable> {
    let done = shape(value, &Target { asked, control, form, part: (0, 1) })?;
    Ok(match done {
        Shaped::AsStored => value.to_owned(),
        Shaped::As(text) => text.to_string(),
        Shaped::Empty => String::new(),
    })
}

fn text(value: &str, asked: Asked, form: &[Asked]) -> Result<String, Underivable> {
    shaped(value, asked, form, &control("input", None, "", &[]))
}

#[test]
fn a_name_is_divided_only_where_its_parts_are_known() {
    use Asked::{AdditionalName, FamilyName, GivenName};
    assert_eq!(text("Maria Quintela", GivenName, &[]).as_deref(), Ok("Maria"));
    assert_eq!(text("Maria Quintela", FamilyName, &[]).as_deref(), Ok("Quintela"));
    assert_eq!(text("Maria Quintela", AdditionalName, &[AdditionalName]).as_deref(), Ok(""));
    let three = "Maria Souto Quintela";
    assert_eq!(text(three, GivenName, &[GivenName, FamilyName]), Err(Underivable));
    assert_eq!(text(three, AdditionalName, &[AdditionalName]).as_deref(), Ok("Souto"));
    assert_eq!(text(three, FamilyName, &[AdditionalName]).as_deref(), Ok("Quintela"));
    assert_eq!(text("Madonna", GivenName, &[]), Err(Underivable));
    let stated = "Souto Quintela, Ana María";
    let between = [GivenName, AdditionalName, FamilyName];
    assert_eq!(text(stated, FamilyName, &[]).as_deref(), Ok("Souto Quintela"));
    assert_eq!(text(stated, GivenName, &[]).as_deref(), Ok("Ana María"));
    assert_eq!(text(stated, GivenName, &between).as_deref(), Ok("Ana"));
    assert_eq!(text(stated, AdditionalName, &between).as_deref(), Ok("María"));
    assert_eq!(text(stated, Asked::FullName, &[]).as_deref(), Ok("Ana María Souto Quintela"));
}

#[test]
fn a_street_line_is_divided_where_it_has_one_number_at_an_end() {
    use Asked::{HouseNumber, Street};
    for (line, street, number) in [
        ("Hauptstraße 12a", "Hauptstraße", "12a"),
        ("17 Quarry Road", "Quarry Road", "17"),
        ("Rua Augusta, 9", "Rua Augusta", "9"),
    ] {
        assert_eq!(text(line, Street, &[Street, HouseNumber]).as_deref(), Ok(street));
        assert_eq!(text(line, HouseNumber, &[Street, HouseNumber]).as_deref(), Ok(number));
        assert_eq!(text(line, Street, &[Street]).as_deref(), Ok(line));
    }
    for line in ["Quarry Road", "5th Avenue 12", "Platz 1 Haus B", "12"] {
        assert_eq!(text(line, HouseNumber, &[Street, HouseNumber]), Err(Underivable), "{line}");
    }
}

#[test]
fn the_lines_of_a_street_go_into_the_boxes_for_them() {
    use Asked::{Street, StreetLine2, StreetLine3};
    let stored = "17 Quarry Road\nFlat 2\nGarden House";
    let all = [Street, StreetLine2, StreetLine3];
    assert_eq!(text(stored, Street, &all).as_deref(), Ok("17 Quarry Road"));
    assert_eq!(text(stored, StreetLine2, &all).as_deref(), Ok("Flat 2"));
    assert_eq!(text(stored, StreetLine3, &all).as_deref(), Ok("Garden House"));
    assert_eq!(text(stored, StreetLine2, &[Street, StreetLine2]).as_deref(), Ok("Flat 2, Garden House"));
    assert_eq!(text(stored, Street, &[Street]).as_deref(), Ok("17 Quarry Road, Flat 2, Garden House"));
    assert_eq!(text("17 Quarry Road", StreetLine2, &all).as_deref(), Ok(""));
}

#[test]
fn the_texts_of_other_shapes_are_searched_for() {
    use sirl::Field;
    let of = |field, value| {
        super::other_spellings(field, value).iter().map(|one| one.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(Field::Name, "Quintela, Maria"), ["Maria Quintela"]);
    assert_eq!(of(Field::Street, "17 Quarry Road\nFlat 2"), ["17 Quarry Road"]);
    assert_eq!(of(Field::CardExpiry, "05/31"), ["05/2031"]);
    assert!(of(Field::Street, "17 Quarry Road").is_empty() && of(Field::Name, "Maria Quintela").is_empty());
}

#[test]
fn an_expiry_takes_the_form_that_the_box_shows() {
    use Asked::{CardExpiry, CardExpiryMonth, CardExpiryYear};
    for (most, placeholder, expected) in [
        (None, "", "05/31"),
        (None, "MM/YY", "05/31"),
        (None, "MM / YYYY", "05/2031"),
        (Some(4), "", "0531"),
        (Some(7), "mm/aaaa", "05/2031"),
        (None, "MM-YY", "05-31"),
    ] {
        let it = control("input", most, placeholder, &[]);
        assert_eq!(shaped("05/31", CardExpiry, &[], &it).as_deref(), Ok(expected), "{most:?} {placeholder}");
    }
    let names = ["", "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September"];
    let names = names.iter().chain(&["Oktober", "November", "Dezember"]).enumerate();
    let names: Vec<(String, &str)> = names.map(|(at, name)| (format!("m{at}"), *name)).collect();
    let months: Vec<(&str, &str)> = names.iter().map(|(value, text)| (value.as_str(), *text)).collect();
    let months = control("select", None, "", &months);
    assert_eq!(shaped("05/31", CardExpiryMonth, &[], &months).as_deref(), Ok("m5"));
    let years = control("select", None, "", &[("", "Year"), ("30", "2030"), ("31", "2031")]);
    assert_eq!(shaped("05/31", CardExpiryYear, &[], &years).as_deref(), Ok("31"));
    let two = control("input", Some(2), "", &[]);
    assert_eq!(shaped("5/2031", CardExpiryYear, &[], &two).as_deref(), Ok("31"));
    assert_eq!(shaped("soon", CardExpiryYear, &[], &two), Err(Underivable));
}

#[test]
fn countries_and_regions_are_found_by_name_and_code() {
    use Asked::{Country, Region};
    let list = |options: &[(&str, &str)]| control("select", None, "", options);
    let german = list(&[("NE", "Niger"), ("NG", "Nigeria"), ("DE", "Deutschland"), ("FR", "Frankreich")]);
    assert_eq!(shaped("Germany", Country, &[], &german).as_deref(), Ok("DE"));
    assert_eq!(shaped("Niger", Country, &[], &german).as_deref(), Ok("NE"));
    assert_eq!(shaped("de", Country, &[], &german).as_deref(), Ok("DE"));
    let numbered = list(&[("1", "Ireland"), ("2", "United Kingdom of Great Britain"), ("3", "Germany")]);
    assert_eq!(shaped("DE", Country, &[], &numbered).as_deref(), Ok("3"));
    let short = control("input", Some(2), "", &[]);
    assert_eq!(shaped("Germany", Country, &[], &short).as_deref(), Ok("DE"));
    assert_eq!(text("Germany", Country, &[]).as_deref(), Ok("Germany"));
    let states = list(&[("", "State"), ("NY", "New York"), ("CA", "California")]);
    assert_eq!(shaped("California", Region, &[], &states).as_deref(), Ok("CA"));
    assert_eq!(shaped("NY", Region, &[], &states).as_deref(), Ok("NY"));
    assert_eq!(shaped("Oregon", Region, &[], &states).as_deref(), Ok("Oregon"), "the bridge refuses it");
    assert_eq!(shaped("California", Region, &[], &short).as_deref(), Ok("CA"));
}

#[test]
fn a_phone_number_is_divided_at_its_country_code() {
    use Asked::{Phone, PhoneCountryCode};
    let both = [Phone, PhoneCountryCode];
    for (value, code, national) in [
        ("+49 170 1234567", "+49", "1701234567"),
        ("+1 (415) 555-0101", "+1", "4155550101"),
        ("00351 912345678", "+351", "912345678"),
        ("+49 (0)30 123456", "+49", "30123456"),
    ] {
        assert_eq!(text(value, PhoneCountryCode, &both).as_deref(), Ok(code));
        assert_eq!(text(value, Phone, &both).as_deref(), Ok(national));
        assert_eq!(text(value, Phone, &[Phone]).as_deref(), Ok(value));
    }
    assert_eq!(text("0170 1234567", PhoneCountryCode, &both), Err(Underivable));
    let list = control("select", None, "", &[("US", "United States (+1)"), ("DE", "Germany (+49)")]);
    assert_eq!(shaped("+49 170 1234567", PhoneCountryCode, &both, &list).as_deref(), Ok("DE"));
    let ten = control("input", Some(10), "", &[]);
    assert_eq!(shaped("+49 170 1234567", Phone, &[Phone], &ten).as_deref(), Ok("1701234567"));
}

#[test]
fn a_number_is_split_over_equal_boxes() {
    let it = control("input", Some(4), "", &[]);
    let part = |value: &str, at: usize, boxes: usize| {
        shape(value, &Target { asked: Asked::CardNumber, control: &it, form: &[], part: (at, boxes) })
    };
    assert_eq!(part("4000 0000 1234 0002", 2, 4), Ok(Shaped::text("1234")));
    assert_eq!(part("378282246310005", 0, 4), Err(Underivable), "fifteen digits do not fill four boxes");
}

#[test]
fn a_birth_date_is_written_as_the_control_shows_it() {
    use Asked::{BirthDate, BirthDay, BirthMonth, BirthYear};
    let in_one = |value: &str, placeholder: &str| {
        shaped(value, BirthDate, &[BirthDate], &control("input", None, placeholder, &[]))
    };
    assert_eq!(in_one("1984-03-09", "DD/MM/YYYY").as_deref(), Ok("09/03/1984"));
    assert_eq!(in_one("9.3.1984", "mm/dd/yyyy").as_deref(), Ok("03/09/1984"));
    assert_eq!(in_one("1984-03-09", "TT.MM.JJJJ").as_deref(), Ok("09.03.1984"));
    assert_eq!(in_one("1984-03-09", "jj/mm/aaaa").as_deref(), Ok("09/03/1984"));
    assert_eq!(in_one("9.3.1984", "YYYY-MM-DD").as_deref(), Ok("1984-03-09"));
    assert_eq!(
        in_one("1984-03-09", ""),
        Err(Underivable),
        "the ninth of March is also the third of September"
    );
    assert_eq!(in_one("3/9/1984", "DD/MM/YYYY"), Err(Underivable));
    let mut date = control("input", None, "", &[]);
    date.input_type = "date".into();
    assert_eq!(shaped("9.3.1984", BirthDate, &[BirthDate], &date).as_deref(), Ok("1984-03-09"));
    let names = ["Month", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let months: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
    let list = control("select", None, "", &months);
    assert_eq!(shaped("1984-03-09", BirthMonth, &[BirthMonth], &list).as_deref(), Ok("Mar"));
    assert_eq!(text("1984-03-09", BirthDay, &[BirthDay]).as_deref(), Ok("09"));
    assert_eq!(text("1984-03-09", BirthYear, &[BirthYear]).as_deref(), Ok("1984"));
}
