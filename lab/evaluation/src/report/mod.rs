//! The results of a run as rows, tables, plots and pages.
//!
//! | module | subject |
//! |---|---|
//! | `rows` | the rows of the demo, as JSON, as a table and as a page |
//! | `table` | tables as HTML and for a terminal |
//! | `plot` | plots as SVG |

pub(crate) mod plot;
mod rows;
pub(crate) mod table;

pub use crate::trials::Approach;
pub use rows::{Outcome, PageKind, Row, rows, to_html, to_json, to_table};
