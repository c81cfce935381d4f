//! The rules of the detectors: the patterns of one pass, and the validator of each.

use super::card::find_cards;
use super::contact::postal_address::{self, Addresses};
use super::contact::{email, phone};
use super::digits::DigitRun;
use super::finding::{Finding, SensitiveKind};
use super::identity::{date, document, lettered_id, national_id};
use super::payment::find_iban;
use super::secret::issuer::ISSUERS;
use super::secret::{assigned, command, one_time_code, password, token};
use regex_automata::meta::BuildError;
use std::ops::Range;

/// Digits with separators between them: cards, phone numbers, national numbers.
const NUMBER: &str = r"[0-9](?:[ .\-/()+]{0,3}[0-9]){6,}";
/// The beginning of an IBAN.
const ACCOUNT: &str = r"[A-Za-z]{2}[0-9]{2}";

/// The confidence of digits that pass the check of cards but are written like something else.
const DOUBTFUL_CARD: u8 = 45;

/// A pattern with its validator.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    KeyBlock,
    Assigned,
    Scheme,
    Command,
    WebToken,
    Issued(usize),
    Inner(usize),
    Address,
    Password,
    Code,
    Birth,
    Document,
    Lines,
    Street,
    Insurance,
    Fiscal,
    Account,
    Number,
    At,
}

/// Returns every rule with its pattern and the kinds that it finds. Where two match at one position, the earlier one
/// wins.
pub(crate) fn all() -> Vec<(Rule, &'static str, &'static [SensitiveKind])> {
    use SensitiveKind::{
        BirthDate, CardNumber, Email, Iban, NationalId, OneTimeCode, Passport, Password, Phone,
        PostalAddress, Token,
    };
    let mut rules: Vec<(Rule, &'static str, &'static [SensitiveKind])> =
        vec![(Rule::KeyBlock, token::KEY_BLOCK, &[Token]), (Rule::WebToken, token::WEB_TOKEN, &[Token])];
    rules.extend(ISSUERS.iter().enumerate().map(|(index, issuer)| {
        let kinds: &'static [SensitiveKind] = &[Token];
        (Rule::Issued(index), issuer.prefix, kinds)
    }));
    rules.extend(token::INNER.iter().enumerate().map(|(index, pattern)| {
        let kinds: &'static [SensitiveKind] = &[Token];
        (Rule::Inner(index), *pattern, kinds)
    }));
    rules.extend([
        (Rule::Scheme, command::SCHEME, &[Token] as &'static [SensitiveKind]),
        (Rule::Command, command::USER, &[Password, Token]),
        (Rule::Assigned, assigned::NAME, &[Token]),
        (Rule::Address, password::ADDRESS, &[Password]),
        (Rule::Code, one_time_code::CODE, &[OneTimeCode]),
        (Rule::Password, password::PASSWORD, &[Password]),
        (Rule::Document, document::DOCUMENT, &[Passport, NationalId]),
        (Rule::Birth, date::BIRTH, &[BirthDate]),
        (Rule::Street, postal_address::STREET, &[PostalAddress]),
        (Rule::Lines, document::FILLER, &[Passport]),
        (Rule::Fiscal, lettered_id::FISCAL, &[NationalId]),
        (Rule::Insurance, lettered_id::INSURANCE, &[NationalId]),
        (Rule::Account, ACCOUNT, &[Iban]),
        (Rule::Number, NUMBER, &[CardNumber, Phone, NationalId]),
        (Rule::At, "@", &[Email]),
    ]);
    rules
}

/// Patterns of the validators that take time to compile.
#[derive(Debug, Clone)]
pub(crate) struct CompiledPatterns {
    addresses: Option<Addresses>,
}

impl CompiledPatterns {
    pub(crate) fn new(addresses: bool) -> Result<CompiledPatterns, Box<BuildError>> {
        Ok(CompiledPatterns { addresses: if addresses { Some(Addresses::new()?) } else { None } })
    }
}

/// Runs the validator of a rule, and returns where the search continues.
pub(crate) fn validate(
    rule: Rule,
    compiled: &CompiledPatterns,
    text: &str,
    hit: Range<usize>,
    found: &mut Vec<Finding>,
) -> usize {
    let finding = match rule {
        Rule::KeyBlock => Some(token::find_key_block(text, hit.clone())),
        Rule::Assigned => assigned::find(text, hit.clone()),
        Rule::Scheme => command::find_after_scheme(text, hit.clone()),
        Rule::Command => command::find_user(text, hit.clone()),
        Rule::WebToken => token::find_web_token(text, hit.start),
        Rule::Issued(index) => {
            // A prefix such as `secret_` may also begin the name of a secret.
            let issued = ISSUERS.get(index).and_then(|issuer| token::find_issued(text, hit.clone(), issuer));
            issued.or_else(|| assigned::find_at(text, hit.start))
        }
        Rule::Inner(index) => token::find_inner(text, hit.clone(), index),
        Rule::Address => {
            return match password::find_in_address(text, hit.clone()) {
                Some((finding, resume)) => {
                    found.push(finding);
                    resume
                }
                None => hit.end,
            };
        }
        Rule::Street => {
            let finding = compiled.addresses.as_ref().and_then(|addresses| addresses.find(text, hit.clone()));
            let end = finding.as_ref().map_or(hit.end, |finding| finding.span.end);
            found.extend(finding);
            return end;
        }
        // The announced value is searched again, since other validators may find more in it.
        Rule::Password | Rule::Code | Rule::Document | Rule::Birth | Rule::Lines => {
            let finding = match rule {
                Rule::Password => password::find_announced(text, hit.clone()),
                Rule::Code => one_time_code::find(text, hit.clone()),
                Rule::Document => document::find_announced(text, hit.clone()),
                Rule::Birth => date::find_birth(text, hit.clone()),
                _ => document::find_lines(text, hit.start),
            };
            let end = match (&finding, rule) {
                (Some(finding), Rule::Lines) => finding.span.end,
                _ => hit.end,
            };
            found.extend(finding);
            return end;
        }
        Rule::Fiscal => lettered_id::find_fiscal(text, hit.clone()),
        Rule::Insurance => lettered_id::find_insurance(text, hit.clone())
            .or_else(|| find_iban(text, hit.start).map(|span| Finding::new(span, SensitiveKind::Iban, 98))),
        Rule::Account => find_iban(text, hit.start).map(|span| Finding::new(span, SensitiveKind::Iban, 98)),
        Rule::At => email::find(text, hit.start).map(|span| Finding::new(span, SensitiveKind::Email, 95)),
        Rule::Number => return numbers(text, hit, found),
    };
    match finding {
        Some(finding) => {
            let end = finding.span.end;
            found.push(finding);
            end
        }
        // The match is no finding; a value may begin at its second character.
        None => hit.start + 1,
    }
}

fn numbers(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) -> usize {
    let run = DigitRun::new(text, hit.clone());
    let cards = find_cards(&run);
    let floor = found.iter().map(|finding| finding.span.end).next_back().unwrap_or(0).min(hit.start);
    let sure_cards: Vec<Range<usize>> =
        cards.iter().filter(|card| !card.doubtful).map(|card| card.groups.clone()).collect();
    let phones = phone::find(&run, &sure_cards, floor);
    let end = phones.iter().map(|span| span.end).fold(hit.end, usize::max);
    found.extend(cards.iter().filter_map(|card| {
        let percent = if card.doubtful { DOUBTFUL_CARD } else { 90 };
        Some(Finding::new(run.span(card.groups.clone())?, SensitiveKind::CardNumber, percent))
    }));
    let sure =
        |span: &Range<usize>| if text.get(span.clone()).is_some_and(|t| t.contains('+')) { 90 } else { 75 };
    found
        .extend(phones.into_iter().map(|span| Finding::new(span.clone(), SensitiveKind::Phone, sure(&span))));
    national_id::find(&run, found);
    lettered_id::find_spanish(&run, found);
    end
}
