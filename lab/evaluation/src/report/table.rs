//! Tables, as HTML and for a terminal.

use std::fmt::Write as _;

use crate::html::escape;

/// A table as HTML; its cells are escaped here.
pub(crate) fn to_html(headings: &[&str], rows: &[Vec<String>]) -> String {
    let head: String = headings.iter().map(|heading| format!("<th>{}</th>", escape(heading))).collect();
    let body: String = rows
        .iter()
        .map(|row| {
            let cells: String = row.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
            format!("<tr>{cells}</tr>")
        })
        .collect();
    format!("<div class=\"wide\"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")
}

/// A table for a terminal, with its columns aligned. The first row holds the headings.
pub(crate) fn to_text(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut table = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:<0$}", width(column)));
        let _ = writeln!(table, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    table
}
