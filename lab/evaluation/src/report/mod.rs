//! The results of a run as rows, tables, plots and pages.
//!
//! | module | subject |
//! |---|---|
//! | `rows` | the rows of the demo, as JSON, as a table and as a page |
//! | `table` | tables as HTML and for a terminal |
//! | `plot` | plots as SVG |
//! | `scene` | the page of a story, photographed |
//! | `style` | the look of a page |
//! | `story` | one trial as a film strip |

pub(crate) mod plot;
mod rows;
mod scene;
pub(crate) mod story;
mod style;
pub(crate) mod table;

pub use crate::trials::Approach;
pub(crate) use rows::to_html;
pub use rows::{Outcome, PageKind, Row, rows, to_json, to_table};
pub(crate) use scene::photographed;
pub(crate) use style::STYLE;
