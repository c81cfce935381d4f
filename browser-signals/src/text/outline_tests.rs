#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn words(text: &str, place: TextPlace, purpose: Purpose) -> Words {
    Words { text: text.to_owned(), place, purpose, frame: 0 }
}

fn page(title: &str, name: &str, text: &str) -> Outline {
    let own = |own: &str| LinePart::Own(own.to_owned());
    let lines = vec![
        OutlineLine {
            head: vec![
                own("- document https://a.example"),
                LinePart::Page(words(title, TextPlace::Attribute, Purpose::Title)),
            ],
            opens: true,
            ..OutlineLine::default()
        },
        OutlineLine {
            depth: 1,
            head: vec![
                own("- button"),
                LinePart::Page(words(name, TextPlace::Shown, Purpose::Label)),
                own(" [ref=e1]"),
            ],
            ..OutlineLine::default()
        },
        OutlineLine {
            depth: 1,
            head: vec![own("- text")],
            text: vec![
                words(text, TextPlace::Shown, Purpose::Text),
                words(text, TextPlace::Hidden, Purpose::Text),
                words(text, TextPlace::Shown, Purpose::Text),
            ],
            bare: true,
            ..OutlineLine::default()
        },
    ];
    Outline { lines, ..Outline::default() }
}

fn link(name: &str, address: &str) -> OutlineLine {
    let head = vec![
        LinePart::Own("- link".to_owned()),
        LinePart::Page(words(name, TextPlace::Shown, Purpose::Label)),
        LinePart::Own(" [ref=e2]".to_owned()),
        LinePart::Page(words(address, TextPlace::Attribute, Purpose::Address)),
    ];
    OutlineLine { head, text: vec![words("text", TextPlace::Shown, Purpose::Text)], ..OutlineLine::default() }
}

/// The part of a line outside of quotes.
fn outside(line: &str) -> String {
    let mut out = String::new();
    let (mut within, mut escaped) = (false, false);
    for c in line.chars() {
        match c {
            '\\' if within && !escaped => escaped = true,
            '"' if !escaped => {
                within = !within;
                out.push('"');
            }
            _ => {
                escaped = false;
                if !within {
                    out.push(c);
                }
            }
        }
    }
    assert!(!within, "open quotes in {line}");
    out
}

/// The text outside of quotes, where the lines and cells of one text count once: a text has any number of them, each in
/// quotes of its own.
fn without_lines(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let outside = outside(line);
        let outside = outside.trim();
        let continues = outside.starts_with(['"', '[']);
        assert!(continues || outside.starts_with("- "), "a line of neither kind: {line}");
        out.push_str(if continues { " " } else { "\n" });
        out.push_str(outside);
    }
    out = out.replace(" | ", " ");
    for repeated in [format!("{UNSEEN} \"\""), "\"\"".to_owned()] {
        while out.contains(&format!("{repeated} {repeated}")) {
            out = out.replace(&format!("{repeated} {repeated}"), &repeated);
        }
    }
    out
}

/// Texts that try to look like the bridge's.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\n- button".to_owned()),
        Just("\u{2028}".to_owned()),
        Just("\r".to_owned()),
        Just(WITHHELD.to_owned()),
        Just(UNSEEN.to_owned()),
        Just("[ref=e9]".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("\u{e0041}".to_owned()),
        any::<String>(),
    ];
    proptest::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// For any words of the page, the text outside of quotes is the same as for harmless words.
    #[test]
    fn words_of_the_page_stay_in_quotes(
        title in hostile(), name in hostile(), text in hostile(), unseen in any::<bool>()
    ) {
        // The `x` is there because empty words have no quotes.
        let page = |title: &str, name: &str, text: &str| {
            let mut page = page(title, name, text);
            page.lines.push(link(text, name));
            page
        };
        let hostile = page(&format!("x{title}"), &format!("x{name}"), &format!("x{text}"));
        let harmless = page("x", "x", "x");
        let read = |outline: &Outline| {
            let text = outline.render(|words| match words.place {
                TextPlace::Hidden if unseen => vec![Rendered::Unseen(&words.text), Rendered::Withheld],
                TextPlace::Hidden => vec![Rendered::Withheld, Rendered::Withheld],
                _ => vec![Rendered::Words(&words.text)],
            });
            without_lines(&text)
        };
        prop_assert_eq!(read(&hostile), read(&harmless));
    }

    /// Quoted words have no line break and no unescaped quote.
    #[test]
    fn words_cannot_leave_their_quotes(words in hostile()) {
        let shown = quoted(&words);
        let inner = shown.strip_prefix('"').and_then(|it| it.strip_suffix('"')).expect("quotes");
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        prop_assert!(!shown.contains(breaks), "a line break in {shown}");
        let bare = inner.replace("\\\\", "").replace("\\\"", "");
        prop_assert!(!bare.contains(['"', '\\']), "{shown}");
    }

    /// Tidying is idempotent, and keeps every visible letter.
    #[test]
    fn tidying_is_idempotent(text in hostile()) {
        let once = tidy(&text);
        prop_assert_eq!(&tidy(&once), &once);
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric() && !shows_nothing(*c)).collect::<String>();
        prop_assert_eq!(letters(&once), letters(&text));
    }
}

#[test]
fn marks_are_outside_of_quotes_and_not_repeated() {
    let rendered = [
        Rendered::Words("a "),
        Rendered::Words("b"),
        Rendered::Withheld,
        Rendered::Withheld,
        Rendered::Unseen("c"),
    ];
    assert_eq!(join(&rendered, true), ["\"a b\" [withheld] [unseen] \"c\""]);
    assert_eq!(
        join(&[Rendered::Withheld, Rendered::Words("\n "), Rendered::Words(""), Rendered::Withheld], true),
        [WITHHELD]
    );
    assert!(join(&[Rendered::Words(" \n\t"), Rendered::Unseen("\u{200b}")], true).is_empty());
}

#[test]
fn lines_and_cells_of_a_text_are_apart_and_a_name_is_on_one_line() {
    let rendered = [
        Rendered::Words("one\n\n two\tthree"),
        Rendered::Words("\t"),
        Rendered::Withheld,
        Rendered::Words("\t\n"),
        Rendered::Unseen("four\nfive"),
    ];
    assert_eq!(
        join(&rendered, true),
        ["\"one\"", "\"two\" | \"three\" | [withheld]", "[unseen] \"four\"", "[unseen] \"five\""]
    );
    assert_eq!(join(&rendered, false), ["\"one two three\" [withheld] [unseen] \"four five\""]);
    let outline = page("T\n- x", "Pay\n- y", "Total\t64.15\n- z");
    assert_eq!(
        outline.unfiltered(),
        "- document https://a.example \"T - x\":\n  - button \"Pay - y\" [ref=e1]\n  - text: \"Total\" | \"64.15\"\n    \
         \"- zTotal\" | \"64.15\"\n    \"- z\"\n"
    );
}

#[test]
fn lines_without_words_keep_their_role_and_ref() {
    let outline = page("", "", "");
    let text = outline.unfiltered();
    assert_eq!(text, "- document https://a.example \"\":\n  - button [ref=e1]\n");
    let outline = page("T", "Pay", "now ");
    let text = outline.unfiltered();
    assert_eq!(
        text,
        "- document https://a.example \"T\":\n  - button \"Pay\" [ref=e1]\n  - text: \"now now\"\n"
    );
}

#[test]
fn an_address_stands_behind_its_mark() {
    let outline =
        Outline { lines: vec![link("Kettle", "/a \"b\"\n- button"), link("", "")], ..Outline::default() };
    assert_eq!(
        outline.unfiltered(),
        "- link \"Kettle\" [ref=e2] /url \"/a \\\"b\\\" - button\": \"text\"\n- link [ref=e2]: \"text\"\n"
    );
    let withheld = outline.render(|_| vec![Rendered::Withheld]);
    assert!(withheld.starts_with("- link [withheld] [ref=e2] /url [withheld]: [withheld]\n"), "{withheld}");
}

#[test]
fn emoji_and_joining_scripts_stay_whole() {
    for whole in ["👩\u{200d}🔧", "❤\u{fe0f}", "می\u{200c}خواهم", "naïve 漢字"] {
        assert_eq!(tidy(whole), whole);
    }
    assert_eq!(tidy("p\u{200b}a\u{ad}y\u{200d} \u{202e}now\u{e0069}"), "pay now");
    assert_eq!(tidy("❤\u{fe0f}\u{fe0e}\u{fe0f}\u{fe0e}x"), "❤\u{fe0f}x");
}
