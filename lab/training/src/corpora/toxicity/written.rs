//! Sentences made from the lexicon. They teach a linear model words that its other sources lack, and that an identity
//! is not an insult: every identity occurs in kind and neutral sentences as often as in hateful ones.

use super::lexicon::{COARSE, DOUBLE, HARMS, HELPS, IDENTITIES, INSULTS, KIND, LEWD, SLURS, UNKIND, VIOLENT};
use crate::corpora::gather::document;
use crate::document::Document;

/// The number of sentences of each word.
const EACH: usize = 6;

const OF_INSULT: &[&str] = &[
    "you {}",
    "what a {}",
    "shut up, {}",
    "nobody likes you, {}",
    "they are nothing but {}",
    "{}",
    "typical {} again",
    "get lost you {}",
    "only a {} would say that",
    "that {} should be ashamed",
    "I am so tired of this {}",
];
const OF_SLUR: &[&str] = &[
    "{}",
    "go home {}",
    "I can't stand those {}",
    "bunch of {}",
    "you look like a {}",
    "{} everywhere in this town",
    "these {} never learn",
    "another {} on the news",
    "we don't serve {} here",
];
const OF_UNKIND: &[&str] = &[
    "you are so {}",
    "how {} can they be",
    "{} people, all of them",
    "that was {}, just like you",
    "your whole family is {}",
    "stop being so {}",
    "she is a {} person",
    "what {} nonsense from a {} man",
    "everything about him is {}",
];
const OF_KIND: &[&str] = &[
    "you are so {}",
    "how {} can they be",
    "{} people, all of them",
    "that was {}, just like you",
    "your whole family is {}",
    "thank you for being so {}",
    "she is a {} person",
    "what {} news from a {} man",
    "everything about him is {}",
];
const OF_VIOLENCE: &[&str] = &[
    "I will {} you",
    "we are going to {} them all",
    "somebody should {} him",
    "he wanted to {} her in her sleep",
    "{} every one of them",
    "watch your back or I {} you",
    "they threatened to {} my family",
    "I'd love to {} that man",
];
const OF_LEWD: &[&str] = &[
    "{}",
    "she wants {} tonight",
    "he talked about {} again",
    "all he thinks of is {}",
    "send me {}",
    "look at that {}",
    "a video of {}",
    "the story goes on with {}",
];
const OF_COARSE: &[&str] =
    &["{}", "oh {}", "what the {} is this", "{} man", "this is {}", "I said {} to him", "{} and more {}"];
const OF_NEUTRAL_IDENTITY: &[&str] = &[
    "my neighbour is {}",
    "a {} family moved in next door",
    "proud to be {}",
    "the {} community met on Sunday",
    "two {} students won the prize",
    "I am {} and I like hiking",
    "she has many {} friends",
    "a film about a {} doctor",
    "he is {}",
    "I grew up with {} parents",
    "{}",
    "being {} is nothing to hide",
    "the singer is {} and from Leeds",
    "a good day for {} people",
    "I enjoy {} company",
    "I support {} people",
    "they hired a {} engineer",
];
const OF_HATE: &[&str] = &[
    "I hate {} people",
    "{} people are disgusting",
    "no {} allowed here",
    "{} people are animals",
    "we should get rid of every {} person",
    "all {} people are criminals",
    "{} filth",
    "{} people deserve to die",
];
const OF_REQUEST: &[&str] = &[
    "How do I {}?",
    "Tell me how to {}.",
    "What is the best way to {}?",
    "I want to {}. Can you help me?",
    "Give me step by step instructions to {}",
    "Explain to me how one can {}",
    "Could you {} for me?",
];

const OF_DOUBLE: &[&str] = &[
    "you are such a {}",
    "shut up you {}",
    "those people are {}s, all of them",
    "he called her a filthy {}",
    "you look like a {}",
];
const OF_DOUBLE_AS_THING: &[&str] = &[
    "we saw a {} at the fair",
    "a toy {} for children",
    "the {} in the picture is brown",
    "a book about a {}",
    "the word {} in a quiz",
    "where is the {}",
    "lol the {} again",
    "{}",
];
const OF_STORY: &[&str] = &[
    "Imagine you are a scientist in a world of the future. In that world I would like to {}. What would happen?",
    "I am writing a screenplay about a family. In one scene the mother wants to {}. How could it begin?",
    "As a teacher I prepare a lesson for my class. We want to {}. Which material would you suggest?",
    "In a story of mine a character called Mark wants to {}. Describe his day in a few sentences.",
    "Are there books or services that help people to {}?",
];

/// Returns all sentences.
pub fn written() -> Vec<Document> {
    let mut examples = Vec::new();
    let mut add = |words: &[&str], frames: &[&str], each: usize, harmful: bool| {
        for (number, word) in words.iter().enumerate() {
            for turn in 0..each.min(frames.len()) {
                // Each word begins with another frame, so that no frame belongs to some words alone.
                if let Some(frame) = frames.get((number + turn) % frames.len()) {
                    let text = frame.replace("{}", word);
                    examples.push(document("written", word, text, harmful));
                }
            }
        }
    };
    add(INSULTS, OF_INSULT, EACH, true);
    add(SLURS, OF_SLUR, EACH, true);
    add(UNKIND, OF_UNKIND, EACH, true);
    add(KIND, OF_KIND, EACH, false);
    add(VIOLENT, OF_VIOLENCE, EACH, true);
    add(LEWD, OF_LEWD, EACH, true);
    add(COARSE, OF_COARSE, EACH, true);
    add(IDENTITIES, OF_NEUTRAL_IDENTITY, 2 * EACH, false);
    add(IDENTITIES, OF_HATE, EACH, true);
    add(HARMS, OF_REQUEST, EACH, true);
    add(HELPS, OF_REQUEST, EACH, false);
    add(HELPS, OF_STORY, 2, false);
    add(DOUBLE, OF_DOUBLE, EACH, true);
    add(DOUBLE, OF_DOUBLE_AS_THING, EACH, false);
    examples
}
