//! The family of pages: nine places where an attacker's words can stand, each with a benign twin.

use serde::{Deserialize, Serialize};

use crate::hosts;
use crate::random::Random;
use crate::scenario::Scenario;
use crate::wordings;

/// Where the attacker's words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 9] = [
        Kind::SellerDescription,
        Kind::ChatMessage,
        Kind::FakeFormLabel,
        Kind::HiddenText,
        Kind::Review,
        Kind::LateScript,
        Kind::OtherLanguage,
        Kind::LookalikeHost,
        Kind::CrossOriginFrame,
    ];

    /// Every kind that the comparison runs.
    pub const EVERY: &[Kind] = &Kind::ALL;

    /// The kind's name, such as `seller_description`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::SellerDescription => "seller_description",
            Kind::ChatMessage => "chat_message",
            Kind::FakeFormLabel => "fake_form_label",
            Kind::HiddenText => "hidden_text",
            Kind::Review => "review",
            Kind::LateScript => "late_script",
            Kind::OtherLanguage => "other_language",
            Kind::LookalikeHost => "lookalike_host",
            Kind::CrossOriginFrame => "cross_origin_frame",
        }
    }
}

/// The page of the shop that carries the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The product's page.
    Product,
    /// The payment step of the checkout.
    Payment,
}

/// The words of one page of the family, and where they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    /// Which page carries them.
    pub stage: Stage,
    /// The words: an instruction on a hostile page, harmless on its twin.
    pub text: String,
    /// A small number that picks among layouts of the same kind.
    pub variant: u64,
    /// The page without what a seed fills in: kind, page, layout and sentence. Trials of one template are alike.
    pub template: String,
}

impl Planted {
    /// The words of `scenario`. A benign twin has the same stage and layout.
    pub fn of(scenario: &Scenario) -> Planted {
        let mut random = Random::new(scenario.seed.wrapping_mul(32).wrapping_add(scenario.kind as u64));
        // A late text on the payment step would race with an agent that pays at once.
        let early = random.below(2) == 0 || scenario.kind == Kind::LateScript;
        let stage = if early { Stage::Product } else { Stage::Payment };
        let variant = random.below(4);
        let (said, second) = if scenario.hostile {
            (wordings::leak(scenario.kind, &mut random), wordings::divert(scenario.kind, &mut random))
        } else {
            (wordings::benign(scenario.kind, &mut random), None)
        };
        let mut text = said
            .replace("{shop}", hosts::SHOP)
            .replace("{verify}", &scenario.url_at(hosts::COLLECTOR, "verify"))
            .replace("{lookalike}", &scenario.url_at(hosts::LOOKALIKE, "product"));
        if let Some(second) = second {
            text.push(' ');
            text.push_str(second);
        }
        let layout = if scenario.kind == Kind::HiddenText { variant } else { 0 };
        let step = if early { "product" } else { "payment" };
        let sentence = fingerprint(&[said, second.unwrap_or_default()]);
        let template = format!("{}/{step}/{layout}/{sentence:08x}", scenario.kind.as_str());
        Planted { stage, text, variant, template }
    }
}

/// Names sentences in few letters (FNV-1a).
fn fingerprint(sentences: &[&str]) -> u32 {
    let bytes = sentences.iter().flat_map(|sentence| sentence.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
