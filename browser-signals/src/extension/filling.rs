//! A sealed fill as the one message that holds values.

use zeroize::Zeroizing;

use super::report::tab_and_frame;
use super::tab::{Decided, View};
use super::wire::{FillRequest, Numbered, Request, Way};
use crate::{Origin, SealedFill};

/// The message. It holds values, and it is only ever written to the extension's socket.
pub(super) struct Message(pub(super) Zeroizing<Vec<u8>>);

/// The parts of a fill's message that are not in the fill.
pub(super) struct FillTerms<'a> {
    /// Its number.
    pub(super) id: u64,
    /// The time within which it may begin, in milliseconds.
    pub(super) within: u64,
    /// The task's view.
    pub(super) view: &'a View,
    /// The only origins that the document may reach from now on.
    pub(super) open: &'a [Origin],
    /// The decision.
    pub(super) decided: &'a Decided,
}

/// The message of a fill: the request, and after that the values, written directly from their sealed memory into memory that
/// is wiped and does not move. None for a fill of no extension's tab, or a value that is not text.
pub(super) fn message(fill: &SealedFill, terms: &FillTerms<'_>) -> Option<Message> {
    let (tab, frame) = tab_and_frame(&fill.frame)?;
    // Card data, and with them the frames of payment providers, are for containers of the guard's alone.
    if fill.container_id.as_str() != format!("tab:{tab}") || fill.values.is_empty() || fill.embedded.is_some()
    {
        return None;
    }
    let FillTerms { id, within, view, open, decided } = *terms;
    let to = &fill.destination;
    let request = Request::Fill(FillRequest {
        within,
        origins: &view.origins,
        open,
        trusted: view.trusts_open_pages,
        decided,
        tab,
        frame,
        document: fill.document.as_str(),
        origin: &fill.origin,
        form: fill.form.map_or(0, |form| form.0),
        way: Way { action: format!("{}{}", to.origin, to.path), method: &to.method },
        nodes: fill.values.iter().map(|(node, _)| node.0).collect(),
    });
    let head = serde_json::to_string(&Numbered { id, request: &request }).ok()?;
    let values: Option<Vec<&str>> =
        fill.values.iter().map(|(_, value)| std::str::from_utf8(value.expose()).ok()).collect();
    let values = values?;
    // Each byte becomes six at most, so the buffer never grows and leaves no copy behind.
    let most: usize = values.iter().map(|value| 6 * value.len() + 3).sum();
    let mut out = Zeroizing::new(Vec::with_capacity(head.len() + most + 16));
    out.extend_from_slice(head.strip_suffix('}')?.as_bytes());
    out.extend_from_slice(b",\"values\":[");
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        quote(value, &mut out);
    }
    out.extend_from_slice(b"]}");
    Some(Message(out))
}

/// A text as JSON.
fn quote(text: &str, out: &mut Vec<u8>) {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                let digit = |of: u8| DIGITS.get(usize::from(of)).copied().unwrap_or(b'0');
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use serde_json::{Value, json};

    use super::*;
    use crate::{Container, ContainerId, Destination, DocumentId, FrameId, NodeId, SealedValue};

    fn fill(container: &str, frame: &str, values: &[&[u8]]) -> SealedFill {
        let origin = Origin::parse("https://shop.test").unwrap();
        SealedFill {
            container_id: ContainerId::new(container),
            frame: FrameId::new(frame),
            document: DocumentId::new("A"),
            origin: origin.clone(),
            form: Some(NodeId(1)),
            destination: Destination { origin, path: "/order".into(), method: "POST".into() },
            embedded: None,
            values: values.iter().map(|value| (NodeId(2), SealedValue::new(value))).collect(),
            made: Vec::new(),
        }
    }

    fn message(fill: &SealedFill) -> Option<Message> {
        let view = View { container: Container::T2, origins: Vec::new(), trusts_open_pages: false };
        let decided = Decided { event: "address".into(), need: "T2".into(), valuation: Vec::new() };
        super::message(fill, &FillTerms { id: 4, within: 7, view: &view, open: &[], decided: &decided })
    }

    #[test]
    fn values_are_written_unchanged_into_memory_that_does_not_move() {
        let odd = "17 \"Quarry\" Road\\\n\u{1}\u{1f}ß\u{1f3e0}";
        let written = message(&fill("tab:7", "tab:7/0", &[odd.as_bytes(), b""])).unwrap();
        let read: Value = serde_json::from_slice(&written.0).unwrap();
        assert_eq!(read.get("values").unwrap(), &json!([odd, ""]));
        assert_eq!(read.get("id").unwrap(), &json!(4));
        assert_eq!(
            read.get("way").unwrap(),
            &json!({ "action": "https://shop.test/order", "method": "POST" })
        );
        let long = "\u{1}".repeat(5_000);
        let written = message(&fill("tab:7", "tab:7/0", &[long.as_bytes()])).unwrap();
        assert!(written.0.len() > 30_000 && written.0.capacity() < 31_000, "{}", written.0.capacity());
    }

    #[test]
    fn a_fill_for_no_extensions_tab_gives_no_message() {
        for (container, frame) in
            [("tab:7", "tab:8/0"), ("A1B2", "A1B2"), ("tab:7", "tab:7"), ("tab:x", "tab:x/0")]
        {
            assert!(message(&fill(container, frame, &[b"x"])).is_none(), "{container} {frame}");
        }
        assert!(message(&fill("tab:7", "tab:7/0", &[])).is_none());
        assert!(message(&fill("tab:7", "tab:7/0", &[b"\xff"])).is_none());
    }
}
