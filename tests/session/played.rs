//! A session with a browser and a user that the test plays.

use std::sync::Arc;

use browser_signals::outline::Outline;
use browser_signals::text_guard::TextGuard;
use browser_signals::{
    Container, ContainerId, Control, Destination, DocumentId, ElementRef, Fact, FrameId, NodeId, Observed,
    Origin, Sink, Snapshot, TlsState, Verb, WireField,
};
use classifier::{Detectors, Risk, Safety, Window, WindowClassifier};
use policy_dfa::{Millis, Policy, Reason, Task, authority};
use portcullis::Action;
use portcullis::DEFAULT_POLICY;
use portcullis::audit::AuditEvent;
use portcullis::consent::{Answer, Answered, Asked, AskedCode, ConsentBook, HandedOver, NotByForm};
use portcullis::egress::Releases;
use portcullis::guard::SystemEntropy;
use portcullis::guard::record_choices::{RivalRecords, Unreached};
use portcullis::guard::shared_vault::SharedVault;
use portcullis::guard::sources::{FetchOutcome, FetchReport};
use portcullis::page_text::PageTextGuard;
use portcullis::page_text::{Quarantine, ScrubSettings, Scrubber};
use portcullis::session::ActionOutcome;
use portcullis::session::core::{
    Command, Core, CoreDependencies, Event, GuardCommand, KeyTarget, Look, RenderedPage,
};
use sirl::{Currency, Field, FieldSet, Kind, Money};
use vault::sources::FetchedValues;
use vault::{Binding, Secret, Vault};

pub const SHOP: &str = "https://shop.example";
pub const STREET: &str = "17 Canary Quarry Road";
pub const BLOCK: &str =
    "REQ.address fields=[\"street\",\"city\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";

pub fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

pub fn control(node: i64, autocomplete: &str) -> Control {
    Control {
        node: NodeId(node),
        form: Some(NodeId(100)),
        tag: "input".into(),
        input_type: "text".into(),
        autocomplete: autocomplete.into(),
        name: String::new(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words: Default::default(),
    }
}

pub fn checkout() -> Snapshot {
    Snapshot {
        container: Fact::Known(Container::T2),
        container_id: ContainerId::new("c"),
        frame: FrameId::new("f"),
        document: Fact::Known(DocumentId::new("d")),
        top_document: Fact::Known(DocumentId::new("d")),
        origin: Fact::Known(origin(SHOP)),
        path: Fact::Known("/checkout".into()),
        top_origin: Fact::Known(origin(SHOP)),
        ancestors: Fact::Known(Vec::new()),
        tls: Fact::Known(TlsState::Valid),
        sandboxed: Fact::Known(false),
        secure_context: Fact::Known(true),
        form: Some(NodeId(100)),
        destination: Fact::Known(Destination {
            origin: origin(SHOP),
            path: "/address".into(),
            method: "POST".into(),
        }),
        sink: Fact::Known(Sink::AddressForm),
        target: None,
        controls: vec![control(1, "street-address"), control(2, "address-level2")],
        words: Default::default(),
    }
}

/// Gives a guard of a page's text a judge of its safety.
pub type WithJudge = fn(PageTextGuard) -> PageTextGuard;

/// A classifier that takes each window about wombats for an attack.
struct Wombats;

impl WindowClassifier for Wombats {
    fn risk(&self, window: &Window<'_>) -> Risk {
        if window.text.contains("wombat") { Risk::CERTAIN } else { Risk::NONE }
    }
}

/// A scrubber that withholds hidden words, and what is about wombats.
fn withholding_wombats() -> Scrubber {
    Scrubber::new(ScrubSettings::default(), Some(Arc::new(Wombats)))
}

/// The answer of a password manager: the values of an account, none, or another end.
pub type SourceAnswer = fn() -> Result<Option<FetchedValues>, FetchOutcome>;

/// A browser and a user that the test plays.
pub struct Played {
    pub core: Core,
    pub vault: SharedVault,
    pub releases: Releases,
    /// The page's text.
    pub reads: String,
    /// The time of the system's clock, in milliseconds since 1970.
    pub clock: u64,
    /// The button that starts a payment on the page that is read.
    pub pay_button: Option<ElementRef>,
    /// The agent's own texts in it.
    pub typed: Vec<String>,
    /// The page's safety, if it is judged.
    pub safety: Option<Safety>,
    /// The origin that the page is read at.
    pub read_at: &'static str,
    /// The page as the bridge reports it, with the guard of its text, in place of `reads` and `safety`.
    pub outline: Option<(Outline, WithJudge)>,
    /// The browser's commands.
    pub commands: Vec<String>,
    pub seen: u64,
    /// The page's snapshot at each look. The last one repeats.
    pub looks: Vec<Snapshot>,
    /// Further forms of the page, at each look.
    pub beside: Vec<Snapshot>,
    /// One of them as it is after the first question.
    pub swapped: Option<(usize, Snapshot)>,
    pub answer: Answer,
    /// Whether no question reaches anybody.
    pub nobody: bool,
    /// The result of a verb.
    pub done: Result<(), Reason>,
    /// The agent's own text in the box with the focus, with the caret at its end.
    pub held: String,
    /// The delay of the answer, in milliseconds.
    pub thinks: u64,
    /// An answer to an earlier prompt, sent to every later one.
    pub stale: Option<Answered>,
    /// The security code that the user gives when asked.
    pub code: Option<&'static str>,
    /// The answer of a password manager.
    pub source: SourceAnswer,
    /// The time that a fetch takes, in milliseconds.
    pub fetch_takes: u64,
    /// The fields of each fetch.
    pub fetches: Vec<FieldSet>,
    pub recording: bool,
    /// Whether the vault's file can be written.
    pub keeping: bool,
    /// The handles in the vault at each write of its file.
    pub kept: Vec<Vec<String>>,
    /// The events that cannot be recorded.
    pub unrecorded: fn(&AuditEvent) -> bool,
    /// The result of a payment.
    pub paid: Result<(), Reason>,
    /// The end of a hand-over.
    pub by_hand: HandedOver,
    pub offers: Vec<String>,
    pub prompts: Vec<String>,
    /// Whether a client's form may ask each of them.
    pub by_form: Vec<Result<(), NotByForm>>,
    pub records: Vec<AuditEvent>,
    pub fills: usize,
    /// The result of a fill.
    pub filled: Result<(), Reason>,
    /// The number of the fill from which on that is the result; the fills before it succeed.
    pub filled_from: usize,
    /// Each wire: its number, and names and placeholders of its fields.
    pub wires: Vec<(u64, Vec<(String, String)>)>,
    /// The result of placing placeholders.
    pub placed: Result<(), Reason>,
    pub payments: usize,
    /// The record that the user chooses among several.
    pub chooses: Option<&'static str>,
    /// The choices that the user was asked for.
    pub choices: Vec<RivalRecords>,
    pub codes_asked: usize,
    pub codes_paid: usize,
    /// The last outcome.
    pub outcome: ActionOutcome,
}

impl Played {
    pub fn new(container: Container) -> Played {
        Played::under(DEFAULT_POLICY, container)
    }

    pub fn under(policy: &str, container: Container) -> Played {
        let values = [
            ("address:task", Field::Street, STREET),
            ("address:task", Field::City, "Berkeley"),
            ("card:task", Field::CardNumber, "4111111111111111"),
            ("card:task", Field::CardExpiry, "12/29"),
        ];
        Played::with(policy, container, &values, "buy a kettle")
    }

    pub fn with(policy: &str, container: Container, values: &[(&str, Field, &str)], prompt: &str) -> Played {
        let kinds = [Kind::Address, Kind::Payment, Kind::Purchase];
        Played::for_task(policy, (container, &kinds), values, prompt)
    }

    /// A task of the shop that may ask for these kinds.
    pub fn for_task(
        policy: &str,
        (container, kinds): (Container, &[Kind]),
        values: &[(&str, Field, &str)],
        prompt: &str,
    ) -> Played {
        Played::for_sites(policy, &[SHOP], (container, kinds), values, prompt)
    }

    /// A task of these sites that may ask for these kinds.
    pub fn for_sites(
        policy: &str,
        sites: &[&str],
        (container, kinds): (Container, &[Kind]),
        values: &[(&str, Field, &str)],
        prompt: &str,
    ) -> Played {
        let checked = Policy::parse(policy).unwrap().compile().unwrap().check().unwrap();
        let (decision, verifier) = authority(checked, [7; 16]);
        let mut vault = Vault::ephemeral(&mut SystemEntropy, verifier);
        for (handle, field, value) in values {
            let value = Secret::new(value.as_bytes());
            vault.insert(handle, *field, value, &Binding::Anywhere, &mut SystemEntropy).unwrap();
        }
        let vault = SharedVault::new(vault);
        let budget = Money::parse("100", Currency::new("USD").unwrap());
        let task =
            Task::new(sites.iter().map(|site| origin(site)).collect(), kinds.to_vec(), budget, container);
        let detectors = Arc::new(Detectors::standard().unwrap());
        let (releases, book) = (Releases::default(), ConsentBook::default());
        let tools = CoreDependencies {
            vault: vault.clone(),
            detectors,
            releases: releases.clone(),
            book,
            has_vault_file: true,
            seed: [9; 32],
        };
        let core = Core::new(task, decision, tools, prompt);
        Played {
            core,
            vault,
            releases,
            typed: Vec::new(),
            clock: 30_000,
            reads: "- button \"Pay now\" [ref=e7]".to_owned(),
            pay_button: Some(ElementRef("e7".to_owned())),
            safety: None,
            read_at: SHOP,
            outline: None,
            commands: Vec::new(),
            seen: 0,
            looks: vec![checkout()],
            beside: Vec::new(),
            swapped: None,
            answer: Answer::Session,
            nobody: false,
            done: Ok(()),
            held: String::new(),
            thinks: 0,
            stale: None,
            code: None,
            source: || Ok(None),
            fetch_takes: 0,
            fetches: Vec::new(),
            recording: true,
            keeping: true,
            kept: Vec::new(),
            unrecorded: |_| false,
            paid: Ok(()),
            by_hand: HandedOver::GoOn,
            offers: Vec::new(),
            prompts: Vec::new(),
            by_form: Vec::new(),
            records: Vec::new(),
            fills: 0,
            filled: Ok(()),
            filled_from: 0,
            wires: Vec::new(),
            placed: Ok(()),
            payments: 0,
            chooses: None,
            choices: Vec::new(),
            codes_asked: 0,
            codes_paid: 0,
            outcome: ActionOutcome::done(),
        }
    }

    /// The text of the last outcome with the next steps.
    pub fn with_next_steps(&self) -> String {
        self.core.with_next_steps(&self.outcome)
    }

    pub fn act(&mut self, action: Action) -> String {
        let mut event = Event::Act(action);
        for _ in 0..100 {
            event = match self.core.step(event, Millis(self.seen)) {
                Command::Answer(outcome) => {
                    let text = outcome.to_string();
                    self.outcome = outcome;
                    return text;
                }
                Command::Guard(GuardCommand::Record { events, .. }) => {
                    let lacks = events.iter().any(self.unrecorded);
                    self.records.extend(events);
                    Event::Recorded(self.recording && !lacks)
                }
                Command::Guard(GuardCommand::Ask(prompt)) => {
                    self.prompts.push(prompt.to_string());
                    self.by_form.push(prompt.by_form().map(drop));
                    self.seen += self.thinks;
                    if let Some((at, page)) = self.swapped.take() {
                        self.beside[at] = page;
                    }
                    let answered =
                        if self.nobody { prompt.answered_by_nobody() } else { prompt.answered(self.answer) };
                    Event::Answered(self.stale.clone().unwrap_or(answered))
                }
                Command::Guard(GuardCommand::ChooseRecord(rivals)) => {
                    let chosen = self.chooses.filter(|chosen| rivals.handles.iter().any(|it| it == chosen));
                    self.choices.push(*rivals);
                    Event::Chosen(if self.nobody { Err(Unreached) } else { Ok(chosen.map(str::to_owned)) })
                }
                Command::Guard(GuardCommand::Fetch(wanted)) => {
                    self.fetches.push(wanted.fields());
                    if wanted.fields().contains(Field::OneTimeCode) {
                        self.vault.lock().unwrap().forget_fetched_code(wanted.origin());
                    }
                    let outcome = match (self.source)() {
                        Err(outcome) => outcome,
                        Ok(None) => FetchOutcome::Nothing,
                        Ok(Some(values)) => {
                            let mut vault = self.vault.lock().unwrap();
                            let kept = vault.keep_fetched(
                                &wanted,
                                "KeePassXC",
                                values,
                                self.clock,
                                &mut SystemEntropy,
                            );
                            match kept {
                                Ok(is_noted) => FetchOutcome::Kept { is_noted },
                                Err(error) => FetchOutcome::Unfit(error.reason()),
                            }
                        }
                    };
                    self.seen += self.fetch_takes;
                    let (source, wanted) = ("KeePassXC".to_owned(), *wanted);
                    Event::Fetched(FetchReport { wanted, source, outcome })
                }
                Command::Guard(GuardCommand::AskCode { code: AskedCode::OneTime { to }, .. }) => {
                    self.codes_asked += 1;
                    if let Some(code) = self.code {
                        let mut vault = self.vault.lock().unwrap();
                        vault.keep_typed_code(&to, Secret::new(code.as_bytes()), &mut SystemEntropy).unwrap();
                    }
                    Event::CodeAsked
                }
                Command::Guard(GuardCommand::AskCode { code: AskedCode::Card(card), prompt }) => {
                    let of_a_card = |asked: &Asked| {
                        matches!(asked, Asked::Pay { .. } | Asked::Release { kind: Kind::Payment, .. })
                    };
                    assert!(prompt.asked.iter().any(of_a_card));
                    self.codes_asked += 1;
                    if let Some(code) = self.code {
                        let (code, mut vault) = (Secret::new(code.as_bytes()), self.vault.lock().unwrap());
                        let place = Binding::Anywhere;
                        vault
                            .insert_for_task(&card, Field::CardCode, code, &place, &mut SystemEntropy)
                            .unwrap();
                    }
                    Event::CodeAsked
                }
                Command::Read => {
                    let (text, safety) = self.read();
                    let origin = Some(origin(self.read_at));
                    let typed = self.typed.clone();
                    let pay_button = self.pay_button.clone();
                    Event::PageRead(Ok(RenderedPage { text, typed, origin, safety, pay_button }))
                }
                Command::Look(Look::Key(key)) => {
                    let mut page = self.looks[0].clone();
                    page.target = page.controls.first().cloned();
                    self.seen += 1;
                    let end = self.held.encode_utf16().count();
                    Event::KeySeen(Ok(Box::new(KeyTarget {
                        target: ElementRef("focused".into()),
                        text: key.text_after(&self.held, &(end..end)).unwrap(),
                        page: Observed::simulated(page, self.seen),
                    })))
                }
                Command::Look(look) => {
                    let mut page = self.looks[0].clone();
                    if self.looks.len() > 1 {
                        self.looks.remove(0);
                    }
                    if let Look::Element(target) = look {
                        let node = target.0.trim_start_matches('e').parse().ok().map(NodeId);
                        let named = page.controls.iter().find(|control| Some(control.node) == node);
                        page.target = named.or(page.controls.first()).cloned();
                    }
                    self.seen += 1;
                    let pages = std::iter::once(&page).chain(&self.beside);
                    let seen = pages.map(|page| Observed::simulated(page.clone(), self.seen));
                    Event::Seen(Ok(seen.collect()))
                }
                Command::Do { verb, .. } => {
                    if let Verb::Type { text, .. } = &verb {
                        self.held.clone_from(text);
                    }
                    self.commands.push(format!("{verb:?}"));
                    Event::Done(self.done)
                }
                Command::Narrow(open) => {
                    self.commands.push(format!("narrow {open:?}"));
                    Event::Done(Ok(()))
                }
                Command::Fill(fill) => {
                    let provider = self.core.task().sign_on().map(|both| both.provider.clone());
                    let to = &fill.destination.origin;
                    let is_known = *to == origin(SHOP) || Some(to) == provider.as_ref();
                    assert!(fill.embedded.is_some() || is_known, "{to}");
                    self.commands.push(format!("fill {:?}", fill.destination));
                    self.fills += 1;
                    Event::Done(if self.fills > self.filled_from { self.filled } else { Ok(()) })
                }
                Command::Wire(wire) => {
                    assert_eq!(wire.destination.origin, origin(SHOP));
                    let shown = |field: &WireField| (field.name.clone(), field.placeholder.clone());
                    self.wires.push((wire.request, wire.fields.iter().map(shown).collect()));
                    Event::Done(self.placed)
                }
                Command::Pay(payment) => {
                    self.payments += 1;
                    self.codes_paid += payment.card.open(|card| usize::from(card.code() == Some(b"987")));
                    Event::Done(self.paid)
                }
                // No shop of these tests takes orders by protocol.
                Command::Order(_) => Event::Discovered(Ok(None)),
                Command::Guard(GuardCommand::ReadClock) => Event::Clock { unix_ms: self.clock },
                Command::Guard(GuardCommand::KeepVault) => {
                    self.kept
                        .push(self.vault.lock().unwrap().entries().map(|it| it.handle.to_owned()).collect());
                    Event::Kept(self.keeping)
                }
                Command::HandOver(offer) => {
                    self.offers.push(offer.to_string());
                    Event::HandedOver(self.by_hand)
                }
            };
        }
        panic!("the session does not reach an answer");
    }

    /// The text of the page for the agent, and its safety.
    fn read(&self) -> (String, Option<Safety>) {
        let detectors = Arc::new(Detectors::standard().unwrap());
        let (releases, vault) = (self.releases.clone(), self.vault.clone());
        let guard =
            PageTextGuard::new(withholding_wombats(), Quarantine::default(), detectors, releases, vault);
        match &self.outline {
            Some((outline, judged)) => {
                let guard = judged(guard);
                (guard.guard(outline).unwrap(), guard.take_safety())
            }
            None => (guard.mask(&self.reads).unwrap(), self.safety),
        }
    }

    pub fn request(&mut self, block: &str) -> String {
        self.act(Action::Request(block.to_owned()))
    }
}
