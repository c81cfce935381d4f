//! A session and what it does can move between threads, so that a server runs each in a task of its own. This is compiled, which
//! is the test.

use portcullis::session::{Proposal, UserTask};
use portcullis::signals::ElementRef;
use portcullis::signals::playwright::{Browser, PictureSettings};
use portcullis::{Action, Guard, Session};

fn is_send<T: Send>(_: T) {}

#[allow(dead_code, reason = "it is compiled, which is the test")]
fn beginnings(guards: [Guard; 4], browser: &Browser) {
    let [first, second, third, fourth] = guards;
    is_send(Session::begin(first, browser, ""));
    is_send(Session::begin_or_give_back(second, browser, ""));
    is_send(Session::begin_proposed(third, browser, Proposal::default()));
    is_send(Session::begin_task(fourth, browser, UserTask::new(Vec::new(), Vec::new())));
}

#[allow(dead_code, reason = "it is compiled, which is the test")]
fn actions(session: &mut Session, action: Action, element: &ElementRef) {
    is_send(session.act(action));
    is_send(session.query("button"));
    is_send(session.picture(Some(element), PictureSettings::default()));
    is_send(session.answer_dialog(true, None));
    is_send(session.pages());
    is_send(session.open_page());
    is_send(session.select_page(0));
    is_send(session.close_page(None));
    is_send(session.take_downloads());
    is_send(session.run_script("", None));
    is_send(session.resize(1, 1));
    #[cfg(unix)]
    is_send(session.upload(&[]));
}

#[allow(dead_code, reason = "it is compiled, which is the test")]
fn the_end(session: Session) {
    is_send(session.finish());
}
