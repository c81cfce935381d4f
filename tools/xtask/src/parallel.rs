//! Several things at a time.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does the work for each item, as many at a time as there are processors, the first items first. What came out
/// is in the order of the items.
pub fn each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    each_of(processors(), items, work)
}

/// The same, as many at a time as are named, for work that mostly waits.
pub fn each_of<T: Send, R: Send>(at_a_time: usize, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let at_a_time = at_a_time.clamp(1, items.len().max(1));
    let left = Mutex::new(items.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let worker = || {
        loop {
            // Not in the `while let`: the lock would be held during the work.
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, item)) = next else { return };
            let out = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, out));
        }
    };
    thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(worker);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, out)| out).collect()
}

/// How many processors this program may use.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::{each, each_of};

    #[test]
    fn every_item_is_done_once_and_in_its_place() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(each(items, |item| item * 2), (0..100).map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(each(Vec::<usize>::new(), |item| item), []);
        assert_eq!(each_of(0, vec![1], |item| item), [1]);
    }
}
