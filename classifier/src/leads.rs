//! The patterns that are searched for in one pass, and the validator that each leads to.

use crate::finding::{Finding, SensitiveKind};
use crate::issuer::ISSUERS;
use crate::number::Run;
use crate::postal_address::Addresses;
use crate::{
    birth_date, card, document, email, iban, lettered_id, national_id, one_time_code, password, phone,
};
use crate::{postal_address, token};
use regex_automata::meta::BuildError;
use std::ops::Range;

/// Digits with separators between them: cards, phones, national numbers.
const NUMBER: &str = r"[0-9](?:[ .\-/()+]{0,3}[0-9]){6,}";
/// How an IBAN begins.
const ACCOUNT: &str = r"[A-Za-z]{2}[0-9]{2}";

/// Which validator a pattern leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lead {
    KeyBlock,
    Assigned,
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

/// Every lead with its pattern and the kinds that it finds, those first that win where two match at one place.
pub(crate) fn all() -> Vec<(Lead, &'static str, &'static [SensitiveKind])> {
    use SensitiveKind::{
        BirthDate, CardNumber, Email, Iban, NationalId, OneTimeCode, Passport, Password, Phone,
        PostalAddress, Token,
    };
    let mut leads: Vec<(Lead, &'static str, &'static [SensitiveKind])> = vec![
        (Lead::KeyBlock, token::KEY_BLOCK, &[Token]),
        (Lead::Assigned, token::SCHEME, &[Token]),
        (Lead::Assigned, token::ASSIGNMENT, &[Token]),
        (Lead::WebToken, token::WEB_TOKEN, &[Token]),
    ];
    leads.extend(ISSUERS.iter().enumerate().map(|(index, issuer)| {
        let kinds: &'static [SensitiveKind] = &[Token];
        (Lead::Issued(index), issuer.prefix, kinds)
    }));
    leads.extend(token::INNER.iter().enumerate().map(|(index, pattern)| {
        let kinds: &'static [SensitiveKind] = &[Token];
        (Lead::Inner(index), *pattern, kinds)
    }));
    leads.extend([
        (Lead::Address, password::ADDRESS, &[Password] as &'static [SensitiveKind]),
        (Lead::Code, one_time_code::CODE, &[OneTimeCode]),
        (Lead::Password, password::PASSWORD, &[Password]),
        (Lead::Document, document::DOCUMENT, &[Passport, NationalId]),
        (Lead::Birth, birth_date::BIRTH, &[BirthDate]),
        (Lead::Street, postal_address::STREET, &[PostalAddress]),
        (Lead::Lines, document::FILLER, &[Passport]),
        (Lead::Fiscal, lettered_id::FISCAL, &[NationalId]),
        (Lead::Insurance, lettered_id::INSURANCE, &[NationalId]),
        (Lead::Account, ACCOUNT, &[Iban]),
        (Lead::Number, NUMBER, &[CardNumber, Phone, NationalId]),
        (Lead::At, "@", &[Email]),
    ]);
    leads
}

/// What the validators need that takes time to make.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    addresses: Option<Addresses>,
}

impl Tools {
    pub(crate) fn new(addresses: bool) -> Result<Tools, Box<BuildError>> {
        Ok(Tools { addresses: if addresses { Some(Addresses::new()?) } else { None } })
    }
}

/// Runs the validator of a lead, and says where to search on.
pub(crate) fn follow(
    lead: Lead,
    tools: &Tools,
    text: &str,
    hit: Range<usize>,
    found: &mut Vec<Finding>,
) -> usize {
    let finding = match lead {
        Lead::KeyBlock => Some(token::find_key_block(text, hit.clone())),
        Lead::Assigned => token::find_assigned(text, hit.clone()),
        Lead::WebToken => token::find_web_token(text, hit.start),
        Lead::Issued(index) => {
            ISSUERS.get(index).and_then(|issuer| token::find_issued(text, hit.clone(), issuer))
        }
        Lead::Inner(index) => token::find_inner(text, hit.clone(), index),
        Lead::Address => {
            return match password::find_in_address(text, hit.clone()) {
                Some((finding, resume)) => {
                    found.push(finding);
                    resume
                }
                None => hit.end,
            };
        }
        Lead::Street => {
            let finding = tools.addresses.as_ref().and_then(|addresses| addresses.find(text, hit.clone()));
            let end = finding.as_ref().map_or(hit.end, |finding| finding.span.end);
            found.extend(finding);
            return end;
        }
        // What is announced may be read again: other validators have their own word on it.
        Lead::Password | Lead::Code | Lead::Document | Lead::Birth | Lead::Lines => {
            let finding = match lead {
                Lead::Password => password::find_announced(text, hit.clone()),
                Lead::Code => one_time_code::find(text, hit.clone()),
                Lead::Document => document::find_announced(text, hit.clone()),
                Lead::Birth => birth_date::find(text, hit.clone()),
                _ => document::find_lines(text, hit.start),
            };
            let end = match (&finding, lead) {
                (Some(finding), Lead::Lines) => finding.span.end,
                _ => hit.end,
            };
            found.extend(finding);
            return end;
        }
        Lead::Fiscal => lettered_id::find_fiscal(text, hit.clone()),
        Lead::Insurance => lettered_id::find_insurance(text, hit.clone())
            .or_else(|| iban::find(text, hit.start).map(|span| Finding::new(span, SensitiveKind::Iban, 98))),
        Lead::Account => iban::find(text, hit.start).map(|span| Finding::new(span, SensitiveKind::Iban, 98)),
        Lead::At => email::find(text, hit.start).map(|span| Finding::new(span, SensitiveKind::Email, 95)),
        Lead::Number => return numbers(text, hit, found),
    };
    match finding {
        Some(finding) => {
            let end = finding.span.end;
            found.push(finding);
            end
        }
        // The first character led nowhere; a value may begin at the next one.
        None => hit.start + 1,
    }
}

fn numbers(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) -> usize {
    let run = Run::new(text, hit.clone());
    let cards = card::find(&run);
    let floor = found.iter().map(|finding| finding.span.end).next_back().unwrap_or(0).min(hit.start);
    let phones = phone::find(&run, &cards, floor);
    let end = phones.iter().map(|span| span.end).fold(hit.end, usize::max);
    let card_spans = cards.iter().filter_map(|groups| run.span(groups.clone()));
    found.extend(card_spans.map(|span| Finding::new(span, SensitiveKind::CardNumber, 90)));
    let sure =
        |span: &Range<usize>| if text.get(span.clone()).is_some_and(|t| t.contains('+')) { 90 } else { 75 };
    found
        .extend(phones.into_iter().map(|span| Finding::new(span.clone(), SensitiveKind::Phone, sure(&span))));
    national_id::find(&run, found);
    lettered_id::find_spanish(&run, found);
    end
}
