//! Measures of calibration.

/// Bins of the designed probability, of equal width from 0.1 to 0.9.
const BINS: usize = 8;
/// A probability is at least this far from 0 and 1 in log odds.
const EDGE: f64 = 1e-6;

/// The designed and the model's probability of one turn.
#[derive(Clone, Copy)]
pub struct Pair {
    pub designed: f64,
    pub found: f64,
}

/// The turns of one bin, with the means of both probabilities.
#[derive(Clone, Copy, Default)]
pub struct Bin {
    pub from: f64,
    pub to: f64,
    pub turns: usize,
    pub designed: f64,
    pub found: f64,
}

/// The reliability table.
pub fn bins(pairs: &[Pair]) -> Vec<Bin> {
    let edge = |number: usize| 0.1 + 0.8 * number as f64 / BINS as f64;
    let bin = |number: usize| {
        let belongs = |pair: &&Pair| {
            let place = ((pair.designed - 0.1) / 0.8 * BINS as f64 + 1e-9) as usize;
            place.min(BINS - 1) == number
        };
        let mine: Vec<&Pair> = pairs.iter().filter(belongs).collect();
        let mean =
            |of: fn(&Pair) -> f64| mine.iter().map(|pair| of(pair)).sum::<f64>() / mine.len().max(1) as f64;
        Bin {
            from: edge(number),
            to: edge(number + 1),
            turns: mine.len(),
            designed: mean(|pair| pair.designed),
            found: mean(|pair| pair.found),
        }
    };
    (0..BINS).map(bin).collect()
}

/// The expected calibration error.
pub fn error(pairs: &[Pair]) -> f64 {
    let far = |bin: &Bin| bin.turns as f64 * (bin.designed - bin.found).abs();
    bins(pairs).iter().map(far).sum::<f64>() / pairs.len().max(1) as f64
}

/// The mean distance of single turns, which errors of opposite signs do not reduce.
pub fn distance(pairs: &[Pair]) -> f64 {
    pairs.iter().map(|pair| (pair.designed - pair.found).abs()).sum::<f64>() / pairs.len().max(1) as f64
}

/// The least, tenth and ninetieth percentile, and most of the model's probabilities.
pub fn range(pairs: &[Pair]) -> [f64; 4] {
    let mut found: Vec<f64> = pairs.iter().map(|pair| pair.found).collect();
    found.sort_by(f64::total_cmp);
    [0.0, 0.1, 0.9, 1.0].map(|share| {
        let place = share * found.len().saturating_sub(1) as f64;
        found.get(place.round() as usize).copied().unwrap_or(f64::NAN)
    })
}

/// The squared correlation of the log odds.
pub fn explained(pairs: &[Pair]) -> f64 {
    let odds = |share: f64| {
        let share = share.clamp(EDGE, 1.0 - EDGE);
        (share / (1.0 - share)).ln()
    };
    let points: Vec<[f64; 2]> = pairs.iter().map(|pair| [odds(pair.designed), odds(pair.found)]).collect();
    let count = points.len().max(1) as f64;
    let mean = |of: fn(&[f64; 2]) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (across, up) = (mean(|[across, _]| *across), mean(|[_, up]| *up));
    let (mut wide, mut high, mut both) = (0.0, 0.0, 0.0);
    for [x, y] in &points {
        wide += (x - across).powi(2);
        high += (y - up).powi(2);
        both += (x - across) * (y - up);
    }
    both * both / (wide * high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: impl Fn(f64) -> f64) -> Vec<Pair> {
        (0..=80)
            .map(|step| 0.1 + f64::from(step) / 100.0)
            .map(|designed| Pair { designed, found: of(designed) })
            .collect()
    }

    #[test]
    fn a_model_with_the_design_has_no_error_and_is_explained() {
        let same = pairs(|designed| designed);
        assert!(error(&same) < 1e-12 && distance(&same) < 1e-12 && (explained(&same) - 1.0).abs() < 1e-9);
        assert_eq!(bins(&same).iter().map(|bin| bin.turns).sum::<usize>(), same.len());
        assert!((range(&same)[1] - 0.18).abs() < 1e-9 && range(&same)[3] > 0.899);
    }

    #[test]
    fn an_agent_that_always_obeys_misses_by_the_rest() {
        let certain = pairs(|_| 1.0);
        let rest = certain.iter().map(|pair| 1.0 - pair.designed).sum::<f64>() / certain.len() as f64;
        assert!((error(&certain) - rest).abs() < 1e-12 && (distance(&certain) - rest).abs() < 1e-12);
    }

    #[test]
    fn errors_of_opposite_signs_are_in_the_distance_alone() {
        let designed = [0.52, 0.54];
        let turns = [0.2, -0.2].iter().zip(designed);
        let mixed: Vec<Pair> =
            turns.map(|(off, designed)| Pair { designed, found: designed + off }).collect();
        assert!(error(&mixed) < 1e-12 && (distance(&mixed) - 0.2).abs() < 1e-12);
        // Two points are always on a line; unrelated ones are not.
        let found = [0.2, 0.8, 0.8, 0.2];
        let four = [0.3, 0.3, 0.6, 0.6]
            .iter()
            .zip(found)
            .map(|(designed, found)| Pair { designed: *designed, found });
        assert!(explained(&four.collect::<Vec<_>>()) < 1e-12);
    }
}
