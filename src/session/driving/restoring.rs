//! A saved login in a task: the question before the container opens, the restore into the fresh container, and the renewal at its end.

use std::time::Instant;

use browser_signals::playwright::{Browser, Tab};
use browser_signals::{Container, Destination, Fact, Observed, Origin, Sink, Snapshot, Verb};
use policy_dfa::{
    Consent, ConsentScope, DecisionPoint, History, Millis, Reason, RestoreQuestion, SessionEvent, Task,
};
use sirl::{Field, Kind};
use url::Url;
use vault::Entropy;
use vault::logins::SavedLogin;

use super::container_actions::{Opening, SharedChecks, look, open_container, reason_of};
use super::opening::{SealedTask, TaskSurface};
use crate::audit::{AuditEvent, AuditLog};
use crate::consent::{Asked, ConsentPrompt, Notice, QuestionTask, SavedLoginProblem, Ticket};
use crate::egress::ReleasedValue;
use crate::egress::proxy::EgressProxy;
use crate::guard::Dependencies;
use crate::guard::purpose::has_account_control;
use crate::session::SessionError;
use crate::session::core::Look;
use crate::session::prompts::{consent_events, subject_of};
use crate::storage::login_folder::LoginInUse;
use crate::system::unix_ms;

/// Words in a path or in a label that lead out of a login, as sites write them.
const OUT: [&str; 20] = [
    "logout",
    "signout",
    "log out",
    "sign out",
    "logoff",
    "log off",
    "abmelden",
    "ausloggen",
    "déconnexion",
    "se déconnecter",
    "cerrar sesión",
    "salir",
    "disconnetti",
    "esci",
    "uitloggen",
    "afmelden",
    "deconnexion",
    "deconnecter",
    "cerrar sesion",
    "disconnect",
];

/// Words in an address that lead into a login, or into another one.
const IN: [&str; 14] = [
    "login",
    "log-in",
    "log_in",
    "signin",
    "sign-in",
    "sign_in",
    "magic",
    "token",
    "auth",
    "sso",
    "switch",
    "impersonate",
    "anmelden",
    "connexion",
];

/// The fewest characters of a part of an address that counts as a token, where it has letters and digits.
const TOKEN: usize = 16;

/// A login that the user agreed to, which no other container uses.
pub(super) struct AgreedLogin {
    login: SavedLogin,
    in_use: LoginInUse,
}

/// The login of a container.
pub(super) struct RestoredLogin {
    login: SavedLogin,
    _in_use: LoginInUse,
    /// Whether the container may still renew it: not once the agent was about to log in or out, or to change the account.
    renews: bool,
}

impl SealedTask {
    /// Asks the user whether the task may use a saved login, if there is one for a site of a task that logs in. It is asked every time.
    pub(super) async fn ask_about_login(
        &mut self,
        dependencies: &mut Dependencies,
        decision: &DecisionPoint,
    ) -> Result<Option<AgreedLogin>, SessionError> {
        let logs_in = self.task.kinds().contains(Kind::Login) && self.task.container() == Container::T2;
        if !logs_in || self.surface != TaskSurface::Container {
            return Ok(None);
        }
        let Some(found) = dependencies.saved_login(self.task.origins()) else { return Ok(None) };
        let Some(in_use) = dependencies.begin_to_use(found.id) else {
            self.not_restored = Some((found.origin, SavedLoginProblem::InUse));
            return Ok(None);
        };
        // The task that used it until now may have renewed it.
        let Some(login) = dependencies.saved_login(&[found.origin]) else { return Ok(None) };
        let closed = self.task.origins().iter().filter(|origin| **origin != login.origin);
        let asked = Asked::Restore {
            site: login.origin.clone(),
            made_ms: login.made_ms,
            ends_ms: login.ends_ms,
            closed: closed.cloned().collect(),
        };
        let mut nonce = [0; 16];
        dependencies.entropy.fill(&mut nonce);
        let asked = vec![asked];
        let subject = subject_of(&decision.policy_hash(), &asked).finish();
        let noticed =
            login.origin.is_plain_loopback().then(|| Notice::InClear { site: login.origin.clone() });
        let chosen = (self.chosen_by == crate::consent::ChosenBy::Agent).then_some(Notice::ChosenByTheAgent);
        let noticed = chosen.into_iter().chain(noticed).collect();
        let ticket = Ticket::new(nonce, subject, Millis(0));
        let prompt = ConsentPrompt::new(asked, noticed, ConsentScope::EveryTime, ticket);
        let prompt = prompt.in_task(QuestionTask { chosen_by: self.chosen_by, tier: self.task.container() });
        self.prompts += 1;
        let answered = dependencies.ask(&prompt).await;
        let answer = prompt.ticket().settle(&answered, Millis(0));
        for event in consent_events(&prompt, answer) {
            let recorded = dependencies.audit.append(self.id, &event, unix_ms(), false);
            recorded.map_err(|_| SessionError::Audit)?;
        }
        Ok(answer.agrees().then_some(AgreedLogin { login, in_use }))
    }

    /// Opens the task's container. An agreed login is restored into it before the agent gets it; where that fails, the task goes on in
    /// another one without it, and the user is told.
    pub(super) async fn open_container(
        &mut self,
        dependencies: &mut Dependencies,
        browser: &Browser,
        decision: &mut DecisionPoint,
        agreed: Option<AgreedLogin>,
    ) -> Result<(Tab, EgressProxy, SharedChecks, Option<RestoredLogin>), SessionError> {
        let providers = super::opening::reachable_providers(decision, &self.task);
        let own_path = decision.values_keep_to_path();
        if let Some(AgreedLogin { login, in_use }) = agreed {
            let shared = SharedChecks::default();
            let only = Some(&login.origin);
            let opening = Opening { task: &self.task, providers: &providers, own_path, only };
            let (tab, proxy) = open_container(dependencies, browser, opening, &shared).await?;
            let restored = self.restore(dependencies, decision, &tab, &login, &shared).await;
            match restored {
                Ok(()) => {
                    let restored = RestoredLogin { login, _in_use: in_use, renews: true };
                    return Ok((tab, proxy, shared, Some(restored)));
                }
                Err(reason) => {
                    tab.close().await;
                    dependencies.vault().forget_login_tokens();
                    self.not_restored = Some((login.origin, SavedLoginProblem::NotRestored(reason)));
                }
            }
        }
        let shared = SharedChecks::default();
        let opening = Opening { task: &self.task, providers: &providers, own_path, only: None };
        let (tab, proxy) = open_container(dependencies, browser, opening, &shared).await?;
        Ok((tab, proxy, shared, None))
    }

    /// Restores a login: decides on a page of the site, opens the login on a fresh look at it, and puts it into the container. The intent
    /// is on disk before the vault opens it, and the outcome after it.
    async fn restore(
        &self,
        dependencies: &mut Dependencies,
        decision: &mut DecisionPoint,
        tab: &Tab,
        login: &SavedLogin,
        shared: &SharedChecks,
    ) -> Result<(), Reason> {
        let origin = login.origin.clone();
        let event = AuditEvent::LoginRestoring { origin: origin.clone() };
        let written = dependencies.audit.append(self.id, &event, unix_ms(), true);
        written.map_err(|_| Reason::AuditUnavailable)?;
        let failed = restore_into(dependencies, decision, &self.task, tab, login, shared).await.err();
        let event = AuditEvent::LoginRestored { origin, failed };
        let written = dependencies.audit.append(self.id, &event, unix_ms(), true);
        match (failed, written) {
            (Some(reason), _) => Err(reason),
            (None, Err(_)) => Err(Reason::AuditUnavailable),
            (None, Ok(())) => Ok(()),
        }
    }
}

async fn restore_into(
    dependencies: &mut Dependencies,
    decision: &mut DecisionPoint,
    task: &Task,
    tab: &Tab,
    login: &SavedLogin,
    shared: &SharedChecks,
) -> Result<(), Reason> {
    let began = Instant::now();
    let now = || Millis(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
    let page = open_as_a_stranger(tab, &login.origin).await?;
    let guessed = dependencies.memory.as_ref().is_some_and(|memory| memory.guessed() > 0);
    let history = History::default();
    let history = if guessed { decision.after(history, SessionEvent::Suspected) } else { history };
    let question = RestoreQuestion {
        login: &login.origin,
        page: &page,
        task,
        consent: Consent::Given,
        history,
        now: now(),
    };
    let grant = decision.decide_restore(&question)?;
    let fresh = seen(tab).await?;
    let opened = dependencies.open_login(login, grant, &fresh, now());
    let (state, handle) = opened.map_err(|error| error.reason())?;
    let destination = Destination { origin: login.origin.clone(), path: "/".into(), method: "GET".into() };
    shared
        .releases
        .note(ReleasedValue { any_path: true, ..ReleasedValue::new(handle, Field::Password, destination) });
    tab.restore_login(&state).await.map_err(|error| reason_of(&error))
}

/// Opens what the site shows a stranger, which tells the connection and is removed again. A file that sites have for robots comes first: it
/// has no scripts that run meanwhile, and it leads to no identity provider. Where a site answers with nothing, another address may do.
async fn open_as_a_stranger(tab: &Tab, origin: &Origin) -> Result<Observed<Snapshot>, Reason> {
    let mut last = Reason::OriginMismatch;
    for path in ["/robots.txt", "/", "/favicon.ico"] {
        let url = Url::parse(&format!("{origin}{path}")).map_err(|_| Reason::OriginMismatch)?;
        match tab.open(&url).await {
            Ok(()) => {
                let page = seen(tab).await?;
                if page.origin.known() == Some(origin) {
                    return Ok(page);
                }
            }
            Err(error) => last = reason_of(&error),
        }
    }
    Err(last)
}

async fn seen(tab: &Tab) -> Result<Observed<Snapshot>, Reason> {
    let pages = look(tab, Look::Page).await.map_err(|error| reason_of(&error))?;
    pages.into_iter().next().ok_or(Reason::StaleDocument)
}

impl RestoredLogin {
    /// The origin in which the container is logged in.
    pub(super) fn origin(&self) -> &Origin {
        &self.login.origin
    }

    /// Notes an action before it is carried out: after one that may log in or out, or change the account, the login is not renewed. What
    /// the site then sets may be another login.
    pub(super) fn note(&mut self, verb: &Verb, page: Option<&Snapshot>) {
        self.renews &= !leaves_the_login(verb, page);
    }

    /// The login is not renewed by this container any more.
    pub(super) fn stop_renewing(&mut self) {
        self.renews = false;
    }

    /// Renews the login with what the site set in this container, if it may. Returns the record of it where something differed.
    pub(super) async fn renew(&self, tab: &Tab, dependencies: &mut Dependencies) -> Option<AuditEvent> {
        if !self.renews {
            return None;
        }
        let now = tab.present_cookies().await.ok()?;
        let failed = match dependencies.renew_login(self.login.id, now) {
            Ok(false) => return None,
            Ok(true) => None,
            Err(error) => Some(error.reason()),
        };
        Some(AuditEvent::LoginRenewed { origin: self.login.origin.clone(), failed })
    }
}

/// Whether an action may end a login, begin another one, or change the account.
fn leaves_the_login(verb: &Verb, page: Option<&Snapshot>) -> bool {
    let acts = !matches!(verb, Verb::Read | Verb::Wait { .. } | Verb::Back | Verb::Hover { .. });
    let says_out = |text: &str| {
        let text = text.to_lowercase().replace(['-', '_'], " ");
        OUT.iter().any(|word| text.contains(word) || text.contains(&word.replace(' ', "")))
    };
    // An address may log in by itself, as the links in a site's e-mails do.
    let opens_out = matches!(verb, Verb::Open { url } if says_out(url) || may_log_in(url));
    let of_page = |page: &Snapshot| {
        let target = page.target.iter().any(|target| says_out(&target.label) || says_out(&target.name));
        let goal = page.destination.known().is_some_and(|to| says_out(&to.path) || may_log_in(&to.path));
        target || goal || has_account_control(page) || page.sink == Fact::Known(Sink::LoginForm)
    };
    opens_out || (acts && page.is_some_and(of_page))
}

/// Whether an address may begin a login: by its words, or by a part that looks like a token.
fn may_log_in(address: &str) -> bool {
    let address = address.to_lowercase();
    let path = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
    let path = path.find(['/', '?']).and_then(|at| path.get(at..)).unwrap_or_default();
    let has_word = IN.iter().any(|word| path.contains(word));
    has_word || path.split(['/', '?', '&', '=', '#', ';']).any(|part| TOKEN <= part.len() && is_mixed(part))
}

fn is_mixed(part: &str) -> bool {
    let has = |of: fn(&u8) -> bool| part.as_bytes().iter().any(of);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_may_log_in_or_out_is_told_from_others() {
        let logs_in = [
            "https://shop.example/magic?x=1",
            "https://shop.example/a?k=8f2kq7lw91mzpqrt",
            "https://shop.example/e/8f2kq7lw91mzpqrt",
            "/users/sign_in",
            "https://shop.example/switch-user/4",
        ];
        for address in logs_in {
            assert!(may_log_in(address), "{address}");
        }
        for address in ["https://shop.example", "https://shop.example/orders?page=2", "/blue-kettle-2", "/"] {
            assert!(!may_log_in(address), "{address}");
        }
        for address in ["https://shop.example/deconnexion", "/Cerrar-Sesion", "/user/log_out", "/sign-out"] {
            let url = address.to_owned();
            assert!(leaves_the_login(&Verb::Open { url }, None), "{address}");
        }
    }
}
