//! Where lines begin that may begin a block.

use std::iter::Peekable;

use memchr::memmem::{FindIter, Finder};

use crate::parse::Form;

/// Finds line endings followed by the first word of a block.
pub(super) struct Leads {
    requests: Finder<'static>,
    plan: Finder<'static>,
}

impl Leads {
    pub(super) fn new() -> Leads {
        Leads { requests: Finder::new(b"\nREQ."), plan: Finder::new(b"\nPLAN.") }
    }

    /// What is to be found in `window`. Nothing is searched until it is asked for.
    pub(super) fn ahead<'w>(&'w self, window: &'w [u8]) -> Ahead<'w> {
        Ahead {
            requests: self.requests.find_iter(window).peekable(),
            plan: self.plan.find_iter(window).peekable(),
        }
    }
}

/// The finds in one window. Each search goes on from where it was, so that together they read the window
/// once for each word, however many finds there are.
pub(super) struct Ahead<'w> {
    requests: Peekable<FindIter<'w, 'w>>,
    plan: Peekable<FindIter<'w, 'w>>,
}

impl Ahead<'_> {
    /// The first find at or behind byte `at` of the window: how far behind `at` the line ending is, and what
    /// begins after it.
    pub(super) fn next_from(&mut self, at: usize) -> Option<(usize, Form)> {
        let first = |finds: &mut Peekable<FindIter<'_, '_>>| {
            while finds.next_if(|find| *find < at).is_some() {}
            finds.peek().copied()
        };
        let requests = first(&mut self.requests).map(|find| (find, Form::Requests));
        let plan = first(&mut self.plan).map(|find| (find, Form::Plan));
        match (requests, plan) {
            (Some(requests), Some(plan)) => Some(if requests.0 < plan.0 { requests } else { plan }),
            (requests, plan) => requests.or(plan),
        }
        .map(|(find, form)| (find - at, form))
    }
}

/// The line does not begin a block.
pub(super) struct NoLead;

/// The form of the block whose first word `text` is; nothing where it may still become one.
pub(super) fn form_of(text: &[u8]) -> Result<Option<Form>, NoLead> {
    let forms = [Form::Requests, Form::Plan];
    match forms.into_iter().find(|form| form.lead().as_bytes().starts_with(text)) {
        Some(form) => Ok((form.lead().len() == text.len()).then_some(form)),
        None => Err(NoLead),
    }
}
