//! The scenarios of the benchmark suite: each is one place for an attacker's words or one way in which a page attacks.
//! The demo runs the first nine.

use serde::{Deserialize, Serialize};

/// Where the attacker's words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioKind {
    /// The seller's description of the item.
    SellerDescription,
    /// A message in the support chat.
    ChatMessage,
    /// The label of a control in a form that goes elsewhere.
    FakeFormLabel,
    /// Text that a person does not see and the accessibility tree holds.
    HiddenText,
    /// A customer's review.
    Review,
    /// Text that is nowhere in the markup: a script puts it in when the page has loaded.
    LateScript,
    /// The description, in German, Spanish or French.
    OtherLanguage,
    /// A link to a host that looks like the shop's.
    LookalikeHost,
    /// A frame of another origin with a payment form of its own.
    CrossOriginFrame,
    /// Text that a style sheet draws.
    StyleContent,
    /// A name, title, alternative text or placeholder.
    Attribute,
    /// What never is text: comments, `noscript`, `template`, metadata.
    Markup,
    /// Characters that are not drawn, among the letters or in their place.
    Invisible,
    /// Letters that look like others.
    Homoglyph,
    /// A code, and a line that asks to read it.
    Encoded,
    /// Words in the clothes of a system, a user or a tool.
    FakeMessage,
    /// A banner for agents, and tools that the page offers them.
    AgentBanner,
    /// A polite request without a word that a filter would look for.
    Polite,
    /// A sandboxed frame whose origin is nobody's.
    OpaqueFrame,
    /// An address with the shop's name in the wrong place.
    OddAddress,
    /// An address of the shop that leads elsewhere.
    OpenRedirect,
    /// A script that sends on what is typed, by every way out that a page has.
    Beacon,
    /// A form whose target changes when it is filled.
    SwappedForm,
    /// A button under a link that nobody sees.
    Overlay,
    /// Fields off the screen, in the shop's own address form.
    HarvestFields,
    /// A value asked for bit by bit.
    Pieces,
    /// A box that looks like the guard's own question.
    FakeConsent,
    /// Words that want to be passed on.
    Worm,
    /// A long page that says of itself that it is safe.
    Padding,
    /// A page that takes over prototypes and the payment interface.
    PatchedPage,
    /// The shop's address without encryption.
    Downgrade,
}

impl ScenarioKind {
    /// The first nine: those of the demo.
    pub const ALL: [ScenarioKind; 9] = [
        ScenarioKind::SellerDescription,
        ScenarioKind::ChatMessage,
        ScenarioKind::FakeFormLabel,
        ScenarioKind::HiddenText,
        ScenarioKind::Review,
        ScenarioKind::LateScript,
        ScenarioKind::OtherLanguage,
        ScenarioKind::LookalikeHost,
        ScenarioKind::CrossOriginFrame,
    ];

    /// Every kind that the comparison runs.
    pub const EVERY: &[ScenarioKind] = &[
        ScenarioKind::SellerDescription,
        ScenarioKind::ChatMessage,
        ScenarioKind::FakeFormLabel,
        ScenarioKind::HiddenText,
        ScenarioKind::Review,
        ScenarioKind::LateScript,
        ScenarioKind::OtherLanguage,
        ScenarioKind::LookalikeHost,
        ScenarioKind::CrossOriginFrame,
        ScenarioKind::StyleContent,
        ScenarioKind::Attribute,
        ScenarioKind::Markup,
        ScenarioKind::Invisible,
        ScenarioKind::Homoglyph,
        ScenarioKind::Encoded,
        ScenarioKind::FakeMessage,
        ScenarioKind::AgentBanner,
        ScenarioKind::Polite,
        ScenarioKind::OpaqueFrame,
        ScenarioKind::OddAddress,
        ScenarioKind::OpenRedirect,
        ScenarioKind::Beacon,
        ScenarioKind::SwappedForm,
        ScenarioKind::Overlay,
        ScenarioKind::HarvestFields,
        ScenarioKind::Pieces,
        ScenarioKind::FakeConsent,
        ScenarioKind::Worm,
        ScenarioKind::Padding,
        ScenarioKind::PatchedPage,
        ScenarioKind::Downgrade,
    ];

    /// The kind's name, such as `seller_description`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ScenarioKind::SellerDescription => "seller_description",
            ScenarioKind::ChatMessage => "chat_message",
            ScenarioKind::FakeFormLabel => "fake_form_label",
            ScenarioKind::HiddenText => "hidden_text",
            ScenarioKind::Review => "review",
            ScenarioKind::LateScript => "late_script",
            ScenarioKind::OtherLanguage => "other_language",
            ScenarioKind::LookalikeHost => "lookalike_host",
            ScenarioKind::CrossOriginFrame => "cross_origin_frame",
            ScenarioKind::StyleContent => "style_content",
            ScenarioKind::Attribute => "attribute",
            ScenarioKind::Markup => "markup",
            ScenarioKind::Invisible => "invisible",
            ScenarioKind::Homoglyph => "homoglyph",
            ScenarioKind::Encoded => "encoded",
            ScenarioKind::FakeMessage => "fake_message",
            ScenarioKind::AgentBanner => "agent_banner",
            ScenarioKind::Polite => "polite",
            ScenarioKind::OpaqueFrame => "opaque_frame",
            ScenarioKind::OddAddress => "odd_address",
            ScenarioKind::OpenRedirect => "open_redirect",
            ScenarioKind::Beacon => "beacon",
            ScenarioKind::SwappedForm => "swapped_form",
            ScenarioKind::Overlay => "overlay",
            ScenarioKind::HarvestFields => "harvest_fields",
            ScenarioKind::Pieces => "pieces",
            ScenarioKind::FakeConsent => "fake_consent",
            ScenarioKind::Worm => "worm",
            ScenarioKind::Padding => "padding",
            ScenarioKind::PatchedPage => "patched_page",
            ScenarioKind::Downgrade => "downgrade",
        }
    }

    /// How many layouts a kind has.
    pub(crate) const fn layouts(self) -> u64 {
        match self {
            ScenarioKind::Attribute | ScenarioKind::Markup | ScenarioKind::Encoded | ScenarioKind::Beacon => {
                4
            }
            ScenarioKind::Invisible | ScenarioKind::PatchedPage => 3,
            ScenarioKind::Homoglyph | ScenarioKind::AgentBanner => 2,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own_that_files_use_too() {
        let names: BTreeSet<&str> = ScenarioKind::EVERY.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), ScenarioKind::EVERY.len());
        for (place, kind) in ScenarioKind::EVERY.iter().enumerate() {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(*kind as usize, place, "seeds rest on the order, which must not change");
            assert!(place < 32, "a seed has room for 32 kinds");
        }
        assert_eq!(ScenarioKind::EVERY[..9], ScenarioKind::ALL);
    }
}
