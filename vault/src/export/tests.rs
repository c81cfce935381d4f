//! The document is read by serde, and documents that serde wrote are read here.

use proptest::prelude::*;
use sirl::Field;

use super::document::{CHUNK, Writer, read};
use crate::content::binding::Binding;
use crate::content::record::Record;

fn written(value: &str) -> Vec<u8> {
    let record = Record {
        id: [0; 16],
        version: 1,
        handle: "contact:me".into(),
        field: Field::Name,
        binding: Binding::Anywhere,
        sealed: Vec::new(),
    };
    let mut writer = Writer::new(std::iter::once(value.len()));
    let before = writer.address();
    writer.push(&record, value.as_bytes());
    let document = writer.finish();
    assert_eq!(document.as_ptr(), before, "the buffer was moved");
    document.to_vec()
}

proptest! {
    /// Serde reads the same text.
    #[test]
    fn a_document_is_json(value in any::<String>()) {
        let document = written(&value);
        let read: serde_json::Value = serde_json::from_slice(&document).unwrap();
        prop_assert_eq!(read["values"][0]["value"].as_str(), Some(value.as_str()));
        prop_assert!(document.len().is_multiple_of(CHUNK));
        let padding = document.len() - CHUNK;
        prop_assert!(document[padding..].iter().all(|byte| *byte == b' '));
    }

    /// A document of another JSON writer is read, with its escapes.
    #[test]
    fn any_spelling_is_read(value in any::<String>(), escape in any::<bool>()) {
        let text = if escape {
            let units: String = value.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{units}\"")
        } else {
            serde_json::to_string(&value).unwrap()
        };
        let document = format!(
            "{{\"format\":\"portcullis vault values\",\"version\":1,\"values\":[{{\"value\":{text},\
             \"handle\":\"a\",\"field\":\"b\",\"binding\":\"c\"}}]}}"
        );
        let items = read(document.as_bytes()).unwrap();
        let found = items[0].value().unwrap();
        prop_assert_eq!(found.expose(), value.as_bytes());
    }

    /// Any quoted text is read as serde reads it, or refused as serde refuses it.
    #[test]
    fn odd_escapes_are_read_as_serde_does(quoted in "(\\\\[\"\\\\/bfnrtu]|\\\\u[dD][89a-fA-F][0-9]{2}|[a-z]){0,6}") {
        let text = format!("\"{quoted}\"");
        let document = format!(
            "{{\"format\":\"portcullis vault values\",\"version\":1,\"values\":[{{\"value\":{text},\
             \"handle\":\"a\",\"field\":\"b\",\"binding\":\"c\"}}]}}"
        );
        let expected = serde_json::from_str::<String>(&text).ok();
        let found = read(document.as_bytes()).ok().and_then(|items| {
            items[0].value().map(|value| String::from_utf8(value.expose().to_vec()).unwrap())
        });
        prop_assert_eq!(found, expected);
    }
}
