//! The attribute of a command.

use std::path::{Path, PathBuf};

use hmm_control::{Attribute, Token};

use super::byte_pair::Tokenizer;
use crate::failure::Failure;
use crate::files::read_text;

/// The wanted attribute of a text.
#[derive(clap::Args)]
#[group(multiple = false)]
pub struct Wanted {
    /// Weights of single tokens, one a line: the token's number and the log weight (at most 0), such as `1234 -2.5`;
    /// `#` starts a comment.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Forbidden phrases, one a line. Each is matched at the beginning of a word, as the tokenizer would write it
    /// there.
    #[arg(long, value_name = "FILE")]
    banned: Option<PathBuf>,
}

impl Wanted {
    /// The attribute; `None` if none was given.
    pub fn read(
        &self,
        vocabulary: usize,
        tokenizer: Option<Tokenizer>,
    ) -> Result<Option<Attribute>, Failure> {
        if let Some(path) = &self.weights {
            return weights(path, vocabulary).map(Some);
        }
        match (&self.banned, tokenizer) {
            (None, _) => Ok(None),
            (Some(path), Some(tokenizer)) => banned(path, vocabulary, tokenizer).map(Some),
            (Some(_), None) => {
                let message =
                    format!("no tokenizer is known for a vocabulary of {vocabulary} tokens; use --weights");
                Err(Failure::Input(message))
            }
        }
    }
}

fn weights(path: &Path, vocabulary: usize) -> Result<Attribute, Failure> {
    let text = read_text(path)?;
    let (mut weights, mut errors, mut begins) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let place = begins..begins + line.trim_end().len();
        begins += line.len();
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        match read_weight(content, vocabulary) {
            Ok(weight) => weights.push(weight),
            Err(message) => errors.push((place, message)),
        }
    }
    let name = path.display().to_string();
    if !errors.is_empty() {
        errors.truncate(5);
        return Err(Failure::Source { name, text, errors });
    }
    Attribute::from_weights(vocabulary, weights).map_err(|error| Failure::Input(format!("{name}: {error}")))
}

fn read_weight(line: &str, vocabulary: usize) -> Result<(Token, f64), String> {
    let mut parts = line.split_whitespace();
    let (Some(token), Some(weight), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err("a line is a token's number and its log weight, such as `1234 -2.5`".to_owned());
    };
    let token: Token = token.parse().map_err(|_| format!("`{token}` is no token's number"))?;
    if token as usize >= vocabulary {
        return Err(format!("token {token} is outside the vocabulary of {vocabulary} tokens"));
    }
    match weight.parse::<f64>() {
        Ok(weight) if weight <= 0.0 => Ok((token, weight)),
        _ => Err(format!("`{weight}` is no log weight: a number of at most 0, or `-inf`")),
    }
}

fn banned(path: &Path, vocabulary: usize, tokenizer: Tokenizer) -> Result<Attribute, Failure> {
    let text = read_text(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let spellings = lines.flat_map(|line| [line.to_owned(), format!(" {line}")]);
    let phrases: Vec<(Vec<Token>, f64)> =
        spellings.map(|phrase| (tokenizer.encode(&phrase), f64::NEG_INFINITY)).collect();
    let bad = |message: String| Failure::Input(format!("{}: {message}", path.display()));
    if phrases.is_empty() {
        return Err(bad("there is no phrase".to_owned()));
    }
    Attribute::from_phrases(vocabulary, &phrases).map_err(|error| bad(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_token_and_a_number_of_at_most_0() {
        assert_eq!(read_weight("12 -2.5", 100), Ok((12, -2.5)));
        assert_eq!(read_weight("12\t-inf", 100), Ok((12, f64::NEG_INFINITY)));
        assert!(read_weight("12", 100).is_err());
        assert!(read_weight("12 -1 3", 100).is_err());
        assert_eq!(
            read_weight("100 -1", 100).unwrap_err(),
            "token 100 is outside the vocabulary of 100 tokens"
        );
        for weight in ["0.5", "nan", "x"] {
            assert!(read_weight(&format!("1 {weight}"), 100).is_err(), "{weight}");
        }
    }
}
