//! The names and shapes of a model's tensors, as Hugging Face's files have them.

use crate::config::{Config, Family};

/// One tensor of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name in the file. Files of GPT-2 may leave out the leading `transformer.`.
    pub name: String,
    /// Its shape, rows first.
    pub shape: Vec<usize>,
}

/// Every tensor that a model of this configuration has, in the order of its layers.
pub fn wanted(config: &Config) -> Vec<Wanted> {
    let mut list = List(Vec::new());
    match config.family {
        Family::Gpt2 => list.gpt2(config),
        Family::Llama | Family::Qwen2 => list.llama(config),
    }
    if !config.tied {
        list.add("lm_head.weight", &[config.vocabulary, config.width]);
    }
    list.0
}

struct List(Vec<Wanted>);

impl List {
    fn add(&mut self, name: &str, shape: &[usize]) {
        self.0.push(Wanted { name: name.to_owned(), shape: shape.to_vec() });
    }

    /// A layer of `inputs` to `outputs`. GPT-2's are stored the other way round.
    fn linear(&mut self, name: &str, inputs: usize, outputs: usize, turned: bool, bias: bool) {
        let shape = if turned { [inputs, outputs] } else { [outputs, inputs] };
        self.add(&format!("{name}.weight"), &shape);
        if bias {
            self.add(&format!("{name}.bias"), &[outputs]);
        }
    }

    fn norm(&mut self, name: &str, width: usize, bias: bool) {
        self.add(&format!("{name}.weight"), &[width]);
        if bias {
            self.add(&format!("{name}.bias"), &[width]);
        }
    }

    fn gpt2(&mut self, config: &Config) {
        let (width, inner) = (config.width, config.inner_width);
        self.add("transformer.wte.weight", &[config.vocabulary, width]);
        self.add("transformer.wpe.weight", &[config.positions, width]);
        for layer in 0..config.layers {
            let at = |part: &str| format!("transformer.h.{layer}.{part}");
            self.norm(&at("ln_1"), width, true);
            self.linear(&at("attn.c_attn"), width, 3 * width, true, true);
            self.linear(&at("attn.c_proj"), width, width, true, true);
            self.norm(&at("ln_2"), width, true);
            self.linear(&at("mlp.c_fc"), width, inner, true, true);
            self.linear(&at("mlp.c_proj"), inner, width, true, true);
        }
        self.norm("transformer.ln_f", width, true);
    }

    fn llama(&mut self, config: &Config) {
        let (width, inner) = (config.width, config.inner_width);
        let (queries, keys) = (config.query_width(), config.key_width());
        self.add("model.embed_tokens.weight", &[config.vocabulary, width]);
        for layer in 0..config.layers {
            let at = |part: &str| format!("model.layers.{layer}.{part}");
            self.norm(&at("input_layernorm"), width, false);
            self.linear(&at("self_attn.q_proj"), width, queries, false, config.query_bias);
            self.linear(&at("self_attn.k_proj"), width, keys, false, config.query_bias);
            self.linear(&at("self_attn.v_proj"), width, keys, false, config.query_bias);
            self.linear(&at("self_attn.o_proj"), queries, width, false, config.output_bias);
            self.norm(&at("post_attention_layernorm"), width, false);
            self.linear(&at("mlp.gate_proj"), width, inner, false, config.inner_bias);
            self.linear(&at("mlp.up_proj"), width, inner, false, config.inner_bias);
            self.linear(&at("mlp.down_proj"), inner, width, false, config.inner_bias);
        }
        self.norm("model.norm", width, false);
    }
}
