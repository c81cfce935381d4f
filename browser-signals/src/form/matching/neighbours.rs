//! Completes the matches of single controls by the other controls of the form.

use super::Asked::{self, *};
use super::control::is_choice;
use super::folded::words;
use super::form_kind::{FormKind, form_kind};
use super::lexicon::says;
use super::options::{OptionsAre, options_are};
use super::{Evidence, Match};
use crate::{Control, FormWords};

const DAY: [&str; 6] = ["day", "dd", "tag", "jour", "dia", "giorno"];
const MONTH: [&str; 7] = ["month", "mm", "monat", "mois", "mes", "mese", "maand"];
const YEAR: [&str; 9] = ["year", "yy", "yyyy", "jahr", "annee", "ano", "anno", "jaar", "aa"];

/// Labels that name a given name in some languages and a whole name in all of them.
const NAMES: [&str; 4] = ["nome", "nombre", "имя", "name"];

/// The largest distance between a card number and its holder's name, in controls.
const HOLDER_WITHIN: usize = 2;

/// Words and phrases for the first of two dates.
const BEGINNINGS: [&str; 6] = ["start", "begin", "beginn", "debut", "inicio", "issued"];
const VALID_FROM: [&str; 7] = [
    "valid from",
    "issue date",
    "start date",
    "gultig ab",
    "gultig von",
    "valable a partir du",
    "valido desde",
];

/// Words of codes that are not those of a card.
const OTHER_CODES: [&str; 21] = [
    "sms",
    "access",
    "login",
    "otp",
    "totp",
    "mfa",
    "one",
    "authenticator",
    "authentication",
    "token",
    "tan",
    "door",
    "gate",
    "building",
    "entry",
    "phone",
    "mobile",
    "app",
    "email",
    "passcode",
    "digit",
];

/// The controls of a form with what each was found to ask for.
struct Form<'a> {
    controls: &'a [&'a Control],
    found: &'a mut [Match],
    /// The controls that a person writes into, or whose options are selected.
    written: Vec<usize>,
}

/// Completes the matches that the evidence of single controls leaves open.
pub fn settle(controls: &[&Control], words: &FormWords, found: &mut [Match]) {
    let is_written = |at: &usize| controls.get(*at).is_some_and(|control| !is_choice(control));
    let written = (0..controls.len()).filter(is_written).collect();
    let mut form = Form { controls, found, written };
    form.dates_by_options();
    form.dates_in_parts();
    form.names();
    form.lines_of_an_address();
    form.cards();
    form.accounts(words);
}

impl Form<'_> {
    /// The controls that were found to ask for this.
    fn all(&self, asked: Asked) -> Vec<usize> {
        let found = self.found.iter().enumerate();
        found.filter(|(_, one)| one.asked == Some(asked)).map(|(at, _)| at).collect()
    }

    fn has(&self, asked: Asked) -> bool {
        self.found.iter().any(|one| one.asked == Some(asked))
    }

    fn asked(&self, at: usize) -> Option<Asked> {
        self.found.get(at).and_then(|one| one.asked)
    }

    fn evidence(&self, at: usize) -> Evidence {
        self.found.get(at).map_or(Evidence::Nothing, |one| one.evidence)
    }

    fn settle(&mut self, at: usize, asked: Asked) {
        if let Some(one) = self.found.get_mut(at) {
            one.settle(asked);
        }
    }

    /// The words of the control's own texts.
    fn own_words(&self, at: usize) -> Vec<String> {
        let Some(control) = self.controls.get(at) else { return Vec::new() };
        let it = &control.words;
        let texts = [
            &it.placeholder,
            &it.aria_label,
            &control.name,
            &it.id,
            &it.labels,
            &it.labelled_by,
            &control.label,
            &it.title,
        ];
        texts.into_iter().flat_map(|text| words(text)).collect()
    }

    /// Looks for these words in the control's own texts.
    fn says(&self, at: usize, known: &[&str]) -> bool {
        says(&self.own_words(at), known)
    }

    /// Recognises the control for the first of two dates, such as that from which a card is valid.
    fn begins(&self, at: usize) -> bool {
        let near = self.controls.get(at).map(|control| words(&control.words.near).join(" "));
        let is_near = near.is_some_and(|near| VALID_FROM.iter().any(|phrase| near.ends_with(phrase)));
        is_near || self.says(at, &BEGINNINGS)
    }

    /// Leaves a control empty, since nothing of a person's data belongs there.
    fn clear(&mut self, at: usize) {
        if let Some(one) = self.found.get_mut(at) {
            (one.asked, one.evidence) = (None, Evidence::Neighbours);
        }
    }

    fn options(&self, at: usize) -> OptionsAre {
        self.controls.get(at).map_or(OptionsAre::Other, |control| options_are(control))
    }

    fn has_card(&self) -> bool {
        self.has(CardNumber) || self.has(CardCode)
    }

    /// Selects of days, months and years.
    fn dates_by_options(&mut self) {
        let options: Vec<OptionsAre> = self.written.iter().map(|at| self.options(*at)).collect();
        let written = self.written.clone();
        for (place, (at, kind)) in written.iter().zip(&options).enumerate() {
            let near = place.saturating_sub(2)..(place + 3).min(written.len());
            let is_birth = |other: &usize| {
                matches!(self.asked(*other), Some(BirthDate | BirthDay | BirthMonth | BirthYear))
            };
            let birth_near = written.get(near.clone()).unwrap_or_default().iter().any(is_birth)
                || options
                    .get(near)
                    .unwrap_or_default()
                    .iter()
                    .any(|kind| matches!(kind, OptionsAre::Days | OptionsAre::YearsBack));
            if self.begins(*at) {
                self.clear(*at);
                continue;
            }
            match kind {
                OptionsAre::Days => self.settle(*at, BirthDay),
                OptionsAre::YearsBack => self.settle(*at, BirthYear),
                OptionsAre::Months if birth_near => self.settle(*at, BirthMonth),
                OptionsAre::Months => self.settle(*at, CardExpiryMonth),
                OptionsAre::YearsAhead => self.settle(*at, CardExpiryYear),
                _ => {}
            }
        }
    }

    /// Boxes for the parts of a birth date or an expiry, each labelled like the whole.
    fn dates_in_parts(&mut self) {
        for whole in [BirthDate, CardExpiry] {
            let is_text =
                |at: &usize| self.controls.get(*at).is_some_and(|control| control.input_type != "date");
            let run: Vec<usize> = self.all(whole).into_iter().filter(is_text).collect();
            let is_select =
                |at: &usize| self.controls.get(*at).is_some_and(|control| control.tag == "select");
            if run.len() < 2 && !run.iter().any(is_select) {
                continue;
            }
            for at in run {
                let said = self.own_words(at);
                let parts = (says(&said, &DAY), says(&said, &MONTH), says(&said, &YEAR));
                let part = match (whole, parts) {
                    (_, (_, true, true)) => continue,
                    (BirthDate, (_, true, _)) => BirthMonth,
                    (BirthDate, (_, _, true)) => BirthYear,
                    (BirthDate, (true, _, _)) => BirthDay,
                    (_, (_, true, _)) => CardExpiryMonth,
                    (_, (_, _, true)) => CardExpiryYear,
                    _ => continue,
                };
                self.settle(at, part);
            }
        }
    }

    /// The word for a name alone is the family name beside a given one, and the given name before a family one.
    fn names(&mut self) {
        let (given, full, family) = (self.all(GivenName), self.all(FullName), self.all(FamilyName));
        match (given.as_slice(), full.as_slice(), family.as_slice()) {
            ([given], [full], []) if *full == given + 1 => self.settle(*full, FamilyName),
            ([], [full], [family]) if full + 1 == *family => self.settle(*full, GivenName),
            // Two of one kind: the word means the one in one language and the other in another.
            ([], [], [first, second]) if second == &(first + 1) => self.settle(*first, GivenName),
            ([first, second], [], []) if second == &(first + 1) => self.settle(*second, FamilyName),
            ([only], [], [])
                if self.evidence(*only) != Evidence::Autocomplete && self.is_bare_name(*only) =>
            {
                self.settle(*only, FullName);
            }
            _ => {}
        }
    }

    /// Whether the label is just the word that some languages use for a given name and for any name.
    fn is_bare_name(&self, at: usize) -> bool {
        let control = self.controls.get(at);
        let label =
            control.map(
                |control| {
                    if control.words.labels.is_empty() { &control.label } else { &control.words.labels }
                },
            );
        matches!(label.map(|label| words(label)).as_deref(), Some([only]) if NAMES.contains(&only.as_str()))
    }

    /// Matches the second of two controls for the first address line to the second line.
    fn lines_of_an_address(&mut self) {
        if let [first, second] = self.all(Street).as_slice()
            && *second == first + 1
            && self.evidence(*second) != Evidence::Autocomplete
            && !self.has(StreetLine2)
        {
            self.settle(*second, StreetLine2);
        }
    }

    /// A name beside a card's number is its holder's, and a code beside a card the card's.
    fn cards(&mut self) {
        if !self.has(CardName)
            && let Some(number) = self.all(CardNumber).first().copied()
        {
            let place = |at: usize| self.written.iter().position(|other| *other == at);
            let beside = |at: &usize| match (place(*at), place(number)) {
                (Some(name), Some(number)) => name.abs_diff(number) <= HOLDER_WITHIN,
                _ => false,
            };
            let names: Vec<usize> = self.all(FullName).into_iter().filter(beside).collect();
            names.into_iter().for_each(|at| self.settle(at, CardName));
        }
        // A form has one code of a card. Another code, such as that of a door, is none.
        if self.has_card()
            && !self.has(CardCode)
            && let [only] = self.all(OneTimeCode).as_slice()
            && self.evidence(*only) != Evidence::Autocomplete
            && !self.says(*only, &OTHER_CODES)
        {
            self.settle(*only, CardCode);
        }
        self.other_cards();
        if !self.has_card()
            && !self.has(CardName)
            && (!self.has(CardExpiryMonth) || !self.has(CardExpiryYear))
        {
            // A list of months or years alone is no expiry: lists of quantities and model years look the same.
            for one in self.found.iter_mut() {
                let is_expiry = matches!(one.asked, Some(CardExpiryMonth | CardExpiryYear));
                if is_expiry && one.evidence == Evidence::Neighbours {
                    one.asked = None;
                }
            }
        }
    }

    /// A card number with nothing else of a card beside it is that of a library or a loyalty programme, unless its token says
    /// otherwise or the form asks for nothing else.
    fn other_cards(&mut self) {
        let has_more = [CardName, CardCode, CardExpiry, CardExpiryMonth, CardExpiryYear, CardType]
            .into_iter()
            .any(|asked| self.has(asked));
        let numbers = self.all(CardNumber);
        if has_more || numbers.len() == self.written.len() {
            return;
        }
        for at in numbers {
            if self.evidence(at) != Evidence::Autocomplete
                && let Some(one) = self.found.get_mut(at)
            {
                (one.asked, one.evidence) = (None, Evidence::Neighbours);
            }
        }
    }

    /// A login asks for the name of an account, whatever the box is called, and a registration for a new password.
    fn accounts(&mut self, words: &FormWords) {
        let kind = form_kind(self.controls, words, self.found);
        if kind == FormKind::Login {
            self.all(Email).into_iter().for_each(|at| self.settle(at, Username));
            if !self.has(Username) && !self.has(UsernameOrEmail) {
                self.name_before_the_password();
            }
        }
        if kind == FormKind::Registration {
            for at in self.all(Password) {
                if self.evidence(at) == Evidence::Type
                    && let Some(one) = self.found.get_mut(at).filter(|one| !one.present)
                {
                    one.asked = Some(NewPassword);
                }
            }
        }
        // A box that shows what is written is no password beside one that hides it.
        let hides =
            |at: &usize| self.controls.get(*at).is_some_and(|control| control.input_type == "password");
        let passwords: Vec<usize> =
            [Password, NewPassword].into_iter().flat_map(|asked| self.all(asked)).collect();
        let in_sight: Vec<usize> = passwords.iter().copied().filter(|at| !hides(at)).collect();
        if in_sight.len() < passwords.len() {
            for at in in_sight {
                if let Some(one) = self.found.get_mut(at).filter(|one| !one.confirms) {
                    (one.asked, one.evidence) = (None, Evidence::Neighbours);
                }
            }
        }
        let either = match kind {
            FormKind::Registration | FormKind::Other => Email,
            FormKind::Login | FormKind::Recovery | FormKind::PasswordChange => Username,
        };
        for one in self.found.iter_mut().filter(|one| one.asked == Some(UsernameOrEmail)) {
            one.asked = Some(either);
        }
    }

    /// The text box before the password of a login is the account's name.
    fn name_before_the_password(&mut self) {
        let Some(password) = self.all(Password).first().copied() else { return };
        let is_text = |at: &usize| self.controls.get(*at).is_some_and(|control| control.tag == "input");
        let last = self.written.iter().copied().rfind(|at| *at < password && is_text(at));
        let Some(last) = last else { return };
        let is_open = self.found.get(last).is_some_and(|one| match one.asked {
            None => !one.refused,
            Some(asked) => {
                matches!(asked, Phone | GovernmentId | BirthDate | CardNumber | FullName | GivenName)
            }
        });
        if is_open {
            self.settle(last, Username);
        }
    }
}
