//! The words of a prompt in the reach of a negation.
//!
//! A negation reaches to the end of its sentence, across commas and lists, or to a word such as `but` that ends it. One that
//! follows its subject (`my address must not ...`) reaches back too. Where the reach is unclear, the longer one counts:
//! negated data is not planned, so that less is requested.

use std::ops::Range;

/// A word of the prompt.
#[derive(Debug)]
pub(super) struct PromptWord {
    /// The word in lower case.
    pub text: String,
    /// Its span.
    pub span: Range<usize>,
    /// The number of its clause, a stretch without a comma.
    pub clause: usize,
    /// Whether data that it names must not be given.
    pub denied: bool,
    /// Whether an act that it names must not be done.
    pub undone: bool,
    sentence: usize,
    /// Whether `'t` follows and is left out of the text, as for the `don` of `don't`.
    shortened: bool,
    /// Whether it may negate: a word within a found value does not.
    speaks: bool,
    /// Whether it ends its sentence as a question.
    asks: bool,
}

/// Words that negate the words after them.
const NEGATIONS: [&str; 47] = [
    "not",
    "dont",
    "doesnt",
    "didnt",
    "cant",
    "cannot",
    "wont",
    "shouldnt",
    "mustnt",
    "isnt",
    "arent",
    "never",
    "without",
    "no",
    "nor",
    "neither",
    "none",
    "nothing",
    "nobody",
    "nowhere",
    "except",
    "excepting",
    "excepted",
    "exclude",
    "excludes",
    "excluding",
    "avoid",
    "avoiding",
    "omit",
    "omitting",
    "skip",
    "skipping",
    "withhold",
    "withholding",
    "hide",
    "hiding",
    "conceal",
    "concealing",
    "refrain",
    "refuse",
    "forbid",
    "forbidden",
    "forbids",
    "prohibit",
    "prohibited",
    "lest",
    "minus",
];

/// Pairs of words that negate the words after them.
const PAIRS: [(&str, &str); 8] = [
    ("instead", "of"),
    ("rather", "than"),
    ("other", "than"),
    ("apart", "from"),
    ("aside", "from"),
    ("leave", "out"),
    ("leaving", "out"),
    ("save", "for"),
];

/// Words after a negation that make it an amount or a time, if `than` follows.
const THAN: [&str; 5] = ["more", "less", "fewer", "later", "earlier"];

/// Words after a negation that cancel it: `not only`, `do not forget`.
const TURNED: [&str; 3] = ["only", "forget", "hesitate"];

/// Words after `no` in phrases that do not concern the task.
const NO_MATTER: [&str; 5] = ["problem", "matter", "doubt", "rush", "hurry"];

/// Words before a `not` that negates the words before it.
const SAID_OF: [&str; 22] = [
    "is", "are", "was", "were", "be", "been", "isn", "aren", "must", "mustn", "should", "shouldn", "shall",
    "may", "might", "can", "could", "couldn", "would", "wouldn", "will", "won",
];

/// Words after a `not` that negates the words before it.
const OF_BEFORE: [&str; 10] =
    ["needed", "required", "necessary", "wanted", "allowed", "permitted", "given", "used", "shared", "to"];

/// Single words that negate the words before them.
const ALONE: [&str; 7] = ["cannot", "cant", "wont", "shouldnt", "mustnt", "isnt", "arent"];

/// Words that end the reach of a negation at the beginning of a clause.
const TURNS: [&str; 5] = ["only", "just", "instead", "however", "otherwise"];

/// Words after which `but` introduces an exception.
const ALL_BUT: [&str; 10] =
    ["all", "any", "anything", "everything", "nothing", "anyone", "everyone", "nobody", "none", "one"];

/// Words that begin a part of a clause with a verb of its own.
const PARTS: [&str; 14] = [
    "and", "or", "then", "that", "which", "who", "what", "if", "when", "where", "because", "since", "while",
    "so",
];

/// The first words of a clause that begins with its subject.
const SUBJECTS: [&str; 7] = ["my", "our", "the", "any", "a", "an", "these"];

/// The most words of a clause that only names its topic.
const MAX_TOPIC_WORDS: usize = 4;

/// Words that may accompany a negation that forms a clause of its own.
const FILLING: [&str; 23] = [
    "please",
    "thanks",
    "thank",
    "you",
    "way",
    "at",
    "all",
    "ever",
    "absolutely",
    "certainly",
    "definitely",
    "really",
    "of",
    "course",
    "do",
    "does",
    "it",
    "that",
    "this",
    "so",
    "them",
    "chance",
    "better",
];

/// The adjectives in `keep my address private`.
const KEPT: [&str; 6] = ["private", "secret", "confidential", "hidden", "yourself", "out"];
/// The verbs in `keep my address private`.
const KEEPS: [&str; 8] = ["keep", "keeps", "keeping", "kept", "stay", "stays", "remain", "remains"];

/// The words of a prompt, with their negations. Text in `links` has no words, and words in `values` negate nothing.
pub(super) fn words(prompt: &str, links: &[Range<usize>], values: &[Range<usize>]) -> Vec<PromptWord> {
    let mut words = split(prompt, links, values);
    let negates: Vec<bool> = (0..words.len()).map(|at| negates(prompt, &words, at)).collect();
    let is_negation = |at: usize| negates.get(at).copied().unwrap_or(false);
    let mut reaches = false;
    for at in 0..words.len() {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let Some(word) = words.get(at) else { continue };
        let begins = before.is_none_or(|before| before.clause != word.clause);
        if before.is_none_or(|before| before.sentence != word.sentence) {
            reaches = false;
        }
        let leaves_out = before.is_some_and(|before| ALL_BUT.contains(&before.text.as_str()));
        if word.text == "but" {
            reaches = leaves_out;
        } else if begins && TURNS.contains(&word.text.as_str()) && !is_negation(at) {
            reaches = false;
        }
        reaches |= is_negation(at);
        if let Some(word) = words.get_mut(at) {
            (word.denied, word.undone) = (word.denied || reaches, word.undone || reaches);
        }
        if is_negation(at) {
            reach_back(&mut words, at);
        }
    }
    for clause in 0..=words.last().map_or(0, |word| word.clause) {
        mark_kept(&mut words, clause);
        mark_answered(&mut words, clause, is_negation);
    }
    words
}

/// The words with their sentences and clauses.
fn split(prompt: &str, links: &[Range<usize>], values: &[Range<usize>]) -> Vec<PromptWord> {
    let within = |span: &Range<usize>, of: &[Range<usize>]| {
        of.iter().any(|other| span.start < other.end && other.start < span.end)
    };
    let mut words: Vec<PromptWord> = Vec::new();
    let (mut sentence, mut clause, mut in_list) = (0, 0, false);
    let mut from = 0;
    let is_part = |c: char| c.is_alphanumeric();
    while let Some(length) = prompt.get(from..).and_then(|rest| rest.find(is_part)) {
        let start = from + length;
        let rest = prompt.get(start..).unwrap_or("");
        let end = start + rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (gap, text) = (prompt.get(from..start).unwrap_or(""), prompt.get(start..end).unwrap_or(""));
        from = end;
        let span = start..end;
        if within(&span, links) {
            continue;
        }
        // The text between the last word and this one, with links.
        let gap = words.last().map_or(gap, |last| prompt.get(last.span.end..start).unwrap_or(""));
        if let Some(last) = words.last_mut() {
            if text == "t" && matches!(gap, "'" | "\u{2019}" | "`") && last.text.ends_with('n') {
                last.shortened = true;
                last.span.end = end;
                continue;
            }
            let (ends, pauses) = breaks(gap, text, &mut in_list);
            last.asks = ends && gap.contains('?');
            sentence += usize::from(ends);
            clause += usize::from(ends || pauses);
        }
        let speaks = !within(&span, values);
        let text = text.to_lowercase();
        let (denied, undone, shortened, asks) = (false, false, false, false);
        words.push(PromptWord { text, span, clause, denied, undone, sentence, shortened, speaks, asks });
    }
    words
}

/// Whether a sentence ends between two words, and whether a clause ends. The items of a list after a colon belong to its
/// sentence.
fn breaks(gap: &str, next: &str, in_list: &mut bool) -> (bool, bool) {
    let marks = |c: char| matches!(c, '!' | '?' | ';');
    let stops = gap.contains(marks)
        || gap.match_indices('.').any(|(at, _)| {
            gap.get(at + 1..).and_then(|rest| rest.chars().next()).is_some_and(char::is_whitespace)
        });
    let is_item = gap.contains(['-', '*', '\u{2022}']) || next.starts_with(|c: char| c.is_ascii_digit());
    let opens = gap.contains(':');
    let line = gap.contains('\n');
    *in_list = line && (opens || (*in_list && is_item)) || (*in_list && !line && !stops);
    let goes_on = *in_list || next.starts_with(char::is_lowercase) && !is_item || gap.contains(',');
    let ends = stops && !*in_list || line && !goes_on;
    (ends, line || stops || gap.contains([',', ':', '(', ')', '\u{2013}', '\u{2014}']))
}

fn negates(prompt: &str, words: &[PromptWord], at: usize) -> bool {
    let Some(word) = words.get(at).filter(|word| word.speaks) else { return false };
    let here =
        |at: usize| words.get(at).filter(|next| next.clause == word.clause).map(|next| next.text.as_str());
    let (next, one_more) = (here(at + 1).unwrap_or(""), here(at + 2));
    if PAIRS.iter().any(|(one, two)| word.text == *one && next == *two) {
        return true;
    }
    if !(word.shortened || NEGATIONS.contains(&word.text.as_str())) {
        return false;
    }
    // `no. 17` is a number.
    let after =
        words.get(at + 1).map(|next| (next, prompt.get(word.span.end..next.span.start).unwrap_or("")));
    let is_number = word.text == "no"
        && after.is_some_and(|(next, gap)| {
            gap.starts_with('.') && next.text.starts_with(|c: char| c.is_ascii_digit())
        });
    let is_amount = THAN.contains(&next) && one_more == Some("than");
    let is_no_matter = word.text == "no" && NO_MATTER.contains(&next);
    !(is_number || is_amount || is_no_matter || TURNED.contains(&next))
}

/// Marks the words before a negation that it also covers: `my address must not be given`, `my address you never give`.
fn reach_back(words: &mut [PromptWord], at: usize) {
    let Some(word) = words.get(at) else { return };
    let (clause, sentence) = (word.clause, word.sentence);
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let said_of = ALONE.contains(&word.text.as_str())
        || (word.shortened && SAID_OF.contains(&word.text.as_str()))
        || (matches!(&*word.text, "not" | "never" | "forbidden" | "prohibited" | "excepted")
            && before.is_some_and(|before| SAID_OF.contains(&before.text.as_str())))
        || (word.text == "not"
            && words
                .get(at + 1)
                .is_some_and(|next| next.clause == clause && OF_BEFORE.contains(&next.text.as_str())));
    let begins = |words: &[PromptWord], clause: usize| {
        words
            .iter()
            .find(|word| word.clause == clause)
            .is_some_and(|word| SUBJECTS.contains(&word.text.as_str()))
    };
    // Such as `My phone number: do not use it`.
    let is_topic = |words: &[PromptWord], clause: usize| {
        begins(words, clause) && words.iter().filter(|word| word.clause == clause).count() <= MAX_TOPIC_WORDS
    };
    if !said_of
        && !begins(words, clause)
        && !clause.checked_sub(1).is_some_and(|before| is_topic(words, before))
    {
        return;
    }
    let mut in_part = said_of;
    let mut reached = clause;
    for before in (0..at).rev() {
        let Some(one) = words.get(before) else { return };
        // An earlier clause counts only in an enumeration of the user's data.
        if one.sentence != sentence
            || one.text == "but"
            || (one.clause != reached && !begins(words, one.clause))
        {
            return;
        }
        reached = one.clause;
        in_part &= one.clause == clause && !PARTS.contains(&one.text.as_str());
        if let Some(one) = words.get_mut(before) {
            one.denied = true;
            one.undone |= in_part;
        }
    }
}

/// Marks the words of a clause such as `Keep my address private`.
fn mark_kept(words: &mut [PromptWord], clause: usize) {
    let has =
        |of: &[&str]| words.iter().any(|word| word.clause == clause && of.contains(&word.text.as_str()));
    let left_out = has(&["leave", "left", "leaves", "leaving"]) && has(&["out"]);
    if (has(&KEEPS) && has(&KEPT)) || left_out || (has(&["off"]) && has(&["limits"])) {
        words.iter_mut().filter(|word| word.clause == clause).for_each(|word| word.denied = true);
    }
}

/// Marks the words before a clause that only says no: `My address? No, thanks.`
fn mark_answered(words: &mut [PromptWord], clause: usize, is_negation: impl Fn(usize) -> bool) {
    let here: Vec<usize> =
        words.iter().enumerate().filter(|(_, word)| word.clause == clause).map(|(at, _)| at).collect();
    let fills = |at: &usize| words.get(*at).is_some_and(|word| FILLING.contains(&word.text.as_str()));
    if !here.iter().any(|at| is_negation(*at)) || !here.iter().all(|at| is_negation(*at) || fills(at)) {
        return;
    }
    let Some(first) = here.first().copied() else { return };
    let Some(before) = first.checked_sub(1) else { return };
    let (Some(last), Some(word)) = (words.get(before), words.get(first)) else { return };
    let is_all = words.iter().filter(|one| one.sentence == word.sentence).all(|one| one.clause == clause);
    let (about, whole) = match (last.sentence == word.sentence, last.asks || is_all) {
        (true, _) => (last.clause, false),
        (false, true) => (last.sentence, true),
        (false, false) => return,
    };
    for word in words.iter_mut().take(first) {
        if (if whole { word.sentence } else { word.clause }) == about {
            (word.denied, word.undone) = (true, true);
        }
    }
}
