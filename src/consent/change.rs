//! Changes of standing consents that the user makes outside of any question.

use browser_signals::Origin;
use policy_dfa::Millis;
use sirl::Kind;

use super::answer::Answer;
use super::book::{ConsentBook, ReleaseScope};
use super::standing::StandingConsent;

/// A change of the consents for one kind of request on one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The kind.
    pub kind: Kind,
    /// The site.
    pub to: Origin,
    /// The kind of change.
    pub how: ChangeKind,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// From now on the answer is never.
    Never,
    /// A yes is revoked, also in the open session. A never stays.
    Withdraw,
    /// A yes and a never are revoked: the user is asked again.
    TakeBack,
}

impl ChangeKind {
    /// Whether the change may lead to a grant that was refused before.
    pub const fn is_looser(self) -> bool {
        matches!(self, ChangeKind::TakeBack)
    }
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeOutcome {
    /// The revoked consents.
    pub gone: Vec<StandingConsent>,
    /// Whether a never was not accepted, because the list is full of nevers.
    pub is_full: bool,
}

impl ConsentBook {
    /// Makes a change, in this session and in the standing consents.
    pub fn change(&mut self, change: &Change, now: Millis) -> ChangeOutcome {
        let Change { kind, to, how } = change;
        let here = |other: Kind, place: &Origin| other == *kind && place == to;
        let goes = |given: bool| match how {
            ChangeKind::Never | ChangeKind::Withdraw => given,
            ChangeKind::TakeBack => true,
        };
        let gone: Vec<StandingConsent> =
            self.standing.extract_if(.., |old| here(old.kind, &old.to) && goes(old.given)).collect();
        // A yes for the task is revoked too. A no to one question stays.
        self.noted.retain(|old| {
            let is_affected = old.answer.agrees() || old.answer == Answer::Never;
            !(here(old.kind, &old.to) && is_affected && goes(old.answer.agrees()))
        });
        self.changed |= !gone.is_empty();
        // A never of this session may have been replaced by a later yes.
        let is_standing = self.standing.iter().any(|old| here(old.kind, &old.to) && !old.given);
        // Unlike an answer to a question, this never pushes no other never out: a client that may only make consents
        // stricter could lift a refusal in that way.
        let is_full = *how == ChangeKind::Never && !is_standing && !self.has_room();
        if *how == ChangeKind::Never && !is_full && !(is_standing && self.never(*kind, to)) {
            let release =
                ReleaseScope { kind: *kind, fields: kind.default_fields(), records: &[], to, form: None };
            self.note(&release, Answer::Never, now);
        }
        ChangeOutcome { gone, is_full }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use policy_dfa::{Consent, ConsentScope};
    use proptest::prelude::*;

    use super::super::{FormPlace, Purpose};
    use super::*;

    const KINDS: [Kind; 2] = [Kind::Address, Kind::Contact];

    fn site(which: bool) -> Origin {
        Origin::parse(if which { "https://shop.example" } else { "https://other.example" }).unwrap()
    }

    fn form() -> FormPlace {
        FormPlace::new(Purpose::Address, Some("/checkout"), Some("/save"), None)
    }

    fn about(book: &ConsentBook, kind: Kind, to: &Origin) -> Consent {
        let release =
            ReleaseScope { kind, fields: kind.default_fields(), records: &[], to, form: Some(&form()) };
        book.about(&release, ConsentScope::Site, Millis(10))
    }

    fn answers() -> impl Strategy<Value = Vec<(bool, bool, usize)>> {
        prop::collection::vec((any::<bool>(), any::<bool>(), 0..Answer::ALL.len()), 0..8)
    }

    proptest! {
        /// It holds for all earlier answers, of this session or an earlier one.
        #[test]
        fn a_stricter_change_grants_no_more_and_changes_nothing_else(
            answered in answers(), earlier in 0..8usize, kind in any::<bool>(), place in any::<bool>(), never in any::<bool>(),
        ) {
            let mut book = ConsentBook::default();
            for (at, (kind, place, answer)) in answered.iter().enumerate() {
                if at == earlier {
                    book = ConsentBook::with_standing(book.standing.clone(), 0);
                }
                let kind = KINDS[usize::from(*kind)];
                let to = site(*place);
                let release = ReleaseScope { kind, fields: kind.default_fields(), records: &[], to: &to, form: Some(&form()) };
                book.note(&release, Answer::ALL[*answer], Millis(1));
            }
            let all = || KINDS.into_iter().flat_map(|kind| [true, false].map(|place| (kind, site(place))));
            let before: Vec<_> = all().map(|(kind, to)| (about(&book, kind, &to), book.never(kind, &to))).collect();
            let standing_before = book.standing.clone();
            let (kind, to) = (KINDS[usize::from(kind)], site(place));
            let how = if never { ChangeKind::Never } else { ChangeKind::Withdraw };
            let gone = book.change(&Change { kind, to: to.clone(), how }, Millis(2)).gone;
            for ((other, place), (was, never_was)) in all().zip(before) {
                let (is, never_is) = (about(&book, other, &place), book.never(other, &place));
                if (other, &place) == (kind, &to) {
                    prop_assert_ne!(is, Consent::Given);
                    prop_assert!(!(was == Consent::Refused && never_was) || is == Consent::Refused);
                    prop_assert_eq!(never_is, never_was || never);
                    if never {
                        prop_assert_eq!(is, Consent::Refused);
                    }
                } else {
                    prop_assert_eq!((is, never_is), (was, never_was));
                }
            }
            let stays = |old: &StandingConsent| (old.kind, &old.to) != (kind, &to) || !old.given;
            prop_assert!(gone.iter().all(|old| !stays(old)));
            prop_assert!(standing_before.iter().filter(|old| stays(old)).all(|old| book.standing.contains(old)));
            // The next session respects it too.
            let next = ConsentBook::with_standing(book.standing.clone(), 0);
            prop_assert_ne!(about(&next, kind, &to), Consent::Given);
            prop_assert!(!never || next.never(kind, &to));
        }
    }

    #[test]
    fn only_take_back_revokes_a_never() {
        let (kind, to) = (Kind::Address, site(true));
        let mut book = ConsentBook::default();
        let mut change = |how| book.change(&Change { kind, to: to.clone(), how }, Millis(1)).gone.len();
        assert_eq!(
            [change(ChangeKind::Never), change(ChangeKind::Withdraw), change(ChangeKind::Never)],
            [0, 0, 0]
        );
        assert_eq!(change(ChangeKind::TakeBack), 1);
        assert_eq!(change(ChangeKind::TakeBack), 0, "nothing is left");
        assert!(!book.never(kind, &to));
        assert_eq!(about(&book, kind, &to), Consent::None);
        assert!(
            ChangeKind::TakeBack.is_looser()
                && !ChangeKind::Never.is_looser()
                && !ChangeKind::Withdraw.is_looser()
        );
    }
    #[test]
    fn added_nevers_push_no_never_out() {
        let mut book = ConsentBook::default();
        let (kind, first) = (Kind::Address, site(true));
        let never =
            |book: &mut ConsentBook, to| book.change(&Change { kind, to, how: ChangeKind::Never }, Millis(1));
        let yes = ReleaseScope {
            kind: Kind::Contact,
            fields: Kind::Contact.default_fields(),
            records: &[],
            to: &first,
            form: Some(&form()),
        };
        book.note(&yes, Answer::Site, Millis(0));
        assert!(!never(&mut book, first.clone()).is_full);
        let mut number = 0;
        while !never(&mut book, Origin::parse(&format!("https://{number}.example")).unwrap()).is_full {
            number += 1;
            assert!(number < 1000);
        }
        let next = ConsentBook::with_standing(book.standing.clone(), 0);
        assert!(next.never(kind, &first));
        assert_eq!(about(&next, Kind::Contact, &first), Consent::None, "a yes does make room");
        assert!(!next.never(kind, &Origin::parse(&format!("https://{number}.example")).unwrap()));
        // A standing never can be repeated.
        assert!(!never(&mut book, first).is_full);
    }
}
