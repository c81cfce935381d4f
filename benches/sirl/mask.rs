//! The mask before each token of a block, for the tokens of GPT-2 and of o200k, and with the feature `peers` that of
//! `llguidance` for the exported grammar, on the same tokens in the same run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a bench")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use sirl::{Grammar, Kind, MaskTable, State, Vocabulary};
use tiktoken_rs::CoreBPE;

/// The number of times that each step is timed for the percentiles.
const ROUNDS: usize = 20;

/// Blocks as a model would write them.
const BLOCKS: [&str; 5] = [
    "REQ.otp\nREQ.end",
    "REQ.purchase ctx={origin_request:\"website\", total:64.15, currency:\"USD\"}\nREQ.end",
    "REQ.address fields=[\"city\",\"postal_code\"] ctx={\"origin\":\"https://shop.example\",\"container\":\"T2\",\
     \"purpose\":\"shipping\"}\nREQ.purchase ctx={\"total\":12.30,\"currency\":\"EUR\"}\nREQ.end",
    "REQ.contact fields=[name, email]\nREQ.login ctx={\"tls\":true,\"sink\":\"sign-in form\"}\nREQ.otp\nREQ.end",
    "REQ.payment ctx={\"origin\":\"https://pay.example\",\"purpose\":\"Bezahlung der Bestellung für die Küche, \
     Lieferung bis Freitag\",\"control\":\"e12\",\"total\":1200,\"currency\":\"JPY\"}\nREQ.end",
];

/// The tokens of a model, by number.
fn tokens(encoding: &CoreBPE, count: u32) -> Vec<Vec<u8>> {
    (0..count).map(|id| encoding.decode_bytes(&[id]).unwrap_or_default()).collect()
}

/// The groups `mask, r50k` and `mask, o200k`.
pub fn mask(c: &mut Criterion) {
    sizes();
    of_tokens(c, "r50k", &tiktoken_rs::r50k_base().unwrap(), 50_256, 50_256);
    of_tokens(c, "o200k", &tiktoken_rs::o200k_base().unwrap(), 199_998, 199_999);
}

fn of_tokens(c: &mut Criterion, name: &str, encoding: &CoreBPE, count: u32, end: u32) {
    let words = tokens(encoding, count);
    let grammar = Grammar::for_kinds(&Kind::ALL).unwrap();
    let table = MaskTable::build(&grammar, &Vocabulary::from_tokens(words.clone()).with_end(end));
    let blocks: Vec<Vec<u32>> = BLOCKS.iter().map(|text| encoding.encode_ordinary(text)).collect();
    let states: Vec<State> = blocks.iter().flat_map(|block| states(&table, block)).collect();

    let mut group = c.benchmark_group(format!("mask, {name}"));
    group.throughput(criterion::Throughput::Elements(states.len() as u64));
    group.bench_function("look up, all steps of five blocks", |b| {
        b.iter(|| {
            for state in &states {
                black_box(table.mask(black_box(*state)));
            }
        });
    });
    group.bench_function("step and look up", |b| {
        b.iter(|| {
            for block in &blocks {
                let mut state = table.start();
                for token in block {
                    black_box(table.mask(state));
                    state = table.step(state, black_box(*token)).unwrap();
                }
            }
        });
    });
    group.finish();

    let ours = states.iter().map(|state| {
        // A look-up is shorter than reading the clock, so a hundred are timed together.
        let start = Instant::now();
        for _ in 0..100 {
            black_box(table.mask(black_box(*state)));
        }
        start.elapsed() / 100
    });
    let ours = std::iter::repeat_with(|| ours.clone()).take(ROUNDS).flatten().collect();
    percentiles(&format!("{name}: ours, look up"), ours);
    #[cfg(feature = "peers")]
    peer::run(name, end, &grammar, &table, &words, &blocks);
}

/// The state before each token and after the last.
fn states(table: &MaskTable, block: &[u32]) -> Vec<State> {
    let mut states = vec![table.start()];
    for token in block {
        let state = states[states.len() - 1];
        assert!(table.mask(state).contains(*token), "a block that may not be written");
        states.push(table.step(state, *token).unwrap());
    }
    states
}

/// Prints the sizes of the tables of three vocabularies.
fn sizes() {
    let started = Instant::now();
    let grammar = Grammar::for_kinds(&Kind::ALL).unwrap();
    println!("grammar of all kinds, built in {:.0?}", started.elapsed());
    for (name, encoding, count, end) in [
        ("GPT-2, r50k", tiktoken_rs::r50k_base(), 50_256, 50_256),
        ("cl100k", tiktoken_rs::cl100k_base(), 100_256, 100_257),
        ("o200k", tiktoken_rs::o200k_base(), 199_998, 199_999),
    ] {
        let vocabulary = Vocabulary::from_tokens(tokens(&encoding.unwrap(), count)).with_end(end);
        let started = Instant::now();
        let table = MaskTable::build(&grammar, &vocabulary);
        println!("{name}: masks built in {:.0?}\n{}", started.elapsed(), table.info());
    }
}

fn percentiles(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!("{name}: p50 {:?}, p99 {:?}, most {:?} ({} masks)", at(50), at(99), at(100), times.len());
}

#[cfg(feature = "peers")]
mod peer {
    use std::sync::Arc;

    use super::*;
    use llguidance::api::TopLevelGrammar;
    use llguidance::toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};
    use llguidance::{Matcher, ParserFactory};

    /// Times `llguidance` over the same steps, and checks that its masks are equal to ours.
    pub fn run(
        name: &str,
        end: u32,
        grammar: &Grammar,
        table: &MaskTable,
        words: &[Vec<u8>],
        blocks: &[Vec<u32>],
    ) {
        let mut words = words.to_vec();
        words.resize(end as usize, Vec::new());
        words.push(b"\xff<|endoftext|>".to_vec());
        let trie = TokTrie::from(&TokRxInfo::new(end + 1, end), &words);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut factory = ParserFactory::new_simple(&environment).unwrap();
        factory.quiet();
        let started = Instant::now();
        let parser = factory.create_parser(TopLevelGrammar::from_lark(grammar.to_lark()));
        let mut matcher = Matcher::new(parser);
        println!("{name}: llguidance, grammar read in {:.1?}", started.elapsed());
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            for block in blocks {
                // A reset keeps its cached part of the grammar.
                matcher.reset().unwrap();
                let mut state = table.start();
                for token in block {
                    let started = Instant::now();
                    let mask = black_box(matcher.compute_mask().unwrap());
                    if round == 0 { &mut first } else { &mut later }.push(started.elapsed());
                    if round == 0 {
                        let theirs: Vec<u32> = (0..=end).filter(|token| mask.is_allowed(*token)).collect();
                        assert_eq!(theirs, table.mask(state).tokens().collect::<Vec<_>>());
                    }
                    matcher.consume_token(*token).unwrap();
                    state = table.step(state, *token).unwrap();
                }
            }
        }
        percentiles(&format!("{name}: llguidance, first time"), first);
        percentiles(&format!("{name}: llguidance, again"), later);
    }
}
