//! The same stream in different pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sirl::{Event, find_block};

use super::{oracle, scan};

/// Lines and parts of lines that are difficult for a scanner.
fn part(with_plans: bool) -> impl Strategy<Value = Vec<u8>> {
    let mut parts: Vec<&[u8]> = vec![
        b"REQ.otp\n",
        b"REQ.otp\r\n",
        b"REQ.login fields=[email] ctx={purpose:\"\xc3\xa9\xf0\x9f\x98\x80\"}\n",
        b"REQ.purchase ctx={total:64.15,currency:\"USD\"}\n",
        b"REQ.end\n",
        b"REQ.end\r\n",
        b"REQ.end \t\r\n",
        b"REQ.end\r\r\n",
        b"REQ.end\r \n",
        b"REQ.end now\n",
        b"REQ.endless\n",
        b"REQ.foo\n",
        b"REQ.",
        b"REQ",
        b"RE",
        b"R",
        b"end",
        b"\n",
        b"\r",
        b"\r\n",
        b" ",
        b"\t \n",
        b"prose\n",
        b"\xc3\xa9 prose ",
        b"\0",
        b" REQ.otp\n",
        b"\xef\xbb\xbfREQ.otp\n",
    ];
    if with_plans {
        let plans: [&[u8]; 7] =
            [b"PLAN.otp\n", b"PLAN.end\n", b"PLAN.end\r\n", b"PLAN.", b"PLAN", b"PL", b"PLAN.end x\n"];
        parts.extend(plans);
        parts.extend([&b"\xff"[..], b"\xc3", b"\xf0\x9f", b"REQ.otp ctx={purpose:\"\xed\xa0\x80\"}\n"]);
    }
    prop_oneof![
        20 => select(parts).prop_map(<[u8]>::to_vec),
        1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
    ]
}

fn seen(events: &[Event]) -> Vec<oracle::Seen> {
    events.iter().map(oracle::seen).collect()
}

/// Cuts `stream` at these places.
fn cut<'s>(stream: &'s [u8], cuts: &[usize]) -> Vec<&'s [u8]> {
    let mut cuts = cuts.to_vec();
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in cuts {
        pieces.push(&stream[from..at]);
        from = at;
    }
    pieces.push(&stream[from..]);
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_pieces_and_the_slow_reading_agree(
        parts in vec(part(true), 0..24),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let stream = parts.concat();
        let whole = scan([stream.as_slice()]);
        prop_assert_eq!(&seen(&whole), &oracle::read(&stream));
        let cuts: Vec<usize> = cuts.iter().map(|at| at.index(stream.len() + 1)).collect();
        prop_assert_eq!(&scan(cut(&stream, &cuts)), &whole);
        prop_assert_eq!(&scan(stream.chunks(1)), &whole, "byte by byte");
    }

    #[test]
    fn bytes_alone_and_the_slow_reading_agree(bytes in vec(any::<u8>(), 0..60)) {
        let stream = [b"REQ.otp\n".as_slice(), &bytes, b"\nREQ.end\nREQ.otp\nREQ.end"].concat();
        let whole = scan([stream.as_slice()]);
        prop_assert_eq!(&seen(&whole), &oracle::read(&stream));
        prop_assert_eq!(&scan(stream.chunks(1)), &whole);
    }

    /// Without plans, the scanner finds the blocks that repeated calls of `find_block` find.
    #[test]
    fn it_agrees_with_find_block(parts in vec(part(false), 0..24)) {
        let text = String::from_utf8(parts.concat()).unwrap();
        let mut expected = Vec::new();
        let mut from = 0;
        while let Some((range, found)) = find_block(&text[from..]) {
            let place = |at: usize| from + at;
            expected.push(match found {
                Ok(block) => oracle::Seen::Whole(place(range.start)..place(range.end), block.to_string()),
                Err(error) => oracle::Seen::Malformed {
                    start: place(range.start),
                    span: place(error.span.start)..place(error.span.end),
                    kind: error.kind.clone(),
                    line: text[..from].matches('\n').count() + error.line(),
                    column: error.column(),
                },
            });
            let behind = place(range.end);
            from = text[behind..].find('\n').map_or(text.len(), |line_ending| behind + line_ending + 1);
        }
        prop_assert_eq!(seen(&scan([text.as_bytes()])), expected);
    }
}

/// Tries all 2^(n-1) ways to cut a short stream.
#[test]
fn every_way_to_cut_a_short_stream() {
    for stream in ["\nREQ.otp\nREQ.end", "RREQ\nREQ.\nREQ.end", "PLAN.otp\r\nPLAN.end"] {
        let stream = stream.as_bytes();
        let whole = scan([stream]);
        assert_eq!(whole.len(), 1);
        for ways in 0u32..1 << (stream.len() - 1) {
            let cuts: Vec<usize> = (1..stream.len()).filter(|at| ways >> (at - 1) & 1 == 1).collect();
            assert_eq!(scan(cut(stream, &cuts)), whole, "{cuts:?}");
        }
    }
}

/// Tries every pair of cuts of a longer stream with all kinds of lines.
#[test]
fn every_two_cuts_of_a_longer_stream() {
    let stream = concat!(
        "é REQ.\r\nREQ\nPLAN.otp ctx={purpose:\"😀\"}\r\n\nPLAN.end \n",
        "REQ.login\nREQ.otp\nREQ.end\nREQ.nothing\nREQ.otp\nREQ.end\r\nRREQ.\nREQ.otp\n",
    );
    let whole = scan([stream.as_bytes()]);
    assert_eq!(whole.len(), 4);
    assert_eq!(seen(&whole), oracle::read(stream.as_bytes()));
    for first in 0..=stream.len() {
        for second in first..=stream.len() {
            assert_eq!(scan(cut(stream.as_bytes(), &[first, second])), whole, "{first} {second}");
        }
    }
}
