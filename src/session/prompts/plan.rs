//! The prompt before the container opens: about the container, and the releases that the user's words call for.

use browser_signals::lookalike::warnings;
use browser_signals::{Container, Origin};
use policy_dfa::{Consent, ConsentScope, DecisionPoint, Delivery, Millis};
use sirl::{FieldSet, Kind, Tier};
use vault::Vault;

use super::{distinct_records, subject_of};
use crate::consent::{Answer, Asked, ConsentBook, ConsentPrompt, Notice, OpenPages, ReleaseScope, Ticket};
use crate::guard::mandate::Mandate;
use crate::intake::Intake;

/// The prompt before the container opens, and the longest scope of a yes.
pub(in crate::session) struct PlanQuestion {
    asked: Vec<Asked>,
    noticed: Vec<Notice>,
    scope: ConsentScope,
}

impl PlanQuestion {
    /// The prompt for a task; `None` for a task that needs no values and uploads no files. Standing consents are not asked about
    /// again, and neither are kinds that the policy asks about every time. A mandate is asked for with the task. `orders` says whether
    /// the guard can place orders by the shops' own protocol.
    pub(in crate::session) fn of(
        intake: &Intake,
        uploads: bool,
        decision: &DecisionPoint,
        book: &ConsentBook,
        vault: &Vault,
        mandate: Option<&Mandate>,
        orders: bool,
    ) -> Option<PlanQuestion> {
        let needs = |kind: &&Kind| **kind == Kind::Purchase || !kind.default_fields().is_empty();
        if !uploads && !intake.kinds.iter().any(|kind| needs(&kind)) {
            return None;
        }
        let origins = intake.origins.clone();
        let tier = planned_tier(&intake.kinds, uploads, decision);
        let container = Asked::Container { tier, origins, own_browser: None };
        let mut question =
            PlanQuestion { asked: vec![container], noticed: Vec::new(), scope: ConsentScope::Site };
        for (at, origin) in intake.origins.iter().enumerate() {
            let others: Vec<Origin> =
                intake.origins.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, o)| o.clone()).collect();
            let warned = warnings(origin, &others);
            question.noticed.extend(warned.iter().map(|warning| Notice::Host(warning.to_string())));
            if origin.is_plain_loopback() {
                question.noticed.push(Notice::InClear { site: origin.clone() });
            }
        }
        for kind in &intake.kinds {
            let Some(scope) = decision.consent_scope(*kind).filter(|s| *s != ConsentScope::EveryTime) else {
                continue;
            };
            for to in &intake.origins {
                question.add(*kind, scope, to, book, vault);
            }
        }
        if orders {
            question.asked.iter_mut().for_each(|asked| {
                if let Asked::Release { kind, in_order, .. } = asked {
                    *in_order = decision.deliveries(*kind).contains(&Delivery::Ucp);
                }
            });
        }
        if let Some(mandate) = mandate {
            question.asked.push(Asked::Mandate {
                payee: mandate.payee().clone(),
                ceiling: mandate.ceiling(),
                quantity: mandate.wish().quantity,
                item: mandate.wish().item.clone(),
                record: mandate.record().to_owned(),
            });
        }
        if question.asked.iter().all(|asked| !matches!(asked, Asked::Release { .. })) {
            question.scope = ConsentScope::Session;
        }
        Some(question)
    }

    /// The tier of the container that the user is asked about.
    pub(in crate::session) fn tier(&self) -> Container {
        let tier = self
            .asked
            .iter()
            .find_map(|asked| if let Asked::Container { tier, .. } = asked { Some(*tier) } else { None });
        tier.unwrap_or(Container::T0)
    }

    fn add(&mut self, kind: Kind, scope: ConsentScope, to: &Origin, book: &ConsentBook, vault: &Vault) {
        let supplied = vault.suppliers(kind, kind.default_fields(), to);
        let fields: FieldSet = supplied.iter().map(|(_, field)| *field).collect();
        let records = distinct_records(supplied);
        let release = ReleaseScope { kind, fields, records: &records, to, form: None };
        let is_settled = book.never(kind, to) || book.about(&release, scope, Millis(0)) == Consent::Given;
        if fields.is_empty() || is_settled {
            return;
        }
        self.scope = if self.scope as u8 <= scope as u8 { self.scope } else { scope };
        self.asked.push(Asked::Release {
            kind,
            fields,
            later: FieldSet::EMPTY,
            to: to.clone(),
            sent_to: None,
            records,
            form: None,
            boxes: Vec::new(),
            provider: None,
            in_order: false,
        });
    }

    /// The same prompt for a task in the user's own browser, which may have pages open already.
    pub(in crate::session) fn in_own_browser(mut self, pages: OpenPages) -> PlanQuestion {
        for asked in &mut self.asked {
            if let Asked::Container { own_browser, .. } = asked {
                *own_browser = Some(pages);
            }
        }
        self
    }

    /// The same prompt with more notices.
    pub(in crate::session) fn with_notices(
        mut self,
        notices: impl IntoIterator<Item = Notice>,
    ) -> PlanQuestion {
        self.noticed.extend(notices);
        self
    }

    /// The prompt, with a nonce of its own.
    pub(in crate::session) fn prompt(self, policy: &[u8; 32], nonce: [u8; 16]) -> ConsentPrompt {
        let subject = subject_of(policy, &self.asked).finish();
        let ticket = Ticket::new(nonce, subject, Millis(0));
        ConsentPrompt::new(self.asked, self.noticed, self.scope, ticket)
    }
}

/// The tier of the container for these kinds of request: T1 where none of their fields is of T2. Payments and uploads
/// are of T2.
fn planned_tier(kinds: &[Kind], uploads: bool, decision: &DecisionPoint) -> Container {
    let fields = kinds.iter().flat_map(|kind| kind.default_fields().iter()).collect();
    let pays = kinds.iter().any(|kind| matches!(kind, Kind::Purchase | Kind::Payment));
    match decision.tier(fields) {
        Tier::T0 | Tier::T1 if !uploads && !pays => Container::T1,
        _ => Container::T2,
    }
}

/// Stores the answer to the plan prompt. The answer "once" holds for the task.
pub(in crate::session) fn store_plan_answer(prompt: &ConsentPrompt, answer: Answer, book: &mut ConsentBook) {
    let answer = match answer {
        // A no leaves the task without a raised container, and so without releases.
        Answer::No => return,
        Answer::Once => Answer::Session,
        answer => answer,
    };
    for asked in &prompt.asked {
        if let Asked::Release { kind, fields, to, records, .. } = asked {
            let release = ReleaseScope { kind: *kind, fields: *fields, records, to, form: None };
            book.note(&release, answer, Millis(0));
        }
    }
}
