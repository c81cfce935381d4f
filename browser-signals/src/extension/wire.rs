//! The messages to the extension, and the words of its answers.
//!
//! The other end is the extension's `worker.js`; a test of the command `portcullis` compares the words of the two.

use serde::{Deserialize, Serialize, Serializer};

use super::tab::Decided;
use crate::Origin;

/// A request to the extension.
#[derive(Debug, Serialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request<'a> {
    /// Load the documents of these sites under the rules of a task.
    Seal {
        /// The sites.
        origins: &'a [Origin],
    },
    /// Report every form of the tab in front.
    Forms {
        /// The sites of the task: a tab of another site is not reported.
        origins: &'a [Origin],
    },
    /// Report the text of the tab in front.
    Text {
        /// The sites of the task.
        origins: &'a [Origin],
    },
    /// Restrict the egress of the tab in front.
    Narrow {
        /// The sites of the task.
        origins: &'a [Origin],
        /// The only origins that stay open.
        open: &'a [Origin],
        /// True if the user trusts the pages of these sites that were open before the task.
        trusted: bool,
    },
    /// Fill controls of one document of the tab in front.
    Fill(FillRequest<'a>),
    /// End the task.
    Widen,
    /// Open the consent page for a question, in place of any other.
    Consent {
        /// The question's number.
        nonce: &'a str,
    },
    /// Close the consent page of a question.
    Over {
        /// The question's number.
        question: &'a str,
    },
}

impl Request<'_> {
    /// The words of all requests.
    pub const WORDS: [&'static str; 8] =
        ["seal", "forms", "text", "narrow", "fill", "widen", "consent", "over"];
}

/// A fill without its values, which follow it as `values`.
#[derive(Debug, Serialize)]
pub struct FillRequest<'a> {
    /// The time within which it may begin, in milliseconds.
    pub within: u64,
    /// The sites of the task.
    pub origins: &'a [Origin],
    /// The only origins that the document may reach from now on.
    pub open: &'a [Origin],
    /// True if the user trusts the pages of these sites that were open before the task.
    pub trusted: bool,
    /// The decision.
    pub decided: &'a Decided,
    /// The tab.
    pub tab: u64,
    /// The frame within it.
    pub frame: u64,
    /// The document.
    pub document: &'a str,
    /// Its origin.
    pub origin: &'a Origin,
    /// The form; 0 for controls without one.
    pub form: i64,
    /// The way in which the form is sent.
    pub way: Way<'a>,
    /// The controls, in the order of the values.
    pub nodes: Vec<i64>,
}

/// The way in which a form is sent.
#[derive(Debug, Serialize)]
pub struct Way<'a> {
    /// The address.
    pub action: String,
    /// The method.
    pub method: &'a str,
}

/// A request with the number that its answer repeats.
#[derive(Serialize)]
pub(super) struct Numbered<'a> {
    pub(super) id: u64,
    #[serde(flatten)]
    pub(super) request: &'a Request<'a>,
}

/// A word by which the extension answers what it was asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It was done.
    Done,
    /// The egress is not restricted.
    Open,
    /// The document or a control is gone.
    Gone,
    /// A control is not visible.
    Hidden,
    /// A control cannot hold its value.
    Unfit,
    /// The form, its destination, or a control's value differs from the decision.
    Diverted,
    /// The extension's preview of the policy disagrees.
    Disagrees,
    /// The time within which a fill may begin is over.
    Late,
    /// A page has the values, and did not say what became of them.
    Unconfirmed,
    /// The consent page is open.
    Opened,
    /// The browser opened no window.
    NoWindow,
}

impl Word {
    /// Every word.
    pub const ALL: [Word; 11] = [
        Word::Done,
        Word::Open,
        Word::Gone,
        Word::Hidden,
        Word::Unfit,
        Word::Diverted,
        Word::Disagrees,
        Word::Late,
        Word::Unconfirmed,
        Word::Opened,
        Word::NoWindow,
    ];
}

/// The answer to what the extension was asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Acted {
    /// It says so in a word.
    Word(Word),
    /// Nothing was done, since a page was open earlier.
    Earlier {
        /// The seconds to wait.
        earlier: u64,
    },
}

/// Why the extension carried nothing out: the `failed` of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failed {
    /// The tab in front is of no site of the task.
    NotOfTask,
    /// The page was replaced.
    Stale,
    /// The answer is too long for a message.
    TooLong,
    /// It does not know the request.
    Unknown,
}

impl Failed {
    /// Every one.
    pub const ALL: [Failed; 4] = [Failed::NotOfTask, Failed::Stale, Failed::TooLong, Failed::Unknown];
}

/// Writes the symbol of each signal.
pub(super) fn valuation<S: Serializer>(
    symbols: &[(&'static str, &'static str)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(symbols.iter().copied())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_answer_is_one_of_the_known_words_or_a_time_to_wait() {
        for word in Word::ALL {
            assert_eq!(serde_json::from_value::<Acted>(json!(word)).unwrap(), Acted::Word(word));
        }
        let earlier = json!({ "earlier": 7 });
        assert_eq!(serde_json::from_value::<Acted>(earlier).unwrap(), Acted::Earlier { earlier: 7 });
        for other in [json!("Done"), json!("over"), json!({ "earlier": "7" }), json!({}), json!(null)] {
            assert!(serde_json::from_value::<Acted>(other.clone()).is_err(), "{other}");
        }
        assert!(serde_json::from_value::<Failed>(json!("done")).is_err());
    }

    #[test]
    fn each_request_has_its_word_and_its_number() {
        let origins = [Origin::parse("https://shop.test").unwrap()];
        let origins = origins.as_slice();
        let valuation = vec![("tls", "valid")];
        let decided = Decided { event: "address".into(), need: "T2".into(), valuation };
        let fill = FillRequest {
            within: 7,
            origins,
            open: origins,
            trusted: false,
            decided: &decided,
            tab: 1,
            frame: 0,
            document: "A",
            origin: origins.first().unwrap(),
            form: 2,
            way: Way { action: "https://shop.test/order".into(), method: "POST" },
            nodes: vec![3],
        };
        let requests = [
            Request::Seal { origins },
            Request::Forms { origins },
            Request::Text { origins },
            Request::Narrow { origins, open: origins, trusted: true },
            Request::Fill(fill),
            Request::Widen,
            Request::Consent { nonce: "one" },
            Request::Over { question: "one" },
        ];
        let written = |request| serde_json::to_value(Numbered { id: 4, request }).unwrap();
        let written: Vec<Value> = requests.iter().map(written).collect();
        let words: Vec<&str> = written.iter().map(|message| message["ask"].as_str().unwrap()).collect();
        assert_eq!(words, Request::WORDS);
        assert!(written.iter().all(|message| message["id"] == 4));
        assert_eq!(written[0], json!({ "id": 4, "ask": "seal", "origins": ["https://shop.test"] }));
        assert_eq!(written[5], json!({ "id": 4, "ask": "widen" }));
        assert_eq!(
            written[4],
            json!({
                "id": 4,
                "ask": "fill",
                "within": 7,
                "origins": ["https://shop.test"],
                "open": ["https://shop.test"],
                "trusted": false,
                "decided": { "event": "address", "need": "T2", "valuation": { "tls": "valid" } },
                "tab": 1,
                "frame": 0,
                "document": "A",
                "origin": "https://shop.test",
                "form": 2,
                "way": { "action": "https://shop.test/order", "method": "POST" },
                "nodes": [3],
            })
        );
    }
}
