//! A task that pays at the shop, with a guard and without.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, AnswerFuture, Answerer, AskedCode, CodeFuture, ConsentPrompt};
use portcullis::guard::SystemEntropy;
use portcullis::observe::{ObservedTask, Observer, UnguardedSession};
use portcullis::page_text::PageSafety;
use portcullis::signals::outline::Outline;
use portcullis::signals::{ElementRef, Verb};
use portcullis::{APPROACH_A_POLICY, Action, Guard, Session};
use vault::Secret;

use crate::stage::{FRAME, HOSTED, PATIENCE, SHOP, Stage, TOKEN};

pub const NUMBER: &str = "4111111111111111";
pub const CODE: &str = "739";
pub const ALL: &str = "REQ.payment fields=[\"card_number\",\"card_expiry\",\"card_code\"]\nREQ.end";

/// The shipped policy of approach A with our provider: three lines more.
pub fn policy(frame: &str) -> String {
    policy_naming([FRAME, TOKEN], frame)
}

/// The same with these hosts of the provider.
pub fn policy_naming([frames, tokens]: [&str; 2], frame: &str) -> String {
    let (before, payment) = APPROACH_A_POLICY.split_once("request payment {").unwrap();
    let provider =
        format!("provider \"Our pay\" {{ frame \"https://{frames}\" token \"https://{tokens}\" }}");
    format!("{before}{provider}\nrequest payment {{{}", payment.replacen("frame top", frame, 1))
}

/// Everything that the agent was told looks safe.
struct Safe;

impl PageSafety for Safe {
    fn of(&self, _: &Outline) -> classifier::Safety {
        classifier::Safety::FULL
    }
}

/// The user, who agrees to everything and knows the card's code. `before` runs while a payment's question is open.
struct User {
    questions: Arc<Mutex<Vec<String>>>,
    before: Box<dyn FnMut() + Send>,
}

impl Answerer for User {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let text = prompt.to_string();
        if text.contains("fill your payment") {
            (self.before)();
        }
        self.questions.lock().unwrap().push(text);
        Box::pin(std::future::ready(Answer::Once))
    }

    fn code<'a>(&'a mut self, _: &'a AskedCode, _: &'a ConsentPrompt) -> CodeFuture<'a> {
        let code = Some(Secret::new(CODE.as_bytes()));
        Box::pin(std::future::ready(code))
    }
}

/// A session at the shop's checkout.
pub struct Paying {
    pub session: Session,
    questions: Arc<Mutex<Vec<String>>>,
    /// Everything that the agent was told.
    pub told: String,
}

impl Paying {
    pub async fn begin(stage: &Stage, policy: &str) -> Paying {
        Paying::begin_with(stage, policy, Box::new(|| ())).await
    }

    /// A task about the provider's own page too.
    pub async fn begin_with_hosted(stage: &Stage, policy: &str) -> Paying {
        let more = format!(" Pay at https://{HOSTED}/.");
        Paying::begin_for(stage, policy, Box::new(|| ()), &more).await
    }

    pub async fn begin_with(stage: &Stage, policy: &str, before: Box<dyn FnMut() + Send>) -> Paying {
        Paying::begin_for(stage, policy, before, "").await
    }

    async fn begin_for(stage: &Stage, policy: &str, before: Box<dyn FnMut() + Send>, more: &str) -> Paying {
        let questions = Arc::new(Mutex::new(Vec::new()));
        let user = User { questions: questions.clone(), before };
        let log = Box::new(MemoryLog::default());
        let guard = Guard::new(policy, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
        let guard = guard.with_safety(Arc::new(Safe));
        let prompt = format!(
            "Please buy a kettle at https://{SHOP}/.{more} Pay with card number {NUMBER}, exp 12/29."
        );
        let session = Session::begin(guard, &stage.browser, &prompt).await.unwrap();
        let mut paying = Paying { session, questions, told: String::new() };
        let opened = paying
            .act(Action::Verb(Verb::Open { url: format!("https://{SHOP}/checkout") }))
            .await
            .to_string();
        assert_eq!(opened, "ok");
        paying
    }

    async fn act(&mut self, action: Action) -> String {
        let answer = self.session.act(action).await.to_string();
        self.told.push_str(&answer);
        self.told.push('\n');
        answer
    }

    pub async fn read(&mut self) -> String {
        self.act(Action::Verb(Verb::Read)).await.to_string()
    }

    /// Reads until the page shows these words.
    pub async fn read_until(&mut self, words: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = self.read().await;
            if text.contains(words) {
                return text;
            }
            assert!(Instant::now() < until, "{words} is not in\n{text}");
            self.act(Action::Verb(Verb::Wait { milliseconds: 50 })).await.to_string();
        }
    }

    pub async fn ask(&mut self, block: &str) -> String {
        self.act(Action::Request(block.to_owned())).await.to_string()
    }

    pub async fn open(&mut self, url: String) -> String {
        self.act(Action::Verb(Verb::Open { url })).await.to_string()
    }

    pub async fn click(&mut self, words: &str) -> String {
        let text = self.read().await;
        let target = handle(&text, words).unwrap_or_else(|| panic!("{words} is not in\n{text}"));
        self.act(Action::Verb(Verb::click(target))).await.to_string()
    }

    /// Lets the page run until something has happened.
    pub async fn until(&mut self, happened: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !happened() {
            assert!(Instant::now() < until, "it did not happen; the agent was told\n{}", self.told);
            self.act(Action::Verb(Verb::Wait { milliseconds: 50 })).await.to_string();
        }
    }

    /// The questions about a payment.
    pub fn asked(&self) -> Vec<String> {
        let all = self.questions.lock().unwrap();
        all.iter().filter(|question| question.contains("fill your payment")).cloned().collect()
    }

    /// Ends the task. What the agent was told has nothing of the card.
    pub async fn finish(self) {
        let digits: String = self.told.chars().filter(char::is_ascii_digit).collect();
        assert!(!digits.contains(NUMBER) && !self.told.contains(CODE), "{}", self.told);
        self.session.finish().await;
    }
}

pub fn handle(text: &str, words: &str) -> Option<ElementRef> {
    let line = text.lines().find(|line| line.contains(words) && line.contains("[ref="))?;
    let rest = line.split_once("[ref=")?.1;
    Some(ElementRef(rest.split_once(']')?.0.to_owned()))
}

/// Without a guard: a page's script or the agent puts the number into the first control for it, and places the order. Returns
/// once the number has arrived at a host.
pub async fn unguarded(stage: &Stage, url: &str, host: &str) {
    let task = ObservedTask::of_prompt(&format!("buy a kettle at https://{SHOP}/")).unwrap();
    let log = Box::new(MemoryLog::default());
    let observer = Observer::that_blocks_nothing(APPROACH_A_POLICY, task, log, &mut SystemEntropy).unwrap();
    let mut session = UnguardedSession::begin(observer, &stage.browser).await.unwrap();
    session.act(Action::Verb(Verb::Open { url: url.to_owned() })).await.to_string();
    let until = Instant::now() + PATIENCE;
    let target = loop {
        let text = session.act(Action::Verb(Verb::Read)).await.to_string();
        if let Some(target) = handle(&text, "Card number") {
            break target;
        }
        assert!(Instant::now() < until, "no card number in\n{text}");
    };
    let typed = session.act(Action::Verb(Verb::typed(target, NUMBER))).await.to_string();
    assert_eq!(typed, "ok", "the control is the same page without a guard");
    let text = session.act(Action::Verb(Verb::Read)).await.to_string();
    if let Some(target) = handle(&text, "Place the order") {
        session.act(Action::Verb(Verb::click(target))).await.to_string();
    }
    while !stage.world.got(NUMBER).iter().any(|at| at == host) {
        assert!(Instant::now() < until, "the number did not arrive at {host}: {:?}", stage.world.got(NUMBER));
        session.act(Action::Verb(Verb::Wait { milliseconds: 50 })).await.to_string();
    }
    session.finish().await;
}
