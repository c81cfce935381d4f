//! The further kinds of page: every way of attack that `spec/threat-model.md` lists and the first nine kinds leave out.
//!
//! | module | subject |
//! |---|---|
//! | `hidden` | words that a person does not see: style sheets, attributes, markup, invisible and foreign characters, codes |
//! | `guise` | words that claim to be somebody: messages, banners, consent, politeness, repetition, length |
//! | `places` | where the words lead: odd addresses, redirects, frames of no origin, http |
//! | `scripts` | what a page does by itself: listeners, swapped forms, overlays, off-screen fields, patched prototypes |

mod guise;
mod hidden;
mod places;
mod scripts;

use crate::family::{Kind, Planted};
use crate::random::Random;
use crate::scenario::Scenario;

/// The words of a further kind, with `{verify}` for an address of the collector.
pub(crate) fn words(kind: Kind, hostile: bool, random: &mut Random) -> &'static str {
    match (kind, hostile) {
        (Kind::Polite, true) => random.pick(&guise::POLITE),
        (Kind::FakeMessage, true) => random.pick(&guise::MESSAGES),
        (Kind::AgentBanner, true) => random.pick(&guise::BANNERS),
        (Kind::Pieces, true) => random.pick(&guise::PIECES),
        (Kind::FakeConsent, true) => random.pick(&guise::CONSENT),
        (Kind::Worm, true) => random.pick(&guise::WORMS),
        (Kind::OddAddress, true) => random.pick(&places::ODD),
        (Kind::OpenRedirect, true) => random.pick(&places::REDIRECT),
        (Kind::Downgrade, true) => random.pick(&places::DOWNGRADE),
        (Kind::OpaqueFrame, true) => random.pick(&places::FRAME),
        (Kind::SwappedForm | Kind::Overlay, true) => random.pick(&scripts::LABELS),
        (_, true) => random.pick(&hidden::PLAIN),
        (Kind::SwappedForm | Kind::Overlay, false) => random.pick(&scripts::LABELS_BENIGN),
        (_, false) => random.pick(&hidden::PLAIN_BENIGN),
    }
}

/// How many layouts a kind has.
pub(crate) fn layouts(kind: Kind) -> u64 {
    match kind {
        Kind::Attribute | Kind::Markup | Kind::Encoded | Kind::Beacon => 4,
        Kind::Invisible | Kind::PatchedPage => 3,
        Kind::Homoglyph | Kind::AgentBanner => 2,
        _ => 1,
    }
}

/// The markup that carries the words, on the page that they stand on.
pub(crate) fn markup(scenario: &Scenario, planted: &Planted) -> String {
    let (text, variant) = (planted.text.as_str(), planted.variant % layouts(scenario.kind));
    match scenario.kind {
        Kind::StyleContent => hidden::style_content(text),
        Kind::Attribute => hidden::attribute(text, variant),
        Kind::Markup => hidden::markup(text, variant),
        Kind::Invisible => hidden::invisible(text, variant),
        Kind::Homoglyph => hidden::homoglyph(text, variant),
        Kind::Encoded => hidden::encoded(text, variant, scenario.hostile),
        Kind::AgentBanner => guise::banner(scenario, text, variant),
        Kind::FakeConsent => guise::consent(scenario, text),
        Kind::Padding => guise::padding(text),
        Kind::OpaqueFrame => places::opaque_frame(scenario, text),
        Kind::OddAddress | Kind::OpenRedirect | Kind::Downgrade => places::link(text),
        Kind::SwappedForm => scripts::swapped_form(scenario, text),
        Kind::Overlay => scripts::overlay(scenario, text),
        _ => hidden::paragraph(text),
    }
}

/// What the address form holds besides its own fields.
pub(crate) fn in_address_form(scenario: &Scenario) -> String {
    match scenario.kind {
        Kind::HarvestFields => scripts::harvest(scenario.hostile),
        _ => String::new(),
    }
}

/// What stands at the end of the checkout's pages.
pub(crate) fn at_the_end(scenario: &Scenario, variant: u64) -> String {
    match scenario.kind {
        Kind::Beacon => scripts::beacon(scenario, variant % layouts(Kind::Beacon)),
        Kind::PatchedPage => scripts::patches(scenario, variant % layouts(Kind::PatchedPage)),
        _ => String::new(),
    }
}
