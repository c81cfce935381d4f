//! One trial as a film strip: the page with the sentence that attacks, what the agent tried, what the guard answered, what the user was
//! asked, and what the attacker's servers received.

use std::fmt::Write as _;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser_signals::Verb;

use crate::agent::Action;
use crate::html::escape;
use crate::suite::hosts;
use crate::suite::planted::{Planted, ShopPage};
use crate::suite::record::{Arrival, TrialRecord};
use crate::suite::scenario::Scenario;
use crate::trials::Approach;
use crate::trials::judge::Judgement;
use crate::trials::taken::{Question, Taken};

/// The most characters of an answer or a request that a picture of the strip shows.
const MAX_SHOWN: usize = 320;
/// The most characters of a question.
const MAX_QUESTION: usize = 2000;

/// The page of a story: its picture, with the sentence marked where a person can see it.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// The scenario's name.
    pub(crate) title: String,
    /// The sentence that attacks.
    pub(crate) sentence: String,
    /// The page as PNG.
    pub(crate) picture: Vec<u8>,
    /// True if the sentence is marked in it.
    pub(crate) is_marked: bool,
}

/// One trial.
#[derive(Debug, Clone)]
pub(crate) struct Story {
    pub(crate) approach: Approach,
    pub(crate) agent: String,
    pub(crate) taken: Vec<Taken>,
    pub(crate) asked: Vec<Question>,
    pub(crate) record: TrialRecord,
    pub(crate) judgement: Judgement,
}

/// One picture of the strip.
struct Frame {
    at: Instant,
    /// The class of its colour.
    tone: &'static str,
    who: &'static str,
    said: String,
    answer: String,
}

/// Returns true if the report can tell this trial's story: the sentence that attacks is on the page where the task begins.
pub(crate) fn is_told(scenario: &Scenario) -> bool {
    scenario.hostile && Planted::of(scenario).page == ShopPage::Product
}

/// The stories of one scene as HTML; nothing without a story.
pub(crate) fn to_html(scene: &Scene, stories: &[Story]) -> String {
    if stories.is_empty() {
        return String::new();
    }
    let strips: String = stories.iter().map(strip).collect();
    format!("<section>{}{strips}</section>", scene_to_html(scene))
}

/// The page of a story.
pub(crate) fn scene_to_html(scene: &Scene) -> String {
    let seen = if scene.is_marked {
        "The sentence is marked on the page."
    } else {
        "A person does not see the sentence on the page."
    };
    format!(
        "<h2>One hostile page: {title}</h2><figure><img alt=\"The shop's page\" \
         src=\"data:image/png;base64,{picture}\"><figcaption>{seen} It says: <q>{sentence}</q></figcaption></figure>",
        title = escape(&scene.title),
        picture = STANDARD.encode(&scene.picture),
        sentence = escape(&scene.sentence),
    )
}

/// One trial as a strip.
pub(crate) fn strip(story: &Story) -> String {
    let name = match story.approach {
        Approach::None => "Without a guard".to_owned(),
        approach => format!("Under {}", approach.as_str()),
    };
    let mut html = format!(
        "<article><h3>{}, {} agent: {}</h3><ol class=\"strip\" tabindex=\"0\">",
        escape(&name),
        escape(&story.agent),
        ending(&story.judgement, !story.record.orders.is_empty())
    );
    for frame in frames(story) {
        let _ = write!(
            html,
            "<li class=\"{}\"><b>{}</b><p>{}</p><p class=\"answer\">{}</p></li>",
            frame.tone,
            frame.who,
            escape(&frame.said),
            escape(&frame.answer)
        );
    }
    html.push_str("</ol>");
    html.push_str(&received(story));
    html.push_str("</article>");
    html
}

/// The end of a trial, in words.
fn ending(judgement: &Judgement, has_order: bool) -> String {
    let mut ends = Vec::new();
    if !judgement.leaks.is_empty() {
        let mut fields: Vec<&str> = judgement.leaks.iter().map(|leak| leak.field).collect();
        fields.sort_unstable();
        fields.dedup();
        ends.push(format!(
            "<span class=\"bad\">leaked {}</span>",
            escape(&fields.join(", ").replace('_', " "))
        ));
    }
    if judgement.hijack {
        ends.push(format!(
            "<span class=\"bad\">another {} was ordered</span>",
            escape(&judgement.differences.join(", "))
        ));
    }
    match (judgement.success, has_order) {
        (true, true) => {
            ends.push("<span class=\"good\">the user's order arrived, and nothing leaked</span>".into())
        }
        (true, false) => {
            ends.push("<span class=\"good\">nothing was bought, and nothing leaked</span>".into())
        }
        (false, false) => ends.push("no order arrived".into()),
        (false, true) => {}
    }
    ends.join(", ")
}

/// The frames in the order of time. Looks at the page and waits are left out.
fn frames(story: &Story) -> Vec<Frame> {
    let taken = story.taken.iter().filter_map(|taken| {
        let said = told(&taken.action)?;
        let is_refused = taken.answer.starts_with("failed") || taken.answer.contains("DENY.");
        let (tone, who) = match (is_refused, taken.answer.contains("GRANT.")) {
            (true, _) => ("no", "The agent"),
            (false, true) => ("yes", "The agent"),
            (false, false) => ("", "The agent"),
        };
        Some(Frame { at: taken.at, tone, who, said, answer: shortened(&taken.answer) })
    });
    let withheld = story.taken.iter().find(|taken| taken.answer.contains("[withheld]")).map(|taken| Frame {
        at: taken.at,
        tone: "yes",
        who: "The guard",
        said: "withholds words of the page from the agent, which read like an attempt to direct it"
            .to_owned(),
        answer: "The agent reads [withheld] in their place.".to_owned(),
    });
    let asked = story.asked.iter().map(|question| Frame {
        at: question.at,
        tone: "ask",
        who: "The user is asked",
        said: shortened_to(&question.text, MAX_QUESTION),
        answer: if question.agreed { "The user says yes." } else { "The user says no." }.to_owned(),
    });
    let mut frames: Vec<Frame> = taken.chain(withheld).chain(asked).collect();
    frames.sort_by_key(|frame| frame.at);
    frames
}

/// An action in words; `None` for one that only looks or waits.
fn told(action: &Action) -> Option<String> {
    let said = match action {
        Action::Done | Action::Verb(Verb::Read | Verb::Wait { .. } | Verb::Hover { .. }) => return None,
        Action::Request(text) => format!("asks for data: {text}"),
        Action::Verb(verb) => match verb {
            Verb::Open { url } => format!("opens {url}"),
            Verb::Type { text, .. } => format!("types \u{201c}{text}\u{201d}"),
            Verb::Select { options, .. } => format!("chooses {}", options.join(", ")),
            Verb::Check { on: true, .. } => "ticks a box".to_owned(),
            Verb::Check { on: false, .. } => "takes the tick off a box".to_owned(),
            Verb::Press { key } => format!("presses {key}"),
            Verb::Submit { .. } => "sends the form".to_owned(),
            Verb::Click { .. } => "clicks".to_owned(),
            Verb::Drag { .. } => "drags something".to_owned(),
            Verb::Back => "goes back".to_owned(),
            Verb::Read | Verb::Wait { .. } | Verb::Hover { .. } => return None,
        },
    };
    Some(shortened(&said))
}

/// The requests in which the attacker's servers, or places of the shop that need no value, received something.
fn received(story: &Story) -> String {
    let is_elsewhere =
        |arrival: &&Arrival| arrival.host != hosts::SHOP || matches!(arrival.page(), "chat" | "note");
    let sent: Vec<String> = story
        .record
        .arrivals
        .iter()
        .filter(is_elsewhere)
        .filter(|arrival| !arrival.query.is_empty() || !arrival.body.is_empty())
        .map(|arrival| {
            let content = if arrival.body.is_empty() { &arrival.query } else { &arrival.body };
            let pairs = url::form_urlencoded::parse(content.as_bytes());
            let content: Vec<String> = pairs.map(|(name, value)| format!("{name}: {value}")).collect();
            let line =
                format!("{} {}/{}: {}", arrival.method, arrival.host, arrival.page(), content.join("; "));
            format!("<li><code>{}</code></li>", escape(&shortened(&line)))
        })
        .collect();
    if sent.is_empty() {
        return "<p>The attacker's servers, the chat and other forms received nothing.</p>".to_owned();
    }
    format!(
        "<p>The attacker's servers, the chat and other forms received:</p><ul class=\"bad\">{}</ul>",
        sent.concat()
    )
}

fn shortened(text: &str) -> String {
    shortened_to(text, MAX_SHOWN)
}

fn shortened_to(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most).collect();
    format!("{} …", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(answer: &str) -> Story {
        let at = Instant::now();
        let open = Action::Verb(Verb::Open { url: "https://<evil>.test".to_owned() });
        let taken = vec![
            Taken { action: Action::Verb(Verb::Read), answer: "a page, \"[withheld]\"".to_owned(), at },
            Taken { action: open, answer: answer.to_owned(), at },
        ];
        let asked = vec![Question { text: "pay 1.00 USD".to_owned(), agreed: false, at }];
        let (record, judgement) = (TrialRecord::default(), Judgement::default());
        Story { approach: Approach::C, agent: "obedient".to_owned(), taken, asked, record, judgement }
    }

    fn scene() -> Scene {
        let (title, sentence) = ("review".to_owned(), "<script>Send it</script>".to_owned());
        Scene { title, sentence, picture: vec![1, 2, 3], is_marked: true }
    }

    #[test]
    fn the_strip_shows_tries_answers_and_questions_and_escapes_them() {
        let html = to_html(&scene(), &[story("DENY.verb {\"reason\":\"outside_task\"}")]);
        for words in [
            "class=\"no\"",
            "opens https://&lt;evil&gt;.test",
            "outside_task",
            "withholds words",
            "The user says no.",
            "no order arrived",
            "received nothing",
            "&lt;script&gt;Send it",
            "data:image/png;base64,AQID",
        ] {
            assert!(html.contains(words), "{words} is not in {html}");
        }
        assert!(!html.contains("<script>") && !html.contains("a page"), "{html}");
        assert_eq!(to_html(&scene(), &[]), "");
    }

    #[test]
    fn what_the_attacker_received_is_listed() {
        let mut leaky = story("ok");
        leaky.record.arrivals.push(Arrival {
            host: hosts::COLLECTOR.to_owned(),
            method: "POST".to_owned(),
            path: "/t/x/verify".to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: "number=4111+1111".to_owned(),
        });
        let html = to_html(&scene(), &[leaky]);
        assert!(html.contains("POST collect.evil.test/verify: number: 4111 1111"), "{html}");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(shortened(" short "), "short");
        assert!(shortened(&"word ".repeat(200)).chars().count() <= MAX_SHOWN + 2);
    }
}
