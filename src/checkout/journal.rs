//! The journal of purchases: each one's intent and its end.
//!
//! A record is one line: the first half of the SHA-256 of the rest, a space, and a JSON object. It holds ids, payees and
//! amounts, and neither a card nor a token.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use browser_signals::Origin;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sirl::{Currency, Money};
use tokio::task::spawn_blocking;

use super::purchase::{IdempotencyKey, PurchaseId, hex};
use crate::storage::ExclusiveFile;

/// The most bytes of a journal: room for some hundred thousand purchases.
const MAX_BYTES: u64 = 64 << 20;

/// A purchase that is about to be authorised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The purchase.
    pub purchase: PurchaseId,
    /// The key under which the bank knows it.
    pub key: IdempotencyKey,
    /// The payee.
    pub payee: Origin,
    /// The amount.
    pub amount: Money,
    /// For an order by the shop's protocol, the checkout at the shop. The shop and not the bank says what became of it.
    pub checkout: Option<OpenCheckout>,
}

/// A checkout at a shop that is about to be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCheckout {
    /// The shop's id of it.
    pub id: String,
    /// When the intent was written, in seconds since 1970. The mandates for it are signed within the next seconds.
    pub written_at: u64,
    /// Whether a token pays, which does not end by itself as mandates do.
    pub by_token: bool,
}

impl Intent {
    /// The intent to pay `amount` to `payee`.
    pub fn new(purchase: PurchaseId, payee: Origin, amount: Money) -> Intent {
        Intent { key: purchase.key(), purchase, payee, amount, checkout: None }
    }

    /// The intent to complete a checkout at `payee`, by the shop's id of it, at this second since 1970, by mandates or by a token.
    pub fn by_protocol(
        purchase: PurchaseId,
        payee: Origin,
        amount: Money,
        id: String,
        written_at: u64,
        by_token: bool,
    ) -> Intent {
        Intent {
            checkout: Some(OpenCheckout { id, written_at, by_token }),
            ..Intent::new(purchase, payee, amount)
        }
    }
}

/// The end of a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// The shop redeemed it.
    Paid,
    /// It was voided: nothing can be paid any more.
    Voided,
}

/// A durable list of purchases. When a method returns `Ok`, its record survives a power cut.
pub trait Journal: Send + Sync {
    /// Records an intent before the bank is called. It changes nothing if the same intent is open already.
    fn intend(&self, intent: &Intent) -> Result<(), JournalError>;

    /// Records the end of a purchase. It changes nothing if the purchase is not open.
    fn settle(&self, purchase: PurchaseId, settlement: Settlement) -> Result<(), JournalError>;

    /// The open intents, oldest first.
    fn open_intents(&self) -> Result<Vec<Intent>, JournalError>;
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("the payment journal {path} cannot be used: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Another guard has it open.
    #[error("the payment journal {path} is in use by another guard; end that one first")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line before the last is damaged.
    #[error(
        "line {line} of the payment journal {path} is damaged; restore the file, or look at the bank \
             for payments that are still open and move the file away"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An earlier write failed and could not be undone.
    #[error("the payment journal could not be written before; start again")]
    Broken,
    /// The purchase is open with another payee or amount.
    #[error("this purchase is under way with another payee or amount")]
    Conflict,
    /// The program is ending.
    #[error("the program ended before the payment journal was written")]
    Interrupted,
}

/// Writes to the journal on a blocking thread, so that the disk does not block the runtime.
pub(crate) async fn journalled(
    journal: &Arc<dyn Journal>,
    write: impl FnOnce(&dyn Journal) -> Result<(), JournalError> + Send + 'static,
) -> Result<(), JournalError> {
    let journal = journal.clone();
    spawn_blocking(move || write(journal.as_ref())).await.unwrap_or(Err(JournalError::Interrupted))
}

/// A journal in memory, for tests, and for a guard whose bank forgets everything too when it ends.
#[derive(Debug, Default)]
pub struct MemoryJournal(Mutex<Vec<Intent>>);

impl MemoryJournal {
    fn lock(&self) -> MutexGuard<'_, Vec<Intent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn intend(&self, intent: &Intent) -> Result<(), JournalError> {
        let mut open = self.lock();
        if is_new(&open, intent)? {
            open.push(intent.clone());
        }
        Ok(())
    }

    fn settle(&self, purchase: PurchaseId, _: Settlement) -> Result<(), JournalError> {
        self.lock().retain(|intent| intent.purchase != purchase);
        Ok(())
    }

    fn open_intents(&self) -> Result<Vec<Intent>, JournalError> {
        Ok(self.lock().clone())
    }
}

/// Whether `intent` is new, not one of the open ones.
fn is_new(open: &[Intent], intent: &Intent) -> Result<bool, JournalError> {
    match open.iter().find(|other| other.purchase == intent.purchase) {
        None => Ok(true),
        Some(same) if same == intent => Ok(false),
        Some(_) => Err(JournalError::Conflict),
    }
}

/// A journal in a file of its own. Lines are only added, and each is synced before it counts; a torn last line, after a
/// power cut, is dropped, since no action relied on it.
///
/// The file is readable by its owner alone, and one guard at a time has it open.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: ExclusiveFile,
    length: u64,
    open: Vec<Intent>,
    broken: bool,
}

impl FileJournal {
    /// Opens the journal, or makes it.
    ///
    /// # Errors
    /// [`JournalError::InUse`], [`JournalError::Damaged`], or those of the file system. The file is not changed, except
    /// that a torn last line is removed.
    pub fn open(path: &Path) -> Result<FileJournal, JournalError> {
        let failed = |error| JournalError::File { path: path.to_owned(), error };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() || about.len() > MAX_BYTES {
            return Err(failed(io::Error::other("it is not a file of at most 64 MiB")));
        }
        let mut file = ExclusiveFile::lock(file).map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::InUse { path: path.to_owned() },
            TryLockError::Error(error) => failed(error),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let (open, length) =
            replay(&bytes).map_err(|line| JournalError::Damaged { path: path.to_owned(), line })?;
        if length < bytes.len() as u64 {
            file.set_len(length).map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        sync_folder(path).map_err(failed)?;
        let state = State { file, length, open, broken: false };
        Ok(FileJournal { path: path.to_owned(), state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            // A thread panicked while it wrote: the content of the file is unknown.
            let mut state = poisoned.into_inner();
            state.broken = true;
            state
        })
    }

    fn append(&self, state: &mut State, record: &Record) -> Result<(), JournalError> {
        if state.broken {
            return Err(JournalError::Broken);
        }
        let failed = |error| JournalError::File { path: self.path.clone(), error };
        let line = record.to_line().map_err(failed)?;
        let written = state
            .file
            .seek(SeekFrom::Start(state.length))
            .and_then(|_| state.file.write_all(line.as_bytes()))
            .and_then(|()| state.file.sync_data());
        if let Err(error) = written {
            let undone = state.file.set_len(state.length).and_then(|()| state.file.sync_data());
            state.broken = undone.is_err();
            return Err(failed(error));
        }
        state.length += line.len() as u64;
        Ok(())
    }
}

impl Journal for FileJournal {
    fn intend(&self, intent: &Intent) -> Result<(), JournalError> {
        let mut state = self.lock();
        if is_new(&state.open, intent)? {
            self.append(&mut state, &Record::of(intent))?;
            state.open.push(intent.clone());
        }
        Ok(())
    }

    fn settle(&self, purchase: PurchaseId, settlement: Settlement) -> Result<(), JournalError> {
        let mut state = self.lock();
        if state.open.iter().any(|intent| intent.purchase == purchase) {
            self.append(&mut state, &Record::End { purchase: purchase.to_hex(), end: settlement })?;
            state.open.retain(|intent| intent.purchase != purchase);
        }
        Ok(())
    }

    fn open_intents(&self) -> Result<Vec<Intent>, JournalError> {
        let state = self.lock();
        if state.broken { Err(JournalError::Broken) } else { Ok(state.open.clone()) }
    }
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    Intent {
        purchase: String,
        key: String,
        payee: String,
        amount: String,
        currency: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkout: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written_at: Option<u64>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_token: bool,
    },
    End {
        purchase: String,
        end: Settlement,
    },
}

impl Record {
    fn of(intent: &Intent) -> Record {
        Record::Intent {
            purchase: intent.purchase.to_hex(),
            key: intent.key.as_str().to_owned(),
            payee: intent.payee.to_string(),
            amount: intent.amount.to_decimal(),
            currency: intent.amount.currency.as_str().to_owned(),
            checkout: intent.checkout.as_ref().map(|checkout| checkout.id.clone()),
            written_at: intent.checkout.as_ref().map(|checkout| checkout.written_at),
            by_token: intent.checkout.as_ref().is_some_and(|checkout| checkout.by_token),
        }
    }

    fn to_line(&self) -> io::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(format!("{} {json}\n", check(&json)))
    }

    fn read(line: &[u8]) -> Option<Record> {
        let (sum, json) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        if sum != check(json) {
            return None;
        }
        serde_json::from_str(json).ok()
    }

    fn apply(self, open: &mut Vec<Intent>) -> Option<()> {
        match self {
            Record::Intent { purchase, key, payee, amount, currency, checkout, written_at, by_token } => {
                let amount = Money::parse(&amount, Currency::new(&currency)?)?;
                let checkout = match (checkout, written_at) {
                    (Some(id), Some(written_at)) => Some(OpenCheckout { id, written_at, by_token }),
                    (None, None) if !by_token => None,
                    _ => return None,
                };
                let (purchase, payee) = (PurchaseId::from_hex(&purchase)?, Origin::parse(&payee).ok()?);
                let intent = Intent { checkout, ..Intent::new(purchase, payee, amount) };
                if intent.key.as_str() != key || !is_new(open, &intent).ok()? {
                    return None;
                }
                open.push(intent);
            }
            Record::End { purchase, .. } => {
                let purchase = PurchaseId::from_hex(&purchase)?;
                open.retain(|intent| intent.purchase != purchase);
            }
        }
        Some(())
    }
}

fn check(json: &str) -> String {
    let mut sum = hex(&Sha256::digest(json));
    sum.truncate(32);
    sum
}

/// The open intents, and the length of the complete lines. A bad last line is the trace of a power cut; a bad line before
/// it is an error, with its number.
fn replay(bytes: &[u8]) -> Result<(Vec<Intent>, u64), usize> {
    let mut open = Vec::new();
    let mut whole = 0;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let record = line.strip_suffix(b"\n").and_then(Record::read);
        match record.and_then(|record| record.apply(&mut open)) {
            Some(()) => whole += line.len() as u64,
            None if lines.peek().is_none() => break,
            None => return Err(number + 1),
        }
    }
    Ok((open, whole))
}
