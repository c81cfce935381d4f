//! One training step of all processes, as `hmm_control::distil::BlockCounts` describes it.

use std::ops::Range;

use hmm_control::distil::{BlockCounts, DistilError, NewRows, Report, Statistics, Totals, Trainer};

use crate::failure::Failure;
use crate::group::{Group, PART};
use crate::measures::{Measures, Part};

/// The fewest states whose sums are sent on at once: a message has its own cost.
const SUMS: usize = 64;

pub fn step(group: &Group, trainer: &mut Trainer<'_>, measures: &mut Measures) -> Result<Report, Failure> {
    let (number, of) = group.shard();
    let counts = measures.of(group, Part::Count, || trainer.count(number, of));
    let mut counts = group.agree(counts.map_err(Failure::from))?;
    let totals = merged(group, counts.totals())?;
    measures.of(group, Part::Reduce, || reduce(group, &mut counts))?;

    let blocks: Vec<Range<usize>> = (1..=of).map(|number| counts.block(number, of)).collect();
    let own = blocks.get(group.rank()).cloned().unwrap_or_default();
    let begun = measures.of(group, Part::Maximise, || trainer.begin_rows(counts, &totals, own));
    let begun = group.agree(begun.map_err(Failure::from))?;
    let states = trainer.parameters().states();
    let sums = measures.of(group, Part::Sums, || sums(group, &begun, states));
    let rows = measures.of(group, Part::Maximise, || begun.maximise(trainer, &sums));
    let mut rows = group.agree(rows.map_err(Failure::from))?;
    measures.of(group, Part::Gather, || gather(group, &mut rows, &blocks))?;

    measures.of(group, Part::Judge, || {
        trainer.finish_rows(rows, |expectation, parameters, sequences| {
            let range = expectation.shard(&(0..sequences.len()), number, of);
            let own = expectation.totals(parameters, sequences, range);
            merged(group, &group.agree(own.map_err(Failure::from))?)
        })
    })
}

/// The totals of all processes.
fn merged(group: &Group, own: &Totals) -> Result<Totals, Failure> {
    let mut all = Totals::default();
    let merged = group.gather(&own.to_words()).into_iter().try_for_each(|words| {
        let words = <[u64; 6]>::try_from(words).unwrap_or_default();
        all.merge(&Totals::from_words(words)?)
    });
    group.agree(merged.map(|()| all).map_err(Failure::from))
}

/// The numbers of each part of a list of rows that are sent together.
fn parts<T>(rows: &[usize], width: usize) -> Vec<&[usize]> {
    rows.chunks((PART / (width * size_of::<T>()).max(1)).max(1)).collect()
}

/// Sends each process the counts of its rows, and adds those that come for the own ones. A row whose token did not occur is not sent.
fn reduce(group: &Group, counts: &mut Statistics) -> Result<(), Failure> {
    let states = counts.states();
    let (_, of) = group.shard();
    let mut added = Ok(());
    for round in 1..group.size() {
        let (to, from) = group.pair(round);
        let out: Vec<usize> =
            counts.block(to as u32 + 1, of).filter(|row| counts.row(*row).is_some()).collect();
        let mut wanted = [0_u64];
        group.exchange((to, &[out.len() as u64]), (from, &mut wanted));
        let mut numbers = vec![0_u64; wanted.iter().sum::<u64>() as usize];
        let named: Vec<u64> = out.iter().map(|row| *row as u64).collect();
        group.exchange((to, &named), (from, &mut numbers));
        let into: Vec<usize> = numbers.iter().map(|row| *row as usize).collect();
        let (out, into) = (parts::<i64>(&out, states), parts::<i64>(&into, states));
        for part in 0..out.len().max(into.len()) {
            let (out, into) = (out.get(part).copied().unwrap_or(&[]), into.get(part).copied().unwrap_or(&[]));
            let message: Vec<i64> =
                out.iter().filter_map(|row| counts.row(*row)).flatten().copied().collect();
            let mut received = vec![0; into.len() * states];
            group.exchange((to, &message), (from, &mut received));
            for (row, received) in into.iter().zip(received.chunks(states.max(1))) {
                added = added.and_then(|()| counts.add_row(*row, received));
            }
        }
    }
    group.agree(added.map_err(Failure::from))
}

/// The sums of the emissions of all blocks, which are added up from the first block to the last. While one process adds its rows for some
/// states, the next one adds its own for the states before them.
fn sums(group: &Group, block: &BlockCounts<f32>, states: usize) -> Vec<f64> {
    let (rank, size) = (group.rank(), group.size());
    let width = states.div_ceil(size).max(SUMS);
    let mut sums = vec![0.0; states];
    for (piece, sums) in sums.chunks_mut(width).enumerate() {
        if let Some(before) = rank.checked_sub(1) {
            group.receive(before, sums);
        }
        block.add_sums(piece * width..piece * width + sums.len(), sums);
        if rank + 1 < size {
            group.send(rank + 1, sums);
        }
    }
    group.broadcast(size - 1, &mut sums);
    sums
}

/// Sends each process the own rows of parameters, and takes theirs.
fn gather(group: &Group, rows: &mut NewRows<f32>, blocks: &[Range<usize>]) -> Result<(), Failure> {
    let width = rows.width();
    let of = |rank: usize| blocks.get(rank).cloned().unwrap_or_default().collect::<Vec<usize>>();
    let mut taken: Result<(), DistilError> = Ok(());
    for round in 1..group.size() {
        let (to, from) = group.pair(round);
        let (out, into) = (of(group.rank()), of(from));
        let (out, into) = (parts::<f32>(&out, width), parts::<f32>(&into, width));
        for part in 0..out.len().max(into.len()) {
            let (out, into) = (out.get(part).copied().unwrap_or(&[]), into.get(part).copied().unwrap_or(&[]));
            let mut message = vec![0.0; out.len() * width];
            for (row, message) in out.iter().zip(message.chunks_mut(width.max(1))) {
                taken = taken.and_then(|()| rows.read_row(*row, message));
            }
            let mut received = vec![0.0; into.len() * width];
            group.exchange((to, &message), (from, &mut received));
            for (row, received) in into.iter().zip(received.chunks(width.max(1))) {
                taken = taken.and_then(|()| rows.write_row(*row, received));
            }
        }
    }
    group.agree(taken.map_err(Failure::from))
}
