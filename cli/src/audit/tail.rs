//! `portcullis audit tail`.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use portcullis::audit::{Broken, Chain, Problem, RecordPosition, Segment};

use super::{Selection, finding};
use crate::failure::Failure;

/// The interval between two looks for new records.
const EVERY: Duration = Duration::from_millis(200);

pub fn run(selection: &Selection, last: usize, follow: bool) -> Result<(), Failure> {
    let mut reader = Reader::default();
    let mut last_lines = VecDeque::new();
    reader.read(selection, &mut |line| {
        last_lines.push_back(line);
        if last_lines.len() > last {
            last_lines.pop_front();
        }
    })?;
    for line in last_lines {
        println!("{line}");
    }
    while follow && wait() {
        reader.read(selection, &mut |line| println!("{line}"))?;
    }
    Ok(())
}

/// Waits for the next look; returns false if the reader has closed the stream.
#[cfg(unix)]
fn wait() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = std::io::stdout();
    let mut output = [PollFd::new(&stdout, PollFlags::empty())];
    let Ok(timeout) = Timespec::try_from(EVERY) else { return false };
    match poll(&mut output, Some(&timeout)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => true,
        Ok(_) | Err(_) => false,
    }
}

#[cfg(not(unix))]
fn wait() -> bool {
    std::thread::sleep(EVERY);
    true
}

/// The reader's position in the log. The records before it form an unbroken chain.
#[derive(Default)]
struct Reader {
    chain: Chain,
    /// The number of the current segment, from 0.
    segment: usize,
    /// The bytes and lines of it that were read.
    offset: u64,
    lines: usize,
}

impl Reader {
    /// Reads the complete lines since the last call.
    fn read(&mut self, selection: &Selection, print: &mut dyn FnMut(String)) -> Result<(), Failure> {
        let segments = selection.segments()?;
        while let Some(segment) = segments.get(self.segment) {
            let found = self.rest(segment).map_err(|error| {
                Failure::Input(format!("{} cannot be read: {error}", segment.path.display()))
            })?;
            let file = segment.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let broken = |line, record, problem| {
                let place = Some(RecordPosition { line, record });
                finding(&selection.log, &Broken { file: file.clone(), place, problem })
            };
            let number = self.chain.length();
            if usize::try_from(segment.number).is_ok_and(|number| number != self.segment + 1) {
                return Err(broken(1, number, Problem::Missing));
            }
            let Some(bytes) = found else {
                return Err(broken(self.lines, number, Problem::Changed));
            };
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                let Some(whole) = line.strip_suffix(b"\n") else { break };
                let (number, place) = (self.chain.length(), self.lines + 1);
                let text =
                    std::str::from_utf8(whole).map_err(|_| broken(place, number, Problem::NotARecord))?;
                self.chain.follow(text).map_err(|problem| broken(place, number, problem))?;
                (self.lines, self.offset) = (place, self.offset + line.len() as u64);
                if let Some(line) = selection.line(text) {
                    print(line);
                }
            }
            // The last segment may grow; the next one starts at its end.
            if self.segment + 1 == segments.len() {
                break;
            }
            (self.segment, self.offset, self.lines) = (self.segment + 1, 0, 0);
        }
        Ok(())
    }

    /// The unread rest of a segment; `None` if it is shorter than the part that was read.
    fn rest(&self, segment: &Segment) -> std::io::Result<Option<Vec<u8>>> {
        let mut file = File::open(&segment.path)?;
        if file.metadata()?.len() < self.offset {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}
