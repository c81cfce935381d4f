//! Failures and their exit codes, which are those of `portcullis-lab`.

/// Why the command ends early.
#[derive(Debug)]
pub struct Failure {
    said: String,
    code: u8,
    /// All processes have it, and the first one says it.
    shared: bool,
}

impl Failure {
    /// The input is bad: exit code 2.
    pub fn input(said: String) -> Failure {
        Failure { said, code: 2, shared: false }
    }

    /// A file cannot be written, or MPI is not there: exit code 3.
    pub fn not_set_up(said: String) -> Failure {
        Failure { said, code: 3, shared: false }
    }

    /// What all processes fail with, since one of them did.
    pub fn shared(said: String, code: u8) -> Failure {
        Failure { said, code, shared: true }
    }

    pub fn said(&self) -> String {
        self.said.clone()
    }

    pub fn code(&self) -> u8 {
        self.code
    }

    /// Whether every process has this failure.
    pub fn is_shared(&self) -> bool {
        self.shared
    }
}
