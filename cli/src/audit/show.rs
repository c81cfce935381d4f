//! `portcullis audit show`.

use std::collections::VecDeque;

use portcullis::audit::verify;
use portcullis::storage::SystemDisk;

use super::{Selection, failure};
use crate::failure::Failure;

pub fn run(selection: &Selection, last: Option<usize>) -> Result<(), Failure> {
    let mut selected = VecDeque::new();
    for segment in selection.segments()? {
        let bytes = segment.read(&SystemDisk).map_err(failure)?;
        for line in String::from_utf8_lossy(&bytes).lines().filter_map(|line| selection.line(line)) {
            let Some(last) = last else {
                println!("{line}");
                continue;
            };
            selected.push_back(line);
            if selected.len() > last {
                selected.pop_front();
            }
        }
    }
    for line in selected {
        println!("{line}");
    }
    let report = verify(&selection.log, None, None).map_err(failure)?;
    if !selection.json {
        println!("{}", super::verify::summary(&report));
    }
    Ok(())
}
