//! The verbs of an agent. Every verb is decided before it is carried out.

/// The ref of an element in the text that the model read, such as `e12` or `f1e3`. It is valid for the read
/// that produced it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ElementRef(pub String);

/// One action of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// Go to an address.
    Open {
        /// The address, as the agent wrote it.
        url: String,
    },
    /// Read the page.
    Read,
    /// Click an element.
    Click {
        /// The element.
        target: ElementRef,
    },
    /// Move the mouse over an element.
    Hover {
        /// The element.
        target: ElementRef,
    },
    /// Put text into a control.
    Type {
        /// The control.
        target: ElementRef,
        /// The text.
        text: String,
    },
    /// Choose an option of a select.
    Select {
        /// The control.
        target: ElementRef,
        /// The option's visible label or value.
        option: String,
    },
    /// Set a check box or radio button.
    Check {
        /// The control.
        target: ElementRef,
        /// On or off.
        on: bool,
    },
    /// Press one key: `Enter`, `Tab`, `Escape` or an arrow key.
    Press {
        /// The name of the key.
        key: String,
    },
    /// Wait for the page.
    Wait {
        /// Milliseconds; the bridge caps them.
        milliseconds: u32,
    },
    /// Submit the form that owns the element.
    Submit {
        /// The form, or a control of it.
        target: ElementRef,
    },
    /// Go back one page.
    Back,
}
