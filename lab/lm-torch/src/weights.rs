//! A model's weights.

use crate::error::LoadError;
use language_models::transformer::{Config, Family};
use std::collections::HashMap;
use tch::{TchError, Tensor};

/// Tensors by the names that the files have.
pub type NamedTensors = HashMap<String, Tensor>;

/// All weights of a model. A tensor shares its data with the others of the same storage.
pub struct Weights {
    pub tokens: Tensor,
    pub positions: Option<Tensor>,
    pub layers: Vec<Layer>,
    pub last: Norm,
    /// The output head; the embedding where it is tied.
    pub head: Tensor,
}

/// The weights of one layer.
pub struct Layer {
    pub before_attention: Norm,
    pub attention: Attention,
    pub output: Linear,
    pub before_inner: Norm,
    pub inner: FeedForward,
}

/// The projections to queries, keys and values.
pub enum Attention {
    /// One projection for all three.
    Joint(Linear),
    Separate {
        queries: Linear,
        keys: Linear,
        values: Linear,
    },
}

/// The feed-forward part of a layer.
pub enum FeedForward {
    Gelu { widen: Linear, narrow: Linear },
    Gated { gate: Linear, widen: Linear, narrow: Linear },
}

/// A layer norm where it has a shift, else a root-mean-square norm.
pub struct Norm {
    pub gain: Tensor,
    pub shift: Option<Tensor>,
    pub epsilon: f64,
}

/// A linear layer.
pub struct Linear {
    weight: Tensor,
    bias: Option<Tensor>,
    /// GPT-2 stores the inputs as rows.
    inputs_first: bool,
}

impl Linear {
    pub fn apply(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        if !self.inputs_first {
            return rows.f_linear(&self.weight, self.bias.as_ref());
        }
        match &self.bias {
            Some(bias) => bias.f_addmm(rows, &self.weight),
            None => rows.f_mm(&self.weight),
        }
    }
}

impl Norm {
    pub fn apply(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        let width = self.gain.size();
        match &self.shift {
            Some(shift) => rows.f_layer_norm(&width, Some(&self.gain), Some(shift), self.epsilon, false),
            None => rows.f_rms_norm(&width, Some(&self.gain), self.epsilon),
        }
    }
}

impl Weights {
    /// The weights. Names and shapes have been checked against the configuration before.
    pub fn new(config: &Config, named: &NamedTensors) -> Result<Weights, LoadError> {
        let find = Finder { config, named };
        match config.family {
            Family::Gpt2 => find.gpt2(),
            Family::Llama | Family::Qwen2 => find.llama(),
        }
    }
}

struct Finder<'a> {
    config: &'a Config,
    named: &'a NamedTensors,
}

impl Finder<'_> {
    fn tensor(&self, name: &str) -> Result<Tensor, LoadError> {
        let found = self.named.get(name).map(Tensor::shallow_clone);
        found.ok_or_else(|| language_models::transformer::LoadError::Missing { name: name.to_owned() }.into())
    }

    fn optional(&self, name: &str) -> Option<Tensor> {
        self.named.get(name).map(Tensor::shallow_clone)
    }

    fn linear(&self, name: &str) -> Result<Linear, LoadError> {
        Ok(Linear {
            weight: self.tensor(&format!("{name}.weight"))?,
            bias: self.optional(&format!("{name}.bias")),
            inputs_first: self.config.family == Family::Gpt2,
        })
    }

    fn norm(&self, name: &str) -> Result<Norm, LoadError> {
        Ok(Norm {
            gain: self.tensor(&format!("{name}.weight"))?,
            shift: self.optional(&format!("{name}.bias")),
            epsilon: self.config.epsilon,
        })
    }

    fn head(&self, embedding: &Tensor) -> Result<Tensor, LoadError> {
        if self.config.tied { Ok(embedding.shallow_clone()) } else { self.tensor("lm_head.weight") }
    }

    fn gpt2(&self) -> Result<Weights, LoadError> {
        let tokens = self.tensor("transformer.wte.weight")?;
        let layer = |number: usize| {
            let at = |part: &str| format!("transformer.h.{number}.{part}");
            Ok(Layer {
                before_attention: self.norm(&at("ln_1"))?,
                attention: Attention::Joint(self.linear(&at("attn.c_attn"))?),
                output: self.linear(&at("attn.c_proj"))?,
                before_inner: self.norm(&at("ln_2"))?,
                inner: FeedForward::Gelu {
                    widen: self.linear(&at("mlp.c_fc"))?,
                    narrow: self.linear(&at("mlp.c_proj"))?,
                },
            })
        };
        Ok(Weights {
            head: self.head(&tokens)?,
            tokens,
            positions: Some(self.tensor("transformer.wpe.weight")?),
            layers: (0..self.config.layers).map(layer).collect::<Result<_, LoadError>>()?,
            last: self.norm("transformer.ln_f")?,
        })
    }

    fn llama(&self) -> Result<Weights, LoadError> {
        let tokens = self.tensor("model.embed_tokens.weight")?;
        let layer = |number: usize| {
            let at = |part: &str| format!("model.layers.{number}.{part}");
            Ok(Layer {
                before_attention: self.norm(&at("input_layernorm"))?,
                attention: Attention::Separate {
                    queries: self.linear(&at("self_attn.q_proj"))?,
                    keys: self.linear(&at("self_attn.k_proj"))?,
                    values: self.linear(&at("self_attn.v_proj"))?,
                },
                output: self.linear(&at("self_attn.o_proj"))?,
                before_inner: self.norm(&at("post_attention_layernorm"))?,
                inner: FeedForward::Gated {
                    gate: self.linear(&at("mlp.gate_proj"))?,
                    widen: self.linear(&at("mlp.up_proj"))?,
                    narrow: self.linear(&at("mlp.down_proj"))?,
                },
            })
        };
        Ok(Weights {
            head: self.head(&tokens)?,
            tokens,
            positions: None,
            layers: (0..self.config.layers).map(layer).collect::<Result<_, LoadError>>()?,
            last: self.norm("model.norm")?,
        })
    }
}
