//! The measurements as text and as JSON.

use hmm_control::quality::{Bin, Reliability, quantile};
use serde_json::{Value, json};

use super::Eval;
use super::measure::{Measured, Perplexity};
use portcullis_cli::hmm::table::{row, table};

/// Median, 90th and 99th percentile, and mean, of the finite values.
struct Spread {
    median: f64,
    p90: f64,
    p99: f64,
    mean: f64,
}

fn spread(values: impl Iterator<Item = f64>) -> Option<Spread> {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    Some(Spread {
        median: quantile(&sorted, 0.5)?,
        p90: quantile(&sorted, 0.9)?,
        p99: quantile(&sorted, 0.99)?,
        mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
    })
}

/// The number of places at which the HMM gives probability 0 to a token that the language model may write: a storage
/// format may round a small probability to 0.
fn infinite(measured: &Measured) -> usize {
    measured.divergences.iter().filter(|one| one.nats == f64::INFINITY).count()
}

/// Each measurement by its name.
fn spreads(measured: &Measured) -> Vec<(&'static str, &'static str, Option<Spread>)> {
    let nothing = Default::default();
    let times = measured.times.as_ref().unwrap_or(&nothing);
    let of = |values: &[f64]| spread(values.iter().copied());
    vec![
        (
            "divergence",
            "KL(language model || HMM), nats",
            spread(measured.divergences.iter().map(|one| one.nats)),
        ),
        (
            "entropy",
            "language model's entropy, nats",
            spread(measured.divergences.iter().map(|one| one.entropy)),
        ),
        (
            "total_variation",
            "total variation",
            spread(measured.divergences.iter().map(|one| one.total_variation)),
        ),
        ("certified", "candidates certified", spread(measured.needed.iter().map(|one| one.certified as f64))),
        ("enough", "candidates that would do", spread(measured.needed.iter().map(|one| one.enough as f64))),
        ("top_p", "candidates for top-p 0.9", of(&measured.top_p)),
        ("top_k", "candidates for top-k 50", of(&measured.top_k)),
        ("ms_observe", "ms, token taken in", of(&times.observe)),
        ("ms_full", "ms, all tokens scored", of(&times.full)),
        ("ms_candidates", "ms, certified ones scored", of(&times.candidates)),
        ("ms_top_p", "ms, controller for top-p 0.9", of(&times.top_p)),
        ("ms_top_k", "ms, controller for top-k 50", of(&times.top_k)),
        ("ms_language_model", "ms, n-gram model's step", of(&times.language_model)),
    ]
}

pub fn text(name: &str, arguments: &Eval, measured: &Measured) -> String {
    let mut out = format!("{name}\n\n");
    let mut rows = vec![row!["nats per token", "language model", "HMM", "apart", "perplexities", "tokens"]];
    for (what, perplexity) in [("drawn texts", &measured.drawn), ("held-out documents", &measured.held_out)] {
        if let Some(Perplexity { own, hmm, tokens }) = perplexity {
            let own_shown = own.map_or("-".to_owned(), |own| format!("{own:.3}"));
            let apart = own.map_or("-".to_owned(), |own| format!("{:.3}", hmm - own));
            let both = own.map_or(String::new(), |own| format!("{:.1} / ", own.exp()));
            rows.push(row![
                what,
                own_shown,
                format!("{hmm:.3}"),
                apart,
                format!("{both}{:.1}", hmm.exp()),
                tokens
            ]);
        }
    }
    out.push_str(&table(&rows));
    let mut rows =
        vec![row![format!("at {} places", measured.divergences.len()), "median", "p90", "p99", "mean"]];
    for (key, what, spread) in spreads(measured) {
        if let Some(spread) = spread {
            let digits = if key.starts_with("ms") { 3 } else { 2 };
            let show = |value: f64| format!("{value:.digits$}");
            rows.push(row![what, show(spread.median), show(spread.p90), show(spread.p99), show(spread.mean)]);
        }
    }
    if rows.len() > 1 {
        out.push_str(&format!("\n{}", table(&rows)));
        out.push_str(&format!(
            "(candidates leave out at most {}, {} tokens ahead)\n",
            arguments.delta,
            longest(arguments)
        ));
    }
    if infinite(measured) > 0 {
        let count = infinite(measured);
        out.push_str(&format!(
            "(at {count} more places the HMM holds impossible what may come: KL infinite)\n"
        ));
    }
    if measured.reliabilities.is_empty() {
        return out;
    }
    let mut rows = vec![row!["horizon", "calibration error", "bias", "rms", "explained"]];
    for (horizon, found) in &measured.reliabilities {
        let explained = found.explained.map_or("-".to_owned(), |explained| format!("{explained:.3}"));
        rows.push(row![
            horizon,
            format!("{:.4}", found.calibration_error),
            format!("{:+.4}", found.bias),
            format!("{:.4}", found.root_mean_square),
            explained,
        ]);
    }
    out.push_str(&format!("\n{}", table(&rows)));
    let mut rows = vec![row!["expected -> sampled"]];
    for (horizon, found) in &measured.reliabilities {
        let mut row = row![format!("k = {horizon}")];
        row.extend(found.bins.iter().map(|bin| format!("{:.2}->{:.2}", bin.predicted, bin.sampled)));
        rows.push(row);
    }
    out.push_str(&format!("\n{}", table(&rows)));
    out
}

fn longest(arguments: &Eval) -> usize {
    arguments.horizons.iter().copied().max().unwrap_or(0)
}

pub fn json(name: &str, arguments: &Eval, measured: &Measured) -> Value {
    let perplexity = |perplexity: &Option<Perplexity>| {
        perplexity.as_ref().map(
            |Perplexity { own, hmm, tokens }| json!({"language_model": own, "hmm": hmm, "tokens": tokens}),
        )
    };
    let spreads: serde_json::Map<String, Value> = spreads(measured)
        .into_iter()
        .map(|(key, _, spread)| {
            let value = spread
                .map(|one| json!({"median": one.median, "p90": one.p90, "p99": one.p99, "mean": one.mean}));
            (key.to_owned(), json!(value))
        })
        .collect();
    let reliabilities: Vec<Value> =
        measured.reliabilities.iter().map(|(horizon, found)| reliability(*horizon, found)).collect();
    json!({
        "model": name,
        "seed": arguments.seed,
        "delta": arguments.delta,
        "nats_per_token": {"drawn": perplexity(&measured.drawn), "held_out": perplexity(&measured.held_out)},
        "places": measured.divergences.len(),
        "infinite_divergences": infinite(measured),
        "at_places": spreads,
        "reliability": reliabilities,
    })
}

fn reliability(horizon: usize, found: &Reliability) -> Value {
    let bin = |bin: &Bin| json!({"count": bin.count, "predicted": bin.predicted, "sampled": bin.sampled, "error": bin.error});
    json!({
        "horizon": horizon,
        "calibration_error": found.calibration_error,
        "bias": found.bias,
        "root_mean_square": found.root_mean_square,
        "explained": found.explained,
        "bins": found.bins.iter().map(bin).collect::<Vec<_>>(),
    })
}
