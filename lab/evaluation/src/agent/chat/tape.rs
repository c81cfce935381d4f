//! Recorded conversations, and their replay without the model.
//!
//! A tape is a file of lines, one for each answer: its text, and a fingerprint of the conversation that it answered. It
//! is replayed only in the same conversation. If a page, the instructions or the guard's answers differ, the model's
//! answer is unknown, and the trial breaks off. Tapes hold only the model's own words; without a guard these may
//! contain the made-up person's values.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Message, Speaker};

/// The beginning of the reason for breaking off if a tape was recorded in another conversation.
pub const DIVERGED: &str = "the recording does not fit";

#[derive(Serialize, Deserialize)]
struct Line {
    asked: String,
    said: String,
}

/// A fingerprint of a conversation (FNV-1a of 64 bits over roles and contents, each with its length). It detects
/// differences, not forgery.
fn fingerprint(messages: &[Message]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for message in messages {
        add(message.role.as_bytes());
        add(message.content.as_bytes());
    }
    format!("{hash:016x}")
}

/// Passes a speaker's answers on and records them.
pub struct Recorder<S> {
    speaker: S,
    file: Result<File, String>,
}

impl<S> Recorder<S> {
    /// Records `speaker` to a file; an existing file is replaced, and its folder is made.
    pub fn new(speaker: S, path: &Path) -> Recorder<S> {
        let opened = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| OpenOptions::new().write(true).create(true).truncate(true).open(path));
        let file = opened.map_err(|error| format!("{} cannot be written: {error}", path.display()));
        Recorder { speaker, file }
    }
}

impl<S: Speaker> Speaker for Recorder<S> {
    fn say(&mut self, messages: &[Message]) -> Result<String, String> {
        let file = self.file.as_mut().map_err(|problem| problem.clone())?;
        let said = self.speaker.say(messages)?;
        let line = Line { asked: fingerprint(messages), said: said.clone() };
        let written =
            serde_json::to_string(&line).map_err(io::Error::from).and_then(|line| writeln!(file, "{line}"));
        written.map_err(|error| format!("the recording cannot be written: {error}"))?;
        Ok(said)
    }
}

/// Replays a recording.
pub struct Tape {
    lines: std::vec::IntoIter<Line>,
    problem: Option<String>,
    played: usize,
}

impl Tape {
    /// The recording in a file. If it is absent or broken, the first question returns that as an error.
    pub fn new(path: &Path) -> Tape {
        let read = fs::read_to_string(path).map_err(|error| error.to_string());
        let lines = read.and_then(|text| {
            let lines = text.lines().map(serde_json::from_str::<Line>);
            lines.collect::<Result<Vec<Line>, _>>().map_err(|error| error.to_string())
        });
        let (lines, problem) = match lines {
            Ok(lines) => (lines, None),
            Err(error) => {
                (Vec::new(), Some(format!("{DIVERGED}: {} cannot be read: {error}", path.display())))
            }
        };
        Tape { lines: lines.into_iter(), problem, played: 0 }
    }
}

impl Speaker for Tape {
    fn say(&mut self, messages: &[Message]) -> Result<String, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let line =
            self.lines.next().ok_or_else(|| format!("{DIVERGED}: it ends after {} answers", self.played))?;
        if line.asked != fingerprint(messages) {
            return Err(format!("{DIVERGED}: answer {} was to another conversation", self.played + 1));
        }
        self.played += 1;
        Ok(line.said)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChatAgent;
    use super::*;
    use crate::agent::{Action, Agent};

    struct Counting(u32);

    impl Speaker for Counting {
        fn say(&mut self, _messages: &[Message]) -> Result<String, String> {
            self.0 += 1;
            Ok(if self.0 < 4 {
                format!("{{\"do\":\"wait\",\"milliseconds\":{}}}", self.0)
            } else {
                "{\"do\":\"done\"}".into()
            })
        }
    }

    fn act(agent: &mut dyn Agent, observations: &[&str]) -> Vec<Action> {
        observations.iter().map(|observation| agent.next(observation)).collect()
    }

    #[test]
    fn a_recording_plays_the_same_steps_without_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/tape.jsonl");
        let pages = ["", "one", "two", "three"];
        let recorded = act(&mut ChatAgent::new("chat", Recorder::new(Counting(0), &path), "task"), &pages);
        let mut replayed = ChatAgent::new("chat", Tape::new(&path), "task");
        assert_eq!(act(&mut replayed, &pages), recorded);
        assert_eq!(replayed.broke_off(), None);
    }

    #[test]
    fn another_page_another_task_or_a_longer_trial_breaks_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        act(&mut ChatAgent::new("chat", Recorder::new(Counting(0), &path), "task"), &["", "one"]);
        for (task, pages) in
            [("task", ["", "two", ""]), ("other", ["", "one", ""]), ("task", ["", "one", "more"])]
        {
            let mut agent = ChatAgent::new("chat", Tape::new(&path), task);
            act(&mut agent, &pages);
            assert!(agent.broke_off().is_some_and(|why| why.starts_with(DIVERGED)), "{task} {pages:?}");
        }
        let mut absent = ChatAgent::new("chat", Tape::new(&folder.path().join("none")), "task");
        assert_eq!(absent.next(""), Action::Done);
        assert!(absent.broke_off().is_some_and(|why| why.starts_with(DIVERGED)));
    }

    #[test]
    fn conversations_with_equal_concatenations_have_different_fingerprints() {
        let message = |role: &str, content: &str| Message { role: role.into(), content: content.into() };
        let one = fingerprint(&[message("user", "ab"), message("user", "c")]);
        // The second and the third conversation are the same letters when concatenated.
        for other in [
            vec![message("user", "a"), message("user", "bc")],
            vec![message("user", "abuserc")],
            vec![message("usera", "b"), message("user", "c")],
            vec![message("user", "ab"), message("assistant", "c")],
            vec![message("user", "xx"), message("user", "c")],
            vec![message("user", "ab"), message("user", "x")],
            vec![message("user", "c"), message("user", "ab")],
            vec![message("user", "ab")],
        ] {
            assert_ne!(one, fingerprint(&other), "{other:?}");
        }
        assert_eq!(one, fingerprint(&[message("user", "ab"), message("user", "c")]));
    }
}
