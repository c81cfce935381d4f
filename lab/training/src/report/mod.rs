//! Measurements as a table of plain text, as JSON, and as pictures.
//!
//! | module | subject |
//! |---|---|
//! | `table` | columns of text |
//! | `pictures` | the ROC curve, the reliability curve, the scores |

mod pictures;
mod table;

pub use pictures::{reliability_picture, roc_picture, score_picture};
pub use table::{json, row, rows_as_text};
