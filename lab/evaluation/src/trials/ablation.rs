//! Approach B with one of its parts taken away, to measure what the part does.

use portcullis::DEFAULT_POLICY;

/// The part of approach B that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ablation {
    /// No words of a page are withheld, and invisible text is quoted.
    Scrubbing,
    /// Neither the agent's text nor the requests of pages are compared with the user's values, and every connection stays open. The
    /// bridge still keeps documents and bodies from other origins after a fill.
    Egress,
    /// The agent's prompt has the user's values in place of handles.
    Handles,
    /// No yes is remembered: each release is asked about every time.
    RememberedYes,
}

impl Ablation {
    /// All of them.
    pub const ALL: [Ablation; 4] =
        [Ablation::Scrubbing, Ablation::Egress, Ablation::Handles, Ablation::RememberedYes];

    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Ablation::Scrubbing => "B-without-scrubbing",
            Ablation::Egress => "B-without-egress",
            Ablation::Handles => "B-without-handles",
            Ablation::RememberedYes => "B-ask-always",
        }
    }

    /// The text of its policy.
    pub fn policy(self) -> String {
        match self {
            Ablation::Scrubbing | Ablation::Egress | Ablation::Handles => DEFAULT_POLICY.to_owned(),
            Ablation::RememberedYes => ["consent once per session", "consent once per site", "consent none"]
                .into_iter()
                .fold(DEFAULT_POLICY.to_owned(), |text, shorter| text.replace(shorter, "consent every time")),
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis::policy::Policy;

    use super::*;

    #[test]
    fn the_policies_hold_and_one_asks_every_time() {
        for ablation in Ablation::ALL {
            let text = ablation.policy();
            assert!(
                Policy::parse(&text).unwrap().compile().unwrap().check().is_ok(),
                "{}",
                ablation.as_str()
            );
        }
        let asking = Ablation::RememberedYes.policy();
        let consents = asking.lines().filter(|line| line.trim().starts_with("consent "));
        assert!(consents.clone().count() > 5 && consents.into_iter().all(|line| line.contains("every time")));
    }
}
