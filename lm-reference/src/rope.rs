//! Rotary positions (Su and others, "RoFormer", arXiv:2104.09864).

use serde_json::{Map, Value, json};
use std::f64::consts::TAU;

/// How fast each pair of a head's numbers turns from one position to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rope {
    /// The slowest pair turns about this many times slower than the fastest.
    pub theta: f64,
    /// What was done to read longer texts than the model was first trained on.
    pub scaling: Scaling,
}

/// Ways of stretching rotary positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scaling {
    /// As they were.
    None,
    /// Every pair turns this many times slower.
    Linear(f64),
    /// That of Llama 3.1: pairs whose full turn is long turn `factor` times slower, those whose turn is short as
    /// before, and those between in between.
    Llama3 {
        /// How many times slower.
        factor: f64,
        /// A turn longer than `original / low` is slowed down in full.
        low: f64,
        /// A turn shorter than `original / high` is left alone.
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
    /// From a `config.json`: `rope_parameters` (since `transformers` 5), or `rope_theta` and `rope_scaling`.
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

    /// By what angle each pair of a head turns at each step, the fastest first: `theta^(-2i/width)`, stretched.
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
