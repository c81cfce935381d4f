//! Forms and their controls: what they are about, by the page's words and structure.

#[cfg(any(feature = "playwright", all(feature = "extension", unix)))]
pub(crate) mod facts;
pub mod meaning;
pub mod sink;
mod words;
