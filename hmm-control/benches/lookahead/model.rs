//! A random model with the shape of a distilled one.

use hmm_control::{Attribute, Hmm, Matrix, Storage, Token};

/// A number in (0, 1) that depends only on its place.
fn noise(seed: u64, row: usize, column: usize) -> f64 {
    let mut value = seed ^ ((row as u64) << 32 | column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((value >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A matrix whose columns sum to 1.
fn matrix(seed: u64, rows: usize, columns: usize) -> Matrix {
    // A high power gives a few large numbers and many small ones, as in a trained model.
    let value = |row, column| noise(seed, row, column).powi(8);
    let mut sums = vec![0.0; columns];
    for row in 0..rows {
        sums.iter_mut().enumerate().for_each(|(column, sum)| *sum += value(row, column));
    }
    Matrix::from_rows(rows, columns, Storage::F32, |row, values| {
        let scaled = values.iter_mut().zip(&sums).enumerate();
        scaled.for_each(|(column, (out, sum))| *out = value(row, column) / sum);
    })
}

/// A normalised random model of `f32`.
pub fn random(states: usize, vocabulary: usize) -> Hmm {
    let initial = vec![1.0 / states as f64; states];
    Hmm::from_parts(initial, matrix(1, states, states), matrix(2, vocabulary, states)).unwrap()
}

/// Logits that fall off as those of a trained model do: the hundredth about 6 below the highest, most 15 below.
pub fn logits(vocabulary: usize) -> Vec<f32> {
    (0..vocabulary).map(|token| (1.3 * -noise(6, token, 0).ln() - 15.0) as f32).collect()
}

/// A classifier as TRACE fits one: 21 % of the tokens have a weight.
pub fn classifier(vocabulary: usize) -> Attribute {
    let weighted = (0..vocabulary).filter(|token| noise(3, *token, 0) < 0.21);
    Attribute::from_weights(vocabulary, weighted.map(|token| (token as Token, -3.0 * noise(4, token, 0))))
        .unwrap()
}

/// An automaton of `states` states whose tokens lead to any state, which is the worst case for gathering.
pub fn automaton(vocabulary: usize, states: usize) -> Attribute {
    use hmm_control::Edge;
    let mut builder = Attribute::builder(vocabulary);
    for state in 0..states {
        let log_final = if state + 1 == states { 0.0 } else { f64::NEG_INFINITY };
        builder.state(Edge { to: state, log_weight: 0.0 }, log_final);
    }
    for state in 0..states {
        for token in 0..vocabulary {
            let to = (noise(5, state, token) * states as f64) as usize;
            builder.edge(state, token as Token, Edge { to, log_weight: 0.0 });
        }
    }
    builder.build(0).unwrap()
}
