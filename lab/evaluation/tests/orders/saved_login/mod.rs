//! Saved logins: made by hand once, then used by an agent that reads neither cookie nor storage, renewed and not poisoned. The site is a part
//! of the test, and knows its member by a cookie that no script sees. Each attack succeeds in a container without the saved login's rules.

mod by_hand;
mod world;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use portcullis::consent::Answer;
use portcullis::signals::Verb;
use portcullis::storage::login_folder::LoginFolder;
use portcullis::{Action, Session};
use world::{EVIL, EVIL_HOST, FIRST, HOME, HOST, ORIGIN, SECOND, STEAL, Step, World};

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_uses_a_login_that_was_made_by_hand_and_reads_nothing_of_it() {
    let world = World::new(FIRST).await;
    // Guard and browser are new: the login survives both.
    let run = world.run(Answer::Once, &HOME).await;
    assert!(run.logged_in && run.text().contains("Hello Marguerite"), "{}", run.text());
    assert!(run.text().contains("Order 4711"), "{}", run.text());
    assert!(
        run.text().contains("csrf=[withheld]") && run.text().contains("storage [withheld]"),
        "{}",
        run.text()
    );
    run.tells_none_of(FIRST);
    let question = run.question().unwrap();
    for words in ["act as you until the end of this task", "members.test", "the saved login ends on"] {
        assert!(question.contains(words), "{question}");
    }
    let place = |event: &str| run.records.find(&format!("\"event\":\"{event}\"")).unwrap();
    assert!(place("login_restoring") < place("login_restored"));
    assert!(run.records.contains("\"failed\":null,\"origin\"") || run.records.contains("\"failed\":null"));

    // It is asked about every time, and without a yes the agent is a stranger.
    let no = world.run(Answer::No, &HOME).await;
    assert!(!no.logged_in && no.text().contains("Please log in"), "{}", no.text());
    assert!(no.question().is_some() && !no.records.contains("login_restor"));

    // No file has a secret, in any of the folders of vault and browser.
    for file in files(world.home.path()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        for secret in FIRST.all() {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} in {}", file.display());
        }
    }
}

fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn twin_runs_with_other_secrets_are_the_same_to_the_agent() {
    let mut answers = Vec::new();
    for secrets in [FIRST, SECOND] {
        let world = World::new(secrets).await;
        let run = world.run(Answer::Once, &HOME).await;
        run.tells_none_of(secrets);
        answers.push(run.answers);
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_sends_no_part_of_the_login_to_another_site() {
    let world = World::new(FIRST).await;
    world.site.set(|served| served.script = STEAL);
    // The control: in the container of a login by hand, which has no such rules, it arrives.
    let steals = world.steal_without_rules().await;
    assert!(steals.iter().any(|line| line.contains(FIRST.readable)), "{steals:?}");

    world.site.set(|served| {
        served.arrived.clear();
        served.stranger = "";
    });
    let run = world.run(Answer::Once, &[Step::Open("https://members.test/"), Step::Wait, Step::Read]).await;
    assert!(run.logged_in, "{}", run.records);
    assert!(
        world.site.arrived_at(HOST).iter().any(|line| line.contains(FIRST.readable)),
        "the page was there"
    );
    assert_eq!(world.site.arrived_at(EVIL_HOST), Vec::<String>::new());
    run.tells_none_of(FIRST);
    // The agent is kept from there too.
    let run = world
        .run(Answer::Once, &[Step::Open("https://members.test/"), Step::Open("https://evil.test/")])
        .await;
    assert!(run.text().contains("outside_task") || run.text().contains("egress_blocked"), "{}", run.text());
    assert_eq!(world.site.arrived_at(EVIL_HOST), Vec::<String>::new());
}

/// In the control the task reaches both of its sites, since the user does not agree to the login.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_with_a_login_reaches_no_other_site_of_the_task() {
    let world = World::new(FIRST).await;
    let prompt = format!("Log in at {ORIGIN}/ and compare with {EVIL}/");
    let steps = || [Step::Open("https://members.test/"), Step::Open("https://evil.test/")];
    for (answer, reached) in [(Answer::Once, 0), (Answer::No, 1)] {
        world.site.set(|served| served.arrived.clear());
        let run = world.run_of(&prompt, answer, &steps()).await;
        assert!(run.question().unwrap().contains("also not https://evil.test"), "{:?}", run.prompts);
        let arrived = world.site.arrived_at(EVIL_HOST).iter().filter(|line| line.contains("GET / ")).count();
        assert_eq!(arrived, reached, "{:?}", run.answers);
    }
}

/// Prints the time from the task's words to the open container, with a login and without.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a measurement, which somebody reads"]
async fn the_time_of_a_restore() {
    let world = World::new(FIRST).await;
    let browser = world.browser().await;
    let (guard, ..) = world.guard(Answer::Once);
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    for has_robots in [true, false] {
        world.site.set(|served| served.has_robots = has_robots);
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..41 {
            for (with, prompt) in [(0, format!("Log in at {EVIL}/")), (1, format!("Log in at {ORIGIN}/"))] {
                let began = Instant::now();
                let session = Session::begin(guard.for_another_session(), &browser, &prompt).await.unwrap();
                let took = began.elapsed();
                assert_eq!(session.logged_in().is_some(), with == 1);
                session.finish().await;
                if round > 0 {
                    times[with].push(took);
                }
            }
        }
        let [without, with] = &mut times;
        let (without, with) = (median(without), median(with));
        let robots = if has_robots { "plain text" } else { "a page" };
        println!(
            "/robots.txt is {robots}: without a login {without:?}, with one {with:?}, more by {:?}",
            with - without
        );
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_renewed_by_the_site_and_not_after_a_login_or_logout() {
    let world = World::new(FIRST).await;
    world.site.set(|served| served.rotates = true);
    // Each page ends the session before, so the second task works only with what the first one renewed.
    for task in 0..2 {
        let run = world.run(Answer::Once, &HOME).await;
        assert!(run.text().contains("Hello Marguerite"), "task {task}: {}", run.text());
        assert!(run.records.contains("login_renewed"), "task {task}: {}", run.records);
        run.tells_none_of(FIRST);
    }
    world.site.set(|served| served.rotates = false);
    let files = std::fs::read_dir(LoginFolder::beside(&world.vault_path()).path()).unwrap().count();
    assert_eq!(files, 1, "the earlier files are gone");

    // A page leads the agent to the link that ends the login. The site then sets another cookie, which is not kept.
    let out = [Step::Open("https://members.test/"), Step::Read, Step::Click("\"Sign out\""), Step::Read];
    let good = world.site.served.lock().unwrap().good.clone();
    let run = world.run(Answer::Once, &out).await;
    assert!(run.text().contains("Bye"), "{:?}", run.answers);
    assert!(!run.records.contains("login_renewed"), "{}", run.records);
    world.site.set(|served| (served.good, served.member) = (good.clone(), "Marguerite".to_owned()));
    assert!(world.run(Answer::Once, &HOME).await.text().contains("Hello Marguerite"));

    // Nor after an address that may have logged in somebody else by a token in it.
    world.site.set(|served| served.rotates = true);
    let magic = Step::Open("https://members.test/?k=8f2kq7lw91mzpqrt");
    let run = world.run(Answer::Once, &[magic, Step::Open("https://members.test/"), Step::Read]).await;
    assert!(run.text().contains("Hello Marguerite"), "{:?}", run.answers);
    assert!(!run.records.contains("login_renewed"), "{}", run.records);
    world.site.set(|served| (served.rotates, served.good) = (false, good.clone()));

    // An address that the agent opens ends the login too.
    let run = world.run(Answer::Once, &[Step::Open("https://members.test/logout"), Step::Read]).await;
    assert!(run.text().contains("Bye") && !run.records.contains("login_renewed"), "{:?}", run.answers);
    world.site.set(|served| (served.good, served.member) = (good, "Marguerite".to_owned()));
    assert!(world.run(Answer::Once, &HOME).await.text().contains("Hello Marguerite"));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_cannot_be_written_is_recorded_and_leaves_the_login_as_it_was() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let world = World::new(FIRST).await;
    let good = world.site.served.lock().unwrap().good.clone();
    let folder = LoginFolder::beside(&world.vault_path());
    let browser = world.browser().await;
    let (guard, _, log) = world.guard(Answer::Once);
    let prompt = format!("Log in at {ORIGIN}/ and tell me my last order");
    world.site.set(|served| served.rotates = true);
    let mut session = Session::begin(guard, &browser, &prompt).await.unwrap();
    let open = |url: &str| Action::Verb(Verb::Open { url: url.to_owned() });
    session.act(open("https://members.test/")).await;
    // The guard does not write into a folder that others can reach.
    set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let (_, guard) = session.finish().await;
    set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let failed = "\"event\":\"login_renewed\",\"failed\":\"value_damaged\"";
    assert!(log.text().contains(failed), "{}", log.text());

    world.site.set(|served| (served.rotates, served.good) = (false, good));
    let mut again = Session::begin(guard, &browser, &prompt).await.unwrap();
    assert!(again.logged_in().is_some(), "{}", log.text());
    again.act(open("https://members.test/")).await;
    let read = again.act(Action::Verb(Verb::Read)).await.to_string();
    assert!(read.contains("Hello Marguerite"), "{read}");
    again.finish().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_do_not_use_a_login_at_once_and_another_site_gets_none() {
    let world = World::new(FIRST).await;
    let browser = world.browser().await;
    let (guard, prompts, _) = world.guard(Answer::Once);
    let second = guard.for_another_session();
    let prompt = format!("Log in at {ORIGIN}/ and tell me my last order");
    let one = Session::begin(guard, &browser, &prompt).await.unwrap();
    let asked = || prompts.lock().unwrap().iter().filter(|prompt| prompt.contains("saved login")).count();
    assert!(one.logged_in().is_some() && asked() == 1);
    let two = Session::begin(second, &browser, &prompt).await.unwrap();
    assert!(two.logged_in().is_none() && asked() == 1, "nobody is asked about a login that is in use");
    let (_, second) = two.finish().await;
    one.finish().await;
    let again = Session::begin(second.for_another_session(), &browser, &prompt).await.unwrap();
    assert!(again.logged_in().is_some());
    again.finish().await;
    for elsewhere in [format!("Log in at {EVIL}/"), format!("Tell me what {ORIGIN}/ sells")] {
        let other = Session::begin(second.for_another_session(), &browser, &elsewhere).await.unwrap();
        assert!(other.logged_in().is_none() && asked() == 2, "{elsewhere}");
        other.finish().await;
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_or_a_site_without_its_certificate_leaves_a_task_without_the_login() {
    let world = World::new(FIRST).await;
    let folder = LoginFolder::beside(&world.vault_path());
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(&file).unwrap();
    let mut changed = bytes.clone();
    changed[1_000] ^= 1;
    std::fs::write(&file, changed).unwrap();
    let run = world.run(Answer::Once, &HOME).await;
    assert!(!run.logged_in && run.text().contains("Please log in"), "{}", run.text());
    assert!(run.records.contains("\"failed\":\"value_damaged\""), "{}", run.records);
    std::fs::write(&file, bytes).unwrap();

    // The browser trusts the certificate no more.
    let mut settings = world.settings.clone();
    settings.home = Some(tempfile::tempdir().unwrap().keep());
    let distrusting = World { site: world.site.clone(), home: world.home, settings };
    let run = distrusting.run(Answer::Once, &HOME[..1]).await;
    assert!(!run.logged_in && run.records.contains("\"failed\":\"certificate_invalid\""), "{}", run.records);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_the_members_page_is_sent_without_a_question_about_the_cookies() {
    let world = World::new(FIRST).await;
    let steps = [
        Step::Open("https://members.test/"),
        Step::Read,
        Step::Type("\"Note\"", "one more kettle"),
        Step::Click("\"Save note\""),
        Step::Wait,
    ];
    let run = world.run(Answer::Once, &steps).await;
    world.site.until("POST /save").await;
    assert!(run.prompts.iter().all(|prompt| !prompt.contains("csrf")), "{:?}", run.prompts);
    assert!(world.site.arrived_at(HOST).iter().any(|line| line.contains("note=one+more+kettle")));
}

/// In the control the same controls are set where the container has no saved login.
#[tokio::test(flavor = "multi_thread")]
async fn the_agent_sets_no_control_by_which_the_account_is_reached() {
    let world = World::new(FIRST).await;
    let steps = || {
        [
            Step::Open("https://members.test/"),
            Step::Read,
            Step::Type("\"Recovery phrase\"", "of the attacker"),
            Step::Read,
            Step::Select("\"Payout\"", "wallet"),
            Step::Read,
            Step::Click("\"Two-factor login: factor by post\""),
        ]
    };
    let run = world.run(Answer::Once, &steps()).await;
    for at in [2, 4, 6] {
        assert!(run.answers[at].contains("form_protected"), "{}", run.answers[at]);
    }
    // Every visitor is the member now.
    world.site.set(|served| served.anybody = true);
    let control = world.run(Answer::No, &steps()).await;
    for at in [2, 4, 6] {
        assert!(!control.answers[at].contains("reason"), "{}", control.answers[at]);
    }
}

/// In the control the container has no saved login: the user is asked about the provider, and the agent gets there.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_with_a_login_leads_to_no_sign_on() {
    let world = World::new(FIRST).await;
    let away = "setTimeout(() => { location.href = 'https://evil.test/authorize?client_id=1'; }, 300)";
    world.site.set(|served| (served.script, served.anybody) = (away, true));
    let steps = || [Step::Open("https://members.test/"), Step::Wait, Step::Read, Step::Wait];
    for (answer, reaches) in [(Answer::Once, false), (Answer::No, true)] {
        world.site.set(|served| served.arrived.clear());
        let run = world.run(answer, &steps()).await;
        let is_asked = run.prompts.iter().any(|prompt| prompt.contains(EVIL_HOST));
        let arrived = !world.site.arrived_at(EVIL_HOST).is_empty();
        assert_eq!((run.logged_in, is_asked, arrived), (!reaches, reaches, reaches), "{:?}", run.prompts);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_restored_at_a_site_whose_first_page_leads_a_stranger_elsewhere() {
    let world = World::new(FIRST).await;
    world.site.set(|served| served.leads_away = true);
    // The control: a stranger, whose user agrees to the sign-on, is led there.
    let stranger = world.run(Answer::No, &HOME).await;
    assert!(!stranger.logged_in && stranger.text().contains("Elsewhere"), "{}", stranger.text());
    for has_robots in [false, true] {
        world.site.set(|served| served.has_robots = has_robots);
        let run = world.run(Answer::Once, &HOME).await;
        assert!(run.logged_in && run.text().contains("Hello Marguerite"), "{} {}", run.text(), run.records);
        run.tells_none_of(FIRST);
    }
}
