//! The states that a guard keeps in the vault alongside a user's values.

/// The subject of a state. The list is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StateName {
    /// Consents that outlive a session.
    Consents,
    /// The head of the audit log, by which a log that was cut off is noticed.
    AuditHead,
    /// The user's own phrase, by which the user knows a true consent page.
    Phrase,
    /// Settings that must not be changed without the user.
    Settings,
    /// Texts of pages that were withheld from the model as an attack, for the user to review.
    Quarantine,
    /// The number of times that an agent wrote a value that it did not get from the guard.
    Guesses,
    /// The steps of one-time codes that were given, so that none is given twice.
    CodeSteps,
    /// The key by which KeePassXC knows this guard.
    KeePassXc,
    /// The saved logins, with the keys of their files.
    Logins,
    /// The user's choices among records that fit alike.
    Choices,
    /// The connection with a device of the user's that speaks Agent Access.
    AgentAccess,
}

impl StateName {
    /// Every name, in the order of the file's numbers.
    pub const ALL: [StateName; 11] = [
        StateName::Consents,
        StateName::AuditHead,
        StateName::Phrase,
        StateName::Settings,
        StateName::Quarantine,
        StateName::Guesses,
        StateName::CodeSteps,
        StateName::KeePassXc,
        StateName::Logins,
        StateName::Choices,
        StateName::AgentAccess,
    ];

    /// The name in words, for messages and as associated data.
    pub const fn as_str(self) -> &'static str {
        match self {
            StateName::Consents => "consents",
            StateName::AuditHead => "audit head",
            StateName::Phrase => "phrase",
            StateName::Settings => "settings",
            StateName::Quarantine => "quarantine",
            StateName::Guesses => "guesses",
            StateName::CodeSteps => "code steps",
            StateName::KeePassXc => "keepassxc",
            StateName::Logins => "logins",
            StateName::Choices => "choices",
            StateName::AgentAccess => "agent access",
        }
    }

    /// The state's number in a file. A number is never reused.
    pub(crate) fn code(self) -> u8 {
        match self {
            StateName::Consents => 1,
            StateName::AuditHead => 2,
            StateName::Phrase => 3,
            StateName::Settings => 4,
            StateName::Quarantine => 5,
            StateName::Guesses => 6,
            StateName::CodeSteps => 7,
            StateName::KeePassXc => 8,
            StateName::Logins => 9,
            StateName::Choices => 10,
            StateName::AgentAccess => 11,
        }
    }
}
