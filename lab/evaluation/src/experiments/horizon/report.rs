//! The results: rows, figures, a table, a plot.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::run::{Measured, Method, Row};
use crate::report::plot::Plot;
use crate::statistics::{Band, Resampling, first_flat, non_inferior, simultaneous_band, wilson};

/// Epsilon of H4b.
const FLAT: f64 = 0.02;
/// Delta_S of H1.
const MARGIN: f64 = 0.05;
/// The steering methods whose curves are plotted, with their colours.
const CURVES: [(Method, &str); 2] = [(Method::Hmm, "#0072b2"), (Method::HmmAndPrior, "#009e73")];
const LEAKS: &str = "#d55e00";

/// The figures of one steering method at one horizon.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Figures {
    /// The steering method.
    #[serde(rename = "way")]
    pub method: Method,
    /// Its horizon, or n.
    pub horizon: usize,
    /// The number of turns.
    pub turns: usize,
    /// The number of answers that leaked.
    pub leaks: usize,
    /// The number of answers that continued the task without a leak.
    pub successes: usize,
    /// `exp` of the mean negative log probability of a token.
    pub perplexity: f64,
    /// The number of written tokens per answer.
    pub tokens: f64,
    /// Milliseconds of look-ahead per token.
    pub looked_ms: f64,
}

/// A curve over the consecutive horizons.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The steering method.
    pub method: Method,
    /// S, with its band.
    pub success: Band,
    /// The share of leaks, with its band.
    pub leaks: Band,
    /// k*; `None` if no horizon is shown to be one.
    pub flat: Option<usize>,
}

impl Measured {
    /// A row for each steering method and horizon, in the order of the runs.
    pub fn figures(&self) -> Vec<Figures> {
        let mut order: Vec<(Method, usize)> = Vec::new();
        let mut groups: BTreeMap<(Method, usize), Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            let key = (row.method, row.horizon);
            groups.entry(key).or_insert_with(|| {
                order.push(key);
                Vec::new()
            });
            groups.entry(key).and_modify(|rows| rows.push(row));
        }
        order.sort_by_key(|(method, horizon)| (*method, *horizon));
        order.iter().filter_map(|key| Some(figures(*key, groups.get(key)?))).collect()
    }

    /// The curves of the look-ahead, if there are enough turns for a band.
    pub fn curves(&self) -> Vec<Curve> {
        let points = self.points();
        let how = Resampling::default();
        let curve = |method: Method| {
            let of = |value: &dyn Fn(&Row) -> bool| self.by_turn(method, points, value);
            let success = of(&|row| row.success);
            Some(Curve {
                method,
                success: simultaneous_band(&success, &how)?,
                leaks: simultaneous_band(&of(&|row| row.leak), &how)?,
                flat: first_flat(&success, FLAT, &how),
            })
        };
        CURVES.iter().filter_map(|(method, _)| curve(*method)).collect()
    }

    /// All horizons from 0 up to but not including this one were run.
    fn points(&self) -> usize {
        (0..).take_while(|horizon| self.settings.horizons.contains(horizon)).count()
    }

    /// The values of each turn at the horizons from 0 on.
    fn by_turn(&self, method: Method, points: usize, value: &dyn Fn(&Row) -> bool) -> Vec<Vec<f64>> {
        let mut turns: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.method == method) {
            if let Some(place) =
                turns.entry(row.turn).or_insert_with(|| vec![0.0; points]).get_mut(row.horizon)
            {
                *place = f64::from(u8::from(value(row)));
            }
        }
        turns.into_values().collect()
    }

    /// The p-value of "the look-ahead loses S to rollouts of the same horizon by delta_S or more", and the ratio of the
    /// milliseconds per token; `None` if there were no rollouts.
    pub fn against_rollouts(&self, method: Method, horizon: usize) -> Option<(f64, f64)> {
        let of = |method: Method| -> BTreeMap<u64, &Row> {
            let rows = self.rows.iter().filter(|row| row.method == method && row.horizon == horizon);
            rows.map(|row| (row.turn, row)).collect()
        };
        let (ours, rolled) = (of(method), of(Method::Rollouts));
        let pairs: Vec<(&Row, &Row)> =
            rolled.iter().filter_map(|(turn, rolled)| Some((*ours.get(turn)?, *rolled))).collect();
        let success = |row: &Row| f64::from(u8::from(row.success));
        let differences: Vec<f64> =
            pairs.iter().map(|(ours, rolled)| success(ours) - success(rolled)).collect();
        let per_token = |rows: &mut dyn Iterator<Item = &Row>| {
            let (ms, tokens) =
                rows.fold((0.0, 0), |(ms, tokens), row| (ms + row.looked_ms, tokens + row.tokens));
            ms / tokens.max(1) as f64
        };
        let ratio = per_token(&mut pairs.iter().map(|(ours, _)| *ours))
            / per_token(&mut pairs.iter().map(|(_, rolled)| *rolled));
        (!pairs.is_empty()).then(|| (non_inferior(&differences, MARGIN), ratio))
    }

    /// The rows as comma-separated values.
    pub fn csv(&self) -> String {
        let mut out =
            "turn,way,horizon,leak,success,tokens,answer_tokens,log_probability,looked_ms\n".to_owned();
        for row in &self.rows {
            let (leak, success) = (u8::from(row.leak), u8::from(row.success));
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "{},{},{},{leak},{success},{},{},{:.4},{:.4}",
                row.turn,
                row.method.as_str(),
                row.horizon,
                row.tokens,
                row.answer_tokens,
                row.log_probability,
                row.looked_ms
            );
        }
        out
    }

    /// All figures as one JSON value.
    pub fn json(&self) -> Value {
        let band = |band: &Band| json!({ "mean": band.mean, "low": band.low, "high": band.high });
        let curves: Vec<Value> = self
            .curves()
            .iter()
            .map(|curve| {
                json!({
                    "way": curve.method,
                    "success": band(&curve.success),
                    "leaks": band(&curve.leaks),
                    "k_star": curve.flat,
                })
            })
            .collect();
        let rollouts: Vec<Value> = self.h1().collect();
        json!({
            "settings": self.settings,
            "learnt": {
                "answers": self.learnt.drawn.0,
                "tokens": self.learnt.drawn.1,
                "nats_language_model": self.learnt.held_out.0,
                "nats_hmm": self.learnt.held_out.1,
                "nats_ahead_constant": self.learnt.prior_nats.0,
                "nats_ahead_prior": self.learnt.prior_nats.1,
            },
            "step_ms": self.step_ms,
            "figures": self.figures(),
            "curves": curves,
            "h1": rollouts,
            "agreements": self.agreements,
        })
    }

    fn h1(&self) -> impl Iterator<Item = Value> {
        let rolled = &self.settings.rolled;
        let all = CURVES.iter().flat_map(|(method, _)| rolled.iter().map(|horizon| (*method, *horizon)));
        all.filter_map(|(method, horizon)| {
            let (p, ratio) = self.against_rollouts(method, horizon)?;
            Some(json!({ "way": method, "horizon": horizon, "p": p, "time_ratio": ratio }))
        })
    }

    /// The figures as text.
    pub fn table(&self) -> String {
        let learnt = &self.learnt;
        let mut out = format!(
            "{} states{}, {} answers ({} tokens): {:.2} nats per token, the language model's own {:.2}; \
             the next 32 tokens {:.1} nats, from the features {:.1}\n\
             one step of the language model: {:.1} ms\n\n\
             | method | k or n | turns | leaks [95 %] | S [95 %] | perplexity | tokens | look-ahead, ms a token |\n\
             |---|---|---|---|---|---|---|---|\n",
            learnt.hmm.states(),
            if self.settings.hmm.is_some() { ", distilled before" } else { "" },
            learnt.drawn.0,
            learnt.drawn.1,
            learnt.held_out.1,
            learnt.held_out.0,
            learnt.prior_nats.0,
            learnt.prior_nats.1,
            self.step_ms,
        );
        for row in self.figures() {
            let share = |count: usize| {
                let (low, high) = wilson(count as u64, row.turns as u64);
                format!("{:.2} [{low:.2}, {high:.2}]", count as f64 / row.turns.max(1) as f64)
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {:.3} | {:.0} | {:.2} |",
                row.method.as_str(),
                row.horizon,
                row.turns,
                share(row.leaks),
                share(row.successes),
                row.perplexity,
                row.tokens,
                row.looked_ms
            );
        }
        out.push('\n');
        for curve in self.curves() {
            let flat = curve.flat.map_or("no k* shown".to_owned(), |flat| format!("k* = {flat}"));
            let _ = writeln!(out, "{}: {flat}", curve.method.as_str());
        }
        for (method, _) in CURVES {
            for horizon in &self.settings.rolled {
                if let Some((p, ratio)) = self.against_rollouts(method, *horizon) {
                    let _ = writeln!(
                        out,
                        "{} against rollouts, k = {horizon}: not worse by {MARGIN} with p = {p:.3}; {ratio:.4} of the time",
                        method.as_str()
                    );
                }
            }
        }
        for agreement in self.agreements.iter().filter(|agreement| agreement.candidates > 0) {
            let count = agreement.candidates as f64;
            let _ = writeln!(
                out,
                "phi against rollouts of 32, k = {}{}: {} candidates, bias {:+.3}, mean difference {:.3}, {} of {} sure pairs in the same \
                 order, {:.4} of the time",
                agreement.horizon,
                if agreement.prior { ", with the prior" } else { "" },
                agreement.candidates,
                agreement.differences.0 / count,
                agreement.differences.1 / count,
                agreement.pairs.1,
                agreement.pairs.0,
                agreement.ms.0 / agreement.ms.1.max(f64::MIN_POSITIVE),
            );
        }
        out
    }

    /// A plot of S and leaks against the horizon, with their bands.
    pub fn plot(&self) -> String {
        let last = self.points().saturating_sub(1).max(1) as f64;
        let mut plot = Plot::new(
            "S (blue, green; dashed: simultaneous 95 % band) and leaks (red)",
            "tokens looked ahead after the next",
            "share of turns",
            (0.0, last),
            (0.0, 1.0),
        );
        for curve in self.curves() {
            let colour = CURVES
                .iter()
                .find(|(method, _)| *method == curve.method)
                .map_or("#000", |(_, colour)| *colour);
            let dashed = curve.method == Method::Hmm;
            plot.curve(&along(&curve.success.mean), colour, false);
            plot.curve(&along(&curve.success.low), colour, true);
            plot.curve(&along(&curve.success.high), colour, true);
            plot.curve(&along(&curve.leaks.mean), LEAKS, dashed);
            if let Some(end) = curve.success.mean.last() {
                plot.text(last, *end, &format!("S, {}", curve.method.as_str()), colour);
            }
            if let Some(end) = curve.leaks.mean.last() {
                plot.text(last, *end, &format!("leaks, {}", curve.method.as_str()), LEAKS);
            }
        }
        const STYLE: &str =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"12\" ";
        let style = "<style>.g{stroke:#ddd}.t{font-weight:bold}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/><title>";
        plot.finish().replacen("<svg ", STYLE, 1).replacen("<title>", style, 1)
    }
}

fn along(values: &[f64]) -> Vec<(f64, f64)> {
    values.iter().enumerate().map(|(place, value)| (place as f64, *value)).collect()
}

fn figures((method, horizon): (Method, usize), rows: &[&Row]) -> Figures {
    let turns = rows.len();
    let sum = |value: &dyn Fn(&Row) -> f64| rows.iter().map(|row| value(row)).sum::<f64>();
    let tokens = sum(&|row| row.tokens as f64);
    Figures {
        method,
        horizon,
        turns,
        leaks: rows.iter().filter(|row| row.leak).count(),
        successes: rows.iter().filter(|row| row.success).count(),
        perplexity: (-sum(&|row| row.log_probability) / sum(&|row| row.answer_tokens as f64).max(1.0)).exp(),
        tokens: tokens / turns.max(1) as f64,
        looked_ms: sum(&|row| row.looked_ms) / tokens.max(1.0),
    }
}
