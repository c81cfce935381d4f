//! The text of a page for the model.
//!
//! A [`Scrubber`] leaves out hidden words and withholds attacks; a [`PageTextGuard`] then masks values. Nothing else may
//! render a page for the model.
//!
//! | module | subject |
//! |---|---|
//! | `scrub` | [`Scrubber`]: which words of a page the model gets, and which are withheld |
//! | [`quarantine`] | withheld attacks, stored for the user |
//! | `running_text` | the text of a page's frames in one piece, for classifiers and judges of safety |
//! | `names` | names that are read together |
//! | `told` | the part of a page that the model is told, for judges |
//! | `guard` | [`PageTextGuard`]: scrubbing and masking for one container |
//! | `pay_button` | the button that starts a payment |
//! | `contacts` | masking by form, and the published contacts that stay readable |
//! | `number_endings` | last digits beside words such as `ending in` |

#[cfg(feature = "browser")]
mod contacts;
#[cfg(feature = "browser")]
mod guard;
mod names;
#[cfg(feature = "browser")]
mod number_endings;
#[cfg(feature = "browser")]
mod pay_button;
pub mod quarantine;
pub(crate) mod running_text;
mod scrub;
mod told;

#[cfg(feature = "browser")]
pub use contacts::{mask_by_form, mask_page};
#[cfg(feature = "browser")]
pub(crate) use guard::PictureJudge;
#[cfg(feature = "browser")]
pub use guard::{MASKED, PageTextGuard};
pub use quarantine::{Quarantine, Quarantined};
pub use running_text::PageSafety;
pub use scrub::{HiddenText, ScrubSettings, Scrubbed, ScrubbedLine, Scrubber, Withheld, WithholdReason};
