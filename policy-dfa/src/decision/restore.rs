//! Restoring a saved login: the decision, and the grant that opens it.
//!
//! A restored login makes the agent's container the user's at a site, as a password that is filled into its login form does. So the policy
//! needs no rule of its own for it: a login is restored where the policy lets a password be filled, and nowhere else.

use browser_signals::{Observed, Origin, Snapshot};
use sirl::{Claim, Field, FieldSet, Items, Kind, Pointers, Request};

use super::decide::{DecisionPoint, GRANT_LIFETIME_MS};
use super::grant::{Grant, Placements, Restore, Terms};
use super::history::History;
use super::partial::Partial;
use super::possible::Prospect;
use super::question::{Consent, Event, Millis, Question, Task};
use super::valuation::destination;
use crate::vocabulary::alphabet::{Axis, Valuation};
use crate::vocabulary::reason::Reason;

/// The signals of a form and its controls, which a restored login does not have, and of a page's text, which nobody has read.
const OPEN: [Axis; 4] = [Axis::Placement, Axis::Visibility, Axis::Sink, Axis::Safety];

/// A question about restoring a login.
#[derive(Debug, Clone, Copy)]
pub struct RestoreQuestion<'a> {
    /// The origin that the login is bound to.
    pub login: &'a Origin,
    /// The page of that origin, in the fresh container.
    pub page: &'a Observed<Snapshot>,
    /// The sealed task.
    pub task: &'a Task,
    /// The user's answer to the question about it.
    pub consent: Consent,
    /// The events of the session so far.
    pub history: History,
    /// The current time.
    pub now: Millis,
}

impl DecisionPoint {
    /// Decides whether a saved login may be restored into the container of a page.
    ///
    /// It is granted exactly where the policy grants a password for some form of this page that sends it to the page's own origin, and
    /// where the user said yes to it, whatever the policy's rules of consent are. The grant is for this page, this container and this origin.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn decide_restore(&mut self, question: &RestoreQuestion<'_>) -> Result<Grant<Restore>, Reason> {
        let RestoreQuestion { login, page, task, consent, history, now } = *question;
        let fields = FieldSet::EMPTY.with(Field::Password);
        let snapshot = page.value();
        if consent != Consent::Given {
            return Err(Reason::ConsentDenied);
        }
        if snapshot.origin.known() != Some(login) {
            return Err(Reason::OriginMismatch);
        }
        let (at, items) = (Pointers::default(), Items::default());
        let request = Request { kind: Kind::Login, fields, at, items, claim: Claim::default() };
        let event = Event::Request { request: &request, placements: &[], amount: None };
        let safety = browser_signals::Fact::Unknown;
        let asked = Question { event, page: Some(page), task, consent, history, safety, now };
        let (root, seen) = self.valuation(&asked);
        let home = destination(Some(login), |goal| task.is_about(goal), task.has_on_this_machine(login));
        let known = known(seen.with(home)).ok_or(Reason::StaleDocument)?;
        let possible = self.policy().possible(root, &known);
        if possible.prospect != Prospect::Granted {
            let certain = possible.failed_rules.first().map(|rule| rule.reason);
            return Err(certain.or(possible.reasons.first().copied()).unwrap_or(Reason::DeliveryForbidden));
        }
        let (Some(document), Some(tls)) = (snapshot.document.known(), snapshot.tls.known()) else {
            return Err(Reason::StaleDocument);
        };
        let terms = Terms {
            request: self.next_request(),
            kind: Kind::Login,
            fields,
            placements: Placements::NONE,
            container_id: snapshot.container_id.clone(),
            frame: snapshot.frame.clone(),
            document: document.clone(),
            origin: login.clone(),
            form: None,
            destination: None,
            provider: None,
            tls: *tls,
            amount: None,
            policy: self.policy_hash(),
            observed: page.number(),
            expires: Millis(now.0.saturating_add(GRANT_LIFETIME_MS)),
        };
        Ok(Grant::mint(terms, self.authority()))
    }
}

/// The valuations that agree with what was seen on every axis but those of a form.
fn known(seen: Valuation) -> Option<Partial> {
    let fixed = Axis::ALL.iter().filter(|axis| !OPEN.contains(axis));
    let whole = Partial::anything().0;
    let cube = fixed.into_iter().try_fold(whole, |cube, axis| cube.narrowed(*axis, 1 << seen.get(*axis)));
    cube.map(Partial)
}
