//! The kind of a form (login, registration, recovery, new password), which decides between kinds of passwords and account names.

use super::Asked::{self, *};
use super::Match;
use super::folded::words;
use super::vocabulary::Said;
use crate::{Control, FormWords};

/// The kind of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormKind {
    /// A form to log in.
    Login,
    /// A form to recover an account.
    Recovery,
    /// A form to register an account.
    Registration,
    /// A form to change a password.
    PasswordChange,
    /// Any other form.
    Other,
}

/// The weight of the texts that speak of a form's purpose, and how many phrases of each count at most.
const WEIGHTS: [(i64, u32); 5] = [(4, 2), (3, 1), (2, 1), (1, 2), (2, 1)];

/// The phrases for each kind of form in the form's texts: its buttons, attributes, headings, own text and controls' names.
struct Texts([Said; 5]);

impl Texts {
    fn of(controls: &[&Control], form: &FormWords) -> Texts {
        // A phrase does not go on in the next text.
        let joined = |texts: &mut dyn Iterator<Item = &String>| -> Vec<String> {
            texts.flat_map(|text| words(text).into_iter().chain(std::iter::once("|".to_owned()))).collect()
        };
        let names = &mut controls.iter().flat_map(|control| [&control.name, &control.words.id]);
        let texts = [
            joined(&mut form.buttons.iter()),
            joined(&mut form.attributes.iter()),
            joined(&mut form.headings.iter()),
            joined(&mut std::iter::once(&form.text)),
            joined(names),
        ];
        Texts(texts.map(|words| Said::of(&words, true)))
    }

    fn score(&self, count: impl Fn(&Said) -> u32) -> i64 {
        let one = |(said, (weight, most)): (&Said, &(i64, u32))| weight * i64::from(count(said).min(*most));
        self.0.iter().zip(&WEIGHTS).map(one).sum()
    }
}

/// The kind of a form, by what its controls ask for and by its texts.
pub fn form_kind(controls: &[&Control], form: &FormWords, found: &[Match]) -> FormKind {
    let of = |wanted: fn(Asked) -> bool| found.iter().filter(move |one| one.asked.is_some_and(wanted));
    let passwords: Vec<&Match> = of(|asked| matches!(asked, Password | NewPassword)).collect();
    let is_new = passwords.iter().any(|one| one.asked == Some(NewPassword));
    let personal = of(|asked| {
        matches!(
            asked,
            GivenName
                | FamilyName
                | FullName
                | Phone
                | BirthDate
                | BirthDay
                | BirthMonth
                | BirthYear
                | City
                | PostalCode
                | Street
                | Country
                | Company
        )
    })
    .count();
    let texts = Texts::of(controls, form);
    let (login, signup) = (texts.score(Said::login), texts.score(Said::signup));
    match passwords.len() {
        0 => {
            let recovery = texts.score(Said::recovery);
            if personal == 0 && recovery >= 3 && recovery >= signup {
                FormKind::Recovery
            } else if personal == 0 && login >= 4 && login > signup {
                FormKind::Login
            } else if signup > login {
                FormKind::Registration
            } else {
                FormKind::Other
            }
        }
        1 if personal > 1 && login < signup + 6 => FormKind::Registration,
        1 if is_new && signup >= login => FormKind::Registration,
        1 if signup > login + 1 => FormKind::Registration,
        1 => FormKind::Login,
        2 => {
            let is_apart = passwords.iter().any(|one| one.asked == Some(Password) && !one.confirms);
            let is_change = passwords.iter().any(|one| one.present && !one.confirms)
                || is_new && is_apart && controls.len() == 2;
            if is_change { FormKind::PasswordChange } else { FormKind::Registration }
        }
        _ => FormKind::PasswordChange,
    }
}
