//! `portcullis forms`, on pages in a real Chromium.

use std::process::{Command, Stdio};

use serde_json::Value;

const CHECKOUT: &str = r#"<!doctype html><meta charset="utf-8"><title>Checkout</title>
<form action="/order" method="post">
<fieldset><legend>Shipping</legend>
<label for="s1">First name</label><input id="s1" name="first_name">
<label for="s2">Last name</label><input id="s2" name="last_name">
<div>First line of address</div><input name="line1">
<label>Post code <input name="s_postcode"></label>
<label>Land <select name="c"><option value="">?</option><option value="DE">Deutschland</option><option value="FR">France</option>
<option value="DK">Danmark</option><option value="NL">Nederland</option></select></label>
</fieldset>
<fieldset><legend>Billing</legend><label>Town <input name="b_city"></label></fieldset>
<label>Gift note <input name="note"></label>
<label hidden>Mobile <input name="mobile"></label>
<input type="hidden" name="token"><button>Order</button></form>
<form action="/pay" method="post"><label>Card number <input name="n"></label><label>CVV <input type="password" name="v"></label></form>
<script>document.forms[0].remove()</script>"#;

fn forms(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    let done = command.arg("forms").args(arguments).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[test]
fn each_control_is_named_with_its_evidence() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("checkout.html"), CHECKOUT).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no page").unwrap();
    let out = folder.path().join("out.json");
    let (code, _, err) = forms(&[folder.path().to_str().unwrap(), "--json", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    let told: Vec<_> = all
        .iter()
        .map(|one| {
            assert_eq!(one["page"], "checkout.html");
            let text = |name: &str| one[name].as_str().unwrap_or("-").to_owned();
            (text("selector"), text("field"), text("section"), text("evidence"))
        })
        .collect();
    let field = |selector: &str| {
        let found = told.iter().filter(|(path, ..)| path.ends_with(selector)).collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{selector} in {told:?}");
        (found[0].1.as_str(), found[0].2.as_str(), found[0].3.as_str())
    };
    assert_eq!(field("#s1"), ("given_name", "shipping", "label"));
    assert_eq!(field("#s2"), ("family_name", "shipping", "label"));
    assert_eq!(told.len(), 10, "hidden inputs and buttons are left out: {told:?}");
    let fields: Vec<&str> = told.iter().map(|(_, field, ..)| field.as_str()).collect();
    let expected = [
        "given_name",
        "family_name",
        "street",
        "postal_code",
        "country",
        "city",
        "-",
        "phone",
        "card_number",
        "card_code",
    ];
    assert_eq!(fields, expected);
    assert_eq!((told[5].2.as_str(), told[6].3.as_str()), ("billing", "label"));
    assert_eq!(told[7].3, "label; not fillable as the page is now");
    assert_eq!(
        (all[0]["sink"].as_str(), all[8]["sink"].as_str()),
        (Some("address_form"), Some("payment_form"))
    );
}

#[test]
fn a_page_is_told_in_lines_and_a_missing_one_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.html");
    std::fs::write(&file, "<form><label>E-mail <input id=mail></label></form>").unwrap();
    let (code, out, err) = forms(&[file.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("email  by label") && out.contains("#mail"), "{out}");
    let (code, _, err) = forms(&["/nowhere/page.html"]);
    assert!(code == 2 && err.contains("/nowhere/page.html"), "{code} {err}");
}
