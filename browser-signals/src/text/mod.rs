//! The text of a page on its way to the model.

pub mod outline;
#[path = "guard.rs"]
pub mod text_guard;
