//! Electronic mail: to open a message, answer it, or send it on.

use super::task::{Memory, Task, Turn};
use super::view::{Item, View};

/// The words for sending a message on.
const ON: [&str; 8] = ["forward", "send", "give", "copy", "resend", "email", "put", "pass"];

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if !task.has("email") && !task.has("e-mail") && !task.has("message") && !task.has("reply") {
        return None;
    }
    match memory.looks {
        0 => {
            // Bins and stars are pictures without a name.
            if ["trash", "delete", "star", "important"].iter().any(|word| task.has(word)) {
                return None;
            }
            let (name, item) = sender(task, view)?;
            memory.note(&name);
            Some(Turn::Look(vec![view.around(item)?.click()]))
        }
        1 => {
            let verb = if task.quoted.is_empty() { "Forward" } else { "Reply" };
            let item = view.items.iter().find(|item| item.says(verb))?;
            Some(Turn::Look(vec![view.around(item)?.click()]))
        }
        2 => {
            let field = view.boxes().first().copied()?;
            let text = match task.quoted.first() {
                Some(text) => text.clone(),
                None => receiver(task, memory.notes.first()?)?,
            };
            // The icons above a message are those that leave it and that send it.
            let above = view.items.iter().take_while(|item| !item.label.starts_with("to:"));
            let send: &Item = above.filter(|item| item.is_icon()).last()?;
            Some(Turn::Last(vec![field.put(&text), send.click()]))
        }
        _ => None,
    }
}

/// The sender whom the sentence names, and the line of the inbox with the name.
fn sender<'a>(task: &Task, view: &'a View) -> Option<(String, &'a Item)> {
    let names = view.items.iter().filter(|item| {
        let is_name = !item.label.is_empty() && item.label.chars().all(char::is_alphabetic);
        is_name && words(&task.sentence).any(|word| word == item.label)
    });
    let rank = |item: &&Item| {
        let near = |before: &str| task.sentence.contains(&format!("{before}{}", item.label));
        let owns = task.sentence.contains(&format!("{}'s", item.label));
        match (owns || near("by ") || near("from "), near("to ")) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        }
    };
    names.min_by_key(rank).map(|item| (item.label.clone(), item))
}

/// Whom a message goes on to: a name that is not the sender's, best one after `to`.
fn receiver(task: &Task, sender: &str) -> Option<String> {
    let said: Vec<&str> = words(&task.sentence).collect();
    let is_name =
        |word: &str| word != sender && word.len() > 1 && word.chars().next().is_some_and(char::is_uppercase);
    let after_to = said.windows(2).find_map(|pair| match pair {
        ["to" | "To", name] if is_name(name) => Some(*name),
        _ => None,
    });
    let other = said
        .iter()
        .skip(1)
        .copied()
        .find(|word| is_name(word) && !ON.contains(&word.to_lowercase().as_str()));
    after_to.or(other).map(str::to_owned)
}

/// The words of a sentence, without what belongs to them: `Ann's` is `Ann`.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    let stem = |word: &str| word.split('\'').next().map(str::len);
    sentence.split_whitespace().map(move |word| {
        let word = word.get(..stem(word).unwrap_or(0)).unwrap_or(word);
        word.trim_matches(|c: char| !c.is_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::done_with;
    use super::*;

    const INBOX: &str = "- generic [ref=e1] [cursor=pointer]:\n  - generic [ref=e2]: Ann\n  - generic [ref=e3]: Dear you\n\
        - generic [ref=e4] [cursor=pointer]:\n  - text: Bob\n  - text: Hello\n";
    const MAIL: &str =
        "- generic [ref=e5]: Ann\n- generic [ref=e6]:\n  - text: Reply\n- generic [ref=e7]: Forward\n";
    const LETTER: &str = "- generic [ref=e8] [cursor=pointer]\n- generic [ref=e9] [cursor=pointer]\n- text: \"to:\"\n\
        - textbox [ref=e10]\n- textbox [ref=e11]: Dear you\n";

    #[test]
    fn a_message_is_opened_and_answered() {
        let mut memory = Memory::default();
        let sentence = "Find the email by Bob and reply to them with the text \"In.\".";
        assert_eq!(done_with(&mut memory, sentence, INBOX), "click e4 ...");
        assert_eq!(done_with(&mut memory, sentence, MAIL), "click e6 ...");
        assert_eq!(done_with(&mut memory, sentence, LETTER), "type e10 In.; click e9");
    }

    #[test]
    fn a_message_is_sent_on() {
        let mut memory = Memory::default();
        let sentence = "Send to Bob the email you got from Ann.";
        assert_eq!(done_with(&mut memory, sentence, INBOX), "click e2 ...");
        assert_eq!(done_with(&mut memory, sentence, MAIL), "click e7 ...");
        assert_eq!(done_with(&mut memory, sentence, LETTER), "type e10 Bob; click e9");
    }

    #[test]
    fn names_are_found_in_the_words_of_a_sentence() {
        for (sentence, to) in [
            ("Forward Ann's email to Cleo.", "Cleo"),
            ("Give Cleo Ann's Email", "Cleo"),
            ("Please send Cleo Ann's email.", "Cleo"),
        ] {
            assert_eq!(receiver(&Task::new(sentence, ""), "Ann").as_deref(), Some(to), "{sentence}");
        }
    }
}
