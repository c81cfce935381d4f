//! A sign-on in a container: the question when a site leads to an identity provider, and the way there.

use browser_signals::Origin;
use policy_dfa::{Reason, SignOn};

use super::container::Session;
use super::container_actions::opening_reason;

impl Session {
    /// The origins that stay open after a release: where the values go, both sites of a sign-on where it concerns one of them,
    /// since the provider leads back, those of payment providers, and the sites of the task where the values go into a payment
    /// provider's own page, which leads back too. What a request carries is judged apart from that.
    ///
    /// A container with a saved login reaches the login's origin and no other, as its question says.
    pub(super) fn open_to(&self, mut origins: Vec<Origin>) -> Result<Vec<Origin>, Reason> {
        if let Some(only) = self.logged_in() {
            let is_elsewhere = origins.iter().any(|origin| origin != only);
            return if is_elsewhere { Err(Reason::EgressBlocked) } else { Ok(origins) };
        }
        if let Some(both) = self.driver.core.task().sign_on()
            && origins.iter().any(|origin| both.includes(origin))
        {
            origins.extend([both.provider.clone(), both.site.clone()]);
        }
        let sites = self.driver.core.task().origins();
        if origins.iter().any(|origin| sites.contains(origin) && self.providers.contains(origin)) {
            origins.extend(sites.iter().cloned());
        }
        let beside = self.providers.iter().filter(|origin| !origins.contains(origin)).cloned();
        let beside: Vec<Origin> = beside.collect();
        Ok(origins.into_iter().chain(beside).collect())
    }

    /// Where a site of the task led to an identity provider: asks the user whether to log in there, and goes there if they agree.
    /// Returns the end of the action that led there, which is `done` without a yes.
    pub(super) async fn sign_on(&mut self, done: Result<(), Reason>) -> Result<(), Reason> {
        let may_ask = !self.driver.core.is_taken_over() && self.logged_in().is_none();
        let Some(leaving) = self.tab.take_leaving().filter(|_| may_ask) else { return done };
        let Some(prompt) = self.driver.core.ask_about_sign_on(&leaving.from, &leaving.to, self.driver.now())
        else {
            return done;
        };
        let answered = self.driver.dependencies.ask(&prompt).await;
        let (agreed, events) = self.driver.core.answered_about_sign_on(&prompt, &answered, self.driver.now());
        let is_recorded = self.driver.record(&events, true);
        let Some(sign_on) = agreed else { return done };
        if !is_recorded {
            return Err(Reason::AuditUnavailable);
        }
        self.driver.core.begin_sign_on(&prompt, sign_on.clone(), self.driver.now());
        let SignOn { provider, site } = sign_on;
        self.tab.open_sign_on(&provider, &site);
        if self.is_private() {
            let open = self.open_to(vec![provider, site])?;
            self.proxy.narrow_to(&open).await.map_err(|_| Reason::EgressBlocked)?;
        }
        self.proxy.forget_failures();
        let followed = self.tab.follow(&leaving).await;
        followed.map_err(|error| opening_reason(&self.proxy, leaving.to.as_str(), &error))
    }
}
