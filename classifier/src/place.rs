//! Where on a page a text stood.

/// Where a text stood, as the browser says it and not the page. It is a feature of the classifiers, and decides
/// what a reader is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Text that a person sees.
    Shown,
    /// Text in the document that a person does not see: not displayed, transparent, tiny, clipped, outside the
    /// page, of the background's colour, or covered.
    Hidden,
    /// The name of an element, its title, alternative text, placeholder or another attribute.
    Attribute,
    /// What never is text of the page: comments, `noscript`, `template`, metadata.
    Markup,
    /// Text drawn by a style sheet (`content`).
    Generated,
    /// Text of a frame of another origin than the page's.
    ForeignFrame,
    /// Nothing is known.
    Unknown,
}

impl Place {
    /// Every place.
    pub const ALL: [Place; 7] = [
        Place::Shown,
        Place::Hidden,
        Place::Attribute,
        Place::Markup,
        Place::Generated,
        Place::ForeignFrame,
        Place::Unknown,
    ];
}
