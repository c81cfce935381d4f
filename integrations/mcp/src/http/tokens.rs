//! The clients' tokens, each with the user's label for its client.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The most bytes of a file of tokens.
const MAX_BYTES: usize = 64 * 1024;

/// The most characters of a label, so that a question shows it whole.
const MOST_CHARACTERS: usize = 40;

/// The user's name for a client, such as `editor`. Questions name the client by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientLabel(String);

impl ClientLabel {
    fn parse(text: &str) -> Option<ClientLabel> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let whole = !text.is_empty() && text.len() <= MOST_CHARACTERS && text.chars().all(fits);
        whole.then(|| ClientLabel(text.to_owned()))
    }
}

impl fmt::Display for ClientLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tokens of all clients. Only their hashes are kept: a hash of 256 random bits leads nobody to them.
pub struct Tokens(Vec<(ClientLabel, [u8; 32])>);

/// Why a file of tokens is refused. No message holds a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It is not a regular file, or it is too long.
    #[error("{path} is not a file of at most 64 KiB of text")]
    Kind {
        /// The file.
        path: PathBuf,
    },
    /// Others may read it.
    #[error(
        "{path} is open to others (mode {mode:04o}); run `chmod 600 {path}`, and make new tokens if others are here"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It has no token.
    #[error("{path} has no token; write a line `LABEL TOKEN` for each client")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A line is wrong.
    #[error("line {line} of {path}: {problem}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1 on.
        line: usize,
        /// The problem.
        problem: LineProblem,
    },
}

/// The problem of a line in a file of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// It does not have two words.
    #[error("a line is `LABEL TOKEN`")]
    Words,
    /// The label is not one.
    #[error("a label has 1 to 40 letters, digits, `.`, `_` and `-`")]
    Label,
    /// The token is not one.
    #[error(
        "a token is 256 random bits, as 64 hexadecimal digits or 43 characters of base64url; `openssl rand -hex 32` makes one"
    )]
    Token,
    /// An earlier line has the label.
    #[error("an earlier line has this label; each client has its own")]
    SameLabel,
    /// An earlier line has the token.
    #[error("an earlier line has this token; each client has its own")]
    SameToken,
}

impl Tokens {
    /// Reads a file with a line `LABEL TOKEN` for each client. Blank lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`TokensError`]; a file that others may read is refused.
    pub fn read(path: &Path) -> Result<Tokens, TokensError> {
        let named = || path.to_owned();
        let failed = |error| TokensError::File { path: named(), error };
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() {
            return Err(TokensError::Kind { path: named() });
        }
        let mode = about.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 || about.uid() != rustix::process::geteuid().as_raw() {
            return Err(TokensError::Open { path: named(), mode });
        }
        // A buffer that grows would leave copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES + 1));
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        let text = std::str::from_utf8(&bytes).ok().filter(|text| text.len() <= MAX_BYTES);
        let text = text.ok_or_else(|| TokensError::Kind { path: named() })?;
        let tokens = Tokens::parse(text);
        let tokens = tokens.map_err(|(line, problem)| TokensError::Line { path: named(), line, problem })?;
        if tokens.0.is_empty() {
            return Err(TokensError::Empty { path: named() });
        }
        Ok(tokens)
    }

    fn parse(text: &str) -> Result<Tokens, (usize, LineProblem)> {
        let mut all: Vec<(ClientLabel, [u8; 32])> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let entry = entry(line).map_err(|problem| (at + 1, problem))?;
            if all.iter().any(|(label, _)| *label == entry.0) {
                return Err((at + 1, LineProblem::SameLabel));
            }
            if all.iter().any(|(_, hash)| is_same(hash, &entry.1)) {
                return Err((at + 1, LineProblem::SameToken));
            }
            all.push(entry);
        }
        Ok(Tokens(all))
    }

    /// The labels of all clients.
    pub(super) fn labels(&self) -> impl Iterator<Item = &ClientLabel> {
        self.0.iter().map(|(label, _)| label)
    }

    /// The client with this token. The time does not tell how much of a guess is right: all hashes are compared, each whole.
    pub(super) fn client(&self, token: &str) -> Option<&ClientLabel> {
        let hash = hash(token)?;
        self.0
            .iter()
            .fold(None, |found, (label, known)| if is_same(known, &hash) { Some(label) } else { found })
    }
}

fn entry(line: &str) -> Result<(ClientLabel, [u8; 32]), LineProblem> {
    let mut words = line.split_whitespace();
    let (Some(label), Some(token), None) = (words.next(), words.next(), words.next()) else {
        return Err(LineProblem::Words);
    };
    let label = ClientLabel::parse(label).ok_or(LineProblem::Label)?;
    Ok((label, hash(token).ok_or(LineProblem::Token)?))
}

/// The hash of a token's 256 bits, if the text is a token.
fn hash(token: &str) -> Option<[u8; 32]> {
    // Longer than a token, since base64 may ask for more room than it fills.
    let mut bits = Zeroizing::new([0_u8; 48]);
    let length = match token.len() {
        64 => {
            for (byte, pair) in bits.iter_mut().zip(token.as_bytes().chunks_exact(2)) {
                *byte = pair.iter().try_fold(0, |byte, digit| Some(byte << 4 | hexadecimal(*digit)?))?;
            }
            32
        }
        43 => URL_SAFE_NO_PAD.decode_slice(token, bits.as_mut_slice()).ok()?,
        _ => return None,
    };
    let bits = bits.get(..32).filter(|_| length == 32)?;
    Some(Sha256::digest(bits).into())
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn is_same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |difference, (one, other)| difference | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const ONE: &str = "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100";
    const TWO: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE";

    #[test]
    fn a_token_names_its_client() {
        let text = format!("# clients\n\neditor {ONE}\nterminal\t{TWO}\n");
        let tokens = Tokens::parse(&text).ok().unwrap();
        let client = |token: &str| tokens.client(token).map(ToString::to_string);
        assert_eq!(client(ONE), Some("editor".to_owned()));
        assert_eq!(client(&ONE.to_lowercase()), Some("editor".to_owned()));
        assert_eq!(client(TWO), Some("terminal".to_owned()));
        for wrong in
            ["", "editor", &ONE[1..], &ONE.replace('0', "1"), &TWO.replace("AE", "AI"), &TWO.to_lowercase()]
        {
            assert_eq!(client(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_wrong_line_is_named_without_its_token() {
        for (text, line, problem) in [
            (format!("editor {ONE} more"), 1, LineProblem::Words),
            (format!("\n{ONE}"), 2, LineProblem::Words),
            (format!("the/editor {ONE}"), 1, LineProblem::Label),
            (format!("{} {ONE}", "a".repeat(41)), 1, LineProblem::Label),
            (format!("editor {}", &ONE[1..]), 1, LineProblem::Token),
            (format!("editor {}", ONE.replace('0', "g")), 1, LineProblem::Token),
            (format!("editor {}", TWO.replace("AE", "AF")), 1, LineProblem::Token),
            (format!("editor {ONE}\neditor {TWO}"), 2, LineProblem::SameLabel),
            (format!("editor {ONE}\nother {}", ONE.to_lowercase()), 2, LineProblem::SameToken),
        ] {
            assert_eq!(Tokens::parse(&text).err(), Some((line, problem)), "{text}");
        }
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::fs::write(&path, format!("editor {ONE}\n")).unwrap();
        let set = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        set(0o640);
        let refused = Tokens::read(&path).err().unwrap().to_string();
        assert!(refused.contains("mode 0640") && refused.contains("chmod 600"), "{refused}");
        set(0o600);
        assert_eq!(Tokens::read(&path).ok().unwrap().labels().count(), 1);
        std::fs::write(&path, "# none yet\n").unwrap();
        assert!(matches!(Tokens::read(&path), Err(TokensError::Empty { .. })));
        assert!(matches!(Tokens::read(folder.path()), Err(TokensError::Kind { .. })));
    }
}
