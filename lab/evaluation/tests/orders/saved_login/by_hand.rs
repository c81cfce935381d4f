//! A login that the user makes by hand while a task runs, in the agent's window: the guard offers to keep it, and the agent's part is over.

use std::sync::{Arc, Mutex};

use portcullis::Action;
use portcullis::consent::{
    Answer, AnswerFuture, Answerer, Asked, ConsentPrompt, HandOver, HandOverFuture, HandedOver, WarnFuture,
    Warning,
};
use portcullis::session::Session;
use portcullis::signals::Verb;
use portcullis::storage::login_folder::LoginFolder;

use super::world::{BY_HAND, FIRST, HOME, ORIGIN, Site, World};

/// The page of a stranger, in which a script acts as the user does once the user begins.
const ACTS: &str = concat!(
    "const look = setInterval(() => fetch('/acts').then((answer) => answer.text()).then((words) => { ",
    "if (!words.includes('the user acts')) return; clearInterval(look); BY_HAND; }), 200)"
);

/// A user at the window, who logs in by hand and gives this answer to the offer to keep the login.
struct AtTheWindow {
    site: Arc<Site>,
    keeps: Answer,
    ends: HandedOver,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Answerer for AtTheWindow {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        self.asked.lock().unwrap().push(prompt.to_string());
        let is_offer = prompt.asked.iter().any(|asked| matches!(asked, Asked::KeepLogin { .. }));
        Box::pin(std::future::ready(if is_offer { self.keeps } else { Answer::Once }))
    }

    fn warn<'a>(&'a mut self, warning: &'a Warning) -> WarnFuture<'a> {
        self.asked.lock().unwrap().push(warning.to_string());
        Box::pin(std::future::ready(()))
    }

    fn offers_hand_over(&self) -> bool {
        true
    }

    fn hand_over<'a>(&'a mut self, _: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(async {
            self.site.set(|served| served.user_acts = true);
            self.site.until("GET /ready").await;
            self.ends
        })
    }
}

/// A task in which the agent asks for a login that the vault does not have, and the user logs in by hand.
async fn by_hand(world: &World, keeps: Answer, ends: HandedOver) -> (Vec<String>, Vec<String>, String) {
    let acts: &'static str = Box::leak(ACTS.replace("BY_HAND", BY_HAND).into_boxed_str());
    world.site.set(|served| {
        served.arrived.clear();
        (served.stranger, served.user_acts) = (acts, false);
    });
    let browser = world.browser().await;
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let user = AtTheWindow { site: world.site.clone(), keeps, ends, asked: asked.clone() };
    let (guard, log) = world.guard_of(Box::new(user));
    let prompt = format!("Log in at {ORIGIN}/ and tell me my last order");
    let mut session = Session::begin(guard, &browser, &prompt).await.unwrap();
    let mut answers = Vec::new();
    session.act(Action::Verb(Verb::Open { url: format!("{ORIGIN}/") })).await;
    answers.push(session.act(Action::Verb(Verb::Read)).await.to_string());
    let login = "REQ.login fields=[\"username\",\"password\"]\nREQ.end".to_owned();
    answers.push(session.act(Action::Request(login)).await.to_string());
    answers.push(session.act(Action::Verb(Verb::Read)).await.to_string());
    session.finish().await;
    browser.close().await;
    world.site.set(|served| served.stranger = "");
    let asked = std::mem::take(&mut *asked.lock().unwrap());
    (answers, asked, log.text())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_by_hand_in_a_task_is_kept_if_the_user_wants_it() {
    let world = World::new(FIRST).await;
    for (keeps, ends, kept) in [
        (Answer::No, HandedOver::Finished, 0),
        (Answer::Once, HandedOver::GoOn, 0),
        (Answer::Once, HandedOver::Finished, 1),
    ] {
        world.forget();
        let (answers, asked, log) = by_hand(&world, keeps, ends).await;
        assert_eq!(world.saved(), kept, "{keeps:?} {ends:?} {answers:?}");
        let offer = asked.iter().find(|prompt| prompt.contains("keep the login for later tasks"));
        assert_eq!(offer.is_some(), ends == HandedOver::Finished, "{asked:?}");
        assert_eq!(log.contains("\"event\":\"login_kept\""), kept == 1, "{log}");
        // The user who lets the agent go on lets it read the page.
        if ends == HandedOver::GoOn {
            continue;
        }
        assert!(answers[1].contains("taken_over") && answers[2].contains("taken_over"), "{answers:?}");
        for text in answers.iter().chain(&asked).chain([&log]) {
            for secret in FIRST.all() {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
        }
    }
    // The next task asks for it, in a fresh container.
    let run = world.run(Answer::Once, &HOME).await;
    assert!(run.logged_in && run.text().contains("Hello Marguerite"), "{}", run.text());
    run.tells_none_of(FIRST);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_is_told_of_a_login_that_cannot_be_kept() {
    let world = World::new(FIRST).await;
    world.forget();
    // A file stands where the folder of the logins has to be.
    let folder = LoginFolder::beside(&world.vault_path()).path().to_owned();
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "").unwrap();
    let (_, asked, log) = by_hand(&world, Answer::Once, HandedOver::Finished).await;
    assert_eq!(world.saved(), 0);
    assert!(log.contains("\"event\":\"login_kept\"") && !log.contains("\"failed\":null"), "{log}");
    let told =
        asked.iter().filter(|text| text.starts_with("Your login at https://members.test was not kept"));
    assert_eq!(told.count(), 1, "{asked:?}");
}
