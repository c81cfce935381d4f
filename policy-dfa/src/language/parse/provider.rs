//! The parser of the section `provider`.

use std::ops::Range;
use std::sync::Arc;

use browser_signals::Origin;
use sirl::Kind;

use super::parser::{Parsed, Parser};
use crate::language::clause::{Owner, Test};
use crate::language::error::Fault;
use crate::language::provider::{MAX_ORIGINS, MAX_PROVIDERS, Provider};
use crate::language::spans::{RuleId, RuleSpans};
use crate::vocabulary::outcome::{ConsentScope, Delivery};

impl Parser<'_> {
    /// A `provider`. `before` has those above it.
    pub(crate) fn provider(
        &mut self,
        before: &[Arc<Provider>],
        spans: &mut RuleSpans,
    ) -> Parsed<Arc<Provider>> {
        let (name, span) = self.quoted("the name of a provider")?;
        let fault = |message: String, help: &str| Err(Fault::new(span.clone(), message).help(help));
        if name.trim().is_empty() {
            return fault(
                "a provider has no name".to_owned(),
                "name it as you know it; you are shown the name",
            );
        }
        if before.iter().any(|provider| provider.name == name) {
            return Err(Fault::repeated(name, span));
        }
        if before.len() >= MAX_PROVIDERS {
            return fault(format!("more than {MAX_PROVIDERS} providers"), "keep those that you use");
        }
        let (mut frames, mut tokens) = (None, None);
        self.open()?;
        while !self.close()? {
            let (word, span) = self.word("`frame` or `token`")?;
            let again = match word {
                "frame" => frames.replace(self.origins()?).is_some(),
                "token" => tokens.replace(self.origins()?).is_some(),
                other => {
                    let fault = Fault::new(span, format!("a provider has no rule `{other}`"));
                    return Err(fault.suggest(other, ["frame", "token"]));
                }
            };
            if again {
                return Err(Fault::repeated(word, span));
            }
        }
        let (Some(frames), Some(tokens)) = (frames, tokens) else {
            return fault(
                format!("provider `{name}` does not name both its frames and where they send card data"),
                "write: frame \"https://elements.pay.example\" token \"https://api.pay.example\"",
            );
        };
        // An origin that two providers share would leave open where its card data may go.
        if let Some(other) = before.iter().find(|other| other.frames.iter().any(|it| frames.contains(it))) {
            return fault(
                format!("provider `{}` above has a frame of the same origin", other.name),
                "name each frame once",
            );
        }
        spans.record(RuleId::Provider(before.len()), span.start..self.last_end());
        Ok(Arc::new(Provider { name: name.to_owned(), frames, tokens }))
    }

    /// Refuses a provider where no card is filled. In a request, one clause lets the provider's frame in, so that what the
    /// others say of it cannot differ.
    pub(crate) fn request_names_provider(&self, kind: Kind, test: Test, span: Range<usize>) -> Parsed<()> {
        let fault = |message: &str, help: &str| {
            Err(Fault::new(span.start..self.last_end(), message.to_owned()).help(help))
        };
        match test {
            Test::Origin(Owner::TaskOrProvider) | Test::DestinationOrigin(Owner::TaskOrProvider) => fault(
                "in a request, `frame` lets a provider in",
                "write `is the task's` here, and: frame top or provider",
            ),
            Test::Frame(frame) if frame.passes_provider() && kind != Kind::Payment => fault(
                "a provider's frame takes card data alone",
                "say so in `request payment`; write here: frame top",
            ),
            _ => Ok(()),
        }
    }

    /// Exact origins over https, with commas between them.
    fn origins(&mut self) -> Parsed<Vec<Origin>> {
        let mut found = Vec::new();
        loop {
            let (text, span) = self.quoted("an origin such as https://pay.example")?;
            let origin = exact_origin(text, span.clone())?;
            if found.contains(&origin) {
                return Err(Fault::repeated(text, span));
            }
            if found.len() >= MAX_ORIGINS {
                return Err(Fault::new(span, format!("more than {MAX_ORIGINS} origins")));
            }
            found.push(origin);
            if !self.comma() {
                return Ok(found);
            }
        }
    }
}

/// What a request that lets a provider in must say: a yes each time, and no other way than a fill.
pub(crate) fn judge_provider_rule(
    head: Range<usize>,
    consent: Option<ConsentScope>,
    deliver: &[Delivery],
) -> Parsed<()> {
    if consent != Some(ConsentScope::EveryTime) {
        return Err(Fault::new(head, "card data for a provider's frame need a yes each time")
            .help("write: consent every time"));
    }
    if deliver.iter().any(|delivery| *delivery != Delivery::Fill) {
        return Err(
            Fault::new(head, "card data are only filled into a provider's frame").help("write: deliver fill")
        );
    }
    Ok(())
}

fn exact_origin(text: &str, span: Range<usize>) -> Parsed<Origin> {
    let fault = |message: String| Fault::new(span.clone(), message);
    let origin = Origin::parse(text)
        .map_err(|error| fault(format!("`{text}` is not an origin")).help(error.to_string()))?;
    if origin.scheme() != "https" {
        return Err(fault(format!("`{text}` is not encrypted")).help("card data go over https only"));
    }
    // A path or a star would look like a rule about parts of the origin, and there is none.
    if origin.to_string() != text {
        let help = format!("write: {origin}");
        return Err(fault(format!("`{text}` is more than an origin, or written in another way")).help(help));
    }
    Ok(origin)
}
