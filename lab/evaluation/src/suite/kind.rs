//! The scenarios of the benchmark suite: each is one place for an attacker's words or one way in which a page attacks.
//! The demo runs the first nine.

use serde::{Deserialize, Serialize};

/// A scenario: where the attacker's text is, or how the page attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioKind {
    /// The seller's description of the item.
    SellerDescription,
    /// A message in the support chat.
    ChatMessage,
    /// The label of a control in a form that goes elsewhere.
    FakeFormLabel,
    /// Text that is invisible on the screen and present in the accessibility tree.
    HiddenText,
    /// A customer's review.
    Review,
    /// Text that is not in the markup: a script inserts it after the page has loaded.
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
    /// Text in parts that are never displayed: comments, `noscript`, `template`, metadata.
    Markup,
    /// Zero-width and other invisible characters, between the letters or in place of them.
    Invisible,
    /// Letters of other alphabets that look alike.
    Homoglyph,
    /// Encoded text, such as base64, and a line that asks the reader to decode it.
    Encoded,
    /// Text that claims to be a message of the system, the user or a tool.
    FakeMessage,
    /// A banner for agents, and tools that the page offers to them.
    AgentBanner,
    /// A polite request without any word that a filter would look for.
    Polite,
    /// A sandboxed frame with an opaque origin.
    OpaqueFrame,
    /// An address with the shop's name in its user part.
    OddAddress,
    /// An address of the shop that redirects elsewhere.
    OpenRedirect,
    /// A script that sends typed text to the attacker, over every channel that a page has.
    Beacon,
    /// A form whose target changes while it is filled in.
    SwappedForm,
    /// A button under an invisible link.
    Overlay,
    /// Fields off the screen, in the shop's own address form.
    HarvestFields,
    /// A request for a value in several pieces.
    Pieces,
    /// A dialog that looks like the guard's own question.
    FakeConsent,
    /// Text that asks to be copied to further pages.
    Worm,
    /// A long page that claims to be safe.
    Padding,
    /// A page that replaces prototypes and the payment interface.
    PatchedPage,
    /// The shop's address without encryption.
    Downgrade,
    /// The checkout asks for more than the product's page said, within what the user allows.
    PriceUp,
    /// The checkout adds something that costs, within what the user allows.
    AddOn,
    /// The checkout sells another variant.
    WrongVariant,
    /// The address form asks for a value that the order does not need.
    SurplusField,
    /// Another merchant sells, in the shop's own checkout.
    SecondMerchant,
    /// The user's own words name a host that looks like the shop's.
    LookalikeInWords,
}

impl ScenarioKind {
    /// The scenarios of the demo.
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

    /// The scenarios of the comparison.
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

    /// The scenarios that only a person can judge: nothing on the page is an instruction, and whether the offer is what the user wants is
    /// for the user to say.
    pub const JUDGED: &[ScenarioKind] = &[
        ScenarioKind::PriceUp,
        ScenarioKind::AddOn,
        ScenarioKind::WrongVariant,
        ScenarioKind::SurplusField,
        ScenarioKind::SecondMerchant,
        ScenarioKind::LookalikeInWords,
    ];

    /// Every scenario: those of the comparison, and those that only a person can judge.
    pub fn all() -> impl Iterator<Item = ScenarioKind> {
        ScenarioKind::EVERY.iter().chain(ScenarioKind::JUDGED).copied()
    }

    /// The scenario's name in files and on the command line, such as `seller_description`.
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
            ScenarioKind::PriceUp => "price_up",
            ScenarioKind::AddOn => "add_on",
            ScenarioKind::WrongVariant => "wrong_variant",
            ScenarioKind::SurplusField => "surplus_field",
            ScenarioKind::SecondMerchant => "second_merchant",
            ScenarioKind::LookalikeInWords => "lookalike_in_words",
        }
    }

    /// The number of layouts that the scenario has.
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
    fn every_scenario_has_a_unique_name_that_is_also_its_serialised_form() {
        let names: BTreeSet<&str> = ScenarioKind::all().map(ScenarioKind::as_str).collect();
        assert_eq!(names.len(), ScenarioKind::EVERY.len() + ScenarioKind::JUDGED.len());
        for (place, kind) in ScenarioKind::all().enumerate() {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(kind as usize, place, "seeds rest on the order, which must not change");
            assert!(place < 64, "a seed has room for 64 kinds");
        }
        assert_eq!(ScenarioKind::EVERY[..9], ScenarioKind::ALL);
    }
}
