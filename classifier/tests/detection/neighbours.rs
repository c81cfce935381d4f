//! Values are told from their neighbours: dates, figures, addresses, article numbers and hashes stay readable, each as
//! it was found on a page, and secrets are found in the forms in which commands, headers and configuration hold them.

use classifier::{Detector, Detectors, SensitiveKind, is_role_address, mask};

fn masked(text: &str) -> String {
    mask(text, &Detectors::standard().unwrap().detect(text))
}

#[test]
fn rows_of_figures_dates_and_codes_stay_readable() {
    for text in [
        "0 2020-08-01",
        "-rw-r--r-- 1 0   0   142968 2022-09-20 15:27:27.000000000 +0000 mv",
        "-rw-r----- 1   0  42   512 2026-05-20 16:27:29.000000000 +0000 gshadow",
        "-rwxr-xr-x 1 root root 60400 Sep 20  2022 b2sum",
        "Access: 2026-11-24 12:10:18.562884411 +0000",
        "Modify: 2023-01-17 22:34:38.000000000 +0000",
        " Birth: 1970-01-01 00:00:00.000000000 +0000",
        "root      5023  0.0  0.0   2952  1772 ?        S    12:18   0:00 tail -60",
        "root 5023 0.0 0.0 2952 1772 ? S 12:18 0:00 tail -60",
        "www-data 4012 0.1 1.2 411111 11111 ? Ssl Nov23 1:12 /usr/sbin/apache2 -k start",
        "4.360778994930029",
        "4551.950730698041",
        "-52.5200065999, 13.4049539999",
        "x = 4111111111111.111",
        "[0.4111111111111111, 1.0]",
        "3402278941 14584 gdk-pixbuf-pixdata",
        "quanta 2650 1514 1514 1514 1514 1514 1514 1514 priomap 7 6 5",
        "ProxyErrorOverride On 403 405 500 501 502 503 504",
        "<Buffer 66 68 71 77 68 67 61 64 73>",
        "Prints: <Buffer 01 02 03 04 05 06 07 08>",
        "hex!(\"09 02 01 02 02 01 03 02 01 04\")",
        "character 0x2260 = 0010 0010 0110 0000",
        "00652000-00655000 rw-p 00052000 08:02",
        "uids in the range 60000-64999 are reserved",
        "Checking out files: 100% (21549/21549), done.",
        "Boston, MA 02110-1301, USA",
        "datetime!(+9999-12-31 23:59:59)",
        "1990-2020",
        "Published 1990-2020, reprinted 2021-2023",
        "2024-07-31T15:20:00.000000123Z",
        "2026-11-24T12:10:18+01:00",
        "1763640000 1763640000123",
        "version 1.2.840.113549.1.9.16.2.47",
        "v10.15.7-rc.1+build.20260101",
        "10.0.0.1, 192.168.178.200/24, 2001:db8::8a2e:370:7334",
        "UPC 036000291452",
        "EAN: 4006381333931",
        "EAN-13: 4012888888881881",
        "ISBN 978-3-16-148410-0, ISBN-13: 9783161484100",
        "GTIN 00012345600012",
        "4006381333931",
        "IMEI: 490154203237518",
        "commit 9f3cb6157563063827c7a8c1e191db13ad1d2a3c",
        "* 671294719628f1671faefd4882764886f8ad08cb Merge branch 'next'",
        "1234567 Fix the build",
        "https://a.example/1940490/57186580-7f376f80-6e96-11e9-9cae-8257609269ee.png",
        "https://shop.example/dp/4012888888881881/ref",
        "https://a.example/t/415-555-2671.html",
        "/var/lib/x/4111111111111111/data",
        "6940 7440 7610 842D 38C3 8207 8A9E",
        "793F 6071 4195 6085 60A6 868E",
        "from_u128(0x03837526_098b_11d8_9414_505054503030)",
        "https://a.example/?l=linux-kernel&m=112256338703880&w=2",
        "156641360591757  function-entry: call_stack.py",
        "mantissa -4386812962460287, base 2",
        "the range (-33554432, +33554432) and -2147483648 to +2147483647",
        "188.209-65-87.adsl-dyn.isp.example",
        "2235858054780980, 885832711204321, 4111111111111111, 1681843776716295",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn cards_and_phones_beside_other_text_are_still_found() {
    for (text, safe) in [
        ("Visa 4111 1111 1111 1111 12/27 123", "Visa [card number] 12/27 123"),
        ("4111111111111111,12/27,123", "[card number],12/27,123"),
        ("https://a.example/pay?card=4111111111111111&x=1", "https://a.example/pay?card=[card number]&x=1"),
        ("your card is 4222222222222.", "your card is [card number]."),
        ("1. 4111 1111 1111 1111", "1. [card number]"),
        ("Sold 12 items. Call (415) 555-2671 in 2026", "Sold 12 items. Call [phone] in 2026"),
        ("2026-11-20 +49 30 901820", "2026-11-20 [phone]"),
        ("Tél. 01 02 03 04 05", "Tél. [phone]"),
        ("WhatsApp 98765 43210", "WhatsApp [phone]"),
    ] {
        assert_eq!(masked(text), safe);
    }
}

/// What is hidden among figures is found in text that leaves.
#[test]
fn doubtful_cards_are_found_where_they_are_asked_for() {
    let detectors = Detectors::standard().unwrap();
    for text in [
        "4.111111111111111",
        "4111 111111 1 11 111",
        "https://a.example/4111111111111111",
        "EAN 4111111111111111",
    ] {
        assert_eq!(masked(text), text);
        let found = detectors.detect_doubtful(text);
        assert!(found.iter().any(|one| one.kind == SensitiveKind::CardNumber), "{text}");
    }
}

#[test]
fn the_user_of_an_address_is_no_email() {
    for (text, safe) in [
        ("https://user:pass@sub.example.com/", "https://user:pass@sub.example.com/"),
        ("https://user:s3cretpw@sub.example.com/", "https://user:[password]@sub.example.com/"),
        ("ssh://git@example.org/x.git", "ssh://git@example.org/x.git"),
        ("git clone git@example.org:team/x.git", "git clone git@example.org:team/x.git"),
        ("/etc/systemd/journald@NAMESPACE.conf", "/etc/systemd/journald@NAMESPACE.conf"),
        ("user@1001.service, hero@2x.png", "user@1001.service, hero@2x.png"),
        (
            "hmac-sha2-256-etm@openssh.com,aes256-gcm@openssh.com",
            "hmac-sha2-256-etm@openssh.com,aes256-gcm@openssh.com",
        ),
        ("https://l.example/list/ann@example.org/thread", "https://l.example/list/[email]/thread"),
        ("https://l.example/?to=ann@example.org&x", "https://l.example/?to=[email]&x"),
        ("write to ann@example.org: she answers", "write to [email]: she answers"),
    ] {
        assert_eq!(masked(text), safe);
    }
}

#[test]
fn secrets_of_commands_headers_and_more_issuers_are_found() {
    let word = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
    let hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c";
    for (text, safe) in [
        (
            "curl -u ann:s3cretpw https://a.example".to_owned(),
            "curl -u ann:[password] https://a.example".to_owned(),
        ),
        (format!("curl https://a.example -u {word}:"), "curl https://a.example -u [token]:".to_owned()),
        (format!("Authorization: Token {hex}"), "Authorization: Token [token]".to_owned()),
        (format!("Authorization: Bearer {word}"), "Authorization: Bearer [token]".to_owned()),
        (format!("'Authorization': 'Basic {word}'"), "'Authorization': 'Basic [token]'".to_owned()),
        (
            format!("AccountKey={word}+/{word}==;EndpointSuffix=x"),
            "AccountKey=[token];EndpointSuffix=x".to_owned(),
        ),
        (format!("?sv=2022&sig={word}%2B{word}%3D&se=1"), "?sv=2022&sig=[token]&se=1".to_owned()),
        ("SNYK_TOKEN=9a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9".to_owned(), "SNYK_TOKEN=[token]".to_owned()),
        (format!("const token: string = '{word}'"), "const token: string = '[token]'".to_owned()),
    ] {
        assert_eq!(masked(&text), safe);
    }
    for secret in [
        format!("glrt-{word}"),
        format!("glcbt-{word}"),
        format!("glffct-{word}"),
        format!("glagent-{word}{word}"),
        format!("gloas-{hex}{hex}"),
        format!("GR1348941{word}"),
        format!("sgp_{hex}"),
        format!("sgp_0f1e2d3c4b5a6978_{hex}"),
        format!("sqp_{hex}"),
        format!("squ_{hex}"),
        format!("sqa_{hex}"),
        format!("snyk_uat.{word}"),
        format!("EAAB{word}{word}{word}"),
        format!("123456789012345|{word}"),
        format!("MTA4{}.GaBcDe.{word}", &word[..20]),
        format!("https://discord.com/api/webhooks/123456789012345678/{word}{word}"),
        format!("abc7Q~{word}"),
        format!("SWMTKN-1-{hex}{hex}-{hex}"),
        format!("dt0c01.ST2EY72KQINMH574WMNVI7YN.{}", word.to_uppercase()),
    ] {
        let text = format!("value: {secret}\n");
        assert!(!masked(&text).contains(&secret[secret.len() - 20..]), "{}", masked(&text));
    }
}

#[test]
fn names_with_other_values_hide_nothing() {
    for text in [
        "curl -u username:password https://a.example",
        "docker run -u 1000:1000 x",
        "token_endpoint: https://a.example/oauth2/v2.0/token",
        "secretName: prod-database-credentials-2",
        "public_key = a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
        "next_page_token=a1B2c3D4e5F6g7H8i9J0",
        "D3DCOMPILER_STRIP_ROOT_SIGNATURE: D3DCOMPILER_STRIP_FLAGS",
        "Pin `password-hash` to v0.1.2 or newer",
        "fn f(name: &HSTRING, password: &windows_core::HSTRING)",
        "WWW-Authenticate: Bearer realm=\"api2.example.com\"",
        "{\"key\": \"product:4711:price-2\"}",
        "Authorization: Bearer <access_token_1>",
    ] {
        assert_eq!(masked(text), text);
    }
}

/// It takes a second or two, and more on a busy machine: time that grows with the square would take many minutes.
#[test]
fn a_megabyte_of_anything_is_searched_in_linear_time() {
    let detectors = Detectors::standard().unwrap();
    for piece in [
        "4 1 1 1 ",
        "4111 1111 ",
        "41.",
        "0",
        "a1",
        "token=",
        "secret_",
        "secret_key: ",
        "key",
        "a@b.c:",
        "/a@b.cc",
        "curl -u ",
        "curl -u a:b",
        "https://a:b@",
        "00 ",
        "AAAAAAAA",
        "eyJ",
        "123456789012345|",
        "Bearer ",
        "-",
        "\"token\", \"",
        "MTA4a1B2c3D4e5F6g7H8i9J0.",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        let started = std::time::Instant::now();
        drop(detectors.detect(&text));
        let took = started.elapsed();
        assert!(took < std::time::Duration::from_secs(100), "{piece:?}: {took:?}");
    }
}

#[test]
fn mailboxes_of_offices_are_known_in_several_languages() {
    for address in [
        "info@a.example",
        "Press@a.example",
        "kundenservice@a.example",
        "contacto@a.example",
        "prenotazioni@a.example",
        "klantenservice@a.example",
        "support-de@a.example",
        "sales_uk@a.example",
        "info-2@a.example",
    ] {
        assert!(is_role_address(address), "{address}");
    }
    for address in
        ["ann@a.example", "ann.support@a.example", "support.ann@a.example", "information1984x@a.example"]
    {
        assert!(!is_role_address(address), "{address}");
    }
}
