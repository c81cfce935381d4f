//! Errors of a monitor, its data and its file.

/// Why a monitor cannot be built, read or used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// No appropriate or no harmful state.
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
    /// More states or detectors than a monitor may have.
    #[error("{found} {part} are more than the {limit} that a monitor may have")]
    TooMany {
        /// `states` or `detectors`.
        part: &'static str,
        /// Their number.
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
        /// The setting.
        setting: &'static str,
        /// The given value.
        given: f64,
        /// The valid values.
        wanted: &'static str,
    },
    /// A label that is not a state.
    #[error("window {window} of document {document} is labelled {state}, but there are {states} states")]
    Label {
        /// The document, counted from 0.
        document: usize,
        /// The window, counted from 0.
        window: usize,
        /// The label.
        state: usize,
        /// Number of states.
        states: usize,
    },
    /// Another number of scores than detectors.
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
    /// Held-out data with only one outcome.
    #[error(
        "the held-out data has {good} windows that stayed appropriate and {bad} that did not, {horizon} windows \
         ahead; both are needed, from labelled documents longer than that"
    )]
    OneOutcome {
        /// Windows after which all stayed appropriate.
        good: usize,
        /// Windows after which one was not appropriate.
        bad: usize,
        /// The horizon, in windows.
        horizon: usize,
    },
    /// Bytes that are not the JSON of such a file.
    #[error("the file cannot be read: {problem}")]
    Json {
        /// The parser's error, with line and column.
        problem: String,
    },
    /// Another kind of file.
    #[error("this is a {found:?} file; a {wanted:?} file was expected")]
    Format {
        /// The format of the file.
        found: String,
        /// The expected format.
        wanted: &'static str,
    },
    /// A version that this library does not read.
    #[error("the file has version {found}; this library reads version {supported}")]
    Version {
        /// The file's version.
        found: u64,
        /// The supported version.
        supported: u64,
    },
    /// An invalid number or list in a file.
    #[error("{place} is {found}, but must be {wanted}")]
    Field {
        /// Its position, such as `transition[2]`.
        place: String,
        /// Its value.
        found: String,
        /// The valid values.
        wanted: &'static str,
    },
}
