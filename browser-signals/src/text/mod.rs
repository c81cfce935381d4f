//! The text of a page on its way to the model.

pub mod outline;
pub mod text_guard;
