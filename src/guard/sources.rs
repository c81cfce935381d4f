//! The user's password managers: which kinds of request each may serve, and a fetch from them for one grant.

use std::sync::Arc;
use std::time::Duration;

use policy_dfa::Reason;
use sirl::{Field, Kind};
use vault::sources::{Account, Fetched, FetchedValues, KeepError, Source, SourceError, Wanted};

use super::dependencies::{Dependencies, LONGEST_WAIT};
use super::record_choices::Unreached;
use crate::consent::{ChosenFrom, WhichAccount, visible};
use crate::system::unix_ms;

/// The time for one answer of a source. The user may have to unlock it and to agree, in its own windows.
const FETCH_TIMEOUT: Duration = Duration::from_secs(120);

/// The most characters of a source's name.
const MAX_NAME_CHARS: usize = 40;

/// The most accounts that the user chooses among.
const MAX_ACCOUNTS: usize = 9;

/// The part of a session's state about one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedBy {
    /// The source's name in questions.
    pub name: String,
    /// The kinds of request that it may serve, by the user's configuration.
    pub kinds: Vec<Kind>,
}

/// A source that the sessions of a guard share. One is asked at a time.
#[derive(Clone)]
pub(crate) struct SharedSource {
    pub(crate) serves: ServedBy,
    /// The time for one answer.
    patience: Duration,
    source: Arc<tokio::sync::Mutex<Box<dyn Source>>>,
}

impl SharedSource {
    pub(crate) fn new(source: Box<dyn Source>, kinds: Vec<Kind>) -> SharedSource {
        // Questions and standing consents name records and sources alike, and a record has a colon in its name.
        let serves = ServedBy { name: visible(source.name(), MAX_NAME_CHARS).replace(':', " "), kinds };
        SharedSource { serves, patience: FETCH_TIMEOUT, source: Arc::new(tokio::sync::Mutex::new(source)) }
    }

    async fn accounts(&self, wanted: &Wanted) -> Result<Option<Vec<Account>>, SourceError> {
        let mut source = self.turn().await?;
        within(self.patience, source.accounts(wanted.origin())).await
    }

    async fn fetch(&self, wanted: &Wanted, account: Option<&Account>) -> Result<Fetched, SourceError> {
        let mut source = self.turn().await?;
        within(self.patience, source.fetch(wanted, account)).await
    }

    /// Waits until no other session asks it.
    async fn turn(&self) -> Result<tokio::sync::MutexGuard<'_, Box<dyn Source>>, SourceError> {
        tokio::time::timeout(LONGEST_WAIT, self.source.lock()).await.map_err(|_| SourceError::TimedOut)
    }
}

/// The end of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchOutcome {
    /// Values are in the vault, for the task; `is_noted` if the vault's file has to be written before they are released.
    Kept {
        /// True if the step of a one-time code was noted.
        is_noted: bool,
    },
    /// No source has an account for the origin.
    Nothing,
    /// The user chose none of several accounts.
    NotChosen,
    /// The source gives nothing.
    Failed(SourceError),
    /// Its values are not fit to be kept.
    Unfit(Reason),
}

impl FetchOutcome {
    /// The word in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            FetchOutcome::Kept { .. } => "fetched",
            FetchOutcome::Nothing => "nothing",
            FetchOutcome::NotChosen => "not_chosen",
            FetchOutcome::Failed(SourceError::NotRunning) => "not_running",
            FetchOutcome::Failed(SourceError::Locked) => "locked",
            FetchOutcome::Failed(SourceError::NotConnected) => "not_connected",
            FetchOutcome::Failed(SourceError::Refused) => "refused",
            FetchOutcome::Failed(SourceError::Missing) => "missing",
            FetchOutcome::Failed(SourceError::NotDecrypted) => "not_decrypted",
            FetchOutcome::Failed(SourceError::Unsafe) => "unsafe",
            FetchOutcome::Failed(SourceError::TooMany) => "too_many",
            FetchOutcome::Failed(SourceError::Alike) => "alike",
            FetchOutcome::Failed(SourceError::WithoutSite) => "without_site",
            FetchOutcome::Failed(SourceError::Unproven) => "unproven",
            FetchOutcome::Failed(SourceError::TimedOut) => "timed_out",
            FetchOutcome::Failed(SourceError::NotGiven) => "not_given",
            FetchOutcome::Failed(_) => "not_understood",
            FetchOutcome::Unfit(_) => "unfit",
        }
    }
}

/// The report of a fetch.
#[derive(Debug, PartialEq, Eq)]
pub struct FetchReport {
    /// The fields that were wanted, and their origin.
    pub wanted: Wanted,
    /// The source that it ended at.
    pub source: String,
    /// Its end.
    pub outcome: FetchOutcome,
}

impl Dependencies {
    /// Fetches what a grant wants from the sources that serve its kind, in their order, and keeps it in the vault for the task. The
    /// first one that has an account ends it; so does one that fails, since it may have the account.
    pub(crate) async fn fetch(&mut self, wanted: Wanted) -> FetchReport {
        if wanted.fields().contains(Field::OneTimeCode) {
            self.vault().forget_fetched_code(wanted.origin());
        }
        let (mut source, mut outcome) = (String::new(), FetchOutcome::Nothing);
        let sources = self.sources.clone();
        for shared in sources.iter().filter(|shared| shared.serves.kinds.contains(&wanted.kind())) {
            source.clone_from(&shared.serves.name);
            outcome = self.fetch_from(shared, &wanted).await.unwrap_or_else(FetchOutcome::Failed);
            if outcome != FetchOutcome::Nothing {
                break;
            }
        }
        FetchReport { wanted, source, outcome }
    }

    async fn fetch_from(
        &mut self,
        shared: &SharedSource,
        wanted: &Wanted,
    ) -> Result<FetchOutcome, SourceError> {
        let name = shared.serves.name.as_str();
        let earlier = self.vault().fetched_account(name, wanted.origin()).map(str::to_owned);
        let account = match earlier {
            Some(id) => Some(Account { id, label: String::new() }),
            None => match shared.accounts(wanted).await? {
                None => None,
                Some(accounts) => match self.choose(name, wanted, accounts).await? {
                    Ok(account) => Some(account),
                    Err(outcome) => return Ok(outcome),
                },
            },
        };
        match shared.fetch(wanted, account.as_ref()).await? {
            Fetched::Nothing => Ok(FetchOutcome::Nothing),
            Fetched::Values(values) => Ok(self.keep(name, wanted, values)),
            // A source that was told which account it is has one.
            Fetched::Several(_) if account.is_some() => Err(SourceError::Answer),
            Fetched::Several(accounts) => match self.choose(name, wanted, accounts).await? {
                Err(outcome) => Ok(outcome),
                Ok(account) => match shared.fetch(wanted, Some(&account)).await? {
                    Fetched::Values(values) => Ok(self.keep(name, wanted, values)),
                    Fetched::Nothing => Ok(FetchOutcome::Nothing),
                    Fetched::Several(_) => Err(SourceError::Answer),
                },
            },
        }
    }

    fn keep(&mut self, name: &str, wanted: &Wanted, values: FetchedValues) -> FetchOutcome {
        let mut entropy = self.entropy.clone();
        let kept = self.vault().keep_fetched(wanted, name, values, unix_ms(), &mut entropy);
        match kept {
            Ok(is_noted) => FetchOutcome::Kept { is_noted },
            Err(KeepError::NoValue) => FetchOutcome::Nothing,
            Err(error) => FetchOutcome::Unfit(error.reason()),
        }
    }

    /// The only account, or the one that the user chooses. A list that a person cannot tell apart is not asked about.
    async fn choose(
        &mut self,
        name: &str,
        wanted: &Wanted,
        mut accounts: Vec<Account>,
    ) -> Result<Result<Account, FetchOutcome>, SourceError> {
        if accounts.len() <= 1 {
            return Ok(accounts.pop().ok_or(FetchOutcome::Nothing));
        }
        if accounts.len() > MAX_ACCOUNTS {
            return Err(SourceError::TooMany);
        }
        let which = WhichAccount {
            of: ChosenFrom::Source(name.to_owned()),
            origin: wanted.origin().clone(),
            labels: accounts.iter().map(|account| account.label.clone()).collect(),
            client: self.client.clone(),
        };
        if which.shown().is_none() {
            return Err(SourceError::Alike);
        }
        match self.ask_which(&which).await {
            Ok(Some(chosen)) => Ok(Ok(accounts.swap_remove(chosen))),
            Ok(None) | Err(Unreached) => Ok(Err(FetchOutcome::NotChosen)),
        }
    }
}

async fn within<T>(
    patience: Duration,
    answer: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    tokio::time::timeout(patience, answer).await.unwrap_or(Err(SourceError::TimedOut))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
    use std::sync::Mutex;

    use browser_signals::{Container, Fact, NodeId, Observed, Origin, Sink, Snapshot};
    use policy_dfa::{Basis, Consent, Granted, History, Millis, Placement, Question, Task, Verdict};
    use sirl::{Claim, FieldSet, Items, Pointers, Request};
    use vault::Secret;
    use vault::sources::{FetchedCode, SourceFuture};

    use super::*;
    use crate::audit::MemoryLog;
    use crate::consent::{Answer, AnswerFuture, Answerer, ChoiceFuture, ConsentPrompt};
    use crate::guard::{Guard, SystemEntropy};

    const PASSWORD: &str = "opal-kettle-harbour";

    /// A password manager that answers by a rule.
    struct Played {
        accounts: fn() -> Option<Vec<Account>>,
        fetch: fn(Option<&str>) -> Answered,
        asked: Arc<Mutex<Vec<Option<String>>>>,
    }

    enum Answered {
        Now(Result<Fetched, SourceError>),
        Never,
    }

    fn account(id: &str) -> Account {
        Account { id: id.to_owned(), label: format!("label of {id}") }
    }

    fn values(id: &str) -> Fetched {
        Fetched::Values(FetchedValues {
            account: account(id),
            username: Some(Secret::new(id)),
            password: Some(Secret::new(PASSWORD)),
            code: Some(FetchedCode::Code(Secret::new("492813"))),
        })
    }

    impl Source for Played {
        fn name(&self) -> &str {
            "KeePassXC"
        }

        fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
            Box::pin(std::future::ready(Ok(())))
        }

        fn accounts<'a>(
            &'a mut self,
            _origin: &'a Origin,
        ) -> SourceFuture<'a, Result<Option<Vec<Account>>, SourceError>> {
            Box::pin(std::future::ready(Ok((self.accounts)())))
        }

        fn fetch<'a>(
            &'a mut self,
            _wanted: &'a Wanted,
            account: Option<&'a Account>,
        ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
            let id = account.map(|account| account.id.clone());
            self.asked.lock().unwrap().push(id.clone());
            match (self.fetch)(id.as_deref()) {
                Answered::Now(answer) => Box::pin(std::future::ready(answer)),
                Answered::Never => Box::pin(std::future::pending()),
            }
        }
    }

    /// A user who chooses the account at a place of the list, and remembers the list.
    struct Chooser(Option<usize>, Arc<Mutex<Vec<String>>>);

    impl Answerer for Chooser {
        fn answer<'a>(&'a mut self, _prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
            Box::pin(std::future::ready(Answer::No))
        }

        fn choose<'a>(&'a mut self, which: &'a WhichAccount) -> ChoiceFuture<'a> {
            self.1.lock().unwrap().push(which.to_string());
            Box::pin(std::future::ready(self.0))
        }
    }

    struct Run {
        outcome: FetchOutcome,
        asked: Vec<Option<String>>,
        lists: Vec<String>,
        found: usize,
    }

    async fn run(
        accounts: fn() -> Option<Vec<Account>>,
        fetch: fn(Option<&str>) -> Answered,
        chooses: Option<usize>,
    ) -> Run {
        let (asked, lists): (Arc<Mutex<_>>, Arc<Mutex<_>>) = (Arc::default(), Arc::default());
        let user = Box::new(Chooser(chooses, lists.clone()));
        let log = Box::new(MemoryLog::default());
        let guard = Guard::new(crate::DEFAULT_POLICY, log, user, Box::new(SystemEntropy)).unwrap();
        let source = Played { accounts, fetch, asked: asked.clone() };
        let mut guard = guard.with_source(Box::new(source), vec![Kind::Login]);
        guard.dependencies.sources[0].patience = Duration::from_secs(1);
        let wanted = wanted(&mut guard);
        let FetchReport { source, outcome, .. } = guard.dependencies.fetch(wanted).await;
        assert_eq!(source, "KeePassXC");
        let found = guard.dependencies.vault().scan(PASSWORD).unwrap().len();
        let (asked, lists) = (asked.lock().unwrap().clone(), lists.lock().unwrap().clone());
        Run { outcome, asked, lists, found }
    }

    /// The fields that a granted login at the shop wants.
    fn wanted(guard: &mut Guard) -> Wanted {
        let shop = Origin::parse("https://shop.example").unwrap();
        let tokens = ["username", "current-password"];
        let page = Snapshot::simulated_form(&shop, "/login", Sink::LoginForm, &tokens);
        let request = Request {
            kind: Kind::Login,
            fields: FieldSet::EMPTY.with(Field::Username).with(Field::Password),
            at: Pointers::default(),
            items: Items::default(),
            claim: Claim::default(),
        };
        let placements = [(Field::Username, 11), (Field::Password, 12)].map(|(field, node)| Placement {
            field,
            node: NodeId(node),
            basis: Basis::Page,
        });
        let verdict = guard.decision.decide(&Question {
            event: policy_dfa::Event::Request { request: &request, placements: &placements, amount: None },
            page: Some(&Observed::simulated(page, 1)),
            task: &Task::new(vec![shop], vec![Kind::Login], None, Container::T2),
            consent: Consent::Given,
            history: History::default(),
            safety: Fact::Unknown,
            now: Millis(1_000),
        });
        let Verdict::Grant(Granted::Fill(grant)) = verdict else { panic!("{verdict:?}") };
        guard.dependencies.vault().wanted(&grant).unwrap()
    }

    #[tokio::test]
    async fn a_source_that_cannot_list_is_asked_once_and_only_wanted_fields_are_kept() {
        let run = run(|| None, |_| Answered::Now(Ok(values("7"))), None).await;
        assert_eq!(run.outcome, FetchOutcome::Kept { is_noted: false });
        assert_eq!((run.asked, run.lists.len(), run.found), (vec![None], 0, 1));
    }

    #[tokio::test]
    async fn the_user_chooses_among_several_accounts_by_their_labels() {
        let several = |asked: Option<&str>| match asked {
            None => Answered::Now(Ok(Fetched::Several(vec![account("1"), account("2")]))),
            Some(id) => Answered::Now(Ok(values(id))),
        };
        let listed = || Some(vec![account("1"), account("2")]);
        for accounts in [(|| None) as fn() -> Option<Vec<Account>>, listed] {
            let chosen = run(accounts, several, Some(1)).await;
            assert_eq!((chosen.outcome, chosen.found), (FetchOutcome::Kept { is_noted: false }, 1));
            assert_eq!(chosen.asked.last(), Some(&Some("2".to_owned())));
            assert!(
                chosen.lists[0].contains("label of 1") && chosen.lists[0].contains("https://shop.example")
            );
            for nobody in [None, Some(2), Some(usize::MAX)] {
                let run = run(accounts, several, nobody).await;
                assert_eq!((run.outcome, run.found), (FetchOutcome::NotChosen, 0), "{nobody:?}");
            }
        }
        // One account needs no question, and none ends it.
        let one = run(|| Some(vec![account("1")]), several, None).await;
        assert_eq!((one.outcome, one.lists.len()), (FetchOutcome::Kept { is_noted: false }, 0));
        let none = run(|| Some(Vec::new()), several, None).await;
        assert_eq!((none.outcome, none.asked.len()), (FetchOutcome::Nothing, 0));
    }

    #[tokio::test]
    async fn a_list_that_a_question_cannot_show_whole_is_not_asked_about() {
        let many = || Some((0..10).map(|number| account(&number.to_string())).collect());
        let alike = || Some(vec![account("1"), account("1")]);
        let long = || Some(vec![Account { id: "1".to_owned(), label: "a".repeat(121) }, account("2")]);
        let (too_many, cannot) = (SourceError::TooMany, SourceError::Alike);
        for (accounts, error) in
            [(many as fn() -> Option<Vec<Account>>, too_many), (alike, cannot), (long, cannot)]
        {
            let run = run(accounts, |_| Answered::Now(Ok(values("1"))), Some(0)).await;
            assert_eq!(run.outcome, FetchOutcome::Failed(error));
            assert_eq!((run.lists.len(), run.asked.len()), (0, 0));
        }
    }

    #[tokio::test]
    async fn a_source_that_hangs_fails_or_goes_on_choosing_gives_nothing() {
        let hangs = run(|| None, |_| Answered::Never, None).await;
        assert_eq!((hangs.outcome, hangs.found), (FetchOutcome::Failed(SourceError::TimedOut), 0));
        for error in [SourceError::Locked, SourceError::NotRunning, SourceError::Refused] {
            let failed = match error {
                SourceError::Locked => run(|| None, |_| Answered::Now(Err(SourceError::Locked)), None).await,
                SourceError::Refused => {
                    run(|| None, |_| Answered::Now(Err(SourceError::Refused)), None).await
                }
                _ => run(|| None, |_| Answered::Now(Err(SourceError::NotRunning)), None).await,
            };
            assert_eq!(failed.outcome, FetchOutcome::Failed(error));
        }
        let several = |_: Option<&str>| Answered::Now(Ok(Fetched::Several(vec![account("1"), account("2")])));
        let again = run(|| None, several, Some(0)).await;
        assert_eq!(again.outcome, FetchOutcome::Failed(SourceError::Answer));
        // After a list the user chose from, the source that names several again is not asked about again.
        let listed = run(|| Some(vec![account("1"), account("2")]), several, Some(0)).await;
        assert_eq!(listed.outcome, FetchOutcome::Failed(SourceError::Answer));
        assert_eq!((listed.lists.len(), listed.asked.len()), (1, 1));
    }

    #[tokio::test]
    async fn a_value_that_no_form_takes_is_not_kept() {
        let bad = |_: Option<&str>| {
            Answered::Now(Ok(Fetched::Values(FetchedValues {
                account: account("1"),
                username: None,
                password: Some(Secret::new("two\nlines")),
                code: None,
            })))
        };
        let run = run(|| None, bad, None).await;
        assert_eq!(run.outcome, FetchOutcome::Unfit(Reason::ValueDamaged));
    }
}
