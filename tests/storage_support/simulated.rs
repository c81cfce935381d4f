//! Files and names in memory, each with its durable state.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use portcullis::storage::Disk;

/// The fault at a call. Calls are counted from 0, with those that only read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// The power fails before the call: this one and all after it fail and change nothing.
    Stop(usize),
    /// The call fails, and a write leaves half of its bytes.
    Once(usize, ErrorKind),
    /// The call and all after it fail.
    Forever(usize, ErrorKind),
}

/// A file's content, and its contents at each step since the last sync, the durable one first.
#[derive(Debug, Clone, Default)]
pub(super) struct Inode {
    pub steps: Vec<Vec<u8>>,
}

/// One change of names: the new target of each.
pub(super) type Names = Vec<(PathBuf, Option<usize>)>;

#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub inodes: Vec<Inode>,
    /// The names as a program sees them, those that are durable, and the changes between.
    pub names: BTreeMap<PathBuf, usize>,
    pub durable: BTreeMap<PathBuf, usize>,
    pub changes: Vec<Names>,
    pub fault: Option<Fault>,
    pub calls: Vec<String>,
}

#[derive(Debug, Default)]
pub struct SimulatedDisk(Mutex<State>);

impl SimulatedDisk {
    pub(super) fn of(state: State) -> SimulatedDisk {
        SimulatedDisk(Mutex::new(state))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// A copy of the disk, with everything on it durable and its calls counted from 0.
    pub fn settled(&self) -> SimulatedDisk {
        let mut state = self.state().clone();
        state
            .inodes
            .iter_mut()
            .for_each(|inode| inode.steps = inode.steps.last().cloned().into_iter().collect());
        state.durable = state.names.clone();
        state.changes.clear();
        state.calls.clear();
        state.fault = None;
        SimulatedDisk::of(state)
    }

    pub fn set(&self, fault: Option<Fault>) {
        self.state().fault = fault;
    }

    /// The calls so far, as text.
    pub fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    /// Names and contents as a program sees them.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        state.names.iter().map(|(path, inode)| (name(path), state.now(*inode).clone())).collect()
    }
}

impl State {
    pub fn now(&self, inode: usize) -> &Vec<u8> {
        self.inodes[inode].steps.last().unwrap()
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn free(&self, path: &Path) -> io::Result<()> {
        if self.names.contains_key(path) { Err(ErrorKind::AlreadyExists.into()) } else { Ok(()) }
    }

    fn change(&mut self, names: Names) {
        for (path, inode) in &names {
            match inode {
                Some(inode) => self.names.insert(path.clone(), *inode),
                None => self.names.remove(path),
            };
        }
        self.changes.push(names);
    }

    fn step(&mut self, inode: usize, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.now(inode).clone();
        change(&mut bytes);
        self.inodes[inode].steps.push(bytes);
    }

    /// Counts a call. Returns the error with which it fails, if any.
    fn call(&mut self, what: String) -> Option<io::Error> {
        let number = self.calls.len();
        self.calls.push(what);
        match self.fault? {
            Fault::Stop(at) if number >= at => Some(io::Error::other("no power")),
            Fault::Once(at, kind) if number == at => Some(kind.into()),
            Fault::Forever(at, kind) if number >= at => Some(kind.into()),
            _ => None,
        }
    }

    fn has_power(&self) -> bool {
        !matches!(self.fault, Some(Fault::Stop(_)))
    }
}

fn name(path: &Path) -> std::path::Display<'_> {
    path.display()
}

impl SimulatedDisk {
    fn begin(&self, what: String) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        state.call(what).map_or(Ok(state), Err)
    }
}

impl Disk for SimulatedDisk {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let state = self.begin(format!("read {}", name(path)))?;
        let bytes = state.now(state.find(path)?);
        if bytes.len() as u64 > limit { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes.clone()) }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let state = self.begin(format!("list {}", name(folder)))?;
        Ok(state.names.keys().filter(|path| path.parent() == Some(folder)).cloned().collect())
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let failed = state.call(format!("write_new {} ({} bytes)", name(path), bytes.len()));
        if failed.is_some() && !state.has_power() {
            return failed.map_or(Ok(()), Err);
        }
        state.free(path)?;
        let inode = state.inodes.len();
        state.inodes.push(Inode { steps: vec![Vec::new()] });
        state.change(vec![(path.to_owned(), Some(inode))]);
        let length = if failed.is_some() { bytes.len() / 2 } else { bytes.len() };
        state.step(inode, |content| content.extend_from_slice(&bytes[..length]));
        failed.map_or(Ok(()), Err)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let failed = state.call(format!("append {} ({} bytes)", name(path), bytes.len()));
        if failed.is_some() && !state.has_power() {
            return failed.map_or(Ok(()), Err);
        }
        let inode = state.find(path)?;
        let length = if failed.is_some() { bytes.len() / 2 } else { bytes.len() };
        state.step(inode, |content| content.extend_from_slice(&bytes[..length]));
        failed.map_or(Ok(()), Err)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let mut state = self.begin(format!("truncate {} to {length}", name(path)))?;
        let inode = state.find(path)?;
        state.step(inode, |content| content.resize(length.try_into().unwrap(), 0));
        Ok(())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        let mut state = self.begin(format!("sync {}", name(path)))?;
        let inode = state.find(path)?;
        let now = state.now(inode).clone();
        state.inodes[inode].steps = vec![now];
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.begin(format!("sync_folder {}", name(folder)))?;
        state.durable.retain(|path, _| path.parent() != Some(folder));
        let now: Vec<_> = state.names.iter().map(|(path, inode)| (path.clone(), *inode)).collect();
        state.durable.extend(now.into_iter().filter(|(path, _)| path.parent() == Some(folder)));
        for change in &mut state.changes {
            change.retain(|(path, _)| path.parent() != Some(folder));
        }
        state.changes.retain(|change| !change.is_empty());
        Ok(())
    }

    fn link(&self, path: &Path, second: &Path) -> io::Result<()> {
        let mut state = self.begin(format!("link {} {}", name(path), name(second)))?;
        let inode = state.find(path)?;
        state.free(second)?;
        state.change(vec![(second.to_owned(), Some(inode))]);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.begin(format!("rename {} {}", name(from), name(to)))?;
        let inode = state.find(from)?;
        // POSIX: two names of one file both stay.
        if state.names.get(to) != Some(&inode) {
            state.change(vec![(from.to_owned(), None), (to.to_owned(), Some(inode))]);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.begin(format!("remove {}", name(path)))?;
        state.find(path)?;
        state.change(vec![(path.to_owned(), None)]);
        Ok(())
    }
}
