//! Names of files, made safe from words of a page.

/// The most bytes of a name.
const LONGEST: usize = 120;
/// The most bytes of a name's extension, with its dot.
const LONGEST_EXTENSION: usize = 16;
/// The name of a file whose suggested name has no letter and no digit.
const NAMELESS: &str = "download";
/// Names that stand for devices on Windows, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A name for a file that leads to no other folder, hides nothing of itself, and means nothing to a shell or a system.
///
/// Everything before the last separator of paths goes, and so do invisible characters and those that change the direction of
/// writing. Characters that systems forbid in names, or that shells read, become `_`; so does a dot or a hyphen in front. A long
/// name keeps its beginning and its extension.
pub(super) fn safe_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept = last.chars().filter(|&letter| !is_invisible(letter));
    let name: String = kept.map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let name = name.trim().trim_end_matches(['.', ' ']);
    if !name.chars().any(char::is_alphanumeric) {
        return NAMELESS.to_owned();
    }
    let (stem, extension) = split(name);
    let stem = cut(stem, LONGEST.saturating_sub(extension.len())).trim_end_matches(['.', ' ']);
    let is_device =
        DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) || is_numbered_device(stem);
    let is_hidden = stem.starts_with(['.', '-', '~']) || stem.is_empty();
    let front = if is_device || is_hidden { "_" } else { "" };
    format!("{front}{}{extension}", stem.trim_start_matches(['.', '-', '~']))
}

/// The name of the file that comes as the `number`th of this name.
pub(super) fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    let (stem, extension) = split(name);
    format!("{stem} ({number}){extension}")
}

fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric()
        || letter == ' '
        || (letter.is_ascii_punctuation() && " .,-_()[]+=@~#%".contains(letter))
}

/// Controls, joiners and marks of direction: characters that a person does not see.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// `com1` to `lpt9`, which are devices too.
fn is_numbered_device(stem: &str) -> bool {
    let lower = stem.to_ascii_lowercase();
    let number = lower.strip_prefix("com").or(lower.strip_prefix("lpt"));
    number.is_some_and(|number| number.chars().count() == 1 && number.chars().all(char::is_numeric))
}

/// The stem and the extension, which begins with its dot and may be empty.
fn split(name: &str) -> (&str, &str) {
    let dot = name.rfind('.').filter(|&dot| dot > 0 && name.len() - dot <= LONGEST_EXTENSION);
    name.split_at(dot.unwrap_or(name.len()))
}

/// The beginning of a text that has at most so many bytes.
fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_pages_become_safe() {
        for (suggested, name) in [
            ("report.pdf", "report.pdf"),
            ("Bericht für Ann (2).pdf", "Bericht für Ann (2).pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Windows\\a.dll", "a.dll"),
            (".bashrc", "_bashrc"),
            ("-rf.txt", "_rf.txt"),
            ("~/.ssh/id", "id"),
            ("a;b|c`d$e\"f'.sh", "a_b_c_d_e_f_.sh"),
            ("photo\u{202e}gnp.exe", "photognp.exe"),
            ("a\u{0}b\nc.txt", "abc.txt"),
            ("con.txt", "_con.txt"),
            ("LPT1", "_LPT1"),
            ("name. . .", "name"),
            ("", "download"),
            ("..", "download"),
            ("\u{200b}", "download"),
        ] {
            assert_eq!(safe_name(suggested), name, "{suggested:?}");
        }
        let long = safe_name(&format!("{}.pdf", "ü".repeat(200)));
        assert!(long.len() <= LONGEST && long.ends_with("ü.pdf"), "{long}");
        assert_eq!(numbered("a.b.pdf", 1), "a.b.pdf");
        assert_eq!(numbered("a.b.pdf", 2), "a.b (2).pdf");
        assert_eq!(numbered("README", 3), "README (3)");
    }

    proptest! {
        #[test]
        fn a_name_is_one_component_and_stays_as_it_is(suggested in any::<String>()) {
            let name = safe_name(&suggested);
            prop_assert!(!name.is_empty() && name.len() <= LONGEST);
            prop_assert!(!name.starts_with(['.', '-', '~']) && !name.ends_with(['.', ' ']));
            prop_assert!(!name.contains(['/', '\\', ':', '\0', '\n']));
            prop_assert_eq!(safe_name(&name), name);
        }
    }
}
