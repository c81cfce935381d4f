//! The search for lines that begin a block.

use std::iter::Peekable;

use memchr::memmem::{FindIter, Finder};

use crate::form::BlockForm;

/// Finds line endings that are followed by the prefix of a block.
pub(super) struct BlockStarts {
    requests: Finder<'static>,
    plan: Finder<'static>,
}

impl BlockStarts {
    pub(super) fn new() -> BlockStarts {
        BlockStarts { requests: Finder::new(b"\nREQ."), plan: Finder::new(b"\nPLAN.") }
    }

    /// Prepares the search in `window`, which starts with the first call of [`Ahead::next_from`].
    pub(super) fn ahead<'w>(&'w self, window: &'w [u8]) -> Ahead<'w> {
        Ahead {
            requests: self.requests.find_iter(window).peekable(),
            plan: self.plan.find_iter(window).peekable(),
        }
    }
}

/// The places in one window. Each search continues from its last place, so that the window is read only once for
/// each prefix.
pub(super) struct Ahead<'w> {
    requests: Peekable<FindIter<'w, 'w>>,
    plan: Peekable<FindIter<'w, 'w>>,
}

impl Ahead<'_> {
    /// The first place at or after byte `at` of the window: the distance from `at` to the line ending, and the form
    /// of the block after it.
    pub(super) fn next_from(&mut self, at: usize) -> Option<(usize, BlockForm)> {
        let first = |finds: &mut Peekable<FindIter<'_, '_>>| {
            while finds.next_if(|find| *find < at).is_some() {}
            finds.peek().copied()
        };
        let requests = first(&mut self.requests).map(|find| (find, BlockForm::Requests));
        let plan = first(&mut self.plan).map(|find| (find, BlockForm::Plan));
        match (requests, plan) {
            (Some(requests), Some(plan)) => Some(if requests.0 < plan.0 { requests } else { plan }),
            (requests, plan) => requests.or(plan),
        }
        .map(|(find, form)| (find - at, form))
    }
}

/// The line does not begin a block.
pub(super) struct NoStart;

/// The form of the block with the prefix `text`; `None` if `text` is only the start of a prefix.
pub(super) fn form_of(text: &[u8]) -> Result<Option<BlockForm>, NoStart> {
    let forms = [BlockForm::Requests, BlockForm::Plan];
    match forms.into_iter().find(|form| form.prefix().as_bytes().starts_with(text)) {
        Some(form) => Ok((form.prefix().len() == text.len()).then_some(form)),
        None => Err(NoStart),
    }
}
