//! k-means.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::{Rng, RngExt};
use std::num::NonZeroUsize;

/// Points whose distances are computed in one matrix product.
const BLOCK: usize = 1024;

/// Points per cluster for seeding, which goes point by point and not by matrix products.
const SEEDS: usize = 8;

/// The smallest sample; it costs little for a few clusters.
const LEAST: usize = 4096;

/// k-means: seeded by k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's rounds, both on a sample. Costs
/// `2 * points * clusters * width` operations for the points, and as much for the sample in each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KMeans {
    /// Lloyd's rounds.
    pub rounds: usize,
    /// Sampled points per cluster; all points are assigned in the end.
    pub sample: usize,
    /// Number of restarts; the tightest clusters win. k-means often finds poor clusters, especially when they are few.
    pub tries: usize,
    /// Threads; the result does not depend on them.
    pub threads: NonZeroUsize,
}

impl Default for KMeans {
    fn default() -> KMeans {
        KMeans { rounds: 10, sample: 64, tries: 4, threads: NonZeroUsize::MIN }
    }
}

/// Points in clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// A row for each cluster. With fewer distinct points than clusters, some rows are equal.
    pub centres: Array2<f32>,
    /// The cluster of each point.
    pub of: Vec<u32>,
}

impl KMeans {
    /// Assigns points (rows) to `clusters` clusters.
    pub fn run(&self, points: ArrayView2<'_, f32>, clusters: usize, rng: &mut impl Rng) -> Clusters {
        let wanted = clusters.saturating_mul(self.sample).max(LEAST.max(clusters)).min(points.nrows());
        let chosen = choose(points.nrows(), wanted, rng);
        let sample = points.select(Axis(0), &chosen);
        let few = clusters.saturating_mul(SEEDS).max(LEAST).min(sample.nrows());
        let mut best = (f64::INFINITY, Array2::zeros((clusters, points.ncols())));
        for _ in 0..self.tries.max(1) {
            let few = sample.select(Axis(0), &choose(sample.nrows(), few, rng));
            let mut centres = seed(few.view(), clusters, rng);
            for _ in 0..self.rounds {
                let of = self.assign(sample.view(), &centres);
                move_centres(&mut centres, sample.view(), &of);
            }
            let spread = spread(&centres, sample.view(), &self.assign(sample.view(), &centres));
            if spread < best.0 {
                best = (spread, centres);
            }
        }
        let centres = best.1;
        let of = self.assign(points, &centres);
        Clusters { centres, of }
    }

    /// The nearest centre of each point; of equals, the first.
    fn assign(&self, points: ArrayView2<'_, f32>, centres: &Array2<f32>) -> Vec<u32> {
        let halves: Array1<f32> = centres.rows().into_iter().map(|row| row.dot(&row) / 2.0).collect();
        let mut of = vec![0; points.nrows()];
        let share = points.nrows().div_ceil(self.threads.get()).next_multiple_of(BLOCK);
        std::thread::scope(|scope| {
            for (number, of) in of.chunks_mut(share.max(1)).enumerate() {
                let halves = &halves;
                scope.spawn(move || {
                    for (block, of) in of.chunks_mut(BLOCK).enumerate() {
                        let first = number * share + block * BLOCK;
                        let points = points.slice(s![first..first + of.len(), ..]);
                        nearest(points, centres, halves, of);
                    }
                });
            }
        });
        of
    }
}

/// The largest of `point . centre - |centre|^2 / 2` is the nearest.
fn nearest(points: ArrayView2<'_, f32>, centres: &Array2<f32>, halves: &Array1<f32>, of: &mut [u32]) {
    let mut products = Array2::zeros((points.nrows(), centres.nrows()));
    general_mat_mul(1.0, &points, &centres.t(), 0.0, &mut products);
    for (row, of) in products.rows().into_iter().zip(of) {
        let scores = row.iter().zip(halves).map(|(product, half)| product - half).enumerate();
        let best =
            scores.fold((0, f32::NEG_INFINITY), |best, score| if score.1 > best.1 { score } else { best });
        *of = best.0 as u32;
    }
}

/// `count` different numbers below `all`, in rising order.
fn choose(all: usize, count: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut left = count;
    let mut chosen = Vec::with_capacity(count);
    for number in 0..all {
        if left > 0 && rng.random_range(0..all - number) < left {
            chosen.push(number);
            left -= 1;
        }
    }
    chosen
}

/// Draws centres from the points, each with a probability proportional to its squared distance from those before.
fn seed(points: ArrayView2<'_, f32>, clusters: usize, rng: &mut impl Rng) -> Array2<f32> {
    let mut centres = Array2::zeros((clusters, points.ncols()));
    if points.nrows() == 0 {
        return centres;
    }
    let mut distances = vec![f64::INFINITY; points.nrows()];
    let mut next = rng.random_range(0..points.nrows());
    for mut centre in centres.rows_mut() {
        centre.assign(&points.row(next));
        let mut total = 0.0;
        for (distance, point) in distances.iter_mut().zip(points.rows()) {
            let square = |(a, b): (&f32, &f32)| f64::from(a - b) * f64::from(a - b);
            *distance = point.iter().zip(&centre).map(square).sum::<f64>().min(*distance);
            total += *distance;
        }
        let mut left = rng.random::<f64>() * total;
        let hit = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // All points are centres already, so that any may be chosen again.
        next = hit.unwrap_or_else(|| rng.random_range(0..points.nrows()));
    }
    centres
}

/// The sum of all points' squared distances from their centres.
fn spread(centres: &Array2<f32>, points: ArrayView2<'_, f32>, of: &[u32]) -> f64 {
    let square = |(a, b): (&f32, &f32)| f64::from(a - b) * f64::from(a - b);
    let distance = |(point, cluster): (ndarray::ArrayView1<'_, f32>, &u32)| -> f64 {
        point.iter().zip(centres.row(*cluster as usize)).map(square).sum()
    };
    points.rows().into_iter().zip(of).map(distance).sum()
}

fn move_centres(centres: &mut Array2<f32>, points: ArrayView2<'_, f32>, of: &[u32]) {
    let mut sums = Array2::<f64>::zeros(centres.dim());
    let mut counts = vec![0_u32; centres.nrows()];
    for (point, &cluster) in points.rows().into_iter().zip(of) {
        let sum = sums.row_mut(cluster as usize);
        sum.into_iter().zip(point).for_each(|(sum, value)| *sum += f64::from(*value));
        counts.iter_mut().skip(cluster as usize).take(1).for_each(|count| *count += 1);
    }
    for ((mut centre, sum), count) in centres.rows_mut().into_iter().zip(sums.rows()).zip(counts) {
        // An empty cluster keeps its centre.
        if count > 0 {
            centre.iter_mut().zip(sum).for_each(|(centre, sum)| *centre = (sum / f64::from(count)) as f32);
        }
    }
}
