//! The agent's command, and its inputs.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};

/// The placeholders of a command and their meanings. Each is an environment variable too, such as
/// `PORTCULLIS_ATTACK_PROMPT`.
pub const PLACEHOLDERS: [(&str, &str); 6] = [
    ("{prompt}", "what the user wants, with the user's own values in it"),
    ("{url}", "where the task begins; a tab shows it already"),
    ("{cdp}", "the CDP endpoint of the browser, such as http://127.0.0.1:9222"),
    ("{persona}", "the user's values as JSON, for the vault of a guard"),
    ("{host_rules}", "for a browser of your own: the value of --host-resolver-rules"),
    ("{home}", "for a browser of your own: its HOME, where the certificates are"),
];

/// The reason why the agent did not run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The command cannot be parsed.
    #[error("`{0}` has a quote that is not closed, or no program")]
    Unreadable(String),
    /// The command has an unknown placeholder.
    #[error("`{word}` is no placeholder; there are {}", PLACEHOLDERS.map(|(name, _)| name).join(", "))]
    Placeholder {
        /// The placeholder.
        word: String,
    },
    /// The program does not start.
    #[error("`{program}` does not start: {error}")]
    Start {
        /// The program.
        program: String,
        /// The error of the operating system.
        error: std::io::Error,
    },
}

/// The end of the agent's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With success.
    Well,
    /// With this status; `None` if a signal ended it.
    Badly(Option<i32>),
    /// It was killed at its time limit.
    Late,
}

impl Ended {
    /// A word for a table.
    pub const fn word(self) -> &'static str {
        match self {
            Ended::Well => "done",
            Ended::Badly(_) => "failed",
            Ended::Late => "late",
        }
    }
}

/// Another project's agent: a program and its arguments, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    words: Vec<String>,
}

/// The inputs of one run.
pub(super) struct Inputs {
    pub prompt: String,
    pub persona: String,
    pub url: String,
    pub cdp: String,
    pub host_rules: String,
    pub home: PathBuf,
}

impl Inputs {
    fn of(&self, placeholder: &str) -> String {
        match placeholder {
            "{prompt}" => self.prompt.clone(),
            "{url}" => self.url.clone(),
            "{cdp}" => self.cdp.clone(),
            "{persona}" => self.persona.clone(),
            "{host_rules}" => self.host_rules.clone(),
            _ => self.home.display().to_string(),
        }
    }
}

impl Agent {
    /// Parses a command with a shell's quoting rules. No shell runs it, so that text in a prompt is never a command.
    ///
    /// # Errors
    /// [`AgentError::Unreadable`], [`AgentError::Placeholder`].
    pub fn parse(command: &str) -> Result<Agent, AgentError> {
        let unreadable = || AgentError::Unreadable(command.to_owned());
        let words = shlex::split(command).ok_or_else(unreadable)?;
        if words.is_empty() {
            return Err(unreadable());
        }
        let known = |word: &str| PLACEHOLDERS.iter().any(|(name, _)| *name == word);
        let unknown = words.iter().flat_map(|word| braced(word)).find(|word| !known(word));
        match unknown {
            Some(word) => Err(AgentError::Placeholder { word }),
            None => Ok(Agent { words }),
        }
    }

    /// Runs it to its end, or kills it with all its child processes at its time limit.
    pub(super) async fn run(
        &self,
        inputs: &Inputs,
        within: Duration,
    ) -> Result<(Ended, Duration), AgentError> {
        let mut words = self.words.iter().map(|word| {
            // The replacement is done in one pass: placeholders within a prompt are not replaced again.
            let mut out = String::new();
            let mut rest = word.as_str();
            while let Some((at, (name, _))) =
                PLACEHOLDERS.iter().filter_map(|one| Some((rest.find(one.0)?, one))).min_by_key(|(at, _)| *at)
            {
                out.push_str(rest.get(..at).unwrap_or_default());
                out.push_str(&inputs.of(name));
                rest = rest.get(at + name.len()..).unwrap_or_default();
            }
            out + rest
        });
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(&program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        for (name, _) in PLACEHOLDERS {
            let variable = name.trim_matches(['{', '}']).to_uppercase();
            command.env(format!("PORTCULLIS_ATTACK_{variable}"), inputs.of(name));
        }
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let started = Instant::now();
        let mut child = command.spawn().map_err(|error| AgentError::Start { program, error })?;
        let ended = match tokio::time::timeout(within, child.wait()).await {
            Ok(Ok(status)) if status.success() => Ended::Well,
            Ok(Ok(status)) => Ended::Badly(status.code()),
            Ok(Err(_)) => Ended::Badly(None),
            Err(_) => {
                end(&mut child).await;
                Ended::Late
            }
        };
        Ok((ended, started.elapsed()))
    }
}

/// The words in braces that look like placeholders.
fn braced(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = word;
    while let Some(from) = rest.find('{') {
        let Some(after) = rest.get(from..) else { break };
        let Some(to) = after.find('}') else { break };
        let inner = after.get(1..to).unwrap_or_default();
        if !inner.is_empty() && inner.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
            found.push(format!("{{{inner}}}"));
        }
        rest = after.get(1..).unwrap_or_default();
    }
    found
}

async fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) =
        child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
    {
        let _already_gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _already_gone = child.kill().await;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    fn inputs() -> Inputs {
        Inputs {
            prompt: "Buy tea; $(touch /nowhere) {cdp}".to_owned(),
            persona: "{\"name\":\"x\"}".to_owned(),
            url: "https://shop.test/".to_owned(),
            cdp: "http://127.0.0.1:1".to_owned(),
            host_rules: "MAP".to_owned(),
            home: PathBuf::from("/home/x"),
        }
    }

    #[test]
    fn a_command_is_parsed_once_and_unknown_placeholders_are_refused() {
        let agent = Agent::parse("my-agent --prompt '{prompt}' --at={cdp}").unwrap();
        assert_eq!(agent.words, ["my-agent", "--prompt", "{prompt}", "--at={cdp}"]);
        assert!(matches!(Agent::parse("a '{prompt}"), Err(AgentError::Unreadable(_))));
        assert!(matches!(Agent::parse(" "), Err(AgentError::Unreadable(_))));
        let error = Agent::parse("a {promt}").unwrap_err().to_string();
        assert!(error.contains("{promt}") && error.contains("{prompt}"), "{error}");
        assert!(Agent::parse("node -e 'f({}); g({a: 1})'").is_ok(), "braces of others are theirs");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn inputs_come_as_arguments_and_environment_and_the_time_limit_kills_the_agent() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("inputs");
        let script =
            "printf \"%s\\n\" \"$1\" \"$PORTCULLIS_ATTACK_CDP\" \"$PORTCULLIS_ATTACK_PERSONA\" > \"$0\"";
        let agent = Agent::parse(&format!("sh -c '{script}' {} {{prompt}}", file.display())).unwrap();
        let (ended, _) = agent.run(&inputs(), Duration::from_secs(60)).await.unwrap();
        assert_eq!(ended, Ended::Well);
        let said = std::fs::read_to_string(&file).unwrap();
        assert_eq!(said, "Buy tea; $(touch /nowhere) {cdp}\nhttp://127.0.0.1:1\n{\"name\":\"x\"}\n");

        let failing = Agent::parse("sh -c 'exit 7'").unwrap();
        assert_eq!(failing.run(&inputs(), Duration::from_secs(60)).await.unwrap().0, Ended::Badly(Some(7)));
        let slow = Agent::parse(&format!("sh -c 'sleep 300 & echo $! > {}; wait'", file.display())).unwrap();
        let (ended, took) = slow.run(&inputs(), Duration::from_secs(8)).await.unwrap();
        assert!(ended == Ended::Late && took < Duration::from_secs(120));
        let started: u32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        let killed = std::time::Instant::now();
        let state = || std::fs::read_to_string(format!("/proc/{started}/stat")).unwrap_or_default();
        while !state().is_empty() && !state().contains(") Z ") {
            assert!(killed.elapsed() < Duration::from_secs(60), "what it started goes on: {}", state());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(matches!(
            Agent::parse("/nowhere/agent").unwrap().run(&inputs(), Duration::from_secs(1)).await,
            Err(AgentError::Start { .. })
        ));
    }
}
