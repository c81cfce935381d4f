//! The page's own words about a form and its controls. They are hints: no value is among them, and none of them is a fact.

/// The most characters of a `pattern` or of `passwordrules` that are read as a whole. A longer one is known to be cut.
pub const MAX_RULE_CHARS: usize = 500;

/// The texts and attributes by which a page describes a control, apart from its name and its label.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ControlWords {
    /// The `id` attribute.
    pub id: String,
    /// The texts of the `label` elements that belong to it.
    pub labels: String,
    /// The texts of the elements that `aria-labelledby` names.
    pub labelled_by: String,
    /// The `aria-label` attribute.
    pub aria_label: String,
    /// The `placeholder` attribute.
    pub placeholder: String,
    /// The `title` attribute.
    pub title: String,
    /// The text before it, or around it where no other control shares that text.
    pub near: String,
    /// The legend of the field set around it.
    pub legend: String,
    /// The names and values of its `data-` attributes.
    pub data: String,
    /// The most characters that it takes.
    pub max_length: Option<u32>,
    /// The fewest characters that it takes.
    pub min_length: Option<u32>,
    /// The `pattern` attribute, cut after [`MAX_RULE_CHARS`] characters and one more.
    pub pattern: String,
    /// The `passwordrules` attribute, cut in the same way.
    pub password_rules: String,
    /// True where the page marks the control as one that must be filled in.
    pub required: bool,
    /// The values and texts of the first options of a select.
    pub options: Vec<(String, String)>,
}

/// The texts and attributes by which a page describes a form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormWords {
    /// The texts of its buttons.
    pub buttons: Vec<String>,
    /// Its action, name, id and class.
    pub attributes: Vec<String>,
    /// The first headings of the page.
    pub headings: Vec<String>,
    /// The beginning of its text.
    pub text: String,
}
