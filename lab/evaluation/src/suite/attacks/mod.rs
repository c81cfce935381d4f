//! The further scenarios: every attack that `spec/threat-model.md` lists and the demo leaves out.
//!
//! | module | subject |
//! |---|---|
//! | `hidden` | text that is hidden on the screen: style sheets, attributes, markup, invisible and foreign characters, codes |
//! | `claimed_identity` | text that claims an identity: messages, banners, consent, politeness, repetition, length |
//! | `places` | targets of links and frames: odd addresses, redirects, opaque origins, http |
//! | `scripts` | attacks by script: listeners, swapped forms, overlays, off-screen fields, patched prototypes |

mod claimed_identity;
mod hidden;
mod places;
mod scripts;

use crate::random::Random;
use crate::suite::kind::ScenarioKind;
use crate::suite::scenario::Scenario;

pub(crate) use places::link;

/// The sentence of a further scenario, with `{verify}` for an address of the collector.
pub(crate) fn words(kind: ScenarioKind, hostile: bool, random: &mut Random) -> &'static str {
    match (kind, hostile) {
        (ScenarioKind::Polite, true) => random.pick(&claimed_identity::POLITE),
        (ScenarioKind::FakeMessage, true) => random.pick(&claimed_identity::MESSAGES),
        (ScenarioKind::AgentBanner, true) => random.pick(&claimed_identity::BANNERS),
        (ScenarioKind::Pieces, true) => random.pick(&claimed_identity::PIECES),
        (ScenarioKind::FakeConsent, true) => random.pick(&claimed_identity::CONSENT),
        (ScenarioKind::Worm, true) => random.pick(&claimed_identity::WORMS),
        (ScenarioKind::OddAddress, true) => random.pick(&places::ODD),
        (ScenarioKind::OpenRedirect, true) => random.pick(&places::REDIRECT),
        (ScenarioKind::Downgrade, true) => random.pick(&places::DOWNGRADE),
        (ScenarioKind::OpaqueFrame, true) => random.pick(&places::FRAME),
        (ScenarioKind::SwappedForm | ScenarioKind::Overlay, true) => random.pick(&scripts::LABELS),
        (_, true) => random.pick(&hidden::PLAIN),
        (ScenarioKind::SwappedForm | ScenarioKind::Overlay, false) => random.pick(&scripts::LABELS_BENIGN),
        (_, false) => random.pick(&hidden::PLAIN_BENIGN),
    }
}

/// The markup that carries the text, on the page that carries it.
pub(crate) fn markup(scenario: &Scenario, text: &str, variant: u64) -> String {
    let variant = variant % scenario.kind.layouts();
    match scenario.kind {
        ScenarioKind::StyleContent => hidden::style_content(text),
        ScenarioKind::Attribute => hidden::attribute(text, variant),
        ScenarioKind::Markup => hidden::markup(text, variant),
        ScenarioKind::Invisible => hidden::invisible(text, variant),
        ScenarioKind::Homoglyph => hidden::homoglyph(text, variant),
        ScenarioKind::Encoded => hidden::encoded(text, variant, scenario.hostile),
        ScenarioKind::AgentBanner => claimed_identity::banner(scenario, text, variant),
        ScenarioKind::FakeConsent => claimed_identity::consent(scenario, text),
        ScenarioKind::Padding => claimed_identity::padding(text),
        ScenarioKind::OpaqueFrame => places::opaque_frame(scenario, text),
        ScenarioKind::OddAddress | ScenarioKind::OpenRedirect | ScenarioKind::Downgrade => places::link(text),
        ScenarioKind::SwappedForm => scripts::swapped_form(scenario, text),
        ScenarioKind::Overlay => scripts::overlay(scenario, text),
        _ => hidden::paragraph(text),
    }
}

/// Additional fields within the address form.
pub(crate) fn in_address_form(scenario: &Scenario) -> String {
    match scenario.kind {
        ScenarioKind::HarvestFields => scripts::harvest(scenario.hostile),
        _ => String::new(),
    }
}

/// Markup and scripts at the end of the checkout's pages.
pub(crate) fn at_the_end(scenario: &Scenario, variant: u64) -> String {
    match scenario.kind {
        ScenarioKind::Beacon => scripts::beacon(scenario, variant % ScenarioKind::Beacon.layouts()),
        ScenarioKind::PatchedPage => {
            scripts::patches(scenario, variant % ScenarioKind::PatchedPage.layouts())
        }
        _ => String::new(),
    }
}
