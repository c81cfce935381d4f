//! A request block on its way through the session.

use std::sync::Arc;

use browser_signals::{
    ContainerId, Destination, DocumentId, ElementRef, Fact, FormId, FrameId, Observed, Origin, Snapshot,
};
use policy_dfa::{Consent, Fill, Grant, Model, PaymentApi, Prompt, Reason, Wire};
use sirl::{Kind, Request};

use zeroize::Zeroizing;

use crate::consent::{Answer, ConsentPrompt, FormPlace, HandOver};

/// One request of the block.
pub(super) struct Line {
    pub request: Request,
    /// Its number in the session.
    pub number: u64,
    /// What the user said about it.
    pub consent: Consent,
    /// The page that the user was asked about.
    pub asked_on: Option<Page>,
    /// The answer, once there is one.
    pub reply: Option<String>,
    /// Why it was refused, where it was.
    pub refused: Option<Reason>,
}

impl Line {
    pub fn is_purchase(&self) -> bool {
        self.request.kind == Kind::Purchase
    }
}

/// What makes a page the one that was asked about.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Page {
    origin: Fact<Origin>,
    path: Fact<Arc<str>>,
    top_origin: Fact<Origin>,
    container: ContainerId,
    frame: FrameId,
    form: Option<FormId>,
    document: Fact<DocumentId>,
    destination: Fact<Destination>,
}

impl Page {
    pub fn of(page: &Snapshot) -> Page {
        Page {
            origin: page.origin.clone(),
            path: page.path.clone(),
            top_origin: page.top_origin.clone(),
            container: page.container_id.clone(),
            frame: page.frame.clone(),
            form: page.form,
            document: page.document.clone(),
            destination: page.destination.clone(),
        }
    }
}

/// The block.
pub(super) struct Work {
    pub lines: Vec<Line>,
    /// The shop's pay button, where a purchase is asked for.
    pub button: Option<ElementRef>,
    /// The line being released.
    pub at: usize,
    /// The card whose security code the user is asked for, and the prompt that agreed to pay with it.
    pub code: Option<(String, Box<ConsentPrompt>)>,
}

impl Work {
    pub fn pending(&self, purchase: bool) -> bool {
        self.lines.iter().any(|line| line.reply.is_none() && line.is_purchase() == purchase)
    }

    /// Moves to the next line without an answer.
    pub fn next_pending(&mut self) -> Option<&mut Line> {
        self.at = self.lines.iter().position(|line| line.reply.is_none())?;
        self.lines.get_mut(self.at)
    }

    pub fn current(&mut self) -> Option<&mut Line> {
        self.lines.get_mut(self.at)
    }

    /// All answers, one a line.
    pub fn replies(&self) -> String {
        let replies: Vec<&str> = self.lines.iter().filter_map(|line| line.reply.as_deref()).collect();
        replies.join("\n")
    }
}

/// A line that the user is asked about, on the page that was looked at.
pub(super) struct Ask {
    /// The line's place in the block.
    pub at: usize,
    pub prompt: Prompt,
    pub page: Box<Snapshot>,
    pub origin: Origin,
    pub form: FormPlace,
}

impl Ask {
    /// Whether money goes out by it: through the browser, or from a card in the page's form.
    pub fn pays(&self) -> bool {
        matches!(self.prompt.kind, Some(Kind::Purchase | Kind::Payment))
    }
}

/// A granted release that waits for a fresh look.
pub(super) enum Release {
    Fill(Grant<Fill>),
    Wire(Grant<Wire>),
    Pay(Grant<PaymentApi>),
    Tell(Grant<Model>),
}

/// How values are on their way.
pub(super) enum Going {
    Filled,
    Wired,
    /// With the answer that holds them.
    Told(Zeroizing<String>),
    /// With the card's handle.
    Paid(String),
}

/// Where a block is.
pub(super) enum Phase {
    /// Looking at the forms, before anything is asked.
    SurveyForms,
    /// Looking at the pay button, before anything is asked. Holds the forms seen.
    SurveyButton(Vec<Observed<Snapshot>>),
    /// Waiting for the user, about these lines.
    Asking(Vec<Ask>, Box<ConsentPrompt>),
    /// Waiting for the record of the answer.
    RecordingAnswer { asked: Vec<Ask>, prompt: Box<ConsentPrompt>, answer: Answer },
    /// Waiting for a card's security code.
    AskingCode,
    /// Looking, to decide the current line.
    Deciding,
    /// Waiting for the record of the intent.
    RecordingIntent(Release),
    /// Looking once more, to release.
    Freshening(Release),
    /// Waiting for the fill, the wire's placeholders or the payment.
    Releasing(Going),
    /// Waiting for the record of the outcome; holds the answer.
    RecordingOutcome(Result<String, Reason>),
    /// Waiting for the user, who may finish the current line by hand.
    HandingOver(Box<HandOver>),
}
