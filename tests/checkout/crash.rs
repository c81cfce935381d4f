//! A guard killed between authorising and answering never charges twice.
//!
//! The test starts itself again as the guard of a purchase, which is killed at the moment when the bank has authorised. The
//! bank, here in the test, lives on.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::support::*;
use browser_signals::Origin;
use evaluation::mock_bank::{EntryStatus, MockBank, MockBankClient, RedeemError};
use portcullis::checkout::{
    Bank, BankAnswer, BankError, BankStatus, FileJournal, IdempotencyKey, Journal, Outcome, PaymentHandler,
    Pending, PurchaseId, Settlement, Token, recover,
};
use portcullis::vault::SealedCard;
use sirl::Money;

const ROLE: &str = "CHECKOUT_CRASH_ROLE";
const PURCHASE: PurchaseId = PurchaseId([0x42; 16]);

/// The moment at which the guard dies.
#[derive(Clone, Copy, PartialEq)]
enum Dies {
    /// After the intent is on disk, before the bank is called.
    Before,
    /// After the bank has authorised, before the page gets an answer.
    After,
}

struct DyingBank {
    bank: MockBankClient,
    dies: Dies,
}

/// Kills this process as a power cut would: without destructor, flush or handler.
fn die() -> ! {
    let pid = std::process::id().to_string();
    let _ = Command::new("kill").args(["-KILL", &pid]).status();
    std::process::abort()
}

impl Bank for DyingBank {
    fn authorize<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        card: SealedCard,
        amount: Money,
        payee: &'a Origin,
    ) -> BankAnswer<'a, Token> {
        Box::pin(async move {
            if self.dies == Dies::Before {
                die()
            }
            self.bank.authorize(key, card, amount, payee).await?;
            die()
        })
    }
    fn status<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        self.bank.status(key)
    }
    fn void<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        self.bank.void(key)
    }
}

/// The guard's process. In an ordinary test run it does nothing.
#[test]
fn the_guard_that_dies() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let [dies, address, secret, path]: [&str; 4] =
        role.splitn(4, ' ').collect::<Vec<_>>().try_into().unwrap();
    let bank = MockBankClient::new(address.parse().unwrap(), secret.to_owned());
    let dies = if dies == "before" { Dies::Before } else { Dies::After };
    let journal: Arc<dyn Journal> = Arc::new(FileJournal::open(Path::new(path)).unwrap());
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let handler =
            PaymentHandler::start(Arc::new(DyingBank { bank, dies }), journal, [3; 32]).await.unwrap();
        let amount = usd("64.15");
        let pending = Pending::new(shop(), shop(), amount);
        let _armed = handler.arm(pending, sealed(&shop(), amount), PURCHASE).unwrap();
        ask(&handler, &matching(amount)).await;
    });
    panic!("the guard lived on");
}

fn run_guard(bank: &MockBank, dies: &str, journal: &Path) {
    let role = format!("{dies} {} {} {}", bank.address(), bank.secret(), journal.display());
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::the_guard_that_dies", "--nocapture"])
        .env(ROLE, role)
        .output()
        .unwrap();
    assert!(!ended.status.success());
    #[cfg(unix)]
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.status), Some(9), "{ended:?}");
}

async fn killed(dies: &'static str) -> (MockBank, Arc<dyn Journal>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payments.journal");
    let bank = Arc::new(MockBank::start().await.unwrap());
    let (its_bank, its_path) = (bank.clone(), path.clone());
    tokio::task::spawn_blocking(move || run_guard(&its_bank, dies, &its_path)).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"intent\"") && !text.contains(CARD) && !text.contains("mock-"), "{text}");
    let journal: Arc<dyn Journal> = Arc::new(FileJournal::open(&path).unwrap());
    assert_eq!(journal.open_intents().unwrap().len(), 1);
    (Arc::into_inner(bank).unwrap(), journal, folder)
}

/// Runs the same purchase again with a guard that lives; returns the token that the page got, if any.
async fn again(bank: &MockBank, journal: &Arc<dyn Journal>) -> (Option<String>, Outcome) {
    let handler = PaymentHandler::start(Arc::new(bank.client()), journal.clone(), [4; 32]).await.unwrap();
    let amount = usd("64.15");
    let armed = handler.arm(Pending::new(shop(), shop(), amount), sealed(&shop(), amount), PURCHASE).unwrap();
    let token = ask(&handler, &matching(amount)).await.token();
    if let Some(token) = &token {
        let _ = bank.redeem(token, &shop(), amount);
    }
    (token, armed.outcome(Duration::from_secs(60)).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_authorising_then_recovered() {
    let (bank, journal, _folder) = killed("after").await;
    let ledger = bank.ledger();
    assert_eq!((ledger.len(), ledger[0].asked, ledger[0].status), (1, 1, EntryStatus::Authorised));
    let closed = recover(&journal, &bank.client()).await.unwrap();
    assert_eq!(closed.len(), 1);
    assert_eq!((closed[0].0.purchase, closed[0].1), (PURCHASE, Settlement::Voided));
    assert!(journal.open_intents().unwrap().is_empty());
    assert!(recover(&journal, &bank.client()).await.unwrap().is_empty());
    let (token, outcome) = again(&bank, &journal).await;
    assert_eq!(token, None);
    assert!(matches!(outcome, Outcome::Declined(_)), "{outcome:?}");
    let ledger = bank.ledger();
    assert_eq!((ledger.len(), ledger[0].charges, ledger[0].status), (1, 0, EntryStatus::Voided));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_authorising_then_run_again() {
    let (bank, journal, _folder) = killed("after").await;
    // Without recovery no other purchase is armed, and this one continues under the same key.
    let (token, outcome) = again(&bank, &journal).await;
    assert!(matches!(outcome, Outcome::Paid { .. }), "{outcome:?}");
    let (same, outcome) = again(&bank, &journal).await;
    assert_eq!(same, token);
    assert!(matches!(outcome, Outcome::Paid { .. }), "{outcome:?}");
    assert_eq!(bank.redeem(&token.unwrap(), &shop(), usd("64.15")), Err(RedeemError::Spent));
    let ledger = bank.ledger();
    assert_eq!((ledger.len(), ledger[0].asked, ledger[0].charges), (1, 3, 1));
    assert!(recover(&journal, &bank.client()).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_authorising_then_recovered() {
    let (bank, journal, _folder) = killed("before").await;
    assert!(bank.ledger().is_empty());
    assert_eq!(bank.client().status(&PURCHASE.key()).await, Ok(BankStatus::Unknown));
    let closed = recover(&journal, &bank.client()).await.unwrap();
    assert_eq!(closed[0].1, Settlement::Voided);
    // The key is closed permanently: a late authorisation is refused.
    let late =
        bank.client().authorize(&PURCHASE.key(), sealed(&shop(), usd("64.15")), usd("64.15"), &shop()).await;
    assert_eq!(late.err(), Some(BankError::Closed));
    assert!(bank.ledger().iter().all(|entry| entry.charges == 0));
}
