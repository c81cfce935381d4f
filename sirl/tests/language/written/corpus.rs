//! Texts at the borders of the grammar.

/// Each text, with two flags: the grammar of all kinds accepts it, and the parser accepts it.
pub fn corpus() -> Vec<(String, bool, bool)> {
    let long =
        |count: usize, c: &str| format!("REQ.otp ctx={{\"purpose\":\"{}\"}}\nREQ.end", c.repeat(count));
    let lines = |count: usize| format!("{}REQ.end", "REQ.otp\n".repeat(count));
    let price = |number: &str, code: &str| {
        format!("REQ.purchase ctx={{\"total\":{number},\"currency\":\"{code}\"}}\nREQ.end")
    };
    let mut all = vec![
        (long(128, "x"), true, true),
        (long(129, "x"), false, true),
        (long(512, "x"), false, true),
        (long(513, "x"), false, false),
        (long(128, "😀"), true, true),
        (long(129, "😀"), false, false),
        (long(128, "\\\""), true, true),
        (long(129, "\\\\"), false, true),
        (long(1, "\u{202e}"), false, false),
        (long(1, "\\u00e9"), false, true),
        (long(1, "\\/"), false, true),
        (long(1, "\t"), false, false),
        (lines(0), false, false),
        (lines(1), true, true),
        (lines(16), true, true),
        (lines(17), false, false),
        (price("0", "USD"), true, true),
        (price("00", "USD"), false, false),
        (price("64.", "USD"), false, false),
        (price(".5", "USD"), false, false),
        (price("64.1", "USD"), true, true),
        (price("64.155", "USD"), false, false),
        (price("64.155", "KWD"), true, true),
        (price("64.1555", "CLF"), true, true),
        (price("64.15555", "CLF"), false, false),
        (price("1.0", "JPY"), false, false),
        (price("999999999999999", "JPY"), true, true),
        (price("1000000000000000", "JPY"), false, false),
        (price("9999999999999.99", "USD"), true, true),
        (price("10000000000000", "USD"), false, false),
        (price("99999999999.9999", "UYW"), true, true),
        (price("999999999999.0", "UYW"), false, false),
        (price("-1", "USD"), false, false),
        (price("1e3", "USD"), false, false),
        (price("1", "usd"), false, false),
        (price("1", "USDX"), false, false),
    ];
    for (text, written, read) in [
        ("", false, false),
        ("REQ.end", false, false),
        ("REQ.otp\nREQ.end\n", true, true),
        ("REQ.otp\nREQ.end\n\n", false, true),
        ("REQ.otp\nREQ.end ", false, true),
        ("REQ.otp\r\nREQ.end", false, true),
        ("\nREQ.otp\nREQ.end", false, true),
        ("REQ.otp\n\nREQ.end", false, true),
        (" REQ.otp\nREQ.end", false, false),
        ("REQ.otp\nREQ.endless", false, false),
        ("REQ.otp\nREQ.end\nREQ.otp\nREQ.end", false, false),
        ("REQ.otp \nREQ.end", false, true),
        ("REQ.otp  ctx={tls:true}\nREQ.end", false, true),
        ("REQ.otp ctx={}\nREQ.end", false, true),
        ("REQ.otp ctx={tls:true}\nREQ.end", true, true),
        ("REQ.otp ctx={\"tls\": false}\nREQ.end", true, true),
        ("REQ.otp ctx={tls:True}\nREQ.end", false, false),
        ("REQ.otp ctx={tls:true,tls:true}\nREQ.end", false, false),
        ("REQ.otp ctx={tls:true,origin:\"o\"}\nREQ.end", false, true),
        ("REQ.otp ctx={origin:\"o\", tls:true}\nREQ.end", true, true),
        ("REQ.otp ctx={origin:\"o\",\"origin_request\":\"r\"}\nREQ.end", true, true),
        ("REQ.otp ctx={container:\"T2\"}\nREQ.end", true, true),
        ("REQ.otp ctx={container:\"T3\"}\nREQ.end", false, false),
        ("REQ.otp ctx={total:1}\nREQ.end", false, false),
        ("REQ.otp ctx={currency:\"USD\",total:1}\nREQ.end", false, true),
        ("REQ.otp ctx={cvv:\"1\"}\nREQ.end", false, false),
        ("REQ.otp fields=[]\nREQ.end", false, false),
        ("REQ.otp fields=[one_time_code]\nREQ.end", true, true),
        ("REQ.otp fields=[\"one_time_code\",one_time_code]\nREQ.end", false, false),
        ("REQ.address fields=[city, \"name\"]\nREQ.end", true, true),
        ("REQ.address fields=[zip]\nREQ.end", false, true),
        ("REQ.address fields=[postal_code,country,region,city,street,name]\nREQ.end", true, true),
        ("REQ.address fields=[email]\nREQ.end", false, false),
        ("REQ.address ctx={tls:true} fields=[city]\nREQ.end", false, false),
        ("REQ.purchase fields=[name]\nREQ.end", false, false),
        ("REQ.purchase ctx={origin_request:\"website\", total:64.15, currency:\"USD\"}\nREQ.end", true, true),
    ] {
        all.push((text.to_owned(), written, read));
    }
    all
}
