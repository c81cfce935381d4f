//! Rows of measures as text and as JSON.

use serde_json::{Value, json};

use crate::judging::{Judged, MeasureRow, Measured};

/// Returns a table of rows, one for each collection of texts. Numbers in brackets are 95 % intervals.
pub fn rows_as_text(first: &str, rows: &[MeasureRow]) -> String {
    let heads = [
        first,
        "harmful",
        "harmless",
        "AUC",
        "recall at 1 %",
        "own: recall",
        "flagged",
        "F1",
        "ECE",
        "Brier",
    ];
    let mut cells: Vec<Vec<String>> = vec![heads.iter().map(|head| (*head).to_owned()).collect()];
    for row in rows {
        let bare = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        cells.push(vec![
            row.name.clone(),
            row.harmful.to_string(),
            row.harmless.to_string(),
            shown(row.auc),
            shown(row.recall_at_rate),
            shown(row.own_recall),
            shown(row.own_rate),
            shown(row.own_f1),
            bare(row.calibration_error),
            bare(row.brier),
        ]);
    }
    aligned(&cells)
}

fn shown(measured: Option<Measured>) -> String {
    let digits = |value: f64| format!("{value:.3}").trim_start_matches('0').to_owned();
    measured.map_or("-".to_owned(), |one| {
        let Measured { value, interval } = one;
        format!("{value:.3} [{}, {}]", digits(interval.low), digits(interval.high))
    })
}

/// Aligns columns; the first to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => line.push_str(&format!("{cell:<width$}")),
                _ => line.push_str(&format!("  {cell:>width$}")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Returns all measures as JSON.
pub fn json(judged: &Judged) -> Value {
    let rows = |rows: &[MeasureRow]| rows.iter().map(row).collect::<Vec<Value>>();
    json!({
        "threshold": judged.threshold,
        "all": row(&judged.all),
        "sources": rows(&judged.sources),
        "disguises": rows(&judged.disguises),
    })
}

/// Returns one row as JSON.
pub fn row(row: &MeasureRow) -> Value {
    let measured = |one: Option<Measured>| {
        one.map(|one| json!({"value": one.value, "low": one.interval.low, "high": one.interval.high}))
    };
    json!({
        "name": row.name,
        "harmful": row.harmful,
        "harmless": row.harmless,
        "auc": measured(row.auc),
        "recall_at_1_percent": measured(row.recall_at_rate),
        "own_threshold": {
            "recall": measured(row.own_recall),
            "false_positive_rate": measured(row.own_rate),
            "f1": measured(row.own_f1),
            "caught": row.own.caught,
            "missed": row.own.missed,
            "wrong": row.own.wrong,
            "passed": row.own.passed,
        },
        "calibration_error": row.calibration_error,
        "brier": row.brier,
    })
}
