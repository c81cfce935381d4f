//! What was measured, as a table of plain text, as JSON, and as pictures.
//!
//! | module | subject |
//! |---|---|
//! | `table` | columns of text |
//! | `plot` | axes and lines as SVG |
//! | `pictures` | the ROC curve, the reliability curve, the scores |

mod pictures;
mod plot;
mod table;

pub use pictures::{reliability_picture, roc_picture, score_picture};
pub use table::{json, row, rows_as_text};
