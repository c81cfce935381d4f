//! What can be wrong with a monitor, its data or its file.

/// Why a monitor cannot be made, read or fed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MonitorError {
    /// Not at least one state of each sort.
    #[error("{appropriate} appropriate and {harmful} harmful states are named; name at least one of each")]
    States {
        /// Appropriate states that were named.
        appropriate: usize,
        /// Harmful states that were named.
        harmful: usize,
    },
    /// No detectors.
    #[error("no detector is named; name at least one")]
    NoDetectors,
    /// More of something than a small model has.
    #[error("{found} {part} are more than the {limit} that a monitor may have")]
    TooMany {
        /// What there are too many of.
        part: &'static str,
        /// How many.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A name that is empty or used twice.
    #[error("the {part} name {name:?} is empty or used twice; give each its own")]
    Name {
        /// `state` or `detector`.
        part: &'static str,
        /// The name.
        name: String,
    },
    /// A setting outside its range.
    #[error("{setting} is {given}, but must be {wanted}")]
    Setting {
        /// Which setting.
        setting: &'static str,
        /// What was given.
        given: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// A label that is no state.
    #[error("window {window} of document {document} is labelled {state}, but there are {states} states")]
    Label {
        /// The document, counted from 0.
        document: usize,
        /// The window, counted from 0.
        window: usize,
        /// The label.
        state: usize,
        /// How many states there are.
        states: usize,
    },
    /// Not one score a detector.
    #[error("window {window} of document {document} has {found} scores, but there are {wanted} detectors")]
    Scores {
        /// The document, counted from 0; 0 for one that is being watched.
        document: usize,
        /// The window, counted from 0.
        window: usize,
        /// Scores that were given.
        found: usize,
        /// Detectors.
        wanted: usize,
    },
    /// A state that no window is labelled with.
    #[error("no window is labelled {state:?}; label some, or leave the state out")]
    NoLabels {
        /// The state's name.
        state: String,
    },
    /// Held-out data that cannot teach what a score means.
    #[error(
        "the held-out data has {good} windows that stayed appropriate and {bad} that did not, {horizon} windows \
         ahead; both are needed, from labelled documents longer than that"
    )]
    OneOutcome {
        /// Windows after which all stayed appropriate.
        good: usize,
        /// Windows after which something did not.
        bad: usize,
        /// How far ahead was looked.
        horizon: usize,
    },
    /// Bytes that are not the JSON of such a file.
    #[error("the file cannot be read: {problem}")]
    Json {
        /// What the parser says, with line and column.
        problem: String,
    },
    /// Another kind of file.
    #[error("this is a {found:?} file; a {wanted:?} file was expected")]
    Format {
        /// What the file says that it is.
        found: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// A version that this library does not read.
    #[error("the file has version {found}; this library reads version {supported}")]
    Version {
        /// The file's version.
        found: u64,
        /// What is read.
        supported: u64,
    },
    /// A number or a list in a file that cannot be.
    #[error("{place} is {found}, but must be {wanted}")]
    Field {
        /// Where, such as `transition[2]`.
        place: String,
        /// What it is.
        found: String,
        /// What it must be.
        wanted: &'static str,
    },
}
