//! What the tests of the ways share.

use browser_signals::Verb;

use super::task::{Memory, Task, Turn};
use super::view::View;
use crate::agent::Action;
use crate::agent::observation::Page;

/// The steps for a sentence on a page, as words; ` ...` after them where the solver would look again.
pub(super) fn done(sentence: &str, page: &str) -> String {
    done_with(&mut Memory::default(), sentence, page)
}

/// As [`done`], with what is remembered.
pub(super) fn done_with(memory: &mut Memory, sentence: &str, page: &str) -> String {
    let task = Task::new(sentence, "https://miniwob.test");
    let view = View::new(&Page::parse(page), sentence);
    let turn = super::turn(&task, &view, memory);
    memory.looks += 1;
    match turn {
        None => String::new(),
        Some(Turn::Last(steps)) => words(&steps),
        Some(Turn::Look(steps)) => format!("{} ...", words(&steps)),
    }
}

fn words(steps: &[Action]) -> String {
    let words = steps.iter().map(|step| match step {
        Action::Verb(Verb::Click { target, .. }) => format!("click {}", target.0),
        Action::Verb(Verb::Hover { target }) => format!("hover {}", target.0),
        Action::Verb(Verb::Drag { target, onto }) => format!("drag {} {}", target.0, onto.0),
        Action::Verb(Verb::Type { target, text, .. }) => format!("type {} {text}", target.0),
        Action::Verb(Verb::Check { target, on }) => format!("check {} {on}", target.0),
        Action::Verb(Verb::Select { target, options }) => {
            format!("select {} {}", target.0, options.join(", "))
        }
        Action::Verb(Verb::Press { key }) => format!("press {key}"),
        Action::Verb(Verb::Wait { milliseconds }) => format!("wait {milliseconds}"),
        Action::Request(text) => text.lines().next().unwrap_or_default().to_owned(),
        other => format!("{other:?}"),
    });
    words.collect::<Vec<_>>().join("; ")
}
