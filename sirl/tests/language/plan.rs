//! Plans are parsed and printed as blocks are, and never taken for a block.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use sirl::error::ParseErrorKind::{
    self, EmptyPlan, Expected, LineTooLong, MissingPlanEnd, TextAfterPlan, TooManyRequests,
};
use sirl::limits::{MAX_LINE_BYTES, MAX_REQUESTS, MAX_STRING_BYTES};
use sirl::{
    Anticipated, Claim, Field, FieldSet, Kind, Plan, find_block, parse_block, parse_plan, parse_reply,
};

#[test]
fn a_plan_is_parsed_and_printed() {
    let text = "\nPLAN.address fields=[zip, city] ctx={purpose:\"shipping\"}\r\n\nPLAN.purchase\nPLAN.end \n";
    let claim = Claim { purpose: Some("shipping".to_owned()), ..Claim::default() };
    let fields = FieldSet::EMPTY.with(Field::City).with(Field::PostalCode);
    let plan = Plan {
        anticipated: vec![
            Anticipated { kind: Kind::Address, fields, claim },
            Anticipated { kind: Kind::Purchase, fields: FieldSet::EMPTY, claim: Claim::default() },
        ],
    };
    assert_eq!(parse_plan(text).as_ref(), Ok(&plan));
    let canonical = concat!(
        "PLAN.address fields=[\"city\",\"postal_code\"] ctx={\"purpose\":\"shipping\"}\n",
        "PLAN.purchase\nPLAN.end",
    );
    assert_eq!(plan.to_string(), canonical);
}

#[test]
fn a_plan_knows_its_kinds_and_fields() {
    let plan = parse_plan("PLAN.otp\nPLAN.contact\nPLAN.contact fields=[email]\nPLAN.end").unwrap();
    assert_eq!(plan.kinds().collect::<Vec<_>>(), [Kind::Contact, Kind::Otp]);
    assert_eq!(plan.anticipated[1].effective_fields(), Kind::Contact.default_fields());
    assert_eq!(plan.anticipated[2].effective_fields(), FieldSet::EMPTY.with(Field::Email));
}

/// No parser of requests accepts a plan, and no parser of plans accepts a request.
#[test]
fn a_plan_is_no_block() {
    let expected = |kind: &ParseErrorKind| matches!(kind, Expected(_));
    for text in ["PLAN.otp\nPLAN.end", "PLAN.otp\nREQ.end", "REQ.otp\nPLAN.end", "REQ.otp\nPLAN.otp\nREQ.end"]
    {
        assert!(parse_block(text).is_err_and(|error| expected(&error.kind)), "{text}");
    }
    for text in ["REQ.otp\nREQ.end", "PLAN.otp\nREQ.end", "REQ.otp\nPLAN.end", "PLAN.otp\nREQ.otp\nPLAN.end"]
    {
        assert!(parse_plan(text).is_err_and(|error| expected(&error.kind)), "{text}");
    }
    assert!(parse_reply("PLAN.otp").is_err());
    assert_eq!(find_block("PLAN.otp\nPLAN.end"), None, "to `find_block` a plan is prose");
}

#[test]
fn errors_name_the_plan() {
    let most = "PLAN.otp\n".repeat(MAX_REQUESTS);
    for (text, kind, span) in [
        ("", EmptyPlan, 0..0),
        ("PLAN.end", EmptyPlan, 0..8),
        ("PLAN.otp\n", MissingPlanEnd, 9..9),
        ("PLAN.otp\nPLAN.end\nso be it", TextAfterPlan, 18..26),
        (&format!("{most}PLAN.otp\nPLAN.end"), TooManyRequests, 9 * MAX_REQUESTS..9 * MAX_REQUESTS + 8),
        (&" ".repeat(MAX_LINE_BYTES + 1), LineTooLong, 0..MAX_LINE_BYTES + 1),
    ] {
        let error = parse_plan(text).unwrap_err();
        assert_eq!((&error.kind, &error.span), (&kind, &span), "{text}");
    }
    for (text, message) in [
        ("PLAN.adress\nPLAN.end", "line 1, column 6: unknown kind `adress`; use address, "),
        ("PLAN.otp\nPLAN.end!", "line 2, column 9: expected nothing more after `PLAN.end`"),
        ("PLAN.otp\n", "line 2, column 1: the plan is not closed; end it with a line `PLAN.end`"),
        ("PLAN.end", "line 1, column 1: the plan is empty; write a `PLAN.<kind>` line before `PLAN.end`"),
        ("PLAN.otp\nREQ.end", "line 2, column 1: expected `PLAN.<kind>` or `PLAN.end`"),
    ] {
        let error = parse_plan(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    assert!(parse_plan(&format!("{most}PLAN.end")).is_ok());
}

/// A line that fits as a request may be one byte too long as a plan.
#[test]
fn the_canonical_line_of_a_plan_must_fit_too() {
    let quotes = "\\\"".repeat(MAX_STRING_BYTES);
    let text = |last: usize| {
        let filler = "\\\"".repeat(last);
        format!(
            "PLAN.otp ctx={{origin:\"{quotes}\",top_origin:\"{quotes}\",sink:\"{quotes}\",purpose:\"{filler}\"}}\nPLAN.end"
        )
    };
    let canonical = |last: usize| text(last).len() - "\nPLAN.end".len() + 2 * 4;
    let fits = (0..=MAX_STRING_BYTES).rev().find(|n| canonical(*n) <= MAX_LINE_BYTES).unwrap();
    let plan = parse_plan(&text(fits)).unwrap();
    assert_eq!(plan.to_string().lines().next().unwrap().len(), canonical(fits));
    assert_eq!(parse_plan(&plan.to_string()), Ok(plan));
    assert_eq!(parse_plan(&text(fits + 1)).unwrap_err().kind, LineTooLong);
}

fn anticipated() -> impl Strategy<Value = Anticipated> {
    let words = proptest::option::of("[a-z \"\\\\é😀]{0,12}");
    (select(Kind::ALL.to_vec()), words).prop_flat_map(|(kind, purpose)| {
        let all: Vec<Field> = kind.allowed_fields().iter().collect();
        let most = all.len();
        let claim = Claim { purpose, ..Claim::default() };
        let made = move |fields: Vec<Field>| Anticipated {
            kind,
            fields: fields.into_iter().collect(),
            claim: claim.clone(),
        };
        subsequence(all, 0..=most).prop_map(made)
    })
}

proptest! {
    #[test]
    fn a_printed_plan_is_parsed_back(anticipated in vec(anticipated(), 1..=4)) {
        let plan = Plan { anticipated };
        prop_assert_eq!(parse_plan(&plan.to_string()), Ok(plan));
    }

    /// A plan is accepted exactly if the block with the same lines is, with the same content.
    #[test]
    fn a_plan_parses_as_its_block_does(
        lines in vec(anticipated().prop_map(|line| line.to_string()), 0..4),
        at in any::<Index>(),
        piece in select(vec!["", "{", "\"", ",", "fields=", "\n", " ", "otp", "[", "\u{202e}", "\\"]),
    ) {
        let tails: Vec<String> = lines.iter().map(|line| line.replacen("PLAN.", "<", 1)).collect();
        let mut text = format!("{}\n<end", tails.join("\n"));
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        text.insert_str(places[at.index(places.len())], piece);
        let block = parse_block(&text.replace('<', "REQ."));
        let plan = parse_plan(&text.replace('<', "PLAN."));
        prop_assert_eq!(block.is_ok(), plan.is_ok(), "{:?} {:?}", block, plan);
        if let (Ok(block), Ok(plan)) = (block, plan) {
            prop_assert_eq!(block.to_string().replace("REQ.", "PLAN."), plan.to_string());
        }
    }
}
