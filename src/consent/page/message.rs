//! The messages of the page's script, as bytes.
//!
//! Each message has one spelling, that of the script's `JSON.stringify`, and no other is accepted. So nothing is decoded,
//! and a security code is never copied:
//!
//! ```text
//! {"show":"<nonce>"}
//! {"nonce":"<nonce>","subject":"<subject>","answer":"once"}
//! {"nonce":"<nonce>","subject":"<subject>","code":"123"}
//! {"nonce":"<nonce>","subject":"<subject>","account":"2"}
//! ```
//!
//! The nonce has 32 hexadecimal digits, the subject 64, both lower case; a code has 3 to 10 digits or letters, and an account is one digit,
//! from 1.

use crate::consent::Answer;

/// The most bytes of a message.
pub const MAX_BYTES: usize = 256;

/// The lengths of a code. The question says which of them it takes.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=10;

/// One message of the page's script. It has no `Debug`, since it can contain a code.
#[derive(PartialEq, Eq)]
pub enum Message<'a> {
    /// Asks for the prompt with this nonce.
    Show {
        /// The prompt's nonce.
        nonce: &'a str,
    },
    /// Answers a prompt.
    Answer {
        /// The prompt's nonce.
        nonce: &'a str,
        /// The hash of the question.
        subject: &'a str,
        /// The answer.
        answer: Answer,
    },
    /// Gives a code.
    Code {
        /// The prompt's nonce.
        nonce: &'a str,
        /// The hash of the question.
        subject: &'a str,
        /// The digits and letters.
        code: &'a [u8],
    },
    /// Chooses an account.
    Account {
        /// The prompt's nonce.
        nonce: &'a str,
        /// The hash of the question.
        subject: &'a str,
        /// Its place in the list, from 1 to 9.
        account: u8,
    },
}

impl<'a> Message<'a> {
    /// Reads a message. Any text that [`Message::write`] does not write gives `None`.
    ///
    /// ```
    /// use portcullis::consent::page::message::Message;
    ///
    /// let bytes = br#"{"show":"00112233445566778899aabbccddeeff"}"#;
    /// assert!(Message::read(bytes).is_some());
    /// assert!(Message::read(b"{ \"show\": \"00112233445566778899aabbccddeeff\" }").is_none());
    /// ```
    pub fn read(bytes: &'a [u8]) -> Option<Message<'a>> {
        if let Some(rest) = bytes.strip_prefix(br#"{"show":""#) {
            let (nonce, rest) = hex(rest, 32)?;
            return (rest == br#""}"#).then_some(Message::Show { nonce });
        }
        let (nonce, rest) = hex(bytes.strip_prefix(br#"{"nonce":""#)?, 32)?;
        let (subject, rest) = hex(rest.strip_prefix(br#"","subject":""#)?, 64)?;
        let rest = rest.strip_suffix(br#""}"#)?;
        if let Some(word) = rest.strip_prefix(br#"","answer":""#) {
            let answer = Answer::from_word(std::str::from_utf8(word).ok()?)?;
            return Some(Message::Answer { nonce, subject, answer });
        }
        if let Some([digit @ b'1'..=b'9']) = rest.strip_prefix(br#"","account":""#) {
            return Some(Message::Account { nonce, subject, account: digit - b'0' });
        }
        let code = rest.strip_prefix(br#"","code":""#)?;
        let is_code = LENGTHS.contains(&code.len()) && code.iter().all(u8::is_ascii_alphanumeric);
        is_code.then_some(Message::Code { nonce, subject, code })
    }

    /// Appends the message's one spelling.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
        match self {
            Message::Show { nonce } => put(&[br#"{"show":""#, nonce.as_bytes()]),
            Message::Answer { nonce, subject, answer } => put(&[
                br#"{"nonce":""#,
                nonce.as_bytes(),
                br#"","subject":""#,
                subject.as_bytes(),
                br#"","answer":""#,
                answer.as_str().as_bytes(),
            ]),
            Message::Code { nonce, subject, code } => put(&[
                br#"{"nonce":""#,
                nonce.as_bytes(),
                br#"","subject":""#,
                subject.as_bytes(),
                br#"","code":""#,
                code,
            ]),
            Message::Account { nonce, subject, account } => put(&[
                br#"{"nonce":""#,
                nonce.as_bytes(),
                br#"","subject":""#,
                subject.as_bytes(),
                br#"","account":""#,
                &[b'0'.saturating_add(*account)],
            ]),
        }
        put(&[br#""}"#]);
    }
}

/// Splits this many lower-case hexadecimal digits off the front.
fn hex(bytes: &[u8], digits: usize) -> Option<(&str, &[u8])> {
    let (front, rest) = bytes.split_at_checked(digits)?;
    let all = front.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    all.then_some((std::str::from_utf8(front).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Option<Message<'_>> {
        Message::read(text.as_bytes())
    }

    proptest! {
        #[test]
        fn the_output_of_a_json_writer_is_read(
            nonce in "[0-9a-f]{32}",
            subject in "[0-9a-f]{64}",
            code in "[0-9A-Za-z]{3,10}",
            which in 0..Answer::ALL.len(),
        ) {
            let answer = Answer::ALL[which];
            // The order of a JSON map is not fixed, so these are formatted member by member.
            let text = |name: &str, value: &str| {
                let (nonce, subject, value) = (json!(nonce), json!(subject), json!(value));
                format!(r#"{{"nonce":{nonce},"subject":{subject},"{name}":{value}}}"#)
            };
            let answered = text("answer", answer.as_str());
            let expected = Message::Answer { nonce: &nonce, subject: &subject, answer };
            prop_assert!(read(&answered) == Some(expected));
            let coded = text("code", &code);
            let expected = Message::Code { nonce: &nonce, subject: &subject, code: code.as_bytes() };
            prop_assert!(read(&coded) == Some(expected));
            let show = json!({ "show": nonce }).to_string();
            let expected = Message::Show { nonce: &nonce };
            prop_assert!(read(&show) == Some(expected));
            for text in [answered, coded, show] {
                prop_assert!(text.len() <= MAX_BYTES);
                let mut written = Vec::new();
                read(&text).unwrap().write(&mut written);
                prop_assert_eq!(&written, text.as_bytes());
                // No byte can be removed or added.
                for at in 0..text.len() {
                    let mut less = written.clone();
                    less.remove(at);
                    let mut more = written.clone();
                    more.insert(at, b' ');
                    for changed in [less, more] {
                        let same = Message::read(&changed).is_none_or(|message| {
                            let mut again = Vec::new();
                            message.write(&mut again);
                            again == changed
                        });
                        prop_assert!(same);
                    }
                }
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Message::read(&bytes).is_none());
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        let (nonce, subject) = ("0".repeat(32), "a".repeat(64));
        let long = "0".repeat(33);
        for text in [
            String::new(),
            "{}".into(),
            format!(r#"{{"show":"{long}"}}"#),
            format!(r#"{{"show":"{nonce}"}} "#),
            format!(r#"{{"show":"{}"}}"#, "A".repeat(32)),
            format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"yes"}}"#),
            format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"Once"}}"#),
            format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"once","answer":"no"}}"#),
            format!(r#"{{"nonce":"{nonce}","subject":"{subject}","code":"12"}}"#),
            format!(r#"{{"nonce":"{nonce}","subject":"{subject}","code":"12345678901"}}"#),
            format!(r#"{{"nonce":"{nonce}","subject":"{subject}","code":"12-"}}"#),
            format!(r#"{{"subject":"{subject}","nonce":"{nonce}","answer":"once"}}"#),
        ] {
            assert!(read(&text).is_none(), "{text}");
        }
    }
}
