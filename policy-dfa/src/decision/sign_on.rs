//! Single sign-on: the part that the identity provider takes in a task.

use browser_signals::{Origin, Snapshot};
use sirl::Kind;

use super::question::{Event, Task};
use crate::vocabulary::event::VerbKind;

/// An identity provider, and the site of the task for which the user logs in there. It becomes part of a task by the user's yes to
/// the pair and by nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOn {
    /// The provider: the origin that the login is bound to.
    pub provider: Origin,
    /// The site of the task that sends the user there.
    pub site: Origin,
}

impl SignOn {
    /// Whether an origin is one of the two.
    pub fn includes(&self, origin: &Origin) -> bool {
        self.provider == *origin || self.site == *origin
    }
}

/// The relation of a question's origins to the task. The sites of the task are the task's in every question. Its provider is one only
/// for the login itself, for its one-time code, and for what sends them on: on a page of its own in the top frame, and with a
/// destination that fits. Every other kind of request and every other verb finds another site there.
pub(super) struct Sites<'q> {
    task: &'q Task,
    /// The provider, where the question is asked on its page and takes part in the login.
    here: Option<&'q Origin>,
    /// The provider, where it may be a destination.
    to: Option<&'q Origin>,
    /// Whether the task's own sites may be a destination. What is asked for at the provider goes to the provider alone.
    home: bool,
}

impl<'q> Sites<'q> {
    pub(super) fn of(event: &Event<'_>, page: Option<&Snapshot>, task: &'q Task) -> Sites<'q> {
        let Some(sign_on) = task.sign_on() else { return Sites { task, here: None, to: None, home: true } };
        let origin = page.and_then(|page| page.origin.known());
        let is_whole = page.is_some_and(|page| page.origin == page.top_origin);
        let at_provider = is_whole && origin == Some(&sign_on.provider);
        let at_site = is_whole && origin == Some(&sign_on.site);
        let (belongs, leads_on) = match event {
            Event::Request { request, .. } => (matches!(request.kind, Kind::Login | Kind::Otp), false),
            // Nothing is ordered at a provider.
            Event::Checkout { .. } => (false, false),
            Event::Verb { verb, .. } => {
                let sends = matches!(verb, VerbKind::Click | VerbKind::Submit);
                (sends, sends)
            }
        };
        let provider = Some(&sign_on.provider);
        Sites {
            task,
            here: provider.filter(|_| belongs && at_provider),
            to: provider.filter(|_| belongs && (at_provider || (leads_on && at_site))),
            home: matches!(event, Event::Verb { .. }) || origin != provider,
        }
    }

    /// Whether the page is of the task.
    pub(super) fn is_here(&self, origin: &Origin) -> bool {
        self.task.is_about(origin) || self.here == Some(origin)
    }

    /// Whether an address is of the task.
    pub(super) fn is_goal(&self, origin: &Origin) -> bool {
        (self.home && self.task.is_about(origin)) || self.to == Some(origin)
    }
}
