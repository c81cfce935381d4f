//! The program ends before each call in turn. The journal finds the checkout again, and nothing is bought twice.

use checkout_protocols::{Recovering, Recovery};
use ucp_shop::Behaviour;

use super::buyer::{End, Journal, Kept, Line, order, wish};

/// What a program that starts again finds out by its journal.
fn recovered(line: &mut Line, journal: &Journal) -> Recovery {
    let Some((id, at)) = journal else { return Recovery::NotBought };
    let shop = line.profile().unwrap();
    let written_at = Some(*at).filter(|_| line.token.is_none());
    let mut recovering = Recovering::begin(shop, id, written_at, &mut || line.random()).unwrap();
    loop {
        let Ok(reply) = line.send(recovering.call(), Kept::of) else { panic!() };
        match recovering.answered(reply.reply(), line.now) {
            Recovery::Call(next) => recovering = *next,
            end => return end,
        }
    }
}

#[test]
fn a_crash_before_each_call_never_buys_twice() {
    let behaviours =
        [Behaviour::Honest, Behaviour::AnswersLate, Behaviour::InProgress, Behaviour::DropsComplete];
    let lines: [fn() -> Line; 2] = [Line::new, Line::unsigned];
    for (new, behaviour) in lines.into_iter().flat_map(|new| behaviours.map(|behaviour| (new, behaviour))) {
        let behaving = || {
            let mut line = new();
            line.shop.behave(behaviour);
            line
        };
        let mut whole = behaving();
        let _ = order(&mut whole, wish(), &mut None);
        for at in 0..whole.sent.len() {
            let (mut line, mut journal) = (behaving(), None);
            line.crash_at = Some(at);
            assert_eq!(order(&mut line, wish(), &mut journal), End::Crashed);
            line.crash_at = None;
            let sold = line.sales();
            match recovered(&mut line, &journal) {
                Recovery::Bought(_) => assert_eq!(sold, 1, "{behaviour:?} {at}"),
                Recovery::NotBought => assert_eq!(sold, 0, "{behaviour:?} {at}"),
                Recovery::Unknown => panic!("{behaviour:?} {at}: this shop answers"),
                Recovery::Call(_) => unreachable!(),
            }
            // The user orders once more: the shop has one order more, and none besides.
            line.shop.behave(Behaviour::Honest);
            assert!(matches!(order(&mut line, wish(), &mut None), End::Bought(_)));
            assert_eq!(line.sales(), sold + 1, "{behaviour:?} {at}");
        }
    }
}

/// The journal is written before the mandates are signed, so no shop ever has mandates that the journal does not know of.
#[test]
fn the_journal_knows_every_checkout_that_a_shop_has_mandates_for() {
    let mut whole = Line::new();
    let _ = order(&mut whole, wish(), &mut None);
    for at in 0..whole.sent.len() {
        let (mut line, mut journal) = (Line::new(), None);
        line.crash_at = Some(at);
        let _ = order(&mut line, wish(), &mut journal);
        let is_signed = whole.sent[at] == "POST complete";
        assert_eq!(journal.is_some(), is_signed, "{at}");
    }
}
