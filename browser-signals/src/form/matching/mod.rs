//! Matches each control of a form to the kind of data that it asks for, by evidence of the page.
//!
//! The evidence is tried in this order, and the first source that names a field decides:
//!
//! 1. what excludes a field: the kind of the control (a checkbox, a search), words of a captcha, a token of the standard that is
//!    none of ours;
//! 2. `type=password`, unless words say that a code, a card number or a government id is asked for;
//! 3. the `autocomplete` token of the HTML standard;
//! 4. the options of a select;
//! 5. the words of the label, of `aria-labelledby`, `aria-label`, placeholder, `name`, `id`, `title`, of the text near by and of
//!    `data-` attributes;
//! 6. `type=email`, and last `type=tel`.
//!
//! Then the controls of the form settle what one of them leaves open: parts of dates, parts of names, the lines of an address,
//! the code of a card, and whether a login asks for a user name. All of this is what the page says: it decides where in a form a
//! value goes, and never whether the form may have it. The work is linear in the number of controls.

mod asked;
mod control;
mod folded;
mod form_kind;
mod lexicon;
mod neighbours;
mod options;
mod section;
mod vocabulary;

pub use asked::Asked;
pub use folded::words;
pub use form_kind::FormKind;
pub use section::{Section, section_of};

use super::meaning::Meaning;
use crate::{Control, FormWords};

/// The source of evidence that decided the match of a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// The `autocomplete` attribute.
    Autocomplete,
    /// The kind of the control.
    Type,
    /// The options of a select.
    Options,
    /// A `label` element.
    Label,
    /// The elements that `aria-labelledby` names.
    LabelledBy,
    /// The `aria-label` attribute.
    AriaLabel,
    /// The `placeholder` attribute.
    Placeholder,
    /// The `name` attribute.
    Name,
    /// The `id` attribute.
    Id,
    /// The `title` attribute.
    Title,
    /// The text near by.
    NearText,
    /// A `data-` attribute.
    Data,
    /// The other controls of the form.
    Neighbours,
    /// Words of a captcha.
    Captcha,
    /// No source named a kind of data.
    Nothing,
}

impl Evidence {
    /// Returns the name of the source that `portcullis forms` prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Evidence::Autocomplete => "autocomplete",
            Evidence::Type => "type",
            Evidence::Options => "options",
            Evidence::Label => "label",
            Evidence::LabelledBy => "aria-labelledby",
            Evidence::AriaLabel => "aria-label",
            Evidence::Placeholder => "placeholder",
            Evidence::Name => "name",
            Evidence::Id => "id",
            Evidence::Title => "title",
            Evidence::NearText => "near text",
            Evidence::Data => "data attribute",
            Evidence::Neighbours => "neighbours",
            Evidence::Captcha => "captcha",
            Evidence::Nothing => "nothing",
        }
    }
}

/// The match of a control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The data; none where nothing of a person's data belongs there, or nothing says what does.
    pub asked: Option<Asked>,
    /// The section of the form.
    pub section: Option<Section>,
    /// The source of evidence that decided.
    pub evidence: Evidence,
    /// Whether the control asks for what another one asks for too, to compare them.
    pub confirms: bool,
    /// True if the page says that the control asks for the account's present password.
    pub present: bool,
    /// Whether the words say that none of a person's fields is asked for, apart from silence.
    pub refused: bool,
}

impl Match {
    fn of(asked: Asked, evidence: Evidence, confirms: bool) -> Match {
        Match { asked: Some(asked), section: None, evidence, confirms, present: false, refused: false }
    }

    fn none(evidence: Evidence, refused: bool) -> Match {
        Match { asked: None, section: None, evidence, confirms: false, present: false, refused }
    }

    /// Returns true if the page does not say what the control is for. A note, a coupon or a search is known to be for no field, so its
    /// control is not silent.
    pub fn is_silent(&self, control: &Control) -> bool {
        let is_harmless = matches!(Meaning::of(control), Meaning::Harmless(_));
        self.asked.is_none() && !self.refused && !is_harmless
    }

    /// Decides by the other controls of the form.
    fn settle(&mut self, asked: Asked) {
        if self.asked != Some(asked) {
            self.asked = Some(asked);
            self.evidence = Evidence::Neighbours;
        }
    }
}

/// The kind of a form, by its controls and its texts.
pub fn kind_of_form(controls: &[Control], form: &FormWords) -> FormKind {
    let entries: Vec<&Control> = controls.iter().filter(|control| control::is_entry(control)).collect();
    let found: Vec<Match> = entries.iter().map(|control| control::match_alone(control)).collect();
    form_kind::form_kind(&entries, form, &found)
}

/// Returns the match of each control of a form, in the order of the controls.
pub fn match_form(controls: &[Control], form: &FormWords) -> Vec<Match> {
    // Buttons are no entries, and so no neighbours.
    let entries: Vec<usize> =
        (0..controls.len()).filter(|at| controls.get(*at).is_some_and(control::is_entry)).collect();
    let members: Vec<&Control> = entries.iter().filter_map(|at| controls.get(*at)).collect();
    let mut found: Vec<Match> = members.iter().map(|control| control::match_alone(control)).collect();
    neighbours::settle(&members, form, &mut found);
    section::divide(&members, &mut found);
    let mut all = vec![Match::none(Evidence::Type, true); controls.len()];
    for (at, one) in entries.into_iter().zip(found) {
        if let Some(place) = all.get_mut(at) {
            *place = one;
        }
    }
    all
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests;
