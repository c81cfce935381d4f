//! A model's sizes and settings, from its `config.json`.

use super::error::LoadError;
use super::rope::Rope;
use hmm_control::Token;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The supported model families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Learnt positions, layer norms, a `tanh` GELU.
    Gpt2,
    /// Rotary positions, root-mean-square norms, gated SiLU, grouped queries.
    Llama,
    /// As Llama, with biases on queries, keys and values.
    Qwen2,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 3] = [Family::Gpt2, Family::Llama, Family::Qwen2];

    /// Its `model_type` in `config.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Gpt2 => "gpt2",
            Family::Llama => "llama",
            Family::Qwen2 => "qwen2",
        }
    }

    const fn architecture(self) -> &'static str {
        match self {
            Family::Gpt2 => "GPT2LMHeadModel",
            Family::Llama => "LlamaForCausalLM",
            Family::Qwen2 => "Qwen2ForCausalLM",
        }
    }
}

/// A model's sizes and settings, as `config.json` has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The family.
    pub family: Family,
    /// Size of the vocabulary.
    pub vocabulary: usize,
    /// Width of a hidden state.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of query heads.
    pub heads: usize,
    /// Number of key-value heads; each serves `heads / key_value_heads` query heads.
    pub key_value_heads: usize,
    /// Width of a head.
    pub head_width: usize,
    /// Width of the feed-forward layer.
    pub inner_width: usize,
    /// The longest text, in tokens.
    pub positions: usize,
    /// The term added to a variance before its root is taken.
    pub epsilon: f64,
    /// The rotary position embedding (not used by GPT-2).
    pub rope: Rope,
    /// True if queries, keys and values have biases.
    pub query_bias: bool,
    /// True if the attention's output projection has a bias.
    pub output_bias: bool,
    /// True if the feed-forward layer has biases.
    pub inner_bias: bool,
    /// True if the output head is the embedding.
    pub tied: bool,
    /// The token that begins a text, where there is one.
    pub begin: Option<Token>,
    /// Tokens that end a text, the usual one first.
    pub ends: Vec<Token>,
}

impl Config {
    /// A starting point for a small model: the Llama family with as many key heads as query heads, a tied output head,
    /// and a feed-forward width of `8 / 3 * width`, rounded up to a multiple of 32.
    pub fn small_llama(
        vocabulary: usize,
        width: usize,
        layers: usize,
        heads: usize,
        positions: usize,
    ) -> Config {
        Config {
            family: Family::Llama,
            vocabulary,
            width,
            layers,
            heads,
            key_value_heads: heads,
            head_width: width.checked_div(heads).unwrap_or(0),
            inner_width: (width * 8).div_ceil(3).next_multiple_of(32),
            positions,
            epsilon: 1e-5,
            rope: Rope::default(),
            query_bias: false,
            output_bias: false,
            inner_bias: false,
            tied: true,
            begin: None,
            ends: Vec::new(),
        }
    }

    /// Reads the text of a `config.json`. `path` is for messages.
    ///
    /// # Errors
    /// When it is not a JSON object, or names a family or a setting that is not supported.
    pub fn from_json(text: &[u8], path: &Path) -> Result<Config, LoadError> {
        let fault = |what: String| LoadError::Config { path: path.to_path_buf(), what };
        let value: Value = serde_json::from_slice(text).map_err(|error| fault(error.to_string()))?;
        let fields = Fields(value.as_object().ok_or_else(|| fault("it is no JSON object".to_owned()))?);
        let given = fields.text("model_type").unwrap_or_default();
        let Some(family) = Family::ALL.into_iter().find(|family| family.name() == given) else {
            return Err(LoadError::Family { path: path.to_path_buf(), given: given.to_owned() });
        };
        let config = match family {
            Family::Gpt2 => fields.gpt2(),
            Family::Llama | Family::Qwen2 => fields.llama(family),
        };
        let config = config.map_err(fault)?;
        config.check().map_err(fault)?;
        Ok(config)
    }

    /// The text of a `config.json`, as `transformers` 4 and 5 read it.
    pub fn to_json(&self) -> String {
        let mut fields = json!({
            "architectures": [self.family.architecture()],
            "model_type": self.family.name(),
            "vocab_size": self.vocabulary,
            "tie_word_embeddings": self.tied,
            "bos_token_id": self.begin,
            "eos_token_id": if self.ends.len() > 1 { json!(self.ends) } else { json!(self.ends.first()) },
        });
        let more = match self.family {
            Family::Gpt2 => json!({
                "n_embd": self.width, "n_layer": self.layers, "n_head": self.heads, "n_inner": self.inner_width,
                "n_positions": self.positions, "layer_norm_epsilon": self.epsilon, "activation_function": "gelu_new",
            }),
            Family::Llama | Family::Qwen2 => json!({
                "hidden_size": self.width, "num_hidden_layers": self.layers, "num_attention_heads": self.heads,
                "num_key_value_heads": self.key_value_heads, "head_dim": self.head_width,
                "intermediate_size": self.inner_width, "max_position_embeddings": self.positions,
                "rms_norm_eps": self.epsilon, "hidden_act": "silu", "attention_bias": self.query_bias,
                "mlp_bias": self.inner_bias, "rope_theta": self.rope.theta, "rope_scaling": self.rope.to_json(),
            }),
        };
        if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
            fields.extend(more);
        }
        format!("{fields:#}\n")
    }

    /// Width of the keys, and of the values, of one token in one layer.
    pub fn key_width(&self) -> usize {
        self.key_value_heads * self.head_width
    }

    /// Width of the queries of one token in one layer.
    pub fn query_width(&self) -> usize {
        self.heads * self.head_width
    }

    fn check(&self) -> Result<(), String> {
        let sizes = [
            ("vocabulary", self.vocabulary),
            ("hidden size", self.width),
            ("number of layers", self.layers),
            ("number of heads", self.heads),
            ("number of key-value heads", self.key_value_heads),
            ("width of a head", self.head_width),
            ("intermediate size", self.inner_width),
            ("number of positions", self.positions),
        ];
        if let Some((name, size)) = sizes.into_iter().find(|(_, size)| !(1..=1 << 24).contains(size)) {
            return Err(format!("the {name} is {size}"));
        }
        if !self.heads.is_multiple_of(self.key_value_heads) {
            let (heads, shared) = (self.heads, self.key_value_heads);
            return Err(format!("{heads} heads cannot share {shared} key-value heads evenly"));
        }
        let rotary = self.family != Family::Gpt2;
        if rotary && !self.head_width.is_multiple_of(2) {
            return Err(format!("the width of a head is {}, and has to be even", self.head_width));
        }
        if !(self.epsilon >= 0.0 && self.epsilon < 1.0) {
            return Err(format!("the norm's epsilon is {}", self.epsilon));
        }
        let outside = |token: &&Token| **token as usize >= self.vocabulary;
        match self.ends.iter().chain(&self.begin).find(outside) {
            Some(token) => Err(format!("token {token} is outside the vocabulary of {}", self.vocabulary)),
            None => Ok(()),
        }
    }
}

/// The fields of a `config.json`.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn optional(&self, name: &str) -> Result<Option<usize>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().and_then(|size| usize::try_from(size).ok()) {
                Some(size) => Ok(Some(size)),
                None => Err(format!("{name} is {value}, and has to be a whole number")),
            },
        }
    }

    fn size(&self, name: &str) -> Result<usize, String> {
        self.optional(name)?.ok_or_else(|| format!("{name} is missing"))
    }

    fn number(&self, name: &str, otherwise: f64) -> Result<f64, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(otherwise),
            Some(value) => value.as_f64().ok_or_else(|| format!("{name} is {value}, and has to be a number")),
        }
    }

    fn flag(&self, name: &str, otherwise: bool) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(otherwise)
    }

    /// One token, several, or none.
    fn tokens(&self, name: &str) -> Result<Vec<Token>, String> {
        let one = |value: &Value| {
            let token = value.as_u64().and_then(|token| Token::try_from(token).ok());
            token.ok_or_else(|| format!("{name} holds {value}, which is no token"))
        };
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(several)) => several.iter().map(one).collect(),
            Some(value) => one(value).map(|token| vec![token]),
        }
    }

    /// Refuses a setting that changes the arithmetic.
    fn only(&self, name: &str, right: &[&str]) -> Result<(), String> {
        match self.text(name) {
            Some(given) if !right.contains(&given) => {
                Err(format!("{name} is `{given}`; only {} is offered", right.join(", ")))
            }
            _ => Ok(()),
        }
    }

    fn without(&self, name: &str) -> Result<(), String> {
        if self.flag(name, false) { Err(format!("{name} is set, which is not offered")) } else { Ok(()) }
    }

    fn gpt2(&self) -> Result<Config, String> {
        self.only("activation_function", &["gelu_new", "gelu_pytorch_tanh"])?;
        self.without("scale_attn_by_inverse_layer_idx")?;
        self.without("reorder_and_upcast_attn")?;
        if !self.flag("scale_attn_weights", true) {
            return Err("scale_attn_weights is false, which is not offered".to_owned());
        }
        let (width, heads) = (self.size("n_embd")?, self.size("n_head")?);
        Ok(Config {
            family: Family::Gpt2,
            vocabulary: self.size("vocab_size")?,
            width,
            layers: self.size("n_layer")?,
            heads,
            key_value_heads: heads,
            head_width: head_width(width, heads)?,
            inner_width: self.optional("n_inner")?.unwrap_or(4 * width),
            positions: self.size("n_positions")?,
            epsilon: self.number("layer_norm_epsilon", 1e-5)?,
            rope: Rope::default(),
            query_bias: true,
            output_bias: true,
            inner_bias: true,
            tied: self.flag("tie_word_embeddings", true),
            begin: self.tokens("bos_token_id")?.first().copied(),
            ends: self.tokens("eos_token_id")?,
        })
    }

    fn llama(&self, family: Family) -> Result<Config, String> {
        self.only("hidden_act", &["silu", "swish"])?;
        self.without("use_sliding_window")?;
        let (width, heads) = (self.size("hidden_size")?, self.size("num_attention_heads")?);
        let head = match self.optional("head_dim")? {
            Some(head) => head,
            None => head_width(width, heads)?,
        };
        let biased = self.flag("attention_bias", false);
        Ok(Config {
            family,
            vocabulary: self.size("vocab_size")?,
            width,
            layers: self.size("num_hidden_layers")?,
            heads,
            key_value_heads: self.optional("num_key_value_heads")?.unwrap_or(heads),
            head_width: head,
            inner_width: self.size("intermediate_size")?,
            positions: self.size("max_position_embeddings")?,
            epsilon: self.number("rms_norm_eps", 1e-6)?,
            rope: Rope::from_json(self.0)?,
            query_bias: biased || family == Family::Qwen2,
            output_bias: biased && family == Family::Llama,
            inner_bias: self.flag("mlp_bias", false) && family == Family::Llama,
            tied: self.flag("tie_word_embeddings", false),
            begin: self.tokens("bos_token_id")?.first().copied(),
            ends: self.tokens("eos_token_id")?,
        })
    }
}

fn head_width(width: usize, heads: usize) -> Result<usize, String> {
    match width.checked_rem(heads) {
        Some(0) => Ok(width / heads),
        _ => Err(format!("a width of {width} is not divided by {heads} heads")),
    }
}
