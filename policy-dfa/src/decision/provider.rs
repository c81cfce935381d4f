//! Payment providers in their frames: the facts that make a frame a provider's.

use std::sync::Arc;

use browser_signals::{DocumentId, Fact, Origin, Snapshot};

use super::question::Task;
use crate::language::policy::Policy;
use crate::language::provider::Provider;
use crate::vocabulary::alphabet::symbol;

/// The frame of a payment provider, as a grant names it: directly in a document of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFrame {
    provider: Arc<Provider>,
    top_document: DocumentId,
    top_origin: Origin,
}

impl ProviderFrame {
    /// The provider.
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The document of the task that the frame is in.
    pub fn top_document(&self) -> &DocumentId {
        &self.top_document
    }

    /// The origin of that document.
    pub fn top_origin(&self) -> &Origin {
        &self.top_origin
    }

    /// Whether a page is still such a frame, in the same document.
    pub(crate) fn is_still(&self, page: &Snapshot) -> bool {
        let document = page.top_document.known() == Some(&self.top_document);
        document && self.provider.is_frame(page) && page.top_origin.known() == Some(&self.top_origin)
    }
}

impl Provider {
    /// Whether a page is in a frame of this provider: its origin is one of those that the policy names, it is a child of
    /// the top document and of no other, and no sandbox holds it.
    fn is_frame(&self, page: &Snapshot) -> bool {
        let (Some(ancestors), Some(origin)) = (page.ancestors.known(), page.origin.known()) else {
            return false;
        };
        let [parent] = ancestors.as_slice() else { return false };
        self.frames.contains(origin)
            && page.top_origin.known() == Some(parent)
            && page.sandboxed == Fact::Known(false)
            && page.document.is_known()
            && page.top_document.is_known()
            && page.document != page.top_document
    }
}

impl Policy {
    /// The provider whose frame in a page of the task this is.
    pub(crate) fn provider_of(&self, page: &Snapshot, task: &Task) -> Option<&Arc<Provider>> {
        let of_the_task = || page.top_origin.known().is_some_and(|top| task.is_about(top));
        self.providers.iter().find(|provider| provider.is_frame(page) && of_the_task())
    }

    /// The same as a grant names it.
    pub(crate) fn provider_frame(&self, page: &Snapshot, task: &Task) -> Option<ProviderFrame> {
        Some(ProviderFrame {
            provider: Arc::clone(self.provider_of(page, task)?),
            top_document: page.top_document.known()?.clone(),
            top_origin: page.top_origin.known()?.clone(),
        })
    }
}

/// Where a provider's frame sends what is filled into it: to the provider, or it is refused. Controls without a form stay with
/// the provider.
pub(super) fn goal_of_frame(page: &Snapshot, provider: &Provider) -> symbol::Destination {
    match (page.origin.known(), &page.destination) {
        (Some(frame), Fact::Known(to)) if provider.sends(frame, &to.origin) => symbol::Destination::Provider,
        (Some(_), Fact::Known(_)) => symbol::Destination::Other,
        (Some(_), Fact::Unknown) if page.form.is_none() => symbol::Destination::Provider,
        _ => symbol::Destination::Unknown,
    }
}
