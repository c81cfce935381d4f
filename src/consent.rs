//! Asking the user: prompts in plain words, answerers, and answers that stand.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;

use browser_signals::{Container, Origin};
use policy_dfa::{Consent, Millis, VerbKind};
use sirl::{FieldSet, Kind, Money};

/// How long a standing consent holds.
pub const CONSENT_LIFETIME: Millis = Millis(30 * 60 * 1000);

/// One thing the user is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// To open a container in which data may be released, for these origins only.
    Container {
        /// Its tier.
        tier: Container,
        /// The only origins it may go to.
        origins: Vec<Origin>,
    },
    /// To let fields go to a site.
    Release {
        /// The kind of request.
        kind: Kind,
        /// The fields.
        fields: FieldSet,
        /// The site.
        to: Origin,
    },
    /// To pay.
    Pay {
        /// Who is paid.
        payee: Origin,
        /// How much, exactly.
        amount: Money,
        /// What the page says is bought. The page's words: not checked by anybody.
        page_says: Vec<String>,
    },
    /// To let the agent do something that the task did not plan.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// On which page.
        page: Option<Origin>,
    },
}

impl Asked {
    /// One word for the audit record.
    pub fn word(&self) -> &'static str {
        match self {
            Asked::Container { .. } => "container",
            Asked::Release { kind, .. } => kind.as_str(),
            Asked::Pay { .. } => "purchase",
            Asked::Verb { verb, .. } => verb.as_str(),
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Container { tier, origins } => {
                let origins: Vec<String> = origins.iter().map(ToString::to_string).collect();
                write!(f, "open a {} container that can go only to {}", tier.as_str(), origins.join(", "))
            }
            Asked::Release { kind, fields, to } => {
                let names: Vec<&str> = fields.iter().map(sirl::Field::as_str).collect();
                write!(f, "fill your {} ({}) into a form of {to}", kind.as_str(), names.join(", "))
            }
            Asked::Pay { payee, amount, page_says } => {
                write!(f, "pay {amount} to {payee}")?;
                for line in page_says {
                    write!(f, "\n      the page says: {line}")?;
                }
                Ok(())
            }
            Asked::Verb { verb, page } => {
                write!(f, "let the agent {}", verb.as_str())?;
                page.as_ref().map_or(Ok(()), |page| write!(f, " on {page}"))
            }
        }
    }
}

/// One prompt. It may ask about several things; there is one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentPrompt {
    /// The things asked about; never empty.
    pub asked: Vec<Asked>,
}

impl fmt::Display for ConsentPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The agent needs your consent to:")?;
        self.asked.iter().try_for_each(|asked| writeln!(f, "  - {asked}"))
    }
}

/// What the user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes, to everything in the prompt.
    Yes,
    /// No.
    No,
}

/// A future of an answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Whoever answers prompts. No answer is no.
pub trait Answerer: Send {
    /// Answers one prompt.
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a>;
}

/// Asks on the terminal. Anything but `y` or `yes` is no; so is the end of the input.
#[derive(Debug, Default)]
pub struct TerminalAnswerer;

impl Answerer for TerminalAnswerer {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let text = format!("\n{prompt}Allow? [y/N] ");
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                let mut out = std::io::stderr();
                out.write_all(text.as_bytes())?;
                out.flush()?;
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).map(|_| line)
            });
            match asked.await {
                Ok(Ok(line)) if matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes") => {
                    Answer::Yes
                }
                _ => Answer::No,
            }
        })
    }
}

/// Answers by a rule, for tests and simulations.
pub struct ScriptedAnswerer<F>(pub F);

impl<F: FnMut(&ConsentPrompt) -> Answer + Send> Answerer for ScriptedAnswerer<F> {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let answer = (self.0)(prompt);
        Box::pin(std::future::ready(answer))
    }
}

/// One consent that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Standing {
    kind: Kind,
    fields: FieldSet,
    to: Origin,
    given: bool,
    until: Millis,
}

/// The consents of one session, newest first.
#[derive(Debug, Default)]
pub struct ConsentBook {
    standing: VecDeque<Standing>,
}

impl ConsentBook {
    /// Notes an answer about letting `fields` of `kind` go to `to`.
    pub fn note(&mut self, kind: Kind, fields: FieldSet, to: Origin, answer: Answer, now: Millis) {
        let until = Millis(now.0.saturating_add(CONSENT_LIFETIME.0));
        self.standing.push_front(Standing { kind, fields, to, given: answer == Answer::Yes, until });
    }

    /// What the user has said about letting `fields` of `kind` go to `to`. A yes covers fewer fields, a no
    /// covers more.
    pub fn about(&self, kind: Kind, fields: FieldSet, to: &Origin, now: Millis) -> Consent {
        let found = self.standing.iter().find(|standing| {
            let covers = if standing.given {
                fields.is_subset_of(standing.fields)
            } else {
                standing.fields.is_subset_of(fields)
            };
            standing.kind == kind && standing.to == *to && covers
        });
        match found {
            None => Consent::None,
            Some(standing) if !standing.given => Consent::Refused,
            Some(standing) if now >= standing.until => Consent::Expired,
            Some(_) => Consent::Given,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sirl::Field;

    #[test]
    fn a_yes_covers_fewer_fields_of_the_same_site_until_it_runs_out() {
        let shop = Origin::parse("https://shop.example").unwrap();
        let other = Origin::parse("https://shop.example:8443").unwrap();
        let both = FieldSet::EMPTY.with(Field::City).with(Field::Street);
        let city = FieldSet::EMPTY.with(Field::City);
        let mut book = ConsentBook::default();
        book.note(Kind::Address, both, shop.clone(), Answer::Yes, Millis(10));
        assert_eq!(book.about(Kind::Address, city, &shop, Millis(11)), Consent::Given);
        assert_eq!(book.about(Kind::Address, both.with(Field::Name), &shop, Millis(11)), Consent::None);
        assert_eq!(book.about(Kind::Address, city, &other, Millis(11)), Consent::None);
        assert_eq!(book.about(Kind::Contact, city, &shop, Millis(11)), Consent::None);
        assert_eq!(book.about(Kind::Address, city, &shop, Millis(10 + CONSENT_LIFETIME.0)), Consent::Expired);
        book.note(Kind::Address, city, shop.clone(), Answer::No, Millis(12));
        assert_eq!(book.about(Kind::Address, both, &shop, Millis(13)), Consent::Refused);
    }

    #[test]
    fn a_prompt_says_who_and_how_much() {
        let amount = Money::parse("64.15", sirl::Currency::new("USD").unwrap()).unwrap();
        let payee = Origin::parse("https://shop.example").unwrap();
        let prompt =
            ConsentPrompt { asked: vec![Asked::Pay { payee, amount, page_says: vec!["1 x kettle".into()] }] };
        let text = prompt.to_string();
        assert!(text.contains("pay 64.15 USD to https://shop.example"), "{text}");
        assert!(text.contains("the page says: 1 x kettle"));
    }
}
