//! The steps whose codes were given.

/// The most seeds that are noted. The one whose step is the oldest is forgotten first.
const MOST: usize = 1024;
/// The bytes of one seed: its name and its last step.
const ENTRY: usize = 16;

/// The last step of each seed whose code was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Steps(Vec<([u8; 8], u64)>);

impl Steps {
    /// Reads the state; none where it was never set. What is not whole is left out.
    pub(super) fn read(bytes: Option<&Vec<u8>>) -> Steps {
        let bytes = bytes.map(Vec::as_slice).unwrap_or_default();
        let entry = |entry: &[u8]| {
            let (name, step) = entry.split_first_chunk::<8>()?;
            Some((*name, u64::from_le_bytes(step.try_into().ok()?)))
        };
        Steps(bytes.chunks_exact(ENTRY).filter_map(entry).collect())
    }

    /// The state's bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(name, step)| name.iter().copied().chain(step.to_le_bytes())).collect()
    }

    /// Returns true if no code of this step or a later one was given. A clock that is set back makes no step new again.
    pub(super) fn is_new(&self, seed: [u8; 8], step: u64) -> bool {
        self.0.iter().all(|(name, last)| *name != seed || *last < step)
    }

    /// Notes that the code of a step is given.
    pub(super) fn note(&mut self, seed: [u8; 8], step: u64) {
        self.0.retain(|(name, _)| *name != seed);
        if self.0.len() >= MOST
            && let Some(oldest) =
                self.0.iter().enumerate().min_by_key(|(_, (_, step))| *step).map(|(at, _)| at)
        {
            self.0.swap_remove(oldest);
        }
        self.0.push((seed, step));
    }
}
