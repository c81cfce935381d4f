//! Everything that a trial needs: the servers, their authority in a private home folder, the mock bank, the payment
//! handler, and the browser's path.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Origin;
use browser_signals::playwright::{BridgeError, Browser, BrowserSettings};
use portcullis::Guard;
use portcullis::checkout::{Journal, MemoryJournal, PaymentHandler};
use portcullis::orders::{OrderDesk, TestTokens};
use sirl::{Currency, Money};
use tempfile::TempDir;
use ucp_shop::TEST_TOKEN;
use url::Url;

use crate::suite::hosts;
use crate::suite::mock_bank::MockBank;
use crate::suite::scenario::{Orders, Scenario};
use crate::suite::servers::{Redeemer, World, WorldError};
use crate::suite::tls::{TlsError, install_nss};

/// The address of the guards' profile. Nobody serves it here: the shop is given the profile, as if it had fetched it.
const AGENT_PROFILE: &str = "http://127.0.0.1:9/agent";

/// The reason why the stage could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// No Chromium was found.
    #[error("no Chromium was found; run `cargo xtask setup`, or set PORTCULLIS_CHROMIUM to its path")]
    NoChromium,
    /// The servers did not start.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The authority could not be trusted by the browser.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The browser did not start.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// A file or a listener failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Messages that the browser sent to the guard, recorded for canary searches.
#[derive(Clone, Default)]
pub struct Tapped(Arc<Mutex<String>>);

impl Tapped {
    fn add(&self, message: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_str(message);
        all.push('\n');
    }

    /// Takes the messages since the last call.
    pub fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The stage of a run. The browser's home folder is removed when it is dropped.
pub struct Stage {
    /// The servers.
    pub world: Arc<World>,
    /// The guard's payment handler, in front of the mock bank.
    pub payments: Arc<PaymentHandler>,
    /// The mock bank.
    pub bank: Arc<MockBank>,
    /// What guards need to order by protocol, for test money.
    pub orders: Arc<OrderDesk>,
    /// The same for shops that sign nothing.
    pub unsigned_orders: Arc<OrderDesk>,
    /// The messages that the browser sent to the guard.
    pub tapped: Tapped,
    executable: PathBuf,
    home: TempDir,
    /// True if the hosts resolve by themselves.
    by_name: bool,
}

impl Stage {
    /// Sets everything up; nothing outside a temporary folder is written.
    pub async fn set_up() -> Result<Stage, StageError> {
        let executable = chromium().ok_or(StageError::NoChromium)?;
        Stage::around(World::start().await?, executable, false).await
    }

    /// As [`Stage::set_up`], with servers whose hosts resolve to addresses that the guard takes for public, and with
    /// this browser. The browser starts as in production, without host rules and without private hosts.
    ///
    /// # Errors
    /// As for [`Stage::set_up`].
    pub async fn set_up_by_name(world: World, browser: PathBuf) -> Result<Stage, StageError> {
        Stage::around(world, browser, true).await
    }

    async fn around(world: World, executable: PathBuf, by_name: bool) -> Result<Stage, StageError> {
        let world = Arc::new(world);
        let home = tempfile::tempdir()?;
        install_nss(home.path(), world.ca_pem())?;
        let bank = Arc::new(MockBank::start().await?);

        let mut entropy = [0; 32];
        vault::Entropy::fill(&mut portcullis::guard::SystemEntropy, &mut entropy);
        let journal = Arc::new(MemoryJournal::default());
        let journal: Arc<dyn Journal> = journal;
        let payments = PaymentHandler::start(Arc::new(bank.client()), Arc::clone(&journal), entropy).await?;
        let payments = Arc::new(payments);
        world.set_payment_method(&payments.method_url());
        world.set_redeemer(Arc::new(Till {
            bank: bank.clone(),
            payee: Origin::parse(hosts::SHOP_ORIGIN).ok(),
        }));
        let agent = Url::parse(AGENT_PROFILE).map_err(std::io::Error::other)?;
        let desk = || {
            let (agent, means) = (agent.clone(), OrderDesk::test_money("purse"));
            let desk = OrderDesk::new(agent, means, Arc::clone(&journal), world.ca_pem().as_bytes());
            desk.map_err(std::io::Error::other)
        };
        let tokens = Arc::new(TestTokens::new(TEST_TOKEN, None));
        let (orders, unsigned_orders) = (Arc::new(desk()?), Arc::new(desk()?.with_tokens(tokens)));
        let tapped = Tapped::default();
        Ok(Stage { world, payments, bank, orders, unsigned_orders, tapped, executable, home, by_name })
    }

    /// The guard with what it needs to order by protocol, where the scenario's shop takes such orders. The shop then knows its key.
    pub fn ordering(&self, guard: Guard, scenario: &Scenario) -> Guard {
        let desk = match scenario.orders {
            Orders::None => return guard,
            Orders::Signed => &self.orders,
            Orders::Unsigned => &self.unsigned_orders,
        };
        // A guard whose vault is locked has no key, and the shop refuses its mandates.
        if let Some(key) = guard.mandate_key() {
            self.world.trust(&desk.profile(&key));
        }
        guard.with_orders(Arc::clone(desk))
    }

    /// The settings of the guarded browser on this stage.
    pub fn settings(&self) -> BrowserSettings {
        let tapped = self.tapped.clone();
        let mut settings = BrowserSettings::new(&self.executable);
        settings.home = Some(self.home.path().to_owned());
        settings.sandbox = sandbox();
        if !self.by_name {
            settings.proxy_rules = Some(self.world.host_rules());
            settings.private_hosts = hosts::ALL.iter().map(|host| (*host).to_owned()).collect();
        }
        settings.tap = Some(Arc::new(move |message: &str| tapped.add(message)));
        settings
    }

    /// Starts the guarded browser, as `portcullis mcp` does.
    pub async fn browser(&self) -> Result<Browser, StageError> {
        Ok(Browser::start(self.settings()).await?)
    }

    /// The browser's private home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The browser's executable.
    pub fn executable(&self) -> &Path {
        &self.executable
    }
}

pub use discovery::chromium_sandbox as sandbox;

/// Chromium: the environment's, or one of those that are installed.
pub fn chromium() -> Option<PathBuf> {
    discovery::chromium().ok().map(|found| found.path)
}

/// The shop's till: it redeems tokens at the mock bank for the shop.
struct Till {
    bank: Arc<MockBank>,
    payee: Option<Origin>,
}

impl Redeemer for Till {
    fn redeem<'a>(
        &'a self,
        token: &'a str,
        amount_minor: u64,
        currency: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        let redeemed = match (&self.payee, Currency::new(currency)) {
            (Some(payee), Some(currency)) => {
                let amount = Money { minor: amount_minor, currency };
                self.bank.redeem(token, payee, amount).map_err(|error| error.to_string())
            }
            _ => Err("the shop cannot take this currency".to_owned()),
        };
        Box::pin(std::future::ready(redeemed))
    }
}
