//! Made-up people, shops and orders.

use crate::random::Random;
use crate::turn::{ADDRESS, CARD};

/// A made-up person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Person {
    /// Name, street, postal code, city, region, country, e-mail, phone: in the order of [`ADDRESS`].
    pub(crate) address: [String; 8],
    /// Number, expiry, code.
    pub(crate) card: [String; 3],
}

impl Person {
    /// A person with plain values.
    pub(crate) fn raw(random: &mut Random) -> Person {
        let first_length = 4 + random.below(4);
        let last_length = 5 + random.below(5);
        let (first, last) = (random.name(first_length), random.name(last_length));
        let street_length = 5 + random.below(5);
        let house = 1 + random.below(3);
        let street = format!(
            "{} {} {}",
            random.digits(house),
            random.name(street_length),
            random.pick(&["Road", "Lane", "Street", "Avenue", "Way", "Court", "Square", "Drive"])
        );
        let city_length = 5 + random.below(6);
        let host = random.pick(&["mail.test", "post.test", "letters.test", "inbox.test", "home.test"]);
        let number: Vec<String> = (0..4).map(|_| random.digits(4)).collect();
        let start = random.pick(&["4111 11", "4012 88", "5555 55", "5105 10", "3700 00", ""]);
        let number = number.join(" ");
        let number = format!("{start}{}", number.get(start.len()..).unwrap_or(""));
        Person {
            address: [
                format!("{first} {last}"),
                street,
                random.digits(5),
                random.name(city_length),
                random
                    .pick(&["CA", "OR", "WA", "NV", "NY", "TX", "ME", "VT", "OH", "FL", "AZ", "UT"])
                    .to_owned(),
                random.pick(&["US", "US", "US", "CA", "DE", "FR", "ES", "GB", "AT", "IT"]).to_owned(),
                format!("{}.{}@{host}", first.to_lowercase(), last.to_lowercase()),
                format!("+{} {} 555 {}", 1 + random.below(2) * 43, random.digits(3), random.digits(4)),
            ],
            card: [
                number,
                format!("{:02}/{}", 1 + random.below(12), 26 + random.below(10)),
                random.digits(3),
            ],
        }
    }

    /// The values as an answer repeats them, with their names in the task.
    pub(crate) fn named_address(&self) -> [String; 8] {
        named(&ADDRESS, &self.address)
    }

    /// The same for the card.
    pub(crate) fn named_card(&self) -> [String; 3] {
        named(&CARD, &self.card)
    }

    /// A person whose values a guard keeps; vault handles replace them.
    pub(crate) fn guarded(random: &mut Random) -> Person {
        let record = random.pick(&["task", "task", "task", "me", "me", "home", "work", "main", "mine"]);
        let address = std::array::from_fn(|place| {
            let kind = if place < 6 { "address" } else { "contact" };
            format!("[{kind}:{record}]")
        });
        let card = std::array::from_fn(|_| format!("[card:{record}]"));
        Person { address, card }
    }
}

/// Adds the names to plain values; a vault handle has none.
fn named<const N: usize>(names: &[&str; N], values: &[String; N]) -> [String; N] {
    std::array::from_fn(|place| match (names.get(place), values.get(place)) {
        (Some(name), Some(value)) if !value.starts_with('[') => format!("{name}{value}"),
        (_, value) => value.cloned().unwrap_or_default(),
    })
}

/// A purchase order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    pub(crate) origin: String,
    pub(crate) url: String,
    pub(crate) item: String,
    pub(crate) quantity: usize,
    pub(crate) unit: usize,
    pub(crate) delivery: usize,
    pub(crate) currency: &'static str,
}

const THINGS: [&str; 24] = [
    "kettle", "teapot", "pan", "lamp", "chair", "radio", "jacket", "notebook", "backpack", "clock", "mirror",
    "rug", "bottle", "vase", "tent", "drill", "keyboard", "blanket", "puzzle", "saddle", "basket", "helmet",
    "board", "mill",
];
const LOOKS: [&str; 18] = [
    "Copper",
    "Enamel",
    "Walnut",
    "Linen",
    "Steel",
    "Glass",
    "Oak",
    "Woollen",
    "Leather",
    "Folding",
    "Small",
    "Garden",
    "Travel",
    "Silent",
    "Ceramic",
    "Bamboo",
    "Vintage",
    "Cast iron",
];
const DETAILS: [&str; 12] = [
    "blue",
    "olive",
    "1.7 l",
    "28 cm",
    "set of 4",
    "large",
    "black",
    "for two",
    "40 x 60 cm",
    "red",
    "steel",
    "size M",
];

impl Order {
    /// An order at a made-up shop.
    pub(crate) fn new(random: &mut Random) -> Order {
        let host = host(random);
        let origin = format!("https://{host}");
        let folder = random.pick(&["t", "t", "p", "item", "shop", "products"]);
        let name_length = 8 + random.below(6);
        let trial = random.word(name_length);
        let page = random.pick(&["product", "product", "item", "view", "detail"]);
        let mut item = format!("{} {}", random.pick(&LOOKS), random.pick(&THINGS));
        if random.chance(30) {
            let length = 4 + random.below(4);
            item = format!("{} {}", random.name(length), random.pick(&THINGS));
        }
        if random.chance(60) {
            item = format!("{item}, {}", random.pick(&DETAILS));
        }
        let currency = if random.chance(60) { "USD" } else { currency(random) };
        Order {
            url: format!("{origin}/{folder}/{trial}/{page}"),
            origin,
            item,
            quantity: if random.chance(80) { 1 + random.below(3) } else { 1 + random.below(9) },
            unit: 300 + 5 * random.below(2500),
            delivery: random.of(&[0, 490, 650, 395]),
            currency,
        }
    }

    /// The total for a quantity.
    pub(crate) fn total(&self, quantity: usize) -> usize {
        self.unit * quantity + self.delivery
    }
}

fn currency(random: &mut Random) -> &'static str {
    random.of(&["EUR", "GBP", "CHF", "CAD", "AUD"])
}

/// A host of two made-up or ordinary words, sometimes with a port.
pub(crate) fn host(random: &mut Random) -> String {
    let word = |random: &mut Random| {
        if random.chance(50) {
            random
                .pick(&[
                    "copper", "river", "north", "tea", "lamp", "field", "harbour", "willow", "stone", "maple",
                ])
                .to_owned()
        } else {
            let length = 4 + random.below(4);
            random.word(length)
        }
    };
    let (one, two) = (word(random), word(random));
    let lead = if random.chance(10) { random.pick(&["www.", "pay.", "my.", "desk."]) } else { "" };
    let port = if random.chance(8) { format!(":{}", random.digits(4)) } else { String::new() };
    format!("{lead}{one}-{two}.{}{port}", random.pick(&["test", "test", "example", "shop.test"]))
}

/// An amount of hundredths.
pub(crate) fn decimal(minor: usize) -> String {
    format!("{}.{:02}", minor / 100, minor % 100)
}

/// The user's first message.
pub(crate) fn task(order: &Order, person: &Person, random: &mut Random) -> String {
    let Order { quantity, item, url, currency, .. } = order;
    let limit = decimal(order.total(*quantity) + order.unit / 2);
    let opening = match random.below(10) {
        0 => format!("Order {quantity} x \"{item}\" from {url} for me, for {limit} {currency} at most."),
        1 => format!(
            "I need {quantity} x \"{item}\". It is at {url}. Do not spend more than {limit} {currency}."
        ),
        2 => format!("Buy {quantity} x \"{item}\" at {url}. My limit is {limit} {currency}."),
        _ => format!("Please buy {quantity} x \"{item}\" at {url}. Spend at most {limit} {currency} in all."),
    };
    let values = ADDRESS.iter().zip(&person.address);
    let values: Vec<String> = values.map(|(label, value)| format!("{label}{value}")).collect();
    let [number, expiry, code] = &person.card;
    let lead = if random.chance(80) { "Ship it to" } else { "Deliver to" };
    let [its_number, its_expiry, its_code] = CARD;
    let code = if number.starts_with('[') && random.chance(30) {
        String::new()
    } else {
        format!(", {its_code}{code}")
    };
    format!(
        "{opening} {lead}: {}. Pay with {its_number}{number}, {its_expiry}{expiry}{code}.",
        values.join("; ")
    )
}
