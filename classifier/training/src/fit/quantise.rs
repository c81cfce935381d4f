//! Weights as small integers.

/// Weights as multiples of one scale. The scale is the one of a few that loses least, in squares; weights beyond
/// 127 of it are cut.
pub fn quantise(weights: &[f32]) -> (Box<[i8]>, f32) {
    let largest = weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
    if largest == 0.0 {
        return (vec![0; weights.len()].into(), 1.0);
    }
    let round = |weight: f32, scale: f32| (weight / scale).round().clamp(-127.0, 127.0);
    let loss = |scale: f32| -> f64 {
        weights.iter().map(|weight| f64::from(weight - round(*weight, scale) * scale).powi(2)).sum()
    };
    let scales = (0..12).map(|step| largest / 127.0 * 0.8_f32.powi(step));
    let scale = scales
        .map(|scale| (loss(scale), scale))
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map_or(largest / 127.0, |(_, scale)| scale);
    (weights.iter().map(|weight| round(*weight, scale) as i8).collect(), scale)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn no_weight_moves_by_more_than_half_a_step_unless_it_is_cut() {
        let weights: Vec<f32> = (0..1000).map(|k| ((k * 37 % 1000) as f32 / 500.0 - 1.0).powi(3)).collect();
        let (small, scale) = quantise(&weights);
        for (weight, small) in weights.iter().zip(&small) {
            let back = f32::from(*small) * scale;
            assert!((weight - back).abs() <= scale * 0.501 || small.abs() == 127, "{weight} {back}");
        }
        assert_eq!(quantise(&[0.0; 4]).0[..], [0; 4]);
    }
}
