//! The file format of monitors and judges: versioned JSON.

use super::builder::check_names;
use super::calibration::Curve;
use super::error::MonitorError;
use super::histogram::MOST_BINS;
use super::judge::Judge;
use super::model::{Detector, Monitor};
use super::parameters::Parameters;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

const MONITOR: &str = "portcullis-monitor";
const JUDGE: &str = "portcullis-judge";
const VERSION: u64 = 1;
/// How far from 1 the sum of a distribution in a file may be, for files edited by hand with six digits.
const TOLERANCE: f64 = 1e-6;

/// The format and version of a file, read first so that the error names another file or version.
#[derive(Deserialize)]
struct Heading {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MonitorFile {
    format: String,
    version: u64,
    states: Vec<StateFile>,
    detectors: Vec<DetectorFile>,
    initial: Vec<f64>,
    transition: Vec<Vec<f64>>,
    temper: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateFile {
    name: String,
    appropriate: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DetectorFile {
    name: String,
    edges: Vec<f64>,
    /// One row per state, one column per bin.
    probabilities: Vec<Vec<f64>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgeFile {
    format: String,
    version: u64,
    monitor: MonitorFile,
    horizon: usize,
    samples: usize,
    /// The beginning and the height of each step.
    steps: Vec<(f64, f64)>,
}

impl Monitor {
    /// The monitor as JSON; it round-trips up to the last digit.
    pub fn to_json(&self) -> String {
        serde_json::json!(MonitorFile::of(self)).to_string()
    }

    /// A monitor from JSON. Probabilities of transitions may be 0, those of scores not: a score must not make a state
    /// impossible.
    ///
    /// # Errors
    /// When it is another file, or a number in it is invalid.
    pub fn from_json(bytes: &[u8]) -> Result<Monitor, MonitorError> {
        heading(bytes, MONITOR)?;
        parse::<MonitorFile>(bytes)?.check()
    }
}

impl Judge {
    /// The judge as JSON, with its monitor.
    pub fn to_json(&self) -> String {
        serde_json::json!(JudgeFile {
            format: JUDGE.to_owned(),
            version: VERSION,
            monitor: MonitorFile::of(self.monitor()),
            horizon: self.horizon(),
            samples: self.curve().samples(),
            steps: self.curve().steps().to_vec(),
        })
        .to_string()
    }

    /// A judge from JSON.
    ///
    /// # Errors
    /// When it is another file, or a number in it is invalid.
    pub fn from_json(bytes: &[u8]) -> Result<Judge, MonitorError> {
        heading(bytes, JUDGE)?;
        let file = parse::<JudgeFile>(bytes)?;
        check_heading(&file.monitor.format, file.monitor.version, MONITOR)?;
        let monitor = file.monitor.check()?;
        for (number, (from, height)) in file.steps.iter().enumerate() {
            probability(format!("steps[{number}]"), *from)?;
            probability(format!("steps[{number}]"), *height)?;
        }
        let rising = file.steps.iter().zip(file.steps.iter().skip(1)).all(|(a, b)| a.0 < b.0 && a.1 <= b.1);
        if !rising || file.steps.is_empty() {
            let found = format!("{:?}", file.steps);
            return Err(field("steps".to_owned(), found, "at least one step, rising in both numbers"));
        }
        Ok(Judge::from_parts(monitor, file.horizon, Curve::from_steps(file.steps, file.samples)))
    }
}

impl MonitorFile {
    fn of(monitor: &Monitor) -> MonitorFile {
        let parts = &monitor.parts;
        let states = parts.states.iter();
        let tables = parts.detectors.iter().zip(&parts.parameters.log_scores);
        MonitorFile {
            format: MONITOR.to_owned(),
            version: VERSION,
            states: states
                .map(|(name, appropriate)| StateFile { name: name.clone(), appropriate: *appropriate })
                .collect(),
            detectors: tables
                .map(|(detector, table)| DetectorFile {
                    name: detector.name.clone(),
                    edges: detector.edges.clone(),
                    probabilities: rows(&table.mapv(f64::exp)),
                })
                .collect(),
            initial: parts.parameters.initial.clone(),
            transition: rows(&parts.parameters.transition),
            temper: parts.parameters.temper,
        }
    }

    fn check(self) -> Result<Monitor, MonitorError> {
        let states: Vec<(String, bool)> =
            self.states.into_iter().map(|state| (state.name, state.appropriate)).collect();
        check_names(&states, self.detectors.iter().map(|detector| detector.name.as_str()))?;
        let count = states.len();
        distribution("initial".to_owned(), &self.initial, count)?;
        let transition = table("transition", self.transition, count, count)?;
        if !(self.temper > 0.0 && self.temper <= 1.0) {
            return Err(field("temper".to_owned(), self.temper.to_string(), "above 0 and at most 1"));
        }
        let mut detectors = Vec::new();
        let mut log_scores = Vec::new();
        for (number, detector) in self.detectors.into_iter().enumerate() {
            let edges = detector.edges;
            let place = format!("detectors[{number}].edges");
            for edge in &edges {
                probability(place.clone(), *edge)?;
            }
            if !edges.iter().zip(edges.iter().skip(1)).all(|(a, b)| a < b) || edges.len() >= MOST_BINS {
                return Err(field(place, format!("{edges:?}"), "less than 64 rising numbers"));
            }
            let place = format!("detectors[{number}].probabilities");
            let scores = table(&place, detector.probabilities, count, edges.len() + 1)?;
            if scores.iter().any(|p| *p == 0.0) {
                return Err(field(place, "partly 0".to_owned(), "above 0 everywhere"));
            }
            log_scores.push(scores.mapv(f64::ln));
            detectors.push(Detector { name: detector.name, edges });
        }
        let parameters = Parameters { initial: self.initial, transition, log_scores, temper: self.temper };
        Ok(Monitor::from_parts(states, detectors, parameters))
    }
}

fn rows(table: &Array2<f64>) -> Vec<Vec<f64>> {
    table.rows().into_iter().map(|row| row.to_vec()).collect()
}

fn heading(bytes: &[u8], wanted: &'static str) -> Result<(), MonitorError> {
    let heading: Heading = parse(bytes)?;
    check_heading(&heading.format, heading.version, wanted)
}

fn check_heading(format: &str, version: u64, wanted: &'static str) -> Result<(), MonitorError> {
    if format != wanted {
        return Err(MonitorError::Format { found: format.to_owned(), wanted });
    }
    if version != VERSION {
        return Err(MonitorError::Version { found: version, supported: VERSION });
    }
    Ok(())
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, MonitorError> {
    serde_json::from_slice(bytes).map_err(|error| MonitorError::Json { problem: error.to_string() })
}

fn field(place: String, found: String, wanted: &'static str) -> MonitorError {
    MonitorError::Field { place, found, wanted }
}

fn probability(place: String, value: f64) -> Result<(), MonitorError> {
    // Written so that a NaN is refused.
    let valid = (0.0..=1.0).contains(&value);
    if valid { Ok(()) } else { Err(field(place, value.to_string(), "a number from 0 to 1")) }
}

fn distribution(place: String, values: &[f64], length: usize) -> Result<(), MonitorError> {
    if values.len() != length {
        let found = format!("{} numbers long", values.len());
        return Err(field(place, found, "one number a state or bin"));
    }
    for value in values {
        probability(place.clone(), *value)?;
    }
    let sum: f64 = values.iter().sum();
    if (sum - 1.0).abs() > TOLERANCE {
        return Err(field(place, format!("a list that sums to {sum}"), "a distribution, which sums to 1"));
    }
    Ok(())
}

fn table(
    place: &str,
    values: Vec<Vec<f64>>,
    rows: usize,
    columns: usize,
) -> Result<Array2<f64>, MonitorError> {
    if values.len() != rows {
        return Err(field(place.to_owned(), format!("{} rows", values.len()), "one row a state"));
    }
    for (number, row) in values.iter().enumerate() {
        distribution(format!("{place}[{number}]"), row, columns)?;
    }
    let found = values.len();
    Array2::from_shape_vec((rows, columns), values.into_iter().flatten().collect())
        .map_err(|_| field(place.to_owned(), format!("{found} rows"), "one row a state"))
}
