//! The answerer on the terminal.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use vault::Secret;
use zeroize::Zeroizing;

use super::answer::{Answer, MIN_READING_TIME};
use super::answerer::{
    AnswerFuture, Answerer, ChoiceFuture, CodeFuture, HandOver, HandOverFuture, HandedOver, WarnFuture,
};
use super::code::AskedCode;
use super::prompt::ConsentPrompt;
use super::warning::Warning;
use super::which_account::WhichAccount;

/// The most bytes of a line; a longer one counts as empty.
const MAX_LINE_BYTES: usize = 64;

/// Asks on the terminal: on standard error, answered on standard input. Any text but one of the offered words is no; so is
/// the end of the input.
///
/// An answer counts for the question on the screen. Text that was typed before it was shown is dropped, and text that comes
/// after its time is up is not kept for the next one. So there is one reader for the life of the answerer, and no other
/// part of the program should read standard input.
#[derive(Default)]
pub struct TerminalAnswerer {
    lines: Option<UnboundedReceiver<InputLine>>,
    window: bool,
}

/// One line of input, wiped when dropped.
type InputLine = Zeroizing<Vec<u8>>;

impl TerminalAnswerer {
    /// An answerer for a user who also sees the browser's window and may finish a refused request there manually.
    #[must_use]
    pub fn with_visible_browser(self) -> TerminalAnswerer {
        TerminalAnswerer { window: true, ..self }
    }

    /// The lines of input from now on.
    fn fresh_lines(&mut self) -> &mut UnboundedReceiver<InputLine> {
        let lines = self.lines.get_or_insert_with(read_lines);
        drop_typed_ahead();
        while lines.try_recv().is_ok() {}
        lines
    }
}

impl Answerer for TerminalAnswerer {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        Box::pin(async move {
            let choices: Vec<Answer> = prompt.choices().collect();
            let offered: Vec<String> =
                choices.iter().map(|answer| format!("  {:<8}{answer}\n", answer.as_str())).collect();
            let lines = self.fresh_lines();
            let text = format!("\n{prompt}{}Your answer [no]: ", offered.concat());
            let (shown, mut over) =
                (Instant::now(), TimeoutMessage { text: "\nTime is up: the answer is no.\n" });
            if !say(&text) {
                return Answer::No;
            }
            let answer = loop {
                let Some(line) = lines.recv().await else { break Answer::No };
                let answer = parse_answer(&line, &choices);
                if answer.agrees() && shown.elapsed() < MIN_READING_TIME {
                    say("That was too quick to be read. Your answer [no]: ");
                    continue;
                }
                break answer;
            };
            over.text = "";
            answer
        })
    }

    fn code<'a>(&'a mut self, asked: &'a AskedCode, _prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(async move {
            let lines = self.fresh_lines();
            let _echo = EchoOff::new();
            let mut over = TimeoutMessage { text: "\nTime is up: no code.\n" };
            say(&format!("{}, used once and not stored (empty for none): ", asked.request()));
            let line = lines.recv().await?;
            over.text = "";
            say("\n");
            // Sites write codes in groups.
            let mut code = Zeroizing::new(Vec::with_capacity(line.len()));
            code.extend(line.trim_ascii().iter().filter(|byte| !matches!(byte, b' ' | b'-')));
            asked.accepts(&code).then(|| Secret::new(code.as_slice()))
        })
    }

    fn choose<'a>(&'a mut self, which: &'a WhichAccount) -> ChoiceFuture<'a> {
        Box::pin(async move {
            let lines = self.fresh_lines();
            let mut over = TimeoutMessage { text: "\nTime is up: no account.\n" };
            if !say(&format!("\n{which}Type its number, or nothing for none: ")) {
                return None;
            }
            let line = lines.recv().await?;
            over.text = "";
            let number: usize = std::str::from_utf8(&line).ok()?.trim().parse().ok()?;
            number.checked_sub(1).filter(|place| *place < which.labels.len())
        })
    }

    fn offers_hand_over(&self) -> bool {
        self.window
    }

    fn hand_over<'a>(&'a mut self, offer: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(async move {
            let lines = self.fresh_lines();
            let mut over = TimeoutMessage { text: "\nTime is up: the agent's part is over.\n" };
            let text = format!(
                "\n{offer}\nWhen you have finished, answer done; with no the agent goes on and reads the page [no]: "
            );
            let answer = if say(&text) { lines.recv().await } else { None };
            over.text = "";
            match answer {
                Some(line) if line.trim_ascii().eq_ignore_ascii_case(b"done") => HandedOver::Finished,
                Some(_) => HandedOver::GoOn,
                None => HandedOver::Silence,
            }
        })
    }

    fn warn<'a>(&'a mut self, warning: &'a Warning) -> WarnFuture<'a> {
        say(&format!("\nWarning. {warning}\n"));
        Box::pin(std::future::ready(()))
    }
}

/// Prints that the time is up, when it is dropped before the text is cleared.
struct TimeoutMessage {
    text: &'static str,
}

impl Drop for TimeoutMessage {
    fn drop(&mut self) {
        if !self.text.is_empty() {
            say(self.text);
        }
    }
}

/// The answer in a typed line: one of the offered words, or `y` and `yes` for this once.
fn parse_answer(line: &[u8], choices: &[Answer]) -> Answer {
    let word = String::from_utf8_lossy(line).trim().to_ascii_lowercase();
    let word = if matches!(word.as_str(), "y" | "yes") { "once" } else { &word };
    Answer::from_word(word).filter(|answer| choices.contains(answer)).unwrap_or(Answer::No)
}

fn say(text: &str) -> bool {
    let mut out = std::io::stderr().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// Reads lines as long as the receiver exists, on a thread of its own that does not keep the program running.
fn read_lines() -> UnboundedReceiver<InputLine> {
    let (sender, lines) = unbounded_channel();
    let reader = move || {
        let Ok(mut input) = standard_input() else { return };
        while let Some(line) = read_line(&mut input) {
            if sender.send(line).is_err() {
                return;
            }
        }
    };
    // Without a thread the channel is closed, and every answer is no.
    let _thread = std::thread::Builder::new().name("consent".to_owned()).spawn(reader);
    lines
}

/// Reads one line without its end; `None` at the end of the input. A line that is too long counts as empty.
fn read_line(input: &mut impl std::io::Read) -> Option<InputLine> {
    let (mut line, mut byte) = (Zeroizing::new(Vec::with_capacity(MAX_LINE_BYTES)), [0]);
    let mut fits = true;
    loop {
        match input.read(&mut byte) {
            Ok(0) | Err(_) => return None,
            Ok(_) if byte == *b"\n" => break,
            Ok(_) if line.len() < MAX_LINE_BYTES => line.extend_from_slice(&byte),
            Ok(_) => fits = false,
        }
    }
    if !fits {
        line.clear();
    }
    Some(line)
}

/// Standard input without the library's buffer, which is not wiped and would keep text that was typed early.
#[cfg(unix)]
fn standard_input() -> std::io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    std::io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(windows)]
fn standard_input() -> std::io::Result<std::fs::File> {
    use std::os::windows::io::AsHandle;
    std::io::stdin().as_handle().try_clone_to_owned().map(std::fs::File::from)
}

/// Drops typed text that was not read yet.
fn drop_typed_ahead() {
    #[cfg(unix)]
    if std::io::stdin().is_terminal() {
        use rustix::termios::{QueueSelector, tcflush};
        // Text that cannot be dropped here is dropped from the channel, or arrives too quickly to count.
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
}

/// Turns the terminal's echo off until it is dropped.
struct EchoOff {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl EchoOff {
    #[cfg(unix)]
    fn new() -> EchoOff {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = std::io::stdin().is_terminal().then(|| tcgetattr(std::io::stdin()).ok()).flatten();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            // If the echo cannot be turned off, the question is asked all the same.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet);
        }
        EchoOff { before }
    }

    #[cfg(not(unix))]
    fn new() -> EchoOff {
        EchoOff {}
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(before) = &self.before {
            use rustix::termios::{OptionalActions, tcsetattr};
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consent::{SubjectBuilder, Ticket};
    use policy_dfa::{ConsentScope, Millis};

    #[test]
    fn only_an_offered_word_is_a_yes() {
        let offered = [Answer::No, Answer::Once, Answer::Never];
        assert_eq!(parse_answer(b"once\r", &offered), Answer::Once);
        assert_eq!(parse_answer(b"  YES ", &offered), Answer::Once);
        assert_eq!(parse_answer(b"never", &offered), Answer::Never);
        for line in ["", "no", "site", "session", "yes please", "o", "\u{202e}once"] {
            assert_eq!(parse_answer(line.as_bytes(), &offered), Answer::No, "{line:?}");
        }
    }

    #[test]
    fn a_line_ends_at_its_end_and_a_long_one_is_empty() {
        let mut input = format!("once\n{}\nno", "once ".repeat(40)).into_bytes();
        input.extend_from_slice(b"\nrest");
        let mut input = input.as_slice();
        let mut next = || read_line(&mut input).map(|line| line.to_vec());
        assert_eq!(next(), Some(b"once".to_vec()));
        assert_eq!(next(), Some(Vec::new()));
        assert_eq!(next(), Some(b"no".to_vec()));
        assert_eq!(next(), None);
    }

    fn prompt() -> ConsentPrompt {
        let ticket = Ticket::new([0; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
        ConsentPrompt::new(Vec::new(), Vec::new(), ConsentScope::EveryTime, ticket)
    }

    #[tokio::test]
    async fn a_yes_typed_before_the_question_or_too_quickly_is_not_an_answer_to_it() {
        let (sender, lines) = unbounded_channel();
        let send = |word: &str| sender.send(Zeroizing::new(word.as_bytes().to_vec())).unwrap();
        let mut answerer = TerminalAnswerer { lines: Some(lines), window: false };
        send("once");
        let (early, prompt) = (prompt(), prompt());
        let waited =
            tokio::time::timeout(std::time::Duration::from_millis(100), answerer.answer(&early)).await;
        assert!(waited.is_err(), "the line from before the question was taken for its answer");
        send("once");
        let asked = answerer.answer(&prompt);
        let typed = async {
            // The yes is sent at once: on a machine that stalls in between it would not be quick.
            tokio::task::yield_now().await;
            send("once");
            tokio::time::sleep(MIN_READING_TIME).await;
            send("never");
        };
        let (answer, ()) = tokio::join!(asked, typed);
        assert_eq!(answer, Answer::No, "never is not offered here, and the quick yes did not count");
    }
}
