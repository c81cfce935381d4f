//! The loss of direct preference optimisation against values computed by hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lm_torch::preference::{Pairs, loss};
use lm_torch::tch::{Kind, Tensor};

fn naive(rows: &[[f64; 4]], beta: f64) -> f64 {
    let each = rows.iter().map(|[preferred, rejected, before_preferred, before_rejected]| {
        let gain = (preferred - rejected) - (before_preferred - before_rejected);
        (1.0 + (-beta * gain).exp()).ln()
    });
    each.sum::<f64>() / rows.len() as f64
}

#[test]
fn the_loss_is_that_of_the_paper() {
    // A gain of (-1 + 4) - (-2 + 3) = 2 at beta 0.5: log(1 + e^-1).
    let at = |value: f64| Tensor::from_slice(&[value]);
    let one = loss(
        &Pairs { preferred: &at(-1.0), rejected: &at(-4.0) },
        &Pairs { preferred: &at(-2.0), rejected: &at(-3.0) },
        0.5,
    );
    assert!((one.unwrap().double_value(&[]) - 0.313_261_687_518_222_8).abs() < 1e-12);
    let rows = [[-1.0, -4.0, -2.0, -3.0], [-9.0, -2.5, -3.0, -7.0], [-0.1, -30.0, -12.0, -11.0]];
    let column = |place: usize| Tensor::from_slice(&rows.map(|row| row[place]));
    for beta in [0.1, 1.0, 3.0] {
        let model = (column(0), column(1));
        let reference = (column(2), column(3));
        let found = loss(
            &Pairs { preferred: &model.0, rejected: &model.1 },
            &Pairs { preferred: &reference.0, rejected: &reference.1 },
            beta,
        );
        let apart = found.unwrap().double_value(&[]) - naive(&rows, beta);
        assert!(apart.abs() < 1e-9, "{beta}: {apart}");
    }
}

#[test]
fn a_step_raises_what_is_preferred_and_lowers_what_is_rejected() {
    let start = || Tensor::from_slice(&[-2.0, -5.0]).set_requires_grad(true);
    let (preferred, rejected) = (start(), start());
    let before = Tensor::from_slice(&[-2.0, -5.0]);
    let reference = Pairs { preferred: &before, rejected: &before };
    let found = loss(&Pairs { preferred: &preferred, rejected: &rejected }, &reference, 0.1).unwrap();
    found.backward();
    // The derivative at the reference is -beta / 2 for each pair, over two pairs.
    for (tensor, slope) in [(&preferred, -0.025), (&rejected, 0.025)] {
        let far = (tensor.grad() - slope).abs().max().double_value(&[]);
        assert!(far < 1e-12, "{far}");
    }
    assert!(!before.grad().defined() && found.kind() == Kind::Double);
}
