//! The processes of the job, and what they send each other.
//!
//! All messages are safe calls of the crate `mpi`. What goes to one process at a time is cut into parts of at most [`PART`] bytes, so that no
//! message needs a large buffer beside the data.

use std::cell::Cell;

use hmm_control::distil::DistilError;
use mpi::datatype::{Buffer, BufferMut};
use mpi::request::scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Equivalence, Root, Source};

use crate::failure::Failure;

/// The largest message between two processes, in bytes.
pub const PART: usize = 16 << 20;

/// All processes of the job, seen from one of them.
pub struct Group {
    world: SimpleCommunicator,
    sent: Cell<u64>,
}

fn bytes<T>(numbers: usize) -> u64 {
    (numbers * size_of::<T>()) as u64
}

impl Group {
    pub fn new(world: SimpleCommunicator) -> Group {
        Group { world, sent: Cell::new(0) }
    }

    /// The number of this process, from 0.
    pub fn rank(&self) -> usize {
        usize::try_from(self.world.rank()).unwrap_or_default()
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        usize::try_from(self.world.size()).unwrap_or(1)
    }

    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// This process and all of them, counted from 1, as shards and blocks are.
    pub fn shard(&self) -> (u32, u32) {
        (self.rank() as u32 + 1, self.size() as u32)
    }

    /// The bytes that this process has sent so far, without what MPI adds to them.
    pub fn sent(&self) -> u64 {
        self.sent.get()
    }

    fn count(&self, bytes: u64) {
        self.sent.set(self.sent.get() + bytes);
    }

    /// The process that is so many places after this one, and the one that is so many before it. In round `k` each process sends to the one
    /// `k` after it, so that all rounds together connect each pair once, and none is sent to by two at a time.
    pub fn pair(&self, round: usize) -> (usize, usize) {
        let (rank, size) = (self.rank(), self.size());
        ((rank + round) % size, (rank + size - round % size) % size)
    }

    /// The same number of numbers of each process, in the order of the processes.
    pub fn gather<T: Equivalence + Default + Clone>(&self, own: &[T]) -> Vec<Vec<T>>
    where
        [T]: Buffer + BufferMut,
    {
        if own.is_empty() {
            return vec![Vec::new(); self.size()];
        }
        let mut all = vec![T::default(); own.len() * self.size()];
        self.world.all_gather_into(own, all.as_mut_slice());
        self.count(bytes::<T>(own.len()) * (self.size() as u64 - 1));
        all.chunks(own.len()).map(<[T]>::to_vec).collect()
    }

    /// The numbers of one process, for all. They have the same length everywhere.
    pub fn broadcast<T: Equivalence>(&self, from: usize, numbers: &mut [T])
    where
        [T]: Buffer + BufferMut,
    {
        for part in numbers.chunks_mut(PART / size_of::<T>().max(1)) {
            self.world.process_at_rank(from as i32).broadcast_into(part);
        }
        // As a tree, in which each but one gets them from another.
        if self.rank() == from {
            self.count(bytes::<T>(numbers.len()) * (self.size() as u64 - 1));
        }
    }

    /// The bytes of the first process, for all.
    pub fn broadcast_bytes(&self, own: Vec<u8>) -> Vec<u8> {
        let mut length = [own.len() as u64];
        self.broadcast(0, &mut length);
        let mut all = own;
        all.resize(length.into_iter().next().unwrap_or_default() as usize, 0);
        self.broadcast(0, &mut all);
        all
    }

    /// Sends numbers to one process while another's are received.
    pub fn exchange<T: Equivalence>(&self, (to, out): (usize, &[T]), (from, into): (usize, &mut [T]))
    where
        [T]: Buffer + BufferMut,
    {
        scope(|scope| {
            let sending =
                (!out.is_empty()).then(|| self.world.process_at_rank(to as i32).immediate_send(scope, out));
            if !into.is_empty() {
                self.world.process_at_rank(from as i32).receive_into(into);
            }
            if let Some(sending) = sending {
                sending.wait();
            }
        });
        self.count(bytes::<T>(out.len()));
    }

    /// Waits for numbers of one process.
    pub fn receive<T: Equivalence>(&self, from: usize, into: &mut [T])
    where
        [T]: BufferMut,
    {
        if !into.is_empty() {
            self.world.process_at_rank(from as i32).receive_into(into);
        }
    }

    /// Sends numbers to one process.
    pub fn send<T: Equivalence>(&self, to: usize, out: &[T])
    where
        [T]: Buffer,
    {
        if !out.is_empty() {
            self.world.process_at_rank(to as i32).send(out);
            self.count(bytes::<T>(out.len()));
        }
    }

    /// What each process did alone, judged by all: if one failed, all fail, and the first process says which one and why. No process goes on
    /// to wait for one that has given up.
    pub fn agree<T>(&self, own: Result<T, Failure>) -> Result<T, Failure> {
        let message = own.as_ref().err().map(Failure::said).unwrap_or_default();
        let code = own.as_ref().err().map_or(0, Failure::code);
        let said = self.gather(&[u64::from(code), message.len() as u64]);
        let failed = said.iter().position(|said| said.first() != Some(&0));
        let Some(failed) = failed else { return own };
        let (code, length) = match said.get(failed).map(Vec::as_slice) {
            Some([code, length]) => (u8::try_from(*code).unwrap_or(1), *length as usize),
            _ => (1, 0),
        };
        let mut text = message.into_bytes();
        text.resize(length, 0);
        self.broadcast(failed, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        Err(Failure::shared(format!("rank {failed} of {}: {text}", self.size()), code))
    }
}

impl From<DistilError> for Failure {
    fn from(error: DistilError) -> Failure {
        Failure::input(error.to_string())
    }
}
