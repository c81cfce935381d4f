//! National numbers, documents, dates of birth, addresses, codes and passwords: published examples are found, their
//! neighbours with one wrong digit are not, and look-alikes are left alone.

use std::sync::LazyLock;

use classifier::{Confidence, Detector, Detectors, SensitiveKind, mask, normal_form};

static STANDARD: LazyLock<Detectors> = LazyLock::new(|| Detectors::standard().unwrap());
static THOROUGH: LazyLock<Detectors> = LazyLock::new(|| Detectors::thorough().unwrap());

fn standard(text: &str) -> String {
    mask(text, &STANDARD.detect(text))
}

fn thorough(text: &str) -> String {
    mask(text, &THOROUGH.detect(text))
}

/// Examples that the authorities or textbooks publish: the words before, the number, and whether its check digits
/// detect any one wrong digit.
const NUMBERS: [(&str, &str, bool); 34] = [
    ("", "219-09-9999", false),
    ("SSN: ", "219099999", false),
    ("Steuer-ID: ", "86095742719", true),
    ("Steuer-ID ", "47036892816", true),
    ("", "36 574 261 809", true),
    ("", "2 95 10 99 126 111 93", true),
    ("N° de sécurité sociale : ", "295109912611193", true),
    ("BSN ", "111222333", true),
    ("burgerservicenummer: ", "123456782", true),
    ("PESEL: ", "44051401359", true),
    ("pesel ", "02070803628", true),
    ("", "811228-9874", true),
    ("", "670919-9530", true),
    ("", "19811228-9874", false),
    ("fødselsnummer ", "15108695088", true),
    ("", "151086 95088", true),
    ("CPR-nummer: ", "2110625629", false),
    ("", "756.9217.0769.85", true),
    ("AHV: ", "7561234567897", true),
    ("", "85.07.30-033.28", false),
    ("registre national: ", "85073003328", true),
    // A remainder of 10 counts as 0, so that some wrong digits pass.
    ("", "390.533.447-05", false),
    ("CPF: ", "11144477735", true),
    ("Aadhaar ", "2341 2341 2346", true),
    ("NIF: ", "123456789", false),
    ("Social Insurance Number: ", "046 454 286", true),
    ("resident identity ", "360426199101010071", true),
    ("ID number: ", "7503305044089", true),
    ("DNI ", "12345678Z", true),
    ("DNI: ", "54362315-K", true),
    ("", "X1234567L", true),
    ("National Insurance: ", "JG103759A", false),
    ("", "AB 12 34 56 C", false),
    ("", "RSSMRA85T10A562S", true),
];

#[test]
fn national_numbers() {
    for (before, number, _) in NUMBERS {
        for after in ["", ".", ", and", "\n"] {
            let text = format!("{before}{number}{after}");
            assert_eq!(standard(&text), format!("{before}[national id]{after}"), "{text:?}");
        }
    }
}

#[test]
fn a_number_with_one_wrong_digit_is_not_found() {
    for (before, number, _) in NUMBERS.iter().filter(|(_, _, checked)| *checked) {
        for at in 0..number.len() {
            if !number.as_bytes()[at].is_ascii_digit() {
                continue;
            }
            for digit in (b'0'..=b'9').filter(|digit| *digit != number.as_bytes()[at]) {
                let mut wrong = number.as_bytes().to_vec();
                wrong[at] = digit;
                let text = format!("{before}{}", String::from_utf8(wrong).unwrap());
                let findings = STANDARD.detect(&text);
                let found = findings.iter().any(|finding| finding.kind == SensitiveKind::NationalId);
                assert!(!found, "{text:?}");
            }
        }
    }
}

#[test]
fn other_numbers_are_not_national_numbers() {
    for text in [
        "000-12-3456",
        "666-12-3456",
        "900-12-3456",
        "219-00-9999",
        "219-09-0000",
        "219-09-99990",
        "1219-09-9999",
        "SSN 219-09",
        "order 111222333",
        "86095742719",
        "BSN 111222334",
        "GB 12 34 56 C",
        "AB 12 34 56 E",
        "XAB123456C",
        "12345678A",
        "X1234567A",
        "RSSMRA85T10A562T",
        "757.9217.0769.85",
        "1234.756.9217.0769.85",
        "811328-9874",
        "12)219-09-9999",
    ] {
        assert_eq!(standard(text), text);
    }
}

#[test]
fn only_thorough_detectors_find_bare_numbers() {
    for (text, masked) in
        [("44051401359", "[national id]"), ("AB123456C", "[national id]"), ("12345678Z", "[national id]")]
    {
        assert_eq!(standard(text), text);
        assert_eq!(thorough(text), masked);
    }
}

#[test]
fn documents() {
    // The specimens of ICAO Doc 9303.
    let passport =
        "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10";
    let card =
        "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<";
    for lines in [passport, card] {
        assert_eq!(standard(&format!("scan:\n{lines}\nend")), "scan:\n[passport]\nend");
    }
    assert_eq!(standard(&passport.replace('\n', " ")), "[passport]");
    let wrong = passport.replace("L898902C36", "L898902C46");
    assert_eq!(standard(&wrong), wrong);
    for (before, number) in [
        ("Passport number: ", "L898902C3"),
        ("passport no. is ", "533380006"),
        ("Reisepassnummer: ", "C01X00T47"),
        ("Reisepass-Nr.: ", "C01X00T478"),
        ("N° de passeport : ", "12AB34567"),
        ("Pasaporte: ", "PAB123456"),
        ("Numero passaporto: ", "YA1234567"),
        ("paspoort nummer: ", "NW1234567"),
    ] {
        assert_eq!(standard(&format!("{before}{number}.")), format!("{before}[passport]."));
    }
    assert_eq!(standard("Personalausweis-Nr.: L01X00T471"), "Personalausweis-Nr.: [national id]");
    for text in [
        "Passport: required",
        "passport number",
        "passport size photo is 35 x 45 mm",
        "cout << \"x\" << endl",
        "<<<<<<<<<< HEAD",
        "Passport: 2026",
    ] {
        assert_eq!(thorough(text), text);
    }
}

#[test]
fn dates_of_birth() {
    for (before, date) in [
        ("Date of birth: ", "1980-03-12"),
        ("DOB ", "3/12/1980"),
        ("born on ", "12 March 1980"),
        ("She was born in Oslo on ", "March 12, 1980"),
        ("Geburtsdatum: ", "12.03.1980"),
        ("geboren am ", "12. März 1980"),
        ("geb. ", "12.03.80"),
        ("née le ", "12 mars 1980"),
        ("Date de naissance : ", "12/03/1980"),
        ("nacido el ", "12 de marzo de 1980"),
        ("Fecha de nacimiento: ", "12/03/1980"),
        ("nata il ", "12 marzo 1980"),
        ("Geboortedatum: ", "12-03-1980"),
        ("Data urodzenia: ", "12.03.1980"),
    ] {
        let text = format!("{before}{date}, paid");
        assert_eq!(thorough(&text), format!("{before}[date of birth], paid"));
        assert_eq!(standard(&text), text, "only the thorough take dates");
    }
    for text in [
        "Delivered 12.03.2026",
        "born to run",
        "born in 1980",
        "birthtime: 10 Oct 2011",
        "Birthday cake, 24 pieces",
        "reborn 12.03.1980",
    ] {
        assert_eq!(thorough(text), text);
    }
}

#[test]
fn one_time_codes() {
    for (before, code, after) in [
        ("Your verification code is ", "123456", "."),
        ("Your login code: ", "123 456", ""),
        ("", "123456", " is your Example security code"),
        ("", "G-123456", " is your Google verification code."),
        ("Use ", "4821", " as your one-time code"),
        ("OTP: ", "482193", ""),
        ("Your code is ", "482-193", ". Do not share it."),
        ("Ihr Bestätigungscode lautet ", "123456", "."),
        ("Sicherheitscode: ", "1234", ""),
        ("Ihre mTAN: ", "12345678", ""),
        ("Votre code de vérification est ", "123456", "."),
        ("", "123456", " est votre code de connexion"),
        ("Tu código de verificación es ", "123456", "."),
        ("Il tuo codice di sicurezza è ", "123456", "."),
        ("Uw verificatiecode is ", "123456", "."),
    ] {
        let text = format!("{before}{code}{after}");
        assert_eq!(thorough(&text), format!("{before}[one-time code]{after}"));
        assert_eq!(standard(&text), text, "only the thorough take codes");
    }
    for text in [
        "Postal code: 10115",
        "Your zip code is 90210",
        "Error code 404404",
        "Promo code: 202612",
        "Postleitzahl: 10115",
        "source code 123456",
        "Your code is SAVE20",
        "unicode 123456",
        "Use code 1234567890",
        "Verification codes expire after 5 minutes",
        "The code costs 1299.00 EUR",
    ] {
        assert_eq!(thorough(text), text);
    }
}

#[test]
fn passwords() {
    for (before, password, after) in [
        ("password: ", "hunter22", ""),
        ("Password = \"", "Correct7Horse", "\""),
        ("The password for the portal is ", "tr0ub4dor&3", ", keep it safe"),
        ("Passwort: ", "Geheim123!", "\n"),
        ("Das Kennwort lautet ", "Geheim123!", ""),
        ("Mot de passe : ", "Soleil42", ""),
        ("La contraseña es ", "Verano2026", "."),
        ("wachtwoord: ", "Zomer2026!", ""),
        ("{\"password\": \"", "pa55-phrase", "\"}"),
        ("?user=a&password=", "s3cretpw", "&x=1"),
        ("postgres://app:", "s3cr3t!pw", "@db.example.com/shop"),
        ("redis://:", "abcdefgh", "@cache:6379/0"),
        ("https://ann:", "letmein", "@git.example.com/x.git"),
        ("amqp://app:", "a/b#c9", "@rabbit:5672"),
    ] {
        let text = format!("{before}{password}{after}");
        assert_eq!(standard(&text), format!("{before}[password]{after}"), "{text:?}");
    }
    for text in [
        "Password: must be 8-16 characters",
        "Password: ********",
        "Passwort vergessen?",
        "password: string",
        "password = os.environ['DB_PASSWORD']",
        "password: ${DB_PASSWORD_1}",
        "The password is required.",
        "Contraseña: mínimo 8 caracteres",
        "postgres://user:password@db/shop",
        "https://example.com:8080/@scope",
        "mysql://$USER:$PASS@db",
        "http://localhost:3000/a@b",
        "DB_PASSWORD=replace-me-2!",
        "password: xxxxxxxx1",
    ] {
        assert_eq!(standard(text), text);
    }
}

#[test]
fn postal_addresses() {
    for (before, address, after) in [
        ("Ship to ", "1600 Pennsylvania Avenue NW, Washington, DC 20500", "."),
        ("", "221B Baker Street, London NW1 6XE", ""),
        ("at ", "10 Downing St, London SW1A 2AA", " today"),
        ("", "350 5th Ave, New York, NY 10118", ""),
        ("", "4 Privet Drive\nLittle Whinging\nGU2 7XH", ""),
        ("", "P.O. Box 1234, Springfield, IL 62701", ""),
        ("Lieferung an ", "Hauptstraße 5, 10115 Berlin", ", danke"),
        ("", "Unter der Linde Str. 77\n10117 Berlin", ""),
        ("", "Mozartgasse 12a, 1010 Wien", ""),
        ("", "10 rue de la Paix, 75002 Paris", ""),
        ("", "5 bis avenue Victor Hugo, 69003 Lyon", ""),
        ("", "Calle Mayor 12, 28013 Madrid", ""),
        ("", "Avenida de la Constitución, 3, 41001 Sevilla", ""),
        ("", "Via Roma 10, 00184 Roma", ""),
        ("", "Piazza del Duomo 1, 20121 Milano", ""),
        ("", "Keizersgracht 123, 1015 CJ Amsterdam", ""),
        ("", "Stationsplein 1B, 3511 ED Utrecht", ""),
    ] {
        let text = format!("{before}{address}{after}");
        assert_eq!(thorough(&text), format!("{before}[address]{after}"));
        assert_eq!(standard(&text), text, "only the thorough take addresses");
        let findings = THOROUGH.detect(&text);
        assert!(findings.iter().all(|finding| finding.confidence > Confidence::percent(70).unwrap()));
    }
    // Without a postal code only the street is found, with a low confidence.
    let text = "Meet me at 12 Elm Street";
    assert_eq!(thorough(text), "Meet me at [address]");
    assert!(THOROUGH.detect(text)[0].confidence <= Confidence::percent(50).unwrap());
    for text in [
        "a 5 star street food festival",
        "the way to go in 2026",
        "drive 300 km on one charge",
        "Court is in session",
        "via e-mail in 2 days",
        "Platz 3 von 10",
        "unterwegs 24/7",
        "Square 12 cm",
    ] {
        assert_eq!(thorough(text), text);
    }
}

#[test]
fn the_kinds_and_the_confidence_can_be_chosen() {
    let text = "ann@example.org, 4111 1111 1111 1111, 12 Elm Street";
    let only = |kinds: &[SensitiveKind], least: u8| {
        mask(text, &Detectors::of(kinds, Confidence::percent(least).unwrap()).unwrap().detect(text))
    };
    assert_eq!(only(&[SensitiveKind::Email], 1), "[email], 4111 1111 1111 1111, 12 Elm Street");
    assert_eq!(only(&SensitiveKind::ALL, 60), "[email], [card number], 12 Elm Street");
    assert_eq!(only(&[], 1), text);
    assert!(Detectors::STANDARD.iter().all(|kind| SensitiveKind::ALL.contains(kind)));
    let secrets: Vec<SensitiveKind> =
        SensitiveKind::ALL.into_iter().filter(|kind| kind.is_secret()).collect();
    assert_eq!(secrets, [SensitiveKind::OneTimeCode, SensitiveKind::Password, SensitiveKind::Token]);
}

#[test]
fn markers_differ_and_kinds_are_in_order() {
    let markers: std::collections::BTreeSet<&str> =
        SensitiveKind::ALL.iter().map(|kind| kind.marker()).collect();
    assert_eq!(markers.len(), SensitiveKind::ALL.len());
    assert!(SensitiveKind::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    // A marker is no value of any kind, whatever is around it.
    for kind in SensitiveKind::ALL {
        for text in [
            format!("password: {}", kind.marker()),
            format!("born {} 12.03.1980", kind.marker()),
            format!("your login code {} 123456", kind.marker()),
            format!("SSN {} 219099999", kind.marker()),
            format!("5 {} Elm Street", kind.marker()),
            format!("your code is {}: 1", kind.marker()),
            kind.marker().repeat(3),
        ] {
            assert_eq!(thorough(&text), text);
        }
    }
}

#[test]
fn spellings_have_one_normal_form() {
    let normal = |text: &str| {
        let findings = THOROUGH.detect(text);
        assert_eq!(findings.len(), 1, "{text}: {findings:?}");
        normal_form(text, &findings[0]).to_string()
    };
    for (spellings, form) in [
        (
            vec![
                "4111 1111 1111 1111",
                "4111-1111-1111-1111",
                "４１１１１１１１１１１１１１１１",
                "4111\u{200b}111111111111",
            ],
            "4111111111111111",
        ),
        (vec!["DE89 3704 0044 0532 0130 00", "de89370400440532013000"], "DE89370400440532013000"),
        (vec!["Ann@Example.org", "ａｎｎ@example.org"], "ann@example.org"),
        (vec!["+49 (30) 901820", "+49-30-901820"], "+4930901820"),
        (vec!["DNI 12.345.678-Z", "dni 12345678z"], "12345678Z"),
        (vec!["born 12  March 1980", "born 12 march, 1980"], "12 march 1980"),
        (vec!["your login code is 123 456", "your login code is 123-456"], "123456"),
        (vec!["password: Pa\u{200b}ss-w0rd9"], "Pass-w0rd9"),
    ] {
        for spelling in spellings {
            assert_eq!(normal(spelling), form, "{spelling}");
        }
    }
    let finding = &THOROUGH.detect("ann@example.org")[0];
    assert_eq!(normal_form("short", finding).as_str(), "");
}
