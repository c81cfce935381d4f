//! A cache of keys and values that forks share.

use crate::error::StepError;
use language_models::transformer::Config;
use std::sync::{Arc, Mutex};
use tch::{Device, Kind, TchError, Tensor};

/// The smallest capacity, in tokens.
const LEAST: usize = 64;

/// Keys and values of one layer, `[1, head, capacity, head width]` each.
pub struct LayerCache {
    pub keys: Tensor,
    pub values: Tensor,
}

struct Buffer {
    layers: Vec<LayerCache>,
    capacity: usize,
    /// How many tokens one of the sharers has written or reserved.
    written: usize,
}

/// The keys and values of one text. A clone shares the buffer: the first sharer that continues appends to it, and the
/// next one copies its own part first.
#[derive(Clone)]
pub struct Cache {
    buffer: Arc<Mutex<Buffer>>,
    length: usize,
}

impl Cache {
    /// An empty cache.
    pub fn new() -> Cache {
        let buffer = Buffer { layers: Vec::new(), capacity: 0, written: 0 };
        Cache { buffer: Arc::new(Mutex::new(buffer)), length: 0 }
    }

    /// How many tokens are cached.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Makes capacity for `more` tokens and counts them as read; returns the tensors of all layers.
    pub fn extend(
        &mut self,
        config: &Config,
        device: Device,
        kind: Kind,
        more: usize,
    ) -> Result<Vec<LayerCache>, StepError> {
        let all = self.length + more;
        let mut buffer = self.buffer.lock().map_err(|_| StepError::Damaged)?;
        let is_ours = buffer.written == self.length || Arc::strong_count(&self.buffer) == 1;
        if !is_ours || buffer.capacity < all {
            let capacity = all.next_power_of_two().clamp(LEAST, config.positions.max(LEAST));
            let copied = buffer.copy(config, device, kind, self.length, capacity)?;
            drop(buffer);
            self.buffer = Arc::new(Mutex::new(copied));
            buffer = self.buffer.lock().map_err(|_| StepError::Damaged)?;
        }
        buffer.written = all;
        self.length = all;
        Ok(buffer.layers.iter().map(LayerCache::share).collect())
    }
}

impl Buffer {
    fn copy(
        &self,
        config: &Config,
        device: Device,
        kind: Kind,
        length: usize,
        capacity: usize,
    ) -> Result<Buffer, TchError> {
        let shape = [1, config.key_value_heads as i64, capacity as i64, config.head_width as i64];
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
            Ok(LayerCache {
                keys: grown(old.map(|old| &old.keys))?,
                values: grown(old.map(|old| &old.values))?,
            })
        };
        let layers = (0..config.layers).map(layer).collect::<Result<_, TchError>>()?;
        Ok(Buffer { layers, capacity, written: length })
    }
}

impl LayerCache {
    fn share(&self) -> LayerCache {
        LayerCache { keys: self.keys.shallow_clone(), values: self.values.shallow_clone() }
    }

    /// Writes the keys and values of new tokens, `[1, head, token, head width]`, after the first `past`; returns all
    /// of them up to here.
    pub fn write(&self, past: usize, keys: &Tensor, values: &Tensor) -> Result<(Tensor, Tensor), TchError> {
        let past = past as i64;
        let new = keys.size().get(2).copied().unwrap_or(0);
        self.keys.f_narrow(2, past, new)?.f_copy_(keys)?;
        self.values.f_narrow(2, past, new)?.f_copy_(values)?;
        Ok((self.keys.f_narrow(2, 0, past + new)?, self.values.f_narrow(2, 0, past + new)?))
    }
}
