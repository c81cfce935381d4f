//! What a step costs: processor time and bytes sent, by its parts.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::group::Group;

/// The parts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The E-step: no message is sent.
    Count,
    /// Rows of counts are exchanged and added up.
    Reduce,
    /// The block's M-step: no message is sent.
    Maximise,
    /// The sums of the emissions go from block to block.
    Sums,
    /// Rows of parameters are exchanged.
    Gather,
    /// The likelihood of the held-out texts.
    Judge,
    /// The checkpoint is written.
    Keep,
}

const PARTS: [(Part, &str); 7] = [
    (Part::Count, "count"),
    (Part::Reduce, "reduce"),
    (Part::Sums, "sums"),
    (Part::Maximise, "maximise"),
    (Part::Gather, "gather"),
    (Part::Judge, "judge"),
    (Part::Keep, "keep"),
];

/// The sums over the steps of one process.
#[derive(Debug, Default)]
pub struct Measures {
    steps: u64,
    spent: [Spent; PARTS.len()],
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    processor: Duration,
    bytes: u64,
}

/// The processor time of this process so far, over all its threads. MPI waits by asking again and again, so that waiting counts too.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

impl Measures {
    /// Runs one part of a step and notes what it cost.
    pub fn of<T>(&mut self, group: &Group, part: Part, work: impl FnOnce() -> T) -> T {
        let (began, sent) = (processor(), group.sent());
        let done = work();
        let place = PARTS.iter().position(|(other, _)| *other == part);
        if let Some(spent) = place.and_then(|place| self.spent.get_mut(place)) {
            spent.processor += processor().saturating_sub(began);
            spent.bytes += group.sent() - sent;
        }
        done
    }

    pub fn end_step(&mut self) {
        self.steps += 1;
    }

    /// The measures of all processes, at each of them.
    pub fn gather(&self, group: &Group) -> Gathered {
        let own = self.spent.iter().flat_map(|spent| [spent.processor.as_nanos() as u64, spent.bytes]);
        Gathered { steps: self.steps, ranks: group.gather(&own.collect::<Vec<u64>>()) }
    }
}

/// For each process and part the nanoseconds of processor time and the bytes sent, over all steps.
pub struct Gathered {
    steps: u64,
    ranks: Vec<Vec<u64>>,
}

impl Gathered {
    /// For each part of a process its name, seconds of processor time and bytes sent, for one step.
    fn parts(&self, rank: &[u64]) -> Vec<(&'static str, f64, f64)> {
        let steps = self.steps.max(1) as f64;
        let part = |((_, name), spent): (&(Part, &'static str), &[u64])| match spent {
            [nanoseconds, bytes] => Some((*name, *nanoseconds as f64 / 1e9 / steps, *bytes as f64 / steps)),
            _ => None,
        };
        PARTS.iter().zip(rank.chunks(2)).filter_map(part).collect()
    }

    pub fn json(&self) -> Value {
        let rank = |rank: &Vec<u64>| -> Value {
            let parts = self.parts(rank).into_iter();
            let part = |(name, seconds, bytes): (&str, f64, f64)| {
                (name.to_owned(), json!({"processor_seconds": seconds, "bytes_sent": bytes}))
            };
            Value::Object(parts.map(part).collect())
        };
        json!({"steps": self.steps, "ranks": self.ranks.iter().map(rank).collect::<Vec<_>>()})
    }

    /// A table with a line for each process: processor time of each part of a step, and megabytes sent in it.
    pub fn table(&self) -> String {
        let heads = PARTS.map(|(_, name)| format!(" {name:>9}")).concat();
        let mut table = format!(
            "a step:  seconds of processor time (waiting for messages included)\nrank{heads}   MB sent\n"
        );
        for (rank, spent) in self.ranks.iter().enumerate() {
            let parts = self.parts(spent);
            let cells: String = parts.iter().map(|(_, seconds, _)| format!(" {seconds:>9.3}")).collect();
            let sent: f64 = parts.iter().map(|(_, _, bytes)| bytes / 1e6).sum();
            table.push_str(&format!("{rank:>4}{cells} {sent:>9.3}\n"));
        }
        table
    }
}
