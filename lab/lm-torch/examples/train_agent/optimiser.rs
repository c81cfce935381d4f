//! AdamW (Loshchilov and Hutter, 2019) with a state that can be saved and loaded, which libtorch's own does not offer.

use std::collections::BTreeMap;
use std::path::Path;

use lm_torch::tch::{self, Tensor, nn};

const DECAYS: [f64; 2] = [0.9, 0.98];
const WEIGHT_DECAY: f64 = 0.02;
const EPSILON: f64 = 1e-8;
/// The gradient norm at which gradients are clipped.
const CLIP_NORM: f64 = 1.0;
/// The name of the step count in the file.
const STEPS: &str = "steps";

/// The weights, and the running means of their gradients and squared gradients.
pub struct Optimiser {
    weights: BTreeMap<String, Tensor>,
    means: BTreeMap<String, [Tensor; 2]>,
    /// Steps so far.
    pub steps: usize,
}

impl Optimiser {
    pub fn new(variables: &nn::VarStore) -> Optimiser {
        let weights: BTreeMap<String, Tensor> = variables.variables().into_iter().collect();
        let means =
            weights.iter().map(|(name, weight)| (name.clone(), [weight.zeros_like(), weight.zeros_like()]));
        Optimiser { means: means.collect(), weights, steps: 0 }
    }

    /// Resumes from a file of [`Optimiser::save`].
    pub fn load(variables: &nn::VarStore, file: &Path) -> Result<Optimiser, Box<dyn std::error::Error>> {
        let _no_gradients = tch::no_grad_guard();
        let mut optimiser = Optimiser::new(variables);
        let mut read: BTreeMap<String, Tensor> = Tensor::read_safetensors(file)?.into_iter().collect();
        let mut take = |name: &str| read.remove(name).ok_or(format!("{} lacks {name}", file.display()));
        for (name, weight) in &mut optimiser.weights {
            weight.f_copy_(&take(name)?)?;
        }
        for (name, [mean, square]) in &mut optimiser.means {
            mean.f_copy_(&take(&format!("mean.{name}"))?)?;
            square.f_copy_(&take(&format!("square.{name}"))?)?;
        }
        optimiser.steps = take(STEPS)?.f_int64_value(&[0])?.try_into()?;
        Ok(optimiser)
    }

    /// Writes the whole state that the next step depends on.
    pub fn save(&self, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let _no_gradients = tch::no_grad_guard();
        let mut tensors = vec![(STEPS.to_owned(), Tensor::from_slice(&[i64::try_from(self.steps)?]))];
        tensors.extend(self.weights.iter().map(|(name, weight)| (name.clone(), weight.detach())));
        for (name, [mean, square]) in &self.means {
            tensors.push((format!("mean.{name}"), mean.shallow_clone()));
            tensors.push((format!("square.{name}"), square.shallow_clone()));
        }
        let part = file.with_extension("part");
        Tensor::write_safetensors(&tensors, &part)?;
        Ok(std::fs::rename(part, file)?)
    }

    /// One step down the gradient of `loss`.
    pub fn step(&mut self, loss: &Tensor, rate: f64) -> Result<(), tch::TchError> {
        for weight in self.weights.values_mut() {
            weight.zero_grad();
        }
        loss.f_backward()?;
        let _no_gradients = tch::no_grad_guard();
        self.steps += 1;
        let mut squares = 0.0;
        for weight in self.weights.values() {
            squares += weight.grad().f_norm()?.double_value(&[]).powi(2);
        }
        let clip = (CLIP_NORM / (squares.sqrt() + 1e-6)).min(1.0);
        let [first, second] = DECAYS.map(|decay| 1.0 - decay.powf(self.steps as f64));
        for (name, weight) in &mut self.weights {
            let Some([mean, square]) = self.means.get_mut(name) else { continue };
            let gradient = weight.grad().f_mul_scalar(clip)?;
            let _ = mean.f_lerp_(&gradient, 1.0 - DECAYS[0])?;
            let _ = square.f_lerp_(&gradient.f_square()?, 1.0 - DECAYS[1])?;
            let below = (&*square / second).f_sqrt()?.f_add_scalar(EPSILON)?;
            let _ = weight.f_mul_scalar_(1.0 - rate * WEIGHT_DECAY)?;
            let _ = weight.f_sub_(&(&*mean * (rate / first)).f_div(&below)?)?;
        }
        Ok(())
    }
}
