//! A login that the user made by hand in the agent's window: the offer to keep it for later tasks.
//!
//! The agent's part of the task is over by then. What is kept returns only into a fresh container, after a question each time.

use browser_signals::Origin;
use browser_signals::login::PresentCookies;
use policy_dfa::ConsentScope;
use sirl::Kind;

use super::container::Session;
use super::container_actions::reason_of;
use crate::audit::AuditEvent;
use crate::consent::{Asked, HandOver, HandedOver, SavedLoginProblem, Warning, WarningCause};
use crate::session::prompts::consent_events;
use crate::system::unix_ms;

/// How long a login is kept.
const DAYS: u32 = 7;
const DAY_MS: u64 = 86_400_000;

impl Session {
    /// Offers to keep a login, if the user has just made one. A container in which a script of the agent's ran is none to keep: the
    /// script may have put something into the site's storage.
    ///
    /// `before` are the cookies as the offer by hand found them: where no cookie of the site differs, nobody has logged in since.
    pub(super) async fn offer_to_keep_login(
        &mut self,
        offer: &HandOver,
        ended: &HandedOver,
        before: Option<PresentCookies>,
    ) {
        let is_login = matches!(offer.kind, Kind::Login | Kind::Otp) && *ended == HandedOver::Finished;
        let origin = offer.origin.clone();
        if !is_login
            || self.ran_script
            || origin.scheme() != "https"
            || !self.driver.dependencies.keeps_logins()
        {
            return;
        }
        let (Some(before), Ok(now)) = (before, self.tab.present_cookies().await) else { return };
        if !now.differ_at(&origin, &before) || !self.agrees_to_keep(&origin).await {
            return;
        }
        let kept = match self.tab.take_login(&origin).await {
            Ok((state, _)) => {
                self.driver.dependencies.keep_login(&state, DAYS).map_err(|error| error.reason())
            }
            Err(error) => Err(reason_of(&error)),
        };
        let failed = kept.err();
        if let Some(reason) = failed {
            let problem = SavedLoginProblem::NotKept(reason);
            let cause = WarningCause::SavedLogin(problem);
            self.driver.core.warn(Warning { kind: Kind::Login, origin: origin.clone(), cause });
        }
        self.driver.record(&[AuditEvent::LoginKept { origin, failed }], true);
    }

    async fn agrees_to_keep(&mut self, origin: &Origin) -> bool {
        let ends_ms = unix_ms().saturating_add(DAY_MS.saturating_mul(u64::from(DAYS)));
        let replaced = self.driver.dependencies.saved_login(std::slice::from_ref(origin));
        let replaces_ms = replaced.map(|login| login.made_ms);
        let asked = vec![Asked::KeepLogin { site: origin.clone(), ends_ms, replaces_ms }];
        let now = self.driver.now();
        let prompt = self.driver.core.prompt(asked, &[], ConsentScope::EveryTime, now);
        let answered = self.driver.dependencies.ask(&prompt).await;
        let answer = prompt.ticket().settle(&answered, self.driver.now());
        let events = consent_events(&prompt, answer);
        self.driver.record(&events, true) && answer.agrees()
    }
}
