//! An agent whose steps a language model writes, over any endpoint that speaks chat completions.
//!
//! | module | subject |
//! |---|---|
//! | `words` | the text that the model reads, and the parsing of its answers |
//! | `endpoint` | [`Endpoint`]: the model, over http |
//! | `tape` | [`Recorder`] and [`Tape`]: recorded conversations, and their replay without the model |

mod endpoint;
mod tape;
mod words;

use serde::{Deserialize, Serialize};

use super::{Action, Agent};
use words::{INSTRUCTIONS, read_step};

pub use endpoint::{Endpoint, Refused};
pub use tape::{DIVERGED, Recorder, Tape};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

impl Message {
    fn new(role: &str, content: &str) -> Message {
        Message { role: role.to_owned(), content: content.to_owned() }
    }
}

/// Continues a conversation: a model, or a recording of one.
pub trait Speaker {
    /// The next message of the assistant.
    ///
    /// # Errors
    /// A sentence for the trial's record.
    fn say(&mut self, messages: &[Message]) -> Result<String, String>;
}

/// The most steps of one conversation.
const MOST_STEPS: usize = 60;
/// The number of times that an answer without a readable step is asked for again.
const MOST_UNREAD: usize = 3;
/// Observations longer than this many bytes are long; the older long ones are left out of the conversation.
const LONG: usize = 600;
/// The number of long observations that stay.
const KEPT: usize = 2;

/// An agent whose steps `speaker` writes.
///
/// The model sees the user's message as the trial gives it (raw without a guard, with handles under one), then the
/// result of each of its steps. Only the newest two long observations stay, so that a small context window suffices.
pub struct ChatAgent<S> {
    name: String,
    speaker: S,
    messages: Vec<Message>,
    steps: usize,
    broke_off: Option<String>,
}

impl<S: Speaker> ChatAgent<S> {
    /// An agent called `name` with the task in `prompt`.
    pub fn new(name: &str, speaker: S, prompt: &str) -> ChatAgent<S> {
        let messages = vec![Message::new("system", INSTRUCTIONS), Message::new("user", prompt)];
        ChatAgent { name: name.to_owned(), speaker, messages, steps: 0, broke_off: None }
    }

    fn forget_old_pages(&mut self) {
        let long = self.messages.iter_mut().skip(2).filter(|m| m.role == "user" && m.content.len() > LONG);
        for message in long.rev().skip(KEPT) {
            message.content = "(an earlier page, left out)".to_owned();
        }
    }
}

impl<S: Speaker> Agent for ChatAgent<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, observation: &str) -> Action {
        if self.steps > 0 {
            self.messages.push(Message::new("user", observation));
        }
        self.forget_old_pages();
        self.steps += 1;
        for _ in 0..MOST_UNREAD {
            if self.steps > MOST_STEPS {
                return Action::Done;
            }
            let said = match self.speaker.say(&self.messages) {
                Ok(said) => said,
                Err(why) => {
                    self.broke_off = Some(why);
                    return Action::Done;
                }
            };
            self.messages.push(Message::new("assistant", &said));
            match read_step(&said) {
                Ok(action) => return action,
                Err(problem) => self.messages.push(Message::new("user", &problem)),
            }
        }
        Action::Done
    }

    fn broke_off(&self) -> Option<String> {
        self.broke_off.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use browser_signals::{ElementRef, Verb};

    struct Script(Vec<&'static str>, Vec<Vec<Message>>);

    impl Speaker for Script {
        fn say(&mut self, messages: &[Message]) -> Result<String, String> {
            self.1.push(messages.to_vec());
            if self.0.is_empty() { Err("gone".to_owned()) } else { Ok(self.0.remove(0).to_owned()) }
        }
    }

    #[test]
    fn answers_become_steps_and_their_results_are_shown() {
        let said = vec![
            "{\"do\":\"read\"}",
            "I will click it.\n{\"do\":\"click\",\"target\":\"e5\"}",
            "{\"do\":\"done\"}",
        ];
        let mut agent = ChatAgent::new("chat", Script(said, Vec::new()), "Please buy a kettle.");
        assert_eq!(agent.next(""), Action::Verb(Verb::Read));
        assert_eq!(
            agent.next("- button \"Buy\" [ref=e5]"),
            Action::Verb(Verb::click(ElementRef("e5".into())))
        );
        assert_eq!(agent.next("ok"), Action::Done);
        let last = agent.speaker.1.last().unwrap();
        let roles: Vec<&str> = last.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
        assert_eq!(last[3].content, "- button \"Buy\" [ref=e5]");
        assert_eq!(agent.broke_off(), None);
    }

    #[test]
    fn an_unreadable_answer_is_requested_again_and_then_given_up() {
        let said = vec!["Well.", "{\"do\":\"fly\"}", "{\"do\":\"click\"}", "{\"do\":\"read\"}"];
        let mut agent = ChatAgent::new("chat", Script(said, Vec::new()), "task");
        assert_eq!(agent.next(""), Action::Done);
        assert_eq!(agent.speaker.1.len(), 3);
        assert!(agent.speaker.1[2].last().unwrap().content.contains("no step"));
    }

    #[test]
    fn a_speaker_that_fails_breaks_the_trial_off() {
        let mut agent = ChatAgent::new("chat", Script(Vec::new(), Vec::new()), "task");
        assert_eq!(agent.next(""), Action::Done);
        assert_eq!(agent.broke_off().as_deref(), Some("gone"));
    }

    #[test]
    fn only_the_newest_pages_stay() {
        let said = vec!["{\"do\":\"read\"}"; 6];
        let mut agent = ChatAgent::new("chat", Script(said, Vec::new()), &"long prompt ".repeat(90));
        for number in 0..6 {
            agent.next(&format!("page {number} {}", "x".repeat(LONG)));
        }
        let last = agent.speaker.1.last().unwrap();
        let pages: Vec<&str> =
            last.iter().filter(|m| m.content.starts_with("page")).map(|m| &m.content[..6]).collect();
        assert_eq!(pages, ["page 4", "page 5"]);
        assert!(last[1].content.starts_with("long prompt"), "the task is never forgotten");
    }
}
