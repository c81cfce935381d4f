//! The state of a request block on its walk through the session.

use std::sync::Arc;

use browser_signals::{
    ContainerId, Destination, DocumentId, ElementRef, Fact, FormId, FrameId, NodeId, Observed, Origin,
    Snapshot, Verb,
};
use policy_dfa::{
    Consent, Fill, Grant, History, Model, PaymentApi, Placement, Prompt, Reason, VerbKind, Wire,
};
use sirl::reply::Delivered;
use sirl::{Field, FieldSet, Kind, Request};
use vault::NewPasswordRules;

use super::card_fill::CardFill;
use crate::consent::{Answer, Asked, AskedCode, ConsentPrompt, FormPlace, HandOver, PointedBox};
use crate::guard::agent_actions::{effect_of, name_of};
use crate::guard::pointing::{PointedControls, PointedForm, best_form};
use crate::guard::record_choices::RivalRecords;
use crate::guard::sources::FetchReport;
use crate::session::outcome::{RequestResult, ShownValues};

/// One request of the block.
pub(in crate::session) struct RequestLine {
    pub request: Request,
    /// The fields of a login that are left for a later page.
    pub later: FieldSet,
    /// Its number in the session.
    pub number: u64,
    /// The user's answer about it.
    pub consent: Consent,
    /// The page that the user was asked about.
    pub asked_on: Option<PageIdentity>,
    /// The controls that the user was asked about.
    pub asked_for: Vec<Placement>,
    /// The form that the agent points at by this request: the one that it pointed at before the block, or that of the request
    /// before this one.
    pub pointed: Option<PointedForm>,
    /// The controls that the agent points at, as far as they have been looked at.
    pub controls: Option<PointedControls>,
    /// For a payment in the frames of a provider: the form of this part of it, and no other.
    pub form: Option<PointedForm>,
    /// Whether this is a further part of the request before it.
    pub goes_on: bool,
    /// True if a password manager was asked for its values.
    pub is_fetched: bool,
    /// How the values were delivered, if they were.
    pub delivered: Option<Delivered>,
    /// The form and the total of a fill of a card, while it is on its way.
    pub card_fill: Option<CardFill>,
    /// The rules of the form about a new password, by which the user was asked about one.
    pub new_password: Option<NewPasswordRules>,
    /// The reply, once there is one.
    pub reply: Option<LineReply>,
    /// The reason of a refusal.
    pub refused: Option<Reason>,
}

/// The reply to a request, or to a part of it.
pub(in crate::session) enum LineReply {
    /// Its own.
    Own(RequestResult),
    /// A part before it was refused, and this one is not answered apart.
    OfAnotherPart,
}

impl RequestLine {
    pub fn is_purchase(&self) -> bool {
        self.request.kind == Kind::Purchase
    }

    /// The next control that the agent points at and that has not been looked at.
    fn next_pointer(&self) -> Option<(Field, ElementRef)> {
        let seen = self.controls.as_ref().map_or(0, |controls| controls.at.len());
        let (field, control) = self.request.at.iter().nth(seen).filter(|_| self.reply.is_none())?;
        Some((field, ElementRef(control.to_owned())))
    }

    /// The fields with the controls that the agent points at.
    pub fn at(&self) -> &[(Field, NodeId)] {
        self.controls.as_ref().map_or(&[], |controls| &controls.at)
    }

    /// The form for this request: that of this part of a payment, or the one with the controls that the agent points at, else
    /// the one that fits best.
    pub fn form_among<'p>(
        &self,
        forms: &'p [Observed<Snapshot>],
        pointed: Option<&PointedForm>,
    ) -> Option<&'p Observed<Snapshot>> {
        match self.form.as_ref().or(self.controls.as_ref().map(|controls| &controls.form)) {
            Some(form) => forms.iter().find(|page| form.is_of(page.value())),
            None => best_form(forms, self.request.effective_fields(), pointed),
        }
    }
}

/// The facts that identify the page that the user was asked about.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::session) struct PageIdentity {
    origin: Fact<Origin>,
    path: Fact<Arc<str>>,
    top_origin: Fact<Origin>,
    container: ContainerId,
    frame: FrameId,
    form: Option<FormId>,
    document: Fact<DocumentId>,
    destination: Fact<Destination>,
}

impl PageIdentity {
    pub fn of(page: &Snapshot) -> PageIdentity {
        PageIdentity {
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

/// What the user was asked about a verb: the page, the effect, and what it is aimed at.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::session) struct VerbIdentity {
    page: PageIdentity,
    pub effect: VerbKind,
    target: Option<(NodeId, String)>,
}

impl VerbIdentity {
    pub fn of(verb: &Verb, page: &Observed<Snapshot>) -> VerbIdentity {
        VerbIdentity {
            page: PageIdentity::of(page.value()),
            effect: effect_of(verb, Some(page)),
            target: page.target.as_ref().map(|target| (target.node, name_of(target))),
        }
    }
}

/// A request block.
pub(in crate::session) struct BlockState {
    pub requests: Vec<RequestLine>,
    /// The shop's pay button, where a purchase is asked for.
    pub button: Option<ElementRef>,
    /// The index of the current request.
    pub at: usize,
    /// The policy's history before the first part of the current request was filled. All parts are one payment.
    pub before: History,
    /// The code that the user is asked for, and the prompt that agreed to the release with it.
    pub code: Option<(AskedCode, Box<ConsentPrompt>)>,
}

impl BlockState {
    /// Whether a purchase, or another request, has no reply yet.
    pub fn has_pending(&self, purchase: bool) -> bool {
        self.requests.iter().any(|line| line.reply.is_none() && line.is_purchase() == purchase)
    }

    /// Moves to the next request without a reply.
    pub fn next_pending(&mut self) -> Option<&mut RequestLine> {
        self.at = self.requests.iter().position(|line| line.reply.is_none())?;
        self.requests.get_mut(self.at)
    }

    /// Moves to the next control that the agent points at and that has not been looked at.
    pub fn next_pointer(&mut self) -> Option<(Field, ElementRef)> {
        let found = |(at, line): (usize, &RequestLine)| Some((at, line.next_pointer()?));
        let (at, pointer) = self.requests.iter().enumerate().find_map(found)?;
        self.at = at;
        Some(pointer)
    }

    /// The current request.
    pub fn current(&mut self) -> Option<&mut RequestLine> {
        self.requests.get_mut(self.at)
    }
}

/// A request that the user is asked about, on the observed page.
pub(in crate::session) struct PendingConsent {
    /// The request's index in the block.
    pub at: usize,
    /// The fields of a login that are left for a later page.
    pub later: FieldSet,
    pub prompt: Prompt,
    pub page: Box<Snapshot>,
    pub origin: Origin,
    pub form: FormPlace,
    /// The controls of which only the agent says what they are for.
    pub boxes: Vec<PointedBox>,
    /// The new password that is made for it.
    pub makes: Option<Asked>,
}

impl PendingConsent {
    /// Whether it pays: through the browser's payment interface, or by a card in the page's form.
    pub fn pays(&self) -> bool {
        matches!(self.prompt.kind, Some(Kind::Purchase | Kind::Payment))
    }
}

/// A granted release that waits for a fresh look.
pub(in crate::session) enum GrantedRelease {
    Fill(Grant<Fill>),
    Wire(Grant<Wire>),
    Pay(Grant<PaymentApi>),
    ShowToModel(Grant<Model>),
}

/// A secret that the vault makes for a release.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum MadeSecret {
    /// A new password, whose record is kept.
    Password,
    /// A one-time code, whose step is noted.
    Code,
}

/// The way that released values take.
pub(in crate::session) enum InFlight {
    Filled,
    Wired,
    /// With the answer that contains them.
    Shown(ShownValues),
    /// With the card's handle.
    Paid(String),
}

/// The step that a block waits for.
pub(in crate::session) enum BlockPhase {
    /// The look at the forms, before any prompt.
    SurveyForms,
    /// The look at the pay button, before any prompt; with the observed forms.
    SurveyButton(Vec<Observed<Snapshot>>),
    /// The look at a control that the agent points at for this field, before any prompt; with the observed forms and the
    /// pay button's page.
    SurveyControl { field: Field, forms: Vec<Observed<Snapshot>>, button: Option<Observed<Snapshot>> },
    /// The user's choice among records, before these requests are asked about.
    Choosing(Vec<PendingConsent>, Box<RivalRecords>),
    /// The user's answer about these requests.
    Asking(Vec<PendingConsent>, Box<ConsentPrompt>),
    /// The record of the answer.
    RecordingAnswer { asked: Vec<PendingConsent>, prompt: Box<ConsentPrompt>, answer: Answer },
    /// A code of the user's.
    AskingCode,
    /// The look for the decision of the current request.
    Deciding,
    /// The record of the intent.
    RecordingIntent(GrantedRelease),
    /// The values of a password manager.
    Fetching,
    /// The record of the fetch.
    RecordingFetch(Box<FetchReport>),
    /// The vault's file, with the step of a code that was fetched for this origin.
    KeepingFetched(Origin),
    /// The time, by which a one-time code is made.
    ReadingClock(GrantedRelease),
    /// The vault's file, with what was made for this release.
    Keeping { release: GrantedRelease, made: MadeSecret },
    /// The record that it is kept.
    RecordingKept { release: GrantedRelease, made: MadeSecret },
    /// The fresh look for the release.
    LookingAgain(GrantedRelease),
    /// The end of the fill, the wire's placeholders or the payment.
    Releasing(InFlight),
    /// The record of the outcome; with the reply.
    RecordingOutcome(Result<RequestResult, Reason>),
    /// The user, who may finish the current request by hand.
    HandingOver(Box<HandOver>),
}
