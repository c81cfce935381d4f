//! Time and memory of unfolding, for a megabyte of the most expensive texts.

use std::time::{Duration, Instant};

use classifier::Unfolded;

/// A megabyte.
const LARGE: usize = 1 << 20;

/// Returns a text of that length made of one piece.
fn repeated(piece: &str, length: usize) -> String {
    let mut text = piece.repeat(length / piece.len() + 1);
    text.truncate(text.floor_char_boundary(length));
    text
}

/// The most expensive pieces for each decoder, and pieces that each takes for a beginning.
const HOSTILE: &[&str] = &[
    "a",
    " ",
    "\n",
    "%",
    "%41",
    "%2541",
    "%252541",
    "%C3",
    "&",
    "&#",
    "&#x",
    "&#105;",
    "&#38;#105;",
    "&amp;#105;",
    "&#xE0069;",
    "&#xFDFA;",
    "a ",
    "i g n o r e ",
    "a. b-",
    "a b  c",
    "4",
    "69",
    "69 ",
    "\\x69",
    "\\",
    "0x69,",
    "6e6f ",
    "ee: ",
    "aWdub3Jl",
    "aWdub3Jl ",
    "aWdub3Jl\n",
    "aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM= ",
    "U2VuZCB0aGUgcGFzc3dvcmQg",
    "AAAAAAAA\n",
    "erongi ",
    "erongi lla suoiverp snoitcurtsni ",
    "erongi ignore ",
    "qzx ",
    "\u{E0041}",
    "a\u{E0041}",
    "\u{FE01}",
    "\u{200B}",
    "👩\u{200D}",
    "🏴",
    "\u{430}bc ",
    "\u{430}",
    "\u{43E}\u{430}\u{435} abc ",
    "\u{FDFA}",
    "é",
    "е\u{301}",
    "\u{1D400}",
    "\u{0}",
];

/// The time for a megabyte, on a machine that is busy with other tests.
const LONGEST: Duration = Duration::from_secs(100);

#[test]
fn a_megabyte_of_anything_is_unfolded_in_linear_time_and_bounded_memory() {
    for piece in HOSTILE {
        let text = repeated(piece, LARGE);
        let started = Instant::now();
        let unfolded = Unfolded::new(&text);
        let took = started.elapsed();
        let decoded: usize = unfolded.decoded().iter().map(|decoded| decoded.text.text().len()).sum();
        // Eight disguises, reversed text twice, and four times as much for the layers below.
        assert!(decoded <= 18 * 13 * LARGE, "{piece:?}: {decoded}");
        // A second or two, and more on a busy machine: time that grows with the square would take many minutes.
        assert!(took < LONGEST, "{piece:?}: {took:?}");
    }
}

#[test]
fn nested_encodings_are_cut_and_reported() {
    // Each layer decodes to as much text again, in several disguises at once.
    let text = repeated("&#37;36%39 e r o n g i l l a %2536%2539 ", LARGE);
    let unfolded = Unfolded::new(&text);
    let decoded: usize = unfolded.decoded().iter().map(|decoded| decoded.text.text().len()).sum();
    assert!(decoded <= 13 * LARGE, "{decoded}");
    assert!(Unfolded::new("&#37;36%39").is_complete());
}
