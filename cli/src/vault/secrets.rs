//! Input of passphrases and values: from the terminal without echo, or from a file descriptor. They never come from an
//! argument or the environment, which other programs can read.

use std::fs::File;
use std::io::{IsTerminal, Read};

use portcullis::vault::Secret;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// The longest line that is read, in bytes.
const LONGEST: usize = 4096;

/// The source of secrets.
pub struct Source {
    /// The file descriptor of the lines; `None` means the terminal.
    lines: Option<File>,
    handed_over: bool,
    /// A secret that was read before, and is given first.
    held: Option<Secret>,
}

impl Source {
    /// Reads from the file descriptor `fd` if it is given, otherwise from standard input if that is not a terminal,
    /// otherwise from the terminal.
    pub fn new(fd: Option<u32>) -> Result<Source, Failure> {
        let lines = match fd {
            Some(fd) => Some(descriptor(fd)?),
            None if std::io::stdin().is_terminal() => None,
            None => Some(standard_input()?),
        };
        Ok(Source { lines, handed_over: fd.is_some(), held: None })
    }

    /// Gives this secret, which was read before. Another one would be asked for on the terminal.
    pub fn holding(secret: Secret) -> Source {
        Source { lines: None, handed_over: false, held: Some(secret) }
    }

    /// Returns true if a person types.
    pub fn is_terminal(&self) -> bool {
        self.lines.is_none()
    }

    /// Returns true if secrets come from a file descriptor that was named.
    pub fn is_handed_over(&self) -> bool {
        self.handed_over
    }

    /// Reads one secret. `what` is the prompt on the terminal, and the name in the error if there is no input.
    pub fn read(&mut self, what: &str) -> Result<Secret, Failure> {
        if let Some(held) = self.held.take() {
            return Ok(held);
        }
        let read = match &mut self.lines {
            Some(lines) => Secret::read_line(lines, LONGEST),
            None => {
                rpassword::prompt_password(format!("{what}: ")).map(|typed| Secret::new(typed.into_bytes()))
            }
        };
        let secret = read.map_err(|error| unread(what, &error))?;
        if secret.is_empty() { Err(nothing(what)) } else { Ok(secret) }
    }

    /// Reads a token, which is used once and not kept.
    pub fn read_token(&mut self, what: &str) -> Result<Zeroizing<String>, Failure> {
        let read = match &mut self.lines {
            Some(lines) => line(lines),
            None => rpassword::prompt_password(format!("{what}: ")).map(Zeroizing::new),
        };
        let token = read.map_err(|error| unread(what, &error))?;
        if token.trim().is_empty() { Err(nothing(what)) } else { Ok(token) }
    }

    /// Reads a text that is not secret.
    pub fn read_text(&mut self, what: &str) -> Result<String, Failure> {
        let mut line = String::new();
        let read = match &mut self.lines {
            Some(lines) => std::io::BufRead::read_line(&mut std::io::BufReader::new(lines), &mut line),
            None => {
                eprint!("{what}: ");
                std::io::stdin().read_line(&mut line)
            }
        };
        read.map_err(|error| unread(what, &error))?;
        let text = line.trim().to_owned();
        if text.is_empty() { Err(nothing(what)) } else { Ok(text) }
    }

    /// Reads a new passphrase, which a person types twice.
    pub fn read_new(&mut self, what: &str) -> Result<Secret, Failure> {
        let first = self.read(what)?;
        if self.is_terminal() && !first.is_same(&self.read("The same again")?) {
            return Err(Failure::Input("the two passphrases differ; nothing was changed".to_owned()));
        }
        Ok(first)
    }
}

/// Reads a line byte by byte, since what follows it is for somebody else.
fn line(reader: &mut impl Read) -> std::io::Result<Zeroizing<String>> {
    let (mut line, mut byte) = (Zeroizing::new(String::with_capacity(LONGEST)), [0]);
    while line.len() + 1 < LONGEST && reader.read(&mut byte)? > 0 && byte != *b"\n" {
        line.push(char::from(byte[0]));
    }
    Ok(line)
}

fn unread(what: &str, error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return nothing(what);
    }
    Failure::Input(format!("{what} was not read: {error}"))
}

fn nothing(what: &str) -> Failure {
    Failure::Input(format!(
        "{what}: nothing was given, and nothing was changed. Type it at a terminal, or give it as a line on \
         standard input or with `--passphrase-fd`; where more is asked for, the passphrase is the first line"
    ))
}

#[cfg(unix)]
fn descriptor(fd: u32) -> Result<File, Failure> {
    File::open(format!("/dev/fd/{fd}"))
        .map_err(|error| Failure::Input(format!("file descriptor {fd} cannot be read: {error}")))
}

#[cfg(not(unix))]
fn descriptor(_: u32) -> Result<File, Failure> {
    Err(Failure::Input("file descriptors are for Unix; give the passphrase on standard input".to_owned()))
}

/// Standard input without the buffer of the standard library, which is not wiped.
#[cfg(unix)]
fn standard_input() -> Result<File, Failure> {
    use std::os::fd::AsFd;
    let owned = std::io::stdin().as_fd().try_clone_to_owned();
    owned.map(File::from).map_err(|error| Failure::Input(format!("standard input cannot be read: {error}")))
}

#[cfg(windows)]
fn standard_input() -> Result<File, Failure> {
    use std::os::windows::io::AsHandle;
    let owned = std::io::stdin().as_handle().try_clone_to_owned();
    owned.map(File::from).map_err(|error| Failure::Input(format!("standard input cannot be read: {error}")))
}
