//! The part of a long table that one run of the tests takes.

/// One of how many cases a commit draws.
const SHARE: u64 = 5;

/// The cases that a commit draws under `cargo xtask test`, which sets the seed of its properties from the commit: one in five,
/// and other ones than most other commits. Without that seed, as under a plain `cargo test`, all of them.
pub fn drawn<T>(cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    part(cases.into_iter().collect(), seed)
}

fn part<T>(cases: Vec<T>, seed: Option<u64>) -> Vec<T> {
    // A short table is not drawn from so thinly that nothing is left.
    let share = SHARE.min(cases.len() as u64).max(1);
    let is_drawn = |at: u64| seed.is_none_or(|seed| at % share == seed % share);
    (0..).zip(cases).filter(|(at, _)| is_drawn(*at)).map(|(_, case)| case).collect()
}

#[test]
fn consecutive_seeds_draw_every_case_once() {
    for count in 0..20 {
        let all: Vec<usize> = (0..count).collect();
        assert_eq!(part(all.clone(), None), all);
        let share = SHARE.min(count as u64).max(1);
        let mut together: Vec<usize> = (0..share).flat_map(|seed| part(all.clone(), Some(seed))).collect();
        together.sort_unstable();
        assert_eq!(together, all);
        assert!(count == 0 || (0..9).all(|seed| !part(all.clone(), Some(seed)).is_empty()));
    }
}
