//! A model's weights as f32.

use super::config::{Config, Family};
use super::error::LoadError;
use super::kernel::{Linear, Norm};
use half::{bf16, f16};
use ndarray::{Array1, Array2, ArrayD, Axis, Ix1, Ix2, IxDyn};
use safetensors::tensor::{Dtype, TensorView};
use std::collections::HashMap;

/// All weights of a model.
pub struct Weights {
    pub tokens: Array2<f32>,
    pub positions: Option<Array2<f32>>,
    pub layers: Vec<Layer>,
    pub last: Norm,
    /// The output head, where it is not the embedding.
    pub head: Option<Array2<f32>>,
}

/// The weights of one layer.
pub struct Layer {
    pub before_attention: Norm,
    pub queries: Linear,
    pub keys: Linear,
    pub values: Linear,
    pub output: Linear,
    pub before_inner: Norm,
    /// The gate of the feed-forward layer; without one it applies GELU.
    pub gate: Option<Linear>,
    pub widen: Linear,
    pub narrow: Linear,
}

/// Tensors by the names that the files have.
#[derive(Default)]
pub struct NamedTensors(HashMap<String, ArrayD<f32>>);

impl NamedTensors {
    /// Stores a tensor of a file, as f32.
    pub fn insert(&mut self, name: &str, view: &TensorView<'_>) -> Result<(), LoadError> {
        let fault = || LoadError::Missing { name: name.to_owned() };
        let array = ArrayD::from_shape_vec(IxDyn(view.shape()), numbers(view)).map_err(|_| fault())?;
        self.0.insert(name.to_owned(), array);
        Ok(())
    }

    /// The weights. Names and shapes have been checked against the configuration before.
    pub fn into_weights(mut self, config: &Config) -> Result<Weights, LoadError> {
        match config.family {
            Family::Gpt2 => self.gpt2(config),
            Family::Llama | Family::Qwen2 => self.llama(config),
        }
    }

    fn row(&mut self, name: &str) -> Result<Array1<f32>, LoadError> {
        let array = self.0.remove(name).and_then(|array| array.into_dimensionality::<Ix1>().ok());
        array.ok_or_else(|| LoadError::Missing { name: name.to_owned() })
    }

    fn rows(&mut self, name: &str) -> Result<Array2<f32>, LoadError> {
        let array = self.0.remove(name).and_then(|array| array.into_dimensionality::<Ix2>().ok());
        array.ok_or_else(|| LoadError::Missing { name: name.to_owned() })
    }

    fn linear(&mut self, name: &str) -> Result<Linear, LoadError> {
        Ok(Linear {
            weight: self.rows(&format!("{name}.weight"))?,
            bias: self.row(&format!("{name}.bias")).ok(),
        })
    }

    /// A linear layer of GPT-2, which stores the inputs as rows.
    fn transposed(&mut self, name: &str) -> Result<Linear, LoadError> {
        let linear = self.linear(name)?;
        Ok(Linear { weight: linear.weight.t().as_standard_layout().into_owned(), bias: linear.bias })
    }

    fn norm(&mut self, name: &str, epsilon: f64) -> Result<Norm, LoadError> {
        let shift = self.row(&format!("{name}.bias")).ok();
        Ok(Norm { gain: self.row(&format!("{name}.weight"))?, shift, epsilon })
    }

    fn gpt2(&mut self, config: &Config) -> Result<Weights, LoadError> {
        let mut layers = Vec::new();
        for number in 0..config.layers {
            let at = |part: &str| format!("transformer.h.{number}.{part}");
            let joint = self.transposed(&at("attn.c_attn"))?;
            let mut parts = thirds(&joint, config.width).into_iter();
            let (Some(queries), Some(keys), Some(values)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(LoadError::Missing { name: at("attn.c_attn.weight") });
            };
            layers.push(Layer {
                before_attention: self.norm(&at("ln_1"), config.epsilon)?,
                queries,
                keys,
                values,
                output: self.transposed(&at("attn.c_proj"))?,
                before_inner: self.norm(&at("ln_2"), config.epsilon)?,
                gate: None,
                widen: self.transposed(&at("mlp.c_fc"))?,
                narrow: self.transposed(&at("mlp.c_proj"))?,
            });
        }
        Ok(Weights {
            tokens: self.rows("transformer.wte.weight")?,
            positions: Some(self.rows("transformer.wpe.weight")?),
            layers,
            last: self.norm("transformer.ln_f", config.epsilon)?,
            head: self.rows("lm_head.weight").ok(),
        })
    }

    fn llama(&mut self, config: &Config) -> Result<Weights, LoadError> {
        let mut layers = Vec::new();
        for number in 0..config.layers {
            let at = |part: &str| format!("model.layers.{number}.{part}");
            layers.push(Layer {
                before_attention: self.norm(&at("input_layernorm"), config.epsilon)?,
                queries: self.linear(&at("self_attn.q_proj"))?,
                keys: self.linear(&at("self_attn.k_proj"))?,
                values: self.linear(&at("self_attn.v_proj"))?,
                output: self.linear(&at("self_attn.o_proj"))?,
                before_inner: self.norm(&at("post_attention_layernorm"), config.epsilon)?,
                gate: Some(self.linear(&at("mlp.gate_proj"))?),
                widen: self.linear(&at("mlp.up_proj"))?,
                narrow: self.linear(&at("mlp.down_proj"))?,
            });
        }
        Ok(Weights {
            tokens: self.rows("model.embed_tokens.weight")?,
            positions: None,
            layers,
            last: self.norm("model.norm", config.epsilon)?,
            head: self.rows("lm_head.weight").ok(),
        })
    }
}

/// Splits a joint projection into queries, keys and values.
fn thirds(joint: &Linear, width: usize) -> Vec<Linear> {
    let weights = joint.weight.axis_chunks_iter(Axis(0), width);
    let biases = joint.bias.iter().flat_map(|bias| bias.axis_chunks_iter(Axis(0), width));
    weights
        .zip(biases)
        .map(|(weight, bias)| Linear { weight: weight.to_owned(), bias: Some(bias.to_owned()) })
        .collect()
}

fn numbers(view: &TensorView<'_>) -> Vec<f32> {
    let data = view.data();
    let pairs = || data.as_chunks::<2>().0.iter().copied();
    match view.dtype() {
        Dtype::F16 => pairs().map(|pair| f16::from_le_bytes(pair).to_f32()).collect(),
        Dtype::BF16 => pairs().map(|pair| bf16::from_le_bytes(pair).to_f32()).collect(),
        _ => data.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect(),
    }
}
