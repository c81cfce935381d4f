//! The initial weights.

use lm_torch::tch::{self, Device, Kind, Tensor, nn};

/// The part of the hidden state that holds the token itself; the rest is for the tokens before it.
const CONTENT: i64 = 160;
/// Width of the code of a token.
const CODE: i64 = 32;
const HEAD: i64 = 64;

/// Sets induction heads, which repeat text that was read (Olsson and others, "In-context Learning and Induction
/// Heads", 2022).
///
/// In the first layer, three heads attend one, two and three tokens back and write a code of the token there. In the
/// second layer, heads attend to positions that follow the same tokens as the current one, and copy the token there:
/// two heads match one token, two match three. Training continues from these weights.
pub fn prepare(variables: &nn::VarStore, theta: f64) -> Result<(), tch::TchError> {
    let _no_gradients = tch::no_grad_guard();
    let named = variables.variables();
    let get = |name: &str| &named[name];
    let (float, cpu) = (Kind::Float, Device::Cpu);
    let normal = |rows: i64, columns: i64, spread: f64| Tensor::randn([rows, columns], (float, cpu)) * spread;
    let _ = get("model.embed_tokens.weight").narrow(1, CONTENT, 256 - CONTENT).fill_(0.0);
    let _ = get("model.norm.weight").shallow_clone().fill_(2.0);
    let code = normal(CODE, CONTENT, 1.0 / (CONTENT as f64).sqrt());
    let part = |layer: i64, name: &str| get(&format!("model.layers.{layer}.self_attn.{name}"));
    for back in 0..3_i64 {
        let rows = |tensor: &Tensor| tensor.narrow(0, back * HEAD, HEAD);
        for name in ["q_proj.weight", "k_proj.weight", "v_proj.weight"] {
            let _ = rows(part(0, name)).fill_(0.0);
        }
        for pair in 0..6_i64 {
            let angle = theta.powf(-pair as f64 / (HEAD / 2) as f64) * (back + 1) as f64;
            let at = |bias: &Tensor, place: i64, value: f64| rows(bias).narrow(0, place, 1).fill_(value);
            let _ = at(part(0, "q_proj.bias"), pair, 8.0);
            let _ = at(part(0, "k_proj.bias"), pair, 8.0 * angle.cos());
            let _ = at(part(0, "k_proj.bias"), pair + HEAD / 2, 8.0 * angle.sin());
        }
        rows(part(0, "v_proj.weight")).narrow(0, 0, CODE).narrow(1, 0, CONTENT).copy_(&code);
        let outs = part(0, "o_proj.weight").narrow(1, back * HEAD, HEAD);
        let _ = outs.shallow_clone().fill_(0.0);
        let eye = Tensor::eye(CODE, (float, cpu)) * 0.016;
        outs.narrow(0, CONTENT + back * CODE, CODE).narrow(1, 0, CODE).copy_(&eye);
    }
    let flips: Vec<Tensor> = (0..3).map(|_| normal(CODE, 1, 1.0).sign()).collect();
    // A code uses the slow pairs of a head, which hardly rotate within a page.
    let slow = |tensor: &Tensor, codes: &Tensor, from: i64, width: i64| {
        for (half, place) in [(0, HEAD / 4), (1, HEAD * 3 / 4)] {
            let codes = codes.narrow(0, half * CODE / 2, CODE / 2);
            tensor.narrow(0, place, CODE / 2).narrow(1, from, width).copy_(&codes);
        }
    };
    for head in 0..4_i64 {
        let rows = |tensor: &Tensor| tensor.narrow(0, head * HEAD, HEAD);
        for name in ["q_proj.weight", "k_proj.weight", "v_proj.weight"] {
            let _ = rows(part(1, name)).fill_(0.0);
        }
        let (longest, sharp) = if head < 2 { (3, 1.2) } else { (1, 1.5) };
        for back in 0..longest {
            let flip = &flips[back as usize] * sharp * [1.0, 0.85, 0.7][back as usize];
            let own = CONTENT + back * CODE;
            slow(&rows(part(1, "k_proj.weight")), &(Tensor::eye(CODE, (float, cpu)) * &flip), own, CODE);
            match back {
                0 => slow(&rows(part(1, "q_proj.weight")), &(&code * &flip), 0, CONTENT),
                _ => slow(
                    &rows(part(1, "q_proj.weight")),
                    &(Tensor::eye(CODE, (float, cpu)) * &flip),
                    own - CODE,
                    CODE,
                ),
            }
        }
        // The token there is copied, each head one half of it.
        let half = head % 2 * HEAD;
        rows(part(1, "v_proj.weight")).narrow(1, half, HEAD).copy_(&Tensor::eye(HEAD, (float, cpu)));
        let outs = part(1, "o_proj.weight").narrow(1, head * HEAD, HEAD);
        let _ = outs.shallow_clone().fill_(0.0);
        let gain = if head < 2 { 0.05 } else { 0.02 };
        outs.narrow(0, half, HEAD).copy_(&(Tensor::eye(HEAD, (float, cpu)) * gain));
    }
    Ok(())
}
