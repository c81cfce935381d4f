//! Keys and values of what was read, shared between forks.

use crate::error::StepError;
use lm_reference::Config;
use std::sync::{Arc, Mutex};
use tch::{Device, Kind, TchError, Tensor};

/// The least room that is made.
const LEAST: usize = 64;

/// Keys and values of one layer, `[1, head, room, head width]` each.
pub struct Room {
    pub keys: Tensor,
    pub values: Tensor,
}

struct Buffer {
    layers: Vec<Room>,
    room: usize,
    /// Tokens that someone has written, or is about to.
    written: usize,
}

/// What one text has read. A clone shares the buffer: of several that share it, the first that reads on writes behind
/// what all of them see, and the next one copies what it sees first.
#[derive(Clone)]
pub struct Cache {
    buffer: Arc<Mutex<Buffer>>,
    length: usize,
}

impl Cache {
    /// Nothing read.
    pub fn new() -> Cache {
        let buffer = Buffer { layers: Vec::new(), room: 0, written: 0 };
        Cache { buffer: Arc::new(Mutex::new(buffer)), length: 0 }
    }

    /// Tokens read.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Room for `more` tokens behind those that were read, which counts as read from now on; the tensors of all layers.
    pub fn extend(
        &mut self,
        config: &Config,
        device: Device,
        kind: Kind,
        more: usize,
    ) -> Result<Vec<Room>, StepError> {
        let all = self.length + more;
        let mut buffer = self.buffer.lock().map_err(|_| StepError::Damaged)?;
        let is_ours = buffer.written == self.length || Arc::strong_count(&self.buffer) == 1;
        if !is_ours || buffer.room < all {
            let room = all.next_power_of_two().clamp(LEAST, config.positions.max(LEAST));
            let copied = buffer.copy(config, device, kind, self.length, room)?;
            drop(buffer);
            self.buffer = Arc::new(Mutex::new(copied));
            buffer = self.buffer.lock().map_err(|_| StepError::Damaged)?;
        }
        buffer.written = all;
        self.length = all;
        Ok(buffer.layers.iter().map(Room::share).collect())
    }
}

impl Buffer {
    fn copy(
        &self,
        config: &Config,
        device: Device,
        kind: Kind,
        length: usize,
        room: usize,
    ) -> Result<Buffer, TchError> {
        let shape = [1, config.key_value_heads as i64, room as i64, config.head_width as i64];
        let grown = |old: Option<&Tensor>| -> Result<Tensor, TchError> {
            let new = Tensor::f_empty(shape, (kind, device))?;
            if let Some(old) = old.filter(|_| length > 0) {
                let length = length as i64;
                new.f_narrow(2, 0, length)?.f_copy_(&old.f_narrow(2, 0, length)?)?;
            }
            Ok(new)
        };
        let layer = |number: usize| {
            let old = self.layers.get(number);
            Ok(Room { keys: grown(old.map(|old| &old.keys))?, values: grown(old.map(|old| &old.values))? })
        };
        let layers = (0..config.layers).map(layer).collect::<Result<_, TchError>>()?;
        Ok(Buffer { layers, room, written: length })
    }
}

impl Room {
    fn share(&self) -> Room {
        Room { keys: self.keys.shallow_clone(), values: self.values.shallow_clone() }
    }

    /// Writes the keys and values of new tokens, `[1, head, token, head width]`, behind the first `past`; then all up
    /// to them.
    pub fn write(&self, past: usize, keys: &Tensor, values: &Tensor) -> Result<(Tensor, Tensor), TchError> {
        let past = past as i64;
        let new = keys.size().get(2).copied().unwrap_or(0);
        self.keys.f_narrow(2, past, new)?.f_copy_(keys)?;
        self.values.f_narrow(2, past, new)?.f_copy_(values)?;
        Ok((self.keys.f_narrow(2, 0, past + new)?, self.values.f_narrow(2, 0, past + new)?))
    }
}
