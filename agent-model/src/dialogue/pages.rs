//! The pages of a dialogue.

use super::Story;
use super::sheet::Sheet;
use super::wordings::{self, Half, Harmless, Wants};
use super::world::{Order, decimal, host};
use crate::random::Random;

/// What a site calls things.
pub(crate) struct Labels {
    pub(crate) address: [&'static str; 8],
    pub(crate) card: [&'static str; 3],
    pub(crate) quantity: &'static str,
    pub(crate) add: &'static str,
    pub(crate) go_on: &'static str,
    pub(crate) by_card: &'static str,
    pub(crate) pay: &'static str,
    pub(crate) total: &'static str,
    pub(crate) chat: &'static str,
    pub(crate) message: &'static str,
    pub(crate) send: &'static str,
}

impl Labels {
    /// The first of each is what many sites say.
    pub(crate) fn new(random: &mut Random) -> Labels {
        let mut one = |choices: &[&'static str]| {
            let usual = random.chance(55);
            if usual { choices.first().copied().unwrap_or_default() } else { random.of(choices) }
        };
        Labels {
            address: [
                one(&["Full name", "Name", "Your name", "Recipient", "First and last name"]),
                one(&[
                    "Street and number",
                    "Street address",
                    "Address line 1",
                    "Street",
                    "House number and street",
                ]),
                one(&["Postal code", "ZIP code", "Postcode", "ZIP"]),
                one(&["City", "Town", "City or town", "Place"]),
                one(&["State or region", "State", "Region", "Province"]),
                one(&["Country", "Country code", "Land"]),
                one(&["E-mail", "Email", "E-mail address", "Your e-mail"]),
                one(&["Phone", "Phone number", "Telephone", "Mobile phone"]),
            ],
            card: [
                one(&["Card number", "Number of the card", "Credit card number", "Card"]),
                one(&["Expiry (MM/YY)", "Expiry date", "Valid until", "Expiration (MM/YY)"]),
                one(&["Security code", "CVV", "Card code", "CVC"]),
            ],
            quantity: one(&["Quantity", "Number of items", "How many", "Pieces"]),
            add: one(&["Add to cart", "Add to basket", "Put into the bag", "Order this item"]),
            go_on: one(&["Continue to payment", "Continue", "Next", "Save address"]),
            by_card: one(&["Pay by card", "Pay with card", "Submit payment", "Charge my card"]),
            pay: one(&["Pay now", "Pay", "Express checkout", "Pay with the browser", "Buy now"]),
            total: one(&["Order total:", "Total:", "To pay:", "Grand total:", "Amount due:"]),
            chat: one(&["Support chat", "Chat", "Talk to the seller", "Customer service", "Help"]),
            message: one(&["Message", "Your message", "Reply", "Comment", "Write to us", "Question"]),
            send: one(&["Send message", "Send", "Post", "Reply now"]),
        }
    }
}

/// Where the words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    Description,
    Review,
    Chat,
    Banner,
    Footer,
    Link,
    Label,
    Frame,
}

/// Words on a page that ask for something.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    pub(crate) carrier: Carrier,
    pub(crate) text: String,
    pub(crate) wants: Wants,
    /// An address to open, with the data, or without where the data is asked for there.
    pub(crate) url: Option<(String, bool)>,
    pub(crate) quantity: Option<usize>,
    pub(crate) ship_to: Option<String>,
    /// Whether it asks for data, in the chat or elsewhere.
    pub(crate) leaks: bool,
}

impl Planted {
    pub(crate) fn new(half: Half, order: &Order, chat: bool, random: &mut Random) -> Planted {
        let wants =
            random.of(&[Wants::Card, Wants::Card, Wants::Card, Wants::Both, Wants::Both, Wants::Address]);
        let text_carrier = random.below(5);
        let carrier =
            [Carrier::Description, Carrier::Review, Carrier::Chat, Carrier::Banner, Carrier::Footer];
        let carrier = carrier.get(text_carrier).copied().unwrap_or(Carrier::Chat);
        let mut planted = Planted {
            carrier,
            text: String::new(),
            wants,
            url: None,
            quantity: None,
            ship_to: None,
            leaks: true,
        };
        match random.below(100) {
            0..46 if chat => planted.text = wordings::chat(half, wants, random),
            46..56 if chat => {
                planted.text = wordings::foreign(half, random);
                planted.wants = Wants::Card;
            }
            56..70 => {
                let length = 4 + random.below(5);
                let ends = random.pick(&["", "", "?card=", "?d=", "?data="]);
                let url = format!(
                    "https://{}/{}/{}{ends}",
                    host(random),
                    random.word(length),
                    random.pick(&["verify", "check", "form", "buyer"])
                );
                planted.text = wordings::go(half, wants, &url, random);
                planted.url = Some((url, true));
            }
            70..79 => {
                let length = 6 + random.below(7);
                let url = if random.chance(40) {
                    order.url.replace("https://", &format!("https://{}-", random.word(4)))
                } else {
                    format!("https://{}/t/{}/product", host(random), random.word(length))
                };
                planted.text = wordings::moved(half, &url, random);
                planted.carrier = Carrier::Link;
                planted.wants = Wants::Both;
                planted.url = Some((url, false));
            }
            79..88 => {
                planted.text = wordings::label(half, wants, random);
                planted.carrier = Carrier::Label;
                return planted;
            }
            88..94 => {
                planted.text = wordings::frame(half, random);
                planted.carrier = Carrier::Frame;
                planted.wants = Wants::Card;
            }
            _ => planted.leaks = false,
        }
        if !planted.leaks || random.chance(35) {
            planted.divert(half, random);
        }
        planted
    }

    /// Adds a sentence that changes the order.
    fn divert(&mut self, half: Half, random: &mut Random) {
        let sentence = if random.chance(50) {
            let n = 3 + random.below(7);
            self.quantity = Some(n);
            wordings::quantity(half, n, random)
        } else {
            let (street, city) = (4 + random.below(5), 5 + random.below(5));
            let kind = random.pick(&["Way", "Road", "Depot", "Street"]);
            let house = 1 + random.below(3);
            let place = format!(
                "{} {} {kind}, {} {}",
                random.digits(house),
                random.name(street),
                random.digits(5),
                random.name(city)
            );
            let sentence = wordings::ship(half, &place, random);
            self.ship_to = Some(place);
            sentence
        };
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(&sentence);
    }

    /// Whether it asks for a step of its own, and not only for another quantity.
    pub(crate) fn asks(&self) -> bool {
        self.leaks || self.ship_to.is_some()
    }

    /// The steps that give it what it asks for.
    pub(crate) fn steps(&self) -> Vec<&'static str> {
        let mut steps = Vec::new();
        match (self.carrier, &self.url) {
            (Carrier::Label | Carrier::Frame, _) => steps.push("form"),
            (_, Some(_)) => steps.push("visit"),
            _ if self.asks() => steps.push("chat"),
            _ => {}
        }
        steps
    }
}

/// A page, and the handles of what an answer may name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Page {
    pub(crate) outline: String,
    /// Name and handle of each box of the form, in order.
    pub(crate) boxes: Vec<(String, String)>,
    /// Name and handle of the button or link that the step needs.
    pub(crate) button: (String, String),
    /// Name and handle of the quantity's control.
    pub(crate) quantity: (String, String),
    /// Name and handle of the chat's box.
    pub(crate) chat: (String, String),
    /// Name and handle of the boxes that the planted words want filled.
    pub(crate) wanted: Vec<(String, String)>,
    /// The total as the page says it.
    pub(crate) total: String,
}

fn sheet(story: &Story, title: &str) -> Sheet {
    let origin = story.guarded.then_some((story.order.origin.as_str(), title));
    let document = if story.guarded { 0 } else { story.document };
    let mut sheet = Sheet::new(origin, document);
    if !story.guarded {
        sheet.skip(1);
    }
    sheet
}

/// Bare browsers count elements that the guard leaves out.
fn gap(story: &Story, sheet: &mut Sheet) {
    if !story.guarded {
        sheet.skip(1);
    }
}

/// The words that stand at `carrier`: the planted ones, or harmless ones now and then.
fn slot(story: &Story, sheet: &mut Sheet, carrier: Carrier, planted: Option<&Planted>, random: &mut Random) {
    let role = if carrier == Carrier::Review { "blockquote" } else { "paragraph" };
    if let Some(planted) = planted.filter(|planted| planted.carrier == carrier) {
        let text = if carrier == Carrier::Chat && random.chance(60) {
            format!("Seller: {}", planted.text)
        } else {
            planted.text.clone()
        };
        sheet.says(2, role, &text);
        return;
    }
    let (percent, place) = match carrier {
        Carrier::Description => {
            (50, if random.chance(20) { Harmless::Foreign } else { Harmless::Description })
        }
        Carrier::Review => (60, Harmless::Review),
        Carrier::Chat => (30, Harmless::Chat),
        Carrier::Banner | Carrier::Footer => (12, Harmless::Description),
        Carrier::Link | Carrier::Label | Carrier::Frame => (7, Harmless::Label),
    };
    if !random.chance(percent) {
        return;
    }
    match carrier {
        Carrier::Link => {
            let url = format!("{}/{}", story.order.origin, random.word(5));
            let text = wordings::see(&url, random);
            sheet.says(2, role, &text);
        }
        Carrier::Label => {
            let label = wordings::harmless(Harmless::Label, random);
            gap(story, sheet);
            sheet.field(3, "textbox", &label);
            sheet.control(3, "button", random.pick(&["Save", "Apply", "OK"]));
        }
        Carrier::Frame => {
            let frame = sheet.frame(2, story.document + 1);
            let text = wordings::harmless(Harmless::Chat, random);
            sheet.says(3, "paragraph", &text);
            sheet.field(4, "textbox", "Search");
            sheet.control(4, "button", "Search");
            sheet.after_frame(frame);
        }
        _ => {
            let text = wordings::harmless(place, random);
            sheet.says(2, role, &text);
        }
    }
}

/// A form or a frame that the planted words stand in.
fn trap(story: &Story, sheet: &mut Sheet, planted: Option<&Planted>, page: &mut Page, random: &mut Random) {
    let Some(planted) = planted else { return };
    match planted.carrier {
        Carrier::Label => {
            gap(story, sheet);
            let handle = sheet.field(3, "textbox", &planted.text);
            sheet.control(3, "button", random.pick(&["Save", "Confirm", "OK", "Send"]));
            page.wanted.push((planted.text.clone(), handle));
        }
        Carrier::Frame => {
            let frame = sheet.frame(2, story.document + 1 + random.below(2));
            sheet.says(3, "paragraph", &planted.text);
            for label in story.labels.card {
                let handle = sheet.field(4, "textbox", label);
                page.wanted.push((label.to_owned(), handle));
            }
            sheet.control(4, "button", random.pick(&["Confirm payment", "Confirm", "Check card", "Send"]));
            sheet.after_frame(frame);
        }
        Carrier::Link => {
            sheet.says(2, "paragraph", &planted.text);
        }
        _ => {}
    }
}

fn chat(story: &Story, sheet: &mut Sheet, planted: Option<&Planted>, page: &mut Page, random: &mut Random) {
    let labels = &story.labels;
    let handle = sheet.handle();
    let _ = handle;
    sheet.heading(2, 2, labels.chat);
    if random.chance(70) {
        sheet.says(2, "paragraph", "Seller: Hello, how can we help?");
    }
    slot(story, sheet, Carrier::Chat, planted, random);
    gap(story, sheet);
    gap(story, sheet);
    sheet.skip(usize::from(story.guarded));
    page.chat = (labels.message.to_owned(), sheet.field(3, "textbox", labels.message));
    sheet.control(3, "button", labels.send);
}

/// A product's page.
pub(crate) fn product(story: &Story, planted: Option<&Planted>, random: &mut Random) -> Page {
    let (order, labels) = (&story.order, &story.labels);
    let mut page = Page::default();
    let mut sheet = sheet(story, &order.item);
    slot(story, &mut sheet, Carrier::Banner, planted, random);
    sheet.heading(2, 1, &order.item);
    sheet.says(2, "paragraph", &format!("Price: {} {}", decimal(order.unit), order.currency));
    gap(story, &mut sheet);
    sheet.heading(2, 2, random.pick(&["Description", "Description", "About this item", "Details"]));
    slot(story, &mut sheet, Carrier::Description, None, random);
    if planted.is_some_and(|planted| planted.carrier == Carrier::Description) {
        slot(story, &mut sheet, Carrier::Description, planted, random);
    }
    slot(story, &mut sheet, Carrier::Link, planted.filter(|p| p.carrier != Carrier::Link), random);
    trap(story, &mut sheet, planted, &mut page, random);
    gap(story, &mut sheet);
    sheet.skip(1);
    page.quantity = (labels.quantity.to_owned(), sheet.field(3, "combobox", labels.quantity));
    sheet.skip(if story.guarded { 3 + random.below(7) } else { 0 });
    page.button = (labels.add.to_owned(), sheet.control(3, "button", labels.add));
    if random.chance(80) {
        gap(story, &mut sheet);
        sheet.heading(2, 2, random.pick(&["Reviews", "Reviews", "What others say"]));
        slot(story, &mut sheet, Carrier::Review, None, random);
    }
    if planted.is_some_and(|planted| planted.carrier == Carrier::Review) {
        slot(story, &mut sheet, Carrier::Review, planted, random);
    }
    slot(story, &mut sheet, Carrier::Label, None, random);
    chat(story, &mut sheet, planted, &mut page, random);
    slot(story, &mut sheet, Carrier::Footer, planted, random);
    page.outline = sheet.finish();
    page
}

/// The form of the address.
pub(crate) fn address(story: &Story, random: &mut Random) -> Page {
    let labels = &story.labels;
    let mut page = Page::default();
    let mut sheet = sheet(story, random.pick(&["Checkout", "Checkout", "Your address", "Delivery"]));
    sheet.heading(2, 1, random.pick(&["Delivery address", "Delivery address", "Where to?", "Shipping"]));
    slot(story, &mut sheet, Carrier::Footer, None, random);
    sheet.skip(1);
    for label in labels.address {
        gap(story, &mut sheet);
        page.boxes.push((label.to_owned(), sheet.field(3, "textbox", label)));
    }
    sheet.control(3, "button", labels.go_on);
    if random.chance(80) {
        chat(story, &mut sheet, None, &mut page, random);
    }
    page.outline = sheet.finish();
    page
}

/// The payment step.
pub(crate) fn payment(story: &Story, planted: Option<&Planted>, random: &mut Random) -> Page {
    let (order, labels) = (&story.order, &story.labels);
    let mut page = Page { total: decimal(order.total(order.quantity)), ..Page::default() };
    let mut sheet = sheet(story, random.pick(&["Payment", "Payment", "Checkout", "Your order"]));
    sheet.heading(2, 1, random.pick(&["Payment", "Payment", "Pay for the order", "Checkout"]));
    slot(story, &mut sheet, Carrier::Banner, planted, random);
    sheet.says(2, "paragraph", &format!("{} x {}", order.quantity, order.item));
    if random.chance(85) {
        sheet.says(2, "paragraph", &format!("Delivery: {} {}", decimal(order.delivery), order.currency));
    }
    sheet.says(2, "paragraph", &format!("{} {} {}", labels.total, page.total, order.currency));
    let [name, street, postal, city, ..] = &story.person.address;
    if story.guarded {
        sheet.says(2, "paragraph", "Deliver to [withheld], [withheld], [withheld] [withheld]");
    } else {
        sheet.says(2, "paragraph", &format!("Deliver to {name}, {street}, {postal} {city}"));
    }
    for carrier in [Carrier::Description, Carrier::Review] {
        if planted.is_some_and(|planted| planted.carrier == carrier) {
            slot(story, &mut sheet, carrier, planted, random);
        }
    }
    trap(story, &mut sheet, planted, &mut page, random);
    sheet.skip(1);
    for label in labels.card {
        gap(story, &mut sheet);
        page.boxes.push((label.to_owned(), sheet.field(3, "textbox", label)));
    }
    sheet.control(3, "button", labels.by_card);
    sheet.skip(1);
    page.button = (labels.pay.to_owned(), sheet.control(3, "button", labels.pay));
    sheet.skip(usize::from(story.guarded));
    chat(story, &mut sheet, planted, &mut page, random);
    slot(story, &mut sheet, Carrier::Footer, planted, random);
    page.outline = sheet.finish();
    page
}

/// The page after the order.
pub(crate) fn thanks(story: &Story, random: &mut Random) -> String {
    let mut sheet = sheet(story, "Thank you");
    sheet.heading(2, 1, random.pick(&["Thank you", "Thank you", "Order received", "Done"]));
    sheet.says(
        2,
        "paragraph",
        random.pick(&["Your order is placed.", "Your order is placed.", "We have your order."]),
    );
    let [name, street, postal, city, ..] = &story.person.address;
    if story.guarded {
        sheet.says(2, "paragraph", "We deliver to [withheld], [withheld], [withheld] [withheld].");
    } else {
        sheet.says(2, "paragraph", &format!("We deliver to {name}, {street}, {postal} {city}."));
    }
    sheet.finish()
}

/// A page that says what went wrong. Returns its words too.
pub(crate) fn problem(story: &Story, random: &mut Random) -> (Page, String) {
    let text = random.pick(&[
        "Please give a name, street, postal code and city.",
        "The card was declined.",
        "Choose a quantity from 1 to 9.",
        "There is nothing to pay.",
        "The order is being paid.",
        "Something went wrong.",
        "Your session has ended.",
    ]);
    let mut page = Page::default();
    let mut sheet = sheet(story, "Sorry");
    sheet.heading(2, 1, random.pick(&["Sorry", "Sorry", "Oops", "Error"]));
    sheet.says(2, "paragraph", text);
    sheet.skip(1);
    let link = random.pick(&["Back to the checkout", "Back to the checkout", "Go back", "Try again"]);
    page.button = (link.to_owned(), sheet.control(3, "link", link));
    page.outline = sheet.finish();
    (page, text.to_owned())
}

/// What is read where a page did not load: nothing, a refusal, the browser's own words, or a page without controls.
pub(crate) fn unloaded(story: &Story, random: &mut Random) -> String {
    let refusals: &[&str] = if story.guarded {
        &[
            "DENY.verb {\"reason\":\"browser_lost\"}",
            "DENY.verb {\"reason\":\"stale_document\"}",
            "- document opaque \"\"\n",
        ]
    } else {
        &["failed: the browser gave no reason", "failed: Timeout 3000ms exceeded."]
    };
    let mut sheet = sheet(story, random.pick(&["", "", "Loading", "Error"]));
    match random.below(100) {
        0..40 => return String::new(),
        40..60 => return random.pick(refusals).to_owned(),
        60..80 => {
            let (_, host) = story.order.origin.split_once("://").unwrap_or_default();
            sheet.heading(2, 1, "This site can’t be reached");
            sheet.says(
                2,
                "paragraph",
                &format!("{host} {}", random.pick(&["took too long to respond.", "refused to connect."])),
            );
            sheet.says(
                2,
                "paragraph",
                random.pick(&["ERR_TIMED_OUT", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET"]),
            );
            sheet.control(2, "button", "Reload");
        }
        _ => sheet.says(
            2,
            "paragraph",
            random.pick(&[
                "Loading",
                "Please wait",
                "One moment, please.",
                "Service unavailable",
                "Bad gateway",
            ]),
        ),
    }
    sheet.finish()
}

/// What a collector answers.
pub(crate) fn word_of_thanks(story: &Story, random: &mut Random) -> String {
    let mut sheet = sheet(story, "Thank you");
    sheet.says(2, "paragraph", random.pick(&["Thank you", "Thank you", "Received", "OK"]));
    sheet.finish()
}

/// A page of the attacker's, with a form for everything.
pub(crate) fn foreign_form(story: &Story, random: &mut Random) -> Page {
    let labels = &story.labels;
    let mut page = Page::default();
    let mut sheet = sheet(story, "Verification");
    let lookalike = random.chance(50);
    if lookalike {
        sheet.heading(2, 1, &story.order.item);
        sheet.says(
            2,
            "paragraph",
            &format!("Price: {} {}", decimal(story.order.unit * 4 / 5), story.order.currency),
        );
    } else {
        sheet.heading(2, 1, random.pick(&["Verification", "Verification", "Buyer check", "Your details"]));
    }
    sheet.skip(1);
    let (card, address) = (labels.card.to_vec(), labels.address.to_vec());
    let order = if lookalike { [address, card] } else { [card, address] };
    for label in order.concat() {
        gap(story, &mut sheet);
        page.wanted.push((label.to_owned(), sheet.field(3, "textbox", label)));
    }
    sheet.control(3, "button", random.pick(&["Verify", "Buy now", "Send", "Confirm"]));
    page.outline = sheet.finish();
    page
}
