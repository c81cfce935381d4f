//! The pages of the package: those that the solver does, and those that are left out.

/// The tasks, by the names of their pages: those that a person can do with the verbs of an agent and with the page as text.
pub const TASKS: &[&str] = &[
    "ascending-numbers",
    "book-flight",
    "book-flight-nodelay",
    "button-delay",
    "buy-ticket",
    "choose-date",
    "choose-date-easy",
    "choose-date-medium",
    "choose-date-nodelay",
    "choose-list",
    "click-button",
    "click-button-sequence",
    "click-checkboxes",
    "click-checkboxes-large",
    "click-checkboxes-transfer",
    "click-collapsible",
    "click-collapsible-2",
    "click-collapsible-2-nodelay",
    "click-collapsible-nodelay",
    "click-dialog",
    "click-dialog-2",
    "click-link",
    "click-menu",
    "click-menu-2",
    "click-option",
    "click-pie",
    "click-pie-nodelay",
    "click-scroll-list",
    "click-tab",
    "click-tab-2",
    "click-tab-2-easy",
    "click-tab-2-hard",
    "click-tab-2-medium",
    "click-test",
    "click-test-2",
    "click-test-transfer",
    "click-widget",
    "copy-paste",
    "copy-paste-2",
    "drag-box",
    "drag-items",
    "drag-items-grid",
    "drag-sort-numbers",
    "email-inbox",
    "email-inbox-forward",
    "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
    "email-inbox-nl-turk",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
    "enter-date",
    "enter-password",
    "enter-text",
    "enter-text-2",
    "enter-text-dynamic",
    "enter-time",
    "find-greatest",
    "find-word",
    "focus-text",
    "focus-text-2",
    "form-sequence",
    "form-sequence-2",
    "form-sequence-3",
    "generate-number",
    "guess-number",
    "login-user",
    "login-user-popup",
    "multi-layouts",
    "multi-orderings",
    "navigate-tree",
    "odd-or-even",
    "order-food",
    "phone-book",
    "read-table",
    "read-table-2",
    "scroll-text",
    "scroll-text-2",
    "search-engine",
    "sign-agreement",
    "simple-algebra",
    "simple-arithmetic",
    "stock-market",
    "terminal",
    "text-transform",
    "unicode-test",
    "use-autocomplete",
    "use-autocomplete-nodelay",
    "use-slider",
    "use-slider-2",
    "use-spinner",
];

/// The reason of a task of drawing, of selecting text, or of dragging to where no element is.
const DRAGGED: &str = "the mouse draws, selects text, or drags to a place that no element has; a drag goes from element to element";
/// The reason of a task of a place.
const PLACED: &str = "what counts is a place within a drawing, and a click goes to the middle of an element";
/// The reason of a task of shapes, colours or lights.
const DRAWN: &str = "only a picture shows what the task asks for: colours, shapes, lights or marks";
/// The reason of a task of icons.
const ICONS: &str = "its buttons are icons that nothing names";
/// The reason of a task of meanings.
const MEANING: &str = "it wants a thesaurus, which the solver does not have";

/// The other pages, and why they are left out.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("bisect-angle", PLACED),
    ("chase-circle", PLACED),
    ("circle-center", PLACED),
    ("click-checkboxes-soft", MEANING),
    ("click-color", DRAWN),
    ("click-shades", DRAWN),
    ("click-shape", DRAWN),
    ("count-shape", DRAWN),
    ("count-sides", DRAWN),
    ("daily-calendar", DRAGGED),
    ("drag-circle", DRAGGED),
    ("drag-cube", DRAGGED),
    ("drag-shapes", DRAGGED),
    ("drag-shapes-2", DRAGGED),
    ("drag-single-shape", DRAGGED),
    ("draw-circle", DRAGGED),
    ("draw-line", DRAGGED),
    ("email-inbox-delete", ICONS),
    ("email-inbox-important", ICONS),
    ("find-midpoint", PLACED),
    ("grid-coordinate", PLACED),
    ("highlight-text", DRAGGED),
    ("highlight-text-2", DRAGGED),
    ("hot-cold", PLACED),
    ("hover-shape", PLACED),
    ("identify-shape", DRAWN),
    ("moving-items", PLACED),
    ("number-checkboxes", DRAWN),
    ("resize-textarea", DRAGGED),
    ("right-angle", PLACED),
    ("simon-says", DRAWN),
    ("social-media", ICONS),
    ("social-media-all", ICONS),
    ("social-media-some", ICONS),
    ("text-editor", DRAGGED),
    ("tic-tac-toe", DRAWN),
    ("use-colorwheel", DRAWN),
    ("use-colorwheel-2", DRAWN),
    ("visual-addition", DRAWN),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The number of pages in `html/miniwob` of the package, version 1.1.0. Its folder `html/flight` holds four more, of another
    /// form: copies of airlines' sites in frames.
    const PAGES: usize = 130;

    #[test]
    fn every_page_is_done_or_left_out_for_a_reason() {
        let names: BTreeSet<&str> =
            TASKS.iter().copied().chain(LEFT_OUT.iter().map(|(name, _)| *name)).collect();
        assert_eq!(names.len(), PAGES);
        assert_eq!(TASKS.len() + LEFT_OUT.len(), PAGES, "a page is in both lists");
        assert!(LEFT_OUT.iter().all(|(_, reason)| !reason.is_empty()));
    }
}
