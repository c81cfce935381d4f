//! What a user changes of the answers that stand, outside of any question.

use browser_signals::Origin;
use policy_dfa::Millis;
use sirl::Kind;

use super::Answer;
use super::book::{ConsentBook, Release, StandingConsent};

/// A change of what stands for one kind of request on one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The kind.
    pub kind: Kind,
    /// The site.
    pub to: Origin,
    /// What is changed.
    pub how: How,
}

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// From now on never.
    Never,
    /// A yes stands no longer, in the open session neither. A never stays.
    Withdraw,
    /// Nothing stands any longer, a never neither: the user is asked again.
    TakeBack,
}

impl How {
    /// Whether something may be granted after it that was refused before.
    pub const fn is_looser(self) -> bool {
        matches!(self, How::TakeBack)
    }
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What stands no longer.
    pub gone: Vec<StandingConsent>,
    /// Whether a never was not taken, since as many nevers stand as can.
    pub is_full: bool,
}

impl ConsentBook {
    /// Makes a change, in this session and for what is kept beyond it.
    pub fn change(&mut self, change: &Change, now: Millis) -> Made {
        let Change { kind, to, how } = change;
        let here = |other: Kind, place: &Origin| other == *kind && place == to;
        let goes = |given: bool| match how {
            How::Never | How::Withdraw => given,
            How::TakeBack => true,
        };
        let gone: Vec<StandingConsent> =
            self.standing.extract_if(.., |old| here(old.kind, &old.to) && goes(old.given)).collect();
        // A yes for the task is a yes too. A no to one question is nothing that stands.
        self.noted.retain(|old| {
            let stands = old.answer.agrees() || old.answer == Answer::Never;
            !(here(old.kind, &old.to) && stands && goes(old.answer.agrees()))
        });
        self.changed |= !gone.is_empty();
        // A never of this session may have lost its place to a yes that was said after it.
        let kept = self.standing.iter().any(|old| here(old.kind, &old.to) && !old.given);
        // Unlike an answer to a question it pushes no other never out: whoever may only make things stricter could make
        // room for what is asked again that way.
        let is_full = *how == How::Never && !kept && !self.has_room();
        if *how == How::Never && !is_full && !(kept && self.never(*kind, to)) {
            let release =
                Release { kind: *kind, fields: kind.default_fields(), records: &[], to, form: None };
            self.note(&release, Answer::Never, now);
        }
        Made { gone, is_full }
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
        let release = Release { kind, fields: kind.default_fields(), records: &[], to, form: Some(&form()) };
        book.about(&release, ConsentScope::Site, Millis(10))
    }

    fn answers() -> impl Strategy<Value = Vec<(bool, bool, usize)>> {
        prop::collection::vec((any::<bool>(), any::<bool>(), 0..Answer::ALL.len()), 0..8)
    }

    proptest! {
        /// Whatever was answered before, in this session or an earlier one.
        #[test]
        fn what_is_made_stricter_grants_no_more_and_nothing_else_changes(
            answered in answers(), earlier in 0..8usize, kind in any::<bool>(), place in any::<bool>(), never in any::<bool>(),
        ) {
            let mut book = ConsentBook::default();
            for (at, (kind, place, answer)) in answered.iter().enumerate() {
                if at == earlier {
                    let kept = book.take_changes().unwrap_or_default();
                    book = ConsentBook::with_standing(kept, 0);
                }
                let kind = KINDS[usize::from(*kind)];
                let to = site(*place);
                let release = Release { kind, fields: kind.default_fields(), records: &[], to: &to, form: Some(&form()) };
                book.note(&release, Answer::ALL[*answer], Millis(1));
            }
            let all = || KINDS.into_iter().flat_map(|kind| [true, false].map(|place| (kind, site(place))));
            let before: Vec<_> = all().map(|(kind, to)| (about(&book, kind, &to), book.never(kind, &to))).collect();
            let standing_before = book.standing.clone();
            let (kind, to) = (KINDS[usize::from(kind)], site(place));
            let how = if never { How::Never } else { How::Withdraw };
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
            // The next session knows it too.
            let next = ConsentBook::with_standing(book.standing.clone(), 0);
            prop_assert_ne!(about(&next, kind, &to), Consent::Given);
            prop_assert!(!never || next.never(kind, &to));
        }
    }

    #[test]
    fn only_taking_back_ends_a_never() {
        let (kind, to) = (Kind::Address, site(true));
        let mut book = ConsentBook::default();
        let mut change = |how| book.change(&Change { kind, to: to.clone(), how }, Millis(1)).gone.len();
        assert_eq!([change(How::Never), change(How::Withdraw), change(How::Never)], [0, 0, 0]);
        assert_eq!(change(How::TakeBack), 1);
        assert_eq!(change(How::TakeBack), 0, "nothing is left");
        assert!(!book.never(kind, &to));
        assert_eq!(about(&book, kind, &to), Consent::None);
        assert!(How::TakeBack.is_looser() && !How::Never.is_looser() && !How::Withdraw.is_looser());
    }
    #[test]
    fn nevers_that_are_added_push_no_never_out() {
        let mut book = ConsentBook::default();
        let (kind, first) = (Kind::Address, site(true));
        let never =
            |book: &mut ConsentBook, to| book.change(&Change { kind, to, how: How::Never }, Millis(1));
        let yes = Release {
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
        // One that stands can be said again.
        assert!(!never(&mut book, first).is_full);
    }
}
