//! Rotary position embeddings (Su and others, "RoFormer", arXiv:2104.09864).

use serde_json::{Map, Value, json};
use std::f64::consts::TAU;

/// The angle by which each pair of a head's numbers rotates from one position to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rope {
    /// The base: the slowest pair rotates about this many times slower than the fastest.
    pub theta: f64,
    /// The scaling to texts longer than those that the model was first trained on.
    pub scaling: Scaling,
}

/// How rotary positions are scaled to longer texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scaling {
    /// Not at all.
    None,
    /// Every pair rotates this many times slower.
    Linear(f64),
    /// As in Llama 3.1: pairs of a long wavelength rotate `factor` times slower, those of a short one as before, and
    /// those between are interpolated.
    Llama3 {
        /// The slowdown.
        factor: f64,
        /// A wavelength above `original / low` is slowed down in full.
        low: f64,
        /// A wavelength below `original / high` is unchanged.
        high: f64,
        /// Positions that the model was first trained on.
        original: f64,
    },
}

impl Default for Rope {
    fn default() -> Rope {
        Rope { theta: 10_000.0, scaling: Scaling::None }
    }
}

impl Rope {
    /// Reads a `config.json`: `rope_parameters` (since `transformers` 5), or `rope_theta` and `rope_scaling`.
    pub(crate) fn from_json(fields: &Map<String, Value>) -> Result<Rope, String> {
        let part = |name: &str| fields.get(name).and_then(Value::as_object);
        let settings = part("rope_parameters").or_else(|| part("rope_scaling"));
        let within = settings.and_then(|settings| settings.get("rope_theta"));
        let theta = within.or_else(|| fields.get("rope_theta")).map_or(Some(10_000.0), Value::as_f64);
        let theta = theta.filter(|theta| *theta > 0.0 && theta.is_finite());
        let theta = theta.ok_or("rope_theta has to be a number above 0")?;
        let Some(settings) = settings else { return Ok(Rope { theta, scaling: Scaling::None }) };
        let number = |name: &str| {
            let number = settings.get(name).and_then(Value::as_f64).filter(|number| *number > 0.0);
            number.ok_or_else(|| format!("the rotary {name} has to be a number above 0"))
        };
        let kind = settings.get("rope_type").or_else(|| settings.get("type")).and_then(Value::as_str);
        let scaling = match kind.unwrap_or("default") {
            "default" => Scaling::None,
            "linear" => Scaling::Linear(number("factor")?),
            "llama3" => Scaling::Llama3 {
                factor: number("factor")?,
                low: number("low_freq_factor")?,
                high: number("high_freq_factor")?,
                original: number("original_max_position_embeddings")?,
            },
            other => {
                return Err(format!("the rotary type `{other}` is not offered; default, linear, llama3 are"));
            }
        };
        Ok(Rope { theta, scaling })
    }

    pub(crate) fn to_json(self) -> Value {
        match self.scaling {
            Scaling::None => Value::Null,
            Scaling::Linear(factor) => json!({ "rope_type": "linear", "factor": factor }),
            Scaling::Llama3 { factor, low, high, original } => json!({
                "rope_type": "llama3", "factor": factor, "low_freq_factor": low, "high_freq_factor": high,
                "original_max_position_embeddings": original,
            }),
        }
    }

    /// The angle of each pair per position, the fastest first: `theta^(-2i/width)`, scaled.
    pub fn frequencies(&self, head_width: usize) -> Vec<f64> {
        let plain = (0..head_width / 2).map(|pair| self.theta.powf(-2.0 * pair as f64 / head_width as f64));
        plain.map(|frequency| self.scaling.of(frequency)).collect()
    }

    /// Cosines and sines for `count` positions, a row of `head_width / 2` for each.
    pub fn table(&self, head_width: usize, count: usize) -> (Vec<f32>, Vec<f32>) {
        let frequencies = self.frequencies(head_width);
        let angles = (0..count).flat_map(|at| frequencies.iter().map(move |frequency| at as f64 * frequency));
        angles.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip()
    }
}

impl Scaling {
    fn of(self, frequency: f64) -> f64 {
        match self {
            Scaling::None => frequency,
            Scaling::Linear(factor) => frequency / factor,
            Scaling::Llama3 { factor, low, high, original } => {
                let turns = original * frequency / TAU;
                if turns < low {
                    frequency / factor
                } else if turns > high {
                    frequency
                } else {
                    let share = (turns - low) / (high - low);
                    (1.0 - share) * frequency / factor + share * frequency
                }
            }
        }
    }
}

/// Cosines and sines of every position.
pub struct Rotary {
    cosines: Vec<f32>,
    sines: Vec<f32>,
    half: usize,
}

impl Rotary {
    pub fn new(rope: &Rope, head_width: usize, positions: usize) -> Rotary {
        let (cosines, sines) = rope.table(head_width, positions);
        Rotary { cosines, sines, half: head_width / 2 }
    }

    /// Rotates every head of a row; the first half of a head is paired with the second.
    pub fn rotate(&self, position: usize, row: &mut [f32]) {
        let here = position * self.half..(position + 1) * self.half;
        let cosines = self.cosines.get(here.clone()).unwrap_or_default();
        let sines = self.sines.get(here).unwrap_or_default();
        for head in row.chunks_exact_mut(2 * self.half) {
            let (first, second) = head.split_at_mut(self.half);
            for (((first, second), cosine), sine) in first.iter_mut().zip(second).zip(cosines).zip(sines) {
                (*first, *second) = (*first * cosine - *second * sine, *second * cosine + *first * sine);
            }
        }
    }
}
