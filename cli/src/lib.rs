//! The parts of the `portcullis` command that the laboratory's command `portcullis-lab` shares. They are made for these two
//! programs; programs of your own use the package `portcullis-guard`.
//!
//! | module | subject |
//! |---|---|
//! | [`failure`] | how a command fails, and its exit code |
//! | [`files`] | reading what a command is given, and writing whole files |
//! | [`output`] | standard output whose reader may go away |
//! | [`manual`] | completions for shells, and manual pages |
//! | [`hmm`] | `hmm score`, and the model files and attributes that commands read |
//! | [`forms`] | `forms`, and the controls of a page with what the guard takes each for |
//! | [`pages`] | a browser that opens pages as a session does |
//! | [`classify`] | `classify scan`, and the models that commands read |
#![allow(missing_docs, reason = "the arguments of commands are documented for clap, which prints them")]

/// As the standard one, but for a reader that goes away.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => { $crate::output::write(format_args!($($text)*)) };
}

/// As the standard one, but for a reader that goes away.
#[macro_export]
macro_rules! println {
    () => { $crate::output::write(format_args!("\n")) };
    ($($text:tt)*) => { $crate::output::write(format_args!("{}\n", format_args!($($text)*))) };
}

#[doc(hidden)]
pub mod classify;
#[doc(hidden)]
pub mod failure;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod forms;
#[doc(hidden)]
pub mod hmm;
#[doc(hidden)]
pub mod manual;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod pages;
