//! A scripted agent that understands the tasks' sentences. It sees the page as text and uses the verbs of an agent; after a step
//! it may look again and plan anew. If the guard replaced a value by a handle, it requests the value as any agent would.
//!
//! | module | subject |
//! |---|---|
//! | `task` | a sentence, and what the solver remembers |
//! | `view` | the page as the solver looks at it |
//! | `pressing` | buttons, links, dialogs, single elements |
//! | `searching` | what is behind tabs, menus, folders and further pages |
//! | `choosing` | boxes to tick, lists, completions, menus of food |
//! | `writing` | text in boxes |
//! | `reckoning` | numbers, tables, prices |
//! | `turning` | sliders, spinners, and what keys do |
//! | `dating` | dates and flights |
//! | `mailing` | electronic mail |
//! | `dragging` | things that the mouse drags onto others |
//! | `playing` | guesses, prices that change, a terminal |

mod choosing;
mod dating;
mod dragging;
mod mailing;
mod playing;
mod pressing;
mod reckoning;
mod searching;
mod task;
mod turning;
mod view;
mod writing;

use std::collections::VecDeque;

use browser_signals::Verb;

use self::task::{Memory, Task, Turn};
use self::view::View;
use crate::agent::observation::Page;
use crate::agent::{Action, Agent};

/// The time that a page has for drawing itself, in milliseconds.
const SETTLE: u32 = 150;
/// The most looks at a page.
const MOST_LOOKS: usize = 60;

/// The ways to do a task, in the order in which they are tried. One that does not know the sentence answers `None`.
type Way = fn(&Task, &View, &mut Memory) -> Option<Turn>;
const WAYS: [Way; 10] = [
    searching::turn,
    mailing::turn,
    dating::turn,
    playing::turn,
    dragging::turn,
    turning::turn,
    reckoning::turn,
    choosing::turn,
    writing::turn,
    pressing::turn,
];

/// An agent for one task.
pub struct Solver {
    url: String,
    task: Task,
    memory: Memory,
    looking: bool,
    pending: VecDeque<Action>,
}

impl Solver {
    /// An agent that follows `prompt`: an address, a colon, and the task's own sentence.
    pub fn new(prompt: &str) -> Solver {
        let (url, sentence) = prompt.split_once(".html: ").unwrap_or((prompt, ""));
        let url = format!("{}.html", url.split_whitespace().last().unwrap_or_default());
        let origin = url::Url::parse(&url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        let open = Action::Verb(Verb::Open { url: url.clone() });
        Solver {
            url,
            task: Task::new(sentence, &origin),
            memory: Memory::default(),
            looking: false,
            pending: [open, view::wait(SETTLE), Action::Verb(Verb::Read)].into(),
        }
    }

    /// The address of its task.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The steps after a look at the page.
    fn plan(&mut self, observation: &str) -> VecDeque<Action> {
        // The guard says of a name that nothing draws that it is unseen; the solver takes it as any other.
        let page = Page::parse(&observation.replace(" [unseen]", ""));
        let view = View::new(&page, &self.task.sentence);
        if view.over || self.memory.looks >= MOST_LOOKS {
            return VecDeque::new();
        }
        let turn = turn(&self.task, &view, &mut self.memory);
        self.memory.looks += 1;
        match turn {
            None => VecDeque::new(),
            Some(Turn::Last(steps)) => steps.into(),
            Some(Turn::Look(steps)) => {
                steps.into_iter().chain([view::wait(SETTLE), Action::Verb(Verb::Read)]).collect()
            }
        }
    }
}

/// The move of the first kind of task that knows the sentence.
fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    WAYS.iter().find_map(|way| way(task, view, memory))
}

impl Agent for Solver {
    fn name(&self) -> &str {
        "solver"
    }

    fn next(&mut self, observation: &str) -> Action {
        if std::mem::take(&mut self.looking) {
            self.pending = self.plan(observation);
        }
        let action = self.pending.pop_front().unwrap_or(Action::Done);
        self.looking = self.pending.is_empty() && action == Action::Verb(Verb::Read);
        action
    }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use browser_signals::ElementRef;

    use super::*;

    #[test]
    fn it_opens_the_page_that_it_was_sent_to() {
        let mut solver = Solver::new("At https://miniwob.test/e/x/1/B/miniwob/x.html: Click the button.");
        let url = "https://miniwob.test/e/x/1/B/miniwob/x.html".to_owned();
        assert_eq!(solver.next(""), Action::Verb(Verb::Open { url }));
        assert_eq!(solver.next("ok"), view::wait(SETTLE));
        assert_eq!(solver.next("ok"), Action::Verb(Verb::Read));
        let page = "- button \"Ok\" [ref=e3]\n";
        assert_eq!(solver.next(page), Action::Verb(Verb::click(ElementRef("e3".to_owned()))));
        assert_eq!(solver.next("ok"), Action::Done);
    }

    #[test]
    fn it_looks_again_where_a_task_goes_on_and_ends_where_the_page_says_so() {
        let mut solver =
            Solver::new("At https://miniwob.test/x.html: Expand the section below and click submit.");
        for _ in 0..3 {
            solver.next("ok");
        }
        let page = "- tablist [ref=e1]:\n  - tab \"Section #14\" [ref=e2]\n  - button \"Submit\" [ref=e3]\n";
        assert_eq!(solver.next(page), Action::Verb(Verb::click(ElementRef("e2".to_owned()))));
        assert!(matches!(solver.next("ok"), Action::Verb(Verb::Wait { .. })));
        let mut action = solver.next("ok");
        while matches!(action, Action::Verb(Verb::Wait { .. })) {
            action = solver.next("ok");
        }
        assert_eq!(action, Action::Verb(Verb::Read));
        assert_eq!(solver.next("- generic [ref=e9]: START\n"), Action::Done);
    }
}
