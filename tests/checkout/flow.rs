//! One purchase, from arming to the bank's confirmation, with the worker played by the test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use crate::support::*;
use browser_signals::Origin;
use evaluation::mock_bank::{DECLINED_CARD, EntryStatus, MockBank, MockBankClient, RedeemError};
use portcullis::checkout::{
    ArmError, Bank, BankAnswer, BankError, BankStatus, DeclineReason, IdempotencyKey, Intent, Journal,
    JournalError, MemoryJournal, Outcome, Pending, PurchaseId, RecoverError, Settlement, Token,
};
use portcullis::vault::SealedCard;
use sirl::Money;
use tokio::sync::Notify;

const SOON: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(800);

#[tokio::test]
async fn a_purchase_is_paid_once() {
    let desk = Desk::open().await;
    let amount = usd("64.15");
    let armed = desk.arm(1, amount);
    let token = ask(&desk.handler, &matching(amount)).await.token().unwrap();
    assert_eq!(desk.bank.redeem(&token, &shop(), usd("64.16")), Err(RedeemError::Mismatch));
    assert_eq!(desk.bank.redeem(&token, &origin("https://evil.example"), amount), Err(RedeemError::Mismatch));
    desk.bank.redeem(&token, &shop(), amount).unwrap();
    assert_eq!(desk.bank.redeem(&token, &shop(), amount), Err(RedeemError::Spent));
    let asked = std::time::Instant::now();
    assert_eq!(armed.outcome(SOON).await, Outcome::Paid { amount, card: "card:personal".into() });
    assert!(asked.elapsed() < SOON / 2, "the answer came with the end of the time");
    assert!(desk.journal.open_intents().unwrap().is_empty());
    let ledger = desk.bank.ledger();
    assert_eq!((ledger.len(), ledger[0].asked, ledger[0].charges), (1, 1, 1));
    assert!(desk.bank.knows_card(CARD));
    // The same request again is a replay.
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
}

#[tokio::test]
async fn a_mismatch_is_denied_and_burns_nothing() {
    let desk = Desk::open().await;
    let amount = usd("64.15");
    let nothing_pending = ask(&desk.handler, &matching(amount)).await;
    assert!(nothing_pending.is_denied());
    let armed = desk.arm(1, amount);
    let shop = "https://shop.example/";
    for (payee, top, value, currency) in [
        (shop, shop, "64.16", "USD"),
        (shop, shop, "64.14", "USD"),
        (shop, shop, "6415", "USD"),
        (shop, shop, "64.15", "EUR"),
        (shop, shop, "64.15", "JOD"),
        ("https://evil.example/", shop, "64.15", "USD"),
        (shop, "https://evil.example/", "64.15", "USD"),
        ("https://evil.example/", "https://evil.example/", "64.15", "USD"),
        ("http://shop.example/", "http://shop.example/", "64.15", "USD"),
        ("https://shop.example:8443/", "https://shop.example:8443/", "64.15", "USD"),
        ("https://www.shop.example/", "https://www.shop.example/", "64.15", "USD"),
    ] {
        let answer = ask(&desk.handler, &question(payee, top, value, currency)).await;
        assert!(answer.is_denied(), "{payee} {top} {value} {currency}");
        assert_eq!(answer.body, nothing_pending.body, "an answer that tells whether something is pending");
    }
    assert!(desk.bank.ledger().is_empty());
    assert!(ask(&desk.handler, &matching(amount)).await.token().is_some());
    drop(armed);
}

#[tokio::test]
async fn an_embedded_checkout_needs_both_origins() {
    let desk = Desk::open().await;
    let (payee, top, amount) = (origin("https://pay.example"), origin("https://shop.example"), usd("5"));
    let pending = Pending::new(payee.clone(), top, amount);
    let armed = desk.handler.arm(pending, sealed(&payee, amount), PurchaseId([1; 16])).unwrap();
    for (frame, page) in
        [("https://pay.example/", "https://pay.example/"), ("https://shop.example/", "https://shop.example/")]
    {
        assert!(ask(&desk.handler, &question(frame, page, "5.00", "USD")).await.is_denied());
    }
    assert!(
        ask(&desk.handler, &question("https://pay.example/", "https://shop.example/", "5", "USD"))
            .await
            .token()
            .is_some()
    );
    drop(armed);
}

#[tokio::test]
async fn of_many_requests_one_gets_the_token() {
    let desk = Desk::open().await;
    let amount = usd("10");
    let armed = desk.arm(1, amount);
    let own = desk.handler.origin().to_string();
    let line = format!("POST {}", authorize_path(&desk.handler).await);
    let text = request(&desk.handler, &line, &worker_headers(&own), &matching(amount));
    let handler = Arc::new(desk.handler);
    let asking: Vec<_> = (0..24)
        .map(|_| {
            let (handler, text) = (handler.clone(), text.clone());
            tokio::spawn(async move { send(&handler, &text).await.token() })
        })
        .collect();
    let mut tokens = Vec::new();
    for task in asking {
        tokens.extend(task.await.unwrap());
    }
    assert_eq!(tokens.len(), 1);
    assert_eq!(desk.bank.ledger()[0].asked, 1);
    drop(armed);
}

#[tokio::test]
async fn one_purchase_at_a_time_and_only_with_its_own_card() {
    let desk = Desk::open().await;
    let amount = usd("10");
    let armed = desk.arm(1, amount);
    let pending = Pending::new(shop(), shop(), amount);
    let again = desk.handler.arm(pending.clone(), sealed(&shop(), amount), PurchaseId([2; 16]));
    assert_eq!(again.err(), Some(ArmError::AlreadyPending));
    drop(armed);
    for card in [sealed(&shop(), usd("10.01")), sealed(&origin("https://evil.example"), amount)] {
        let other = desk.handler.arm(pending.clone(), card, PurchaseId([2; 16]));
        assert_eq!(other.err(), Some(ArmError::Mismatch));
    }
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
    drop(desk.arm(3, amount));
}

#[tokio::test]
async fn a_purchase_without_a_request_in_time_ends_unasked() {
    let desk = Desk::open().await;
    let amount = usd("10");
    let armed = desk.arm_for(1, &shop(), amount, SHORT);
    tokio::time::sleep(SHORT * 2).await;
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
    assert_eq!(armed.outcome(SOON).await, Outcome::Unasked);
    let armed = desk.arm(2, amount);
    assert_eq!(armed.outcome(SHORT).await, Outcome::Unasked);
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
    assert!(desk.bank.ledger().is_empty());
}

#[tokio::test]
async fn a_token_that_the_shop_does_not_redeem_is_voided() {
    let desk = Desk::open().await;
    let amount = usd("10");
    let armed = desk.arm(1, amount);
    let token = ask(&desk.handler, &matching(amount)).await.token().unwrap();
    assert_eq!(armed.outcome(SHORT).await, Outcome::Expired);
    assert_eq!(desk.bank.redeem(&token, &shop(), amount), Err(RedeemError::Spent));
    assert_eq!(desk.bank.ledger()[0].status, EntryStatus::Voided);
    assert!(desk.journal.open_intents().unwrap().is_empty());
}

/// Waits until a dropped purchase is settled.
async fn settled(desk: &Desk) {
    let began = std::time::Instant::now();
    while !desk.journal.open_intents().unwrap().is_empty() {
        assert!(began.elapsed() < SOON, "it stays open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn dropping_disarms_and_voids() {
    let desk = Desk::open().await;
    let amount = usd("10");
    drop(desk.arm(1, amount));
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
    let armed = desk.arm(2, amount);
    let token = ask(&desk.handler, &matching(amount)).await.token().unwrap();
    drop(armed);
    settled(&desk).await;
    assert_eq!(desk.bank.redeem(&token, &shop(), amount), Err(RedeemError::Spent));
}

#[tokio::test]
async fn a_refusal_of_the_bank_is_a_decline() {
    let desk = Desk::open().await;
    let amount = usd("10");
    let pending = Pending::new(shop(), shop(), amount);
    let card = sealed_number(DECLINED_CARD, &shop(), amount);
    let armed = desk.handler.arm(pending, card, PurchaseId([1; 16])).unwrap();
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
    assert_eq!(armed.outcome(SOON).await, Outcome::Declined(DeclineReason::Bank(BankError::Declined)));
    assert!(desk.journal.open_intents().unwrap().is_empty());
    assert!(desk.bank.ledger().iter().all(|entry| entry.charges == 0 && entry.status == EntryStatus::Voided));
}

#[tokio::test]
async fn the_same_purchase_again_charges_nothing_more() {
    let desk = Desk::open().await;
    let amount = usd("10");
    let armed = desk.arm(1, amount);
    let token = ask(&desk.handler, &matching(amount)).await.token().unwrap();
    desk.bank.redeem(&token, &shop(), amount).unwrap();
    drop(armed);
    settled(&desk).await;
    let armed = desk.arm(1, amount);
    let same = ask(&desk.handler, &matching(amount)).await.token().unwrap();
    assert_eq!(same, token);
    assert_eq!(desk.bank.redeem(&same, &shop(), amount), Err(RedeemError::Spent));
    assert!(matches!(armed.outcome(SOON).await, Outcome::Paid { .. }));
    let ledger = desk.bank.ledger();
    assert_eq!((ledger.len(), ledger[0].asked, ledger[0].charges), (1, 2, 1));
}

#[tokio::test]
async fn the_same_id_for_another_amount_is_refused() {
    let desk = Desk::open().await;
    let armed = desk.arm(1, usd("10"));
    let token = ask(&desk.handler, &matching(usd("10"))).await.token().unwrap();
    desk.bank.redeem(&token, &shop(), usd("10")).unwrap();
    assert!(matches!(armed.outcome(SOON).await, Outcome::Paid { .. }));
    let armed = desk.arm(1, usd("11"));
    assert!(ask(&desk.handler, &matching(usd("11"))).await.is_denied());
    assert_eq!(armed.outcome(SOON).await, Outcome::Declined(DeclineReason::Bank(BankError::Conflict)));
    assert_eq!(desk.bank.ledger()[0].charges, 1);
}

/// A journal whose disk is full.
struct FullJournal;

impl Journal for FullJournal {
    fn intend(&self, _: &Intent) -> Result<(), JournalError> {
        Err(JournalError::Broken)
    }
    fn settle(&self, _: PurchaseId, _: Settlement) -> Result<(), JournalError> {
        Err(JournalError::Broken)
    }
    fn open_intents(&self) -> Result<Vec<Intent>, JournalError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn without_a_record_the_bank_is_not_asked() {
    let bank = MockBank::start().await.unwrap();
    let client = Arc::new(bank.client());
    let desk = Desk::with(bank, client, Arc::new(FullJournal)).await;
    let amount = usd("10");
    let armed = desk.arm(1, amount);
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
    assert_eq!(armed.outcome(SOON).await, Outcome::Declined(DeclineReason::JournalUnavailable));
    assert!(desk.bank.ledger().is_empty());
}

/// A bank whose answers can be suppressed: requests arrive, and no answer comes back.
struct CutLine {
    bank: MockBankClient,
    cut: AtomicBool,
}

impl CutLine {
    fn through<'a, T: Send + 'a>(&'a self, answer: BankAnswer<'a, T>) -> BankAnswer<'a, T> {
        Box::pin(async move {
            let answer = answer.await;
            if self.cut.load(SeqCst) { Err(BankError::Unreachable) } else { answer }
        })
    }
}

impl Bank for CutLine {
    fn authorize<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        card: SealedCard,
        amount: Money,
        payee: &'a Origin,
    ) -> BankAnswer<'a, Token> {
        self.through(self.bank.authorize(key, card, amount, payee))
    }
    fn status<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        self.through(self.bank.status(key))
    }
    fn void<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        if self.cut.load(SeqCst) {
            Box::pin(async { Err(BankError::Unreachable) })
        } else {
            self.bank.void(key)
        }
    }
}

#[tokio::test]
async fn a_silent_bank_leaves_it_open_until_recovered() {
    let bank = MockBank::start().await.unwrap();
    let line = Arc::new(CutLine { bank: bank.client(), cut: AtomicBool::new(true) });
    let desk = Desk::with(bank, line.clone(), Arc::new(MemoryJournal::default())).await;
    let amount = usd("10");
    let armed = desk.arm(1, amount);
    assert!(ask(&desk.handler, &matching(amount)).await.is_denied());
    assert_eq!(armed.outcome(SOON).await, Outcome::Unsettled);
    let pending = Pending::new(shop(), shop(), amount);
    let next = desk.handler.arm(pending, sealed(&shop(), amount), PurchaseId([2; 16]));
    assert_eq!(next.err(), Some(ArmError::Unsettled));
    assert!(matches!(desk.handler.recover().await, Err(RecoverError::Bank { open: 1, .. })));
    line.cut.store(false, SeqCst);
    let closed = desk.handler.recover().await.unwrap();
    assert_eq!(closed, [(Intent::new(PurchaseId([1; 16]), shop(), amount), Settlement::Voided)]);
    assert_eq!(desk.bank.ledger()[0].status, EntryStatus::Voided);
    drop(desk.arm(2, amount));
}

/// A bank that is slow, before it authorises or after.
struct SlowBank {
    bank: MockBankClient,
    /// Notifies that it was called.
    asked: Notify,
    before: Duration,
    after: Duration,
}

impl Bank for SlowBank {
    fn authorize<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        card: SealedCard,
        amount: Money,
        payee: &'a Origin,
    ) -> BankAnswer<'a, Token> {
        Box::pin(async move {
            self.asked.notify_one();
            tokio::time::sleep(self.before).await;
            let token = self.bank.authorize(key, card, amount, payee).await;
            tokio::time::sleep(self.after).await;
            token
        })
    }
    fn status<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        self.bank.status(key)
    }
    fn void<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        self.bank.void(key)
    }
}

#[tokio::test]
async fn a_bank_that_answers_too_late_pays_nothing() {
    for (before, after) in [(SHORT * 3, Duration::ZERO), (Duration::ZERO, SHORT * 3)] {
        let bank = MockBank::start().await.unwrap();
        let slow = Arc::new(SlowBank { bank: bank.client(), asked: Notify::new(), before, after });
        let desk = Desk::with(bank, slow.clone(), Arc::new(MemoryJournal::default())).await;
        let amount = usd("10");
        let armed = desk.arm(1, amount);
        let body = matching(amount);
        let outcome = async {
            tokio::time::timeout(SOON, slow.asked.notified()).await.expect("the bank is asked");
            armed.outcome(SHORT).await
        };
        let (outcome, page) = tokio::join!(outcome, ask(&desk.handler, &body));
        assert_eq!(outcome, Outcome::Expired);
        assert!(page.is_denied());
        assert!(desk.journal.open_intents().unwrap().is_empty());
        let ledger = desk.bank.ledger();
        assert_eq!((ledger.len(), ledger[0].charges, ledger[0].status), (1, 0, EntryStatus::Voided));
    }
}

#[tokio::test]
async fn a_browser_that_disconnects_leaves_nothing_unfinished() {
    let bank = MockBank::start().await.unwrap();
    let slow = Arc::new(SlowBank {
        bank: bank.client(),
        asked: Notify::new(),
        before: SHORT,
        after: Duration::ZERO,
    });
    let desk = Desk::with(bank, slow.clone(), Arc::new(MemoryJournal::default())).await;
    let amount = usd("10");
    let armed = desk.arm(1, amount);
    let body = matching(amount);
    tokio::select! {
        () = slow.asked.notified() => {}
        answer = ask(&desk.handler, &body) => panic!("answered before the bank: {answer:?}"),
        () = tokio::time::sleep(SOON) => panic!("the bank is not asked"),
    }
    assert_eq!(armed.outcome(SHORT * 4).await, Outcome::Expired);
    assert!(desk.journal.open_intents().unwrap().is_empty());
    assert_eq!((desk.bank.ledger()[0].asked, desk.bank.ledger()[0].status), (1, EntryStatus::Voided));
}

#[tokio::test]
async fn a_void_comes_before_a_late_authorisation() {
    let bank = MockBank::start().await.unwrap();
    let (client, key) = (bank.client(), PurchaseId([9; 16]).key());
    assert_eq!(client.status(&key).await, Ok(BankStatus::Unknown));
    assert_eq!(client.void(&key).await, Ok(BankStatus::Voided));
    let late = client.authorize(&key, sealed(&shop(), usd("1")), usd("1"), &shop()).await;
    assert_eq!(late.err(), Some(BankError::Closed));
}

#[tokio::test]
async fn the_bank_answers_only_its_guard() {
    let bank = MockBank::start().await.unwrap();
    let stranger = MockBankClient::new(bank.address(), "guess".into());
    let key = PurchaseId([9; 16]).key();
    assert_eq!(stranger.void(&key).await, Err(BankError::Unreachable));
    assert!(stranger.authorize(&key, sealed(&shop(), usd("1")), usd("1"), &shop()).await.is_err());
    assert!(bank.ledger().is_empty());
    assert_eq!(bank.redeem("", &shop(), usd("1")), Err(RedeemError::Unknown));
}
