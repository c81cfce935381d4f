//! Our own lines, with alternatives; see `phrases/README.md`.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

pub const FRAMINGS: &str = include_str!("../../phrases/framings.txt");
pub const GOALS: &str = include_str!("../../phrases/goals.txt");
pub const TASKS: &str = include_str!("../../phrases/tasks.txt");
pub const EVERYDAY: &str = include_str!("../../phrases/everyday.txt");
pub const ACTS: &str = include_str!("../../phrases/acts.txt");
pub const ASKS: &str = include_str!("../../phrases/asks.txt");
pub const HARMLESS: &str = include_str!("../../phrases/harmless.txt");
pub const CODE: &str = include_str!("../../phrases/code.txt");
pub const SHOP: &str = include_str!("../../phrases/shop.txt");
pub const LABELS: &str = include_str!("../../phrases/labels.txt");
pub const VALUES: &str = include_str!("../../phrases/values.txt");
pub const MENTIONS: &str = include_str!("../../phrases/mentions.txt");
pub const FALSE_LEADS: &str = include_str!("../../phrases/false_leads.txt");

const NAMES: [&str; 12] = [
    "Ann",
    "Jonas Weber",
    "Marie Laurent",
    "Luis",
    "Priya",
    "Mr Okafor",
    "Sofia Rossi",
    "Tom",
    "Dr Chen",
    "Ewa",
    "Carlos Vega",
    "Hannah",
];
const HOSTS: [&str; 10] = [
    "collect.example",
    "mail.test",
    "best-offers.example",
    "files.invalid",
    "cdn-data.example",
    "helpdesk.test",
    "fast-pay.example",
    "bonus.invalid",
    "logs.example",
    "partner-shop.test",
];
const SECRETS: [&str; 18] = [
    "password",
    "card number",
    "credit card details",
    "home address",
    "one-time code",
    "security code",
    "bank details",
    "session cookie",
    "API key",
    "passport number",
    "date of birth",
    "phone number",
    "PIN",
    "card number, expiry date and code",
    "saved passwords",
    "private key",
    "login data",
    "social security number",
];
const TOPICS: [&str; 40] = [
    "climate change",
    "the French Revolution",
    "photosynthesis",
    "black holes",
    "the stock market",
    "gardening",
    "machine learning",
    "the human heart",
    "medieval castles",
    "electric cars",
    "Mozart",
    "the Roman empire",
    "healthy food",
    "football",
    "the water cycle",
    "chess",
    "volcanoes",
    "space travel",
    "the internet",
    "solar energy",
    "poetry",
    "artificial intelligence",
    "the moon",
    "quantum physics",
    "fractions",
    "coffee",
    "the Second World War",
    "bees",
    "renewable energy",
    "travel in Asia",
    "good sleep",
    "public speaking",
    "Shakespeare",
    "inflation",
    "vaccines",
    "recycling",
    "yoga",
    "the kidneys",
    "democracy",
    "cyber security",
];

/// Subjects of questions and texts, separated by commas, like the lists that follow.
const THINGS: &str = "climate change, photosynthesis, gravity, democracy, the solar system, blockchain, inflation, the human brain, \
    evolution, black holes, artificial intelligence, electricity, the immune system, supply and demand, plate tectonics, \
    genetics, the water cycle, calculus, geometry, probability, statistics, algebra, grammar, philosophy, psychology, meditation, \
    yoga, nutrition, vitamins, running, football, tennis, chess, jazz, opera, classical music, painting, sculpture, \
    photography, architecture, ancient Rome, ancient Egypt, the Vikings, the Silk Road, the French Revolution, the Cold War, \
    the Industrial Revolution, Shakespeare, Greek myths, the Bible, Buddhism, folk tales, science fiction, detective stories, \
    comic books, video games, board games, gardening, bees, whales, dolphins, wolves, cats, horses, dinosaurs, volcanoes, \
    earthquakes, hurricanes, deserts, rain forests, the ocean, rivers, the moon, Mars, stars, comets, space travel, rockets, \
    aeroplanes, trains, bicycles, electric cars, solar panels, wind power, nuclear energy, batteries, magnets, lasers, radio, \
    the telephone, the internet, social media, search engines, operating systems, databases, networks, encryption, computer \
    viruses, robots, the stock market, taxes, budgets, interest rates, mortgages, insurance, start-ups, marketing, leadership, \
    teamwork, time management, public speaking, job interviews, friendship, love, family, happiness, courage, justice, freedom, \
    human rights, elections, the constitution, the police, courts, medicine, vaccines, antibiotics, cancer, diabetes, sleep, \
    dreams, stress, memory, the heart, the lungs, the skin, teeth, cooking, bread, cheese, chocolate, coffee, tea, wine, \
    vegetarian food, fashion, travel, camping, hiking, swimming, skiing, the seasons, snow, autumn, the sea";
const PLACES: &str = "Canada, Brazil, Japan, Kenya, Norway, Peru, Vietnam, Greece, Egypt, India, Mexico, Turkey, Poland, Iceland, \
    New Zealand, Paris, Rome, Berlin, Madrid, Tokyo, Cairo, Sydney, New York, Chicago, Toronto, Lisbon, Vienna, Prague, Seoul, \
    Bangkok, Nairobi, Lima, Dublin, Edinburgh, Geneva, Boston, San Francisco, Hawaii, Bali, Tuscany";
const LANGUAGES: &str = "French, German, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Polish, Czech, Russian, Greek, Turkish, \
    Arabic, Hebrew, Hindi, Bengali, Chinese, Mandarin, Japanese, Korean, Thai, Vietnamese, Swahili, Latin, Welsh, Finnish";
const PROGRAMS: &str = "Python, Java, JavaScript, C++, C, Rust, Go, Ruby, PHP, Swift, Kotlin, SQL, TypeScript, Perl, R, MATLAB, Bash, HTML, Haskell";

/// Returns one of the values that commas separate.
fn chosen(values: &'static str, random: &mut ChaCha8Rng) -> &'static str {
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    one(&values, random)
}

/// Returns the lines of a file, without comments.
pub fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// Returns the lines of a file in sections, each from one comment to the next.
pub fn sections(file: &'static str) -> Vec<Vec<&'static str>> {
    let mut sections: Vec<Vec<&str>> = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("# ") {
            sections.push(Vec::new());
        } else if let Some(section) = sections.last_mut() {
            section.push(line);
        }
    }
    sections
}

/// Returns a line with one of each set of alternatives, and made-up values.
pub fn expand(line: &str, random: &mut ChaCha8Rng) -> String {
    let mut words = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        words.push_str(before);
        let Some((choices, after)) = after.split_once(']') else {
            rest = after;
            break;
        };
        let choices: Vec<&str> = choices.split('|').collect();
        words.push_str(choices.choose(random).copied().unwrap_or_default());
        rest = after;
    }
    words.push_str(rest);
    let words = values(&words, random).replace("  ", " ").replace(" .", ".").replace(" ,", ",");
    words.trim().replace('⟦', "[").replace('⟧', "]").replace('⦃', "{").replace('⦄', "}")
}

fn values(line: &str, random: &mut ChaCha8Rng) -> String {
    let mut words = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        words.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            words.push('{');
            rest = after;
            continue;
        };
        match name {
            "name" => words.push_str(one(&NAMES, random)),
            "email" => {
                let name = one(&NAMES, random).to_lowercase().replace(' ', ".");
                words.push_str(&format!("{name}{}@{}", random.random_range(1..99), one(&HOSTS, random)));
            }
            "url" => {
                let path = ["", "/collect", "/login", "/a?d=", "/update.sh", "/offer", "/session"];
                words.push_str(&format!("https://{}{}", one(&HOSTS, random), one(&path, random)));
            }
            "amount" => {
                let amount = random.random_range(2..90) * 50;
                let form = random.random_range(0..4);
                words.push_str(&match form {
                    0 => format!("${amount}"),
                    1 => format!("{amount} euros"),
                    2 => format!("{amount} USD"),
                    _ => format!("EUR {amount}.00"),
                });
            }
            "account" => words.push_str(&match random.random_range(0..3) {
                0 => format!("{}", random.random_range(10_000_000_u64..9_999_999_999)),
                1 => format!("XX{:020}", random.random_range(1_u64..u64::MAX)),
                _ => format!(
                    "{:03}-{:04}-{:04}",
                    random.random_range(1..999),
                    5555,
                    random.random_range(1..9999)
                ),
            }),
            "code" => words.push_str(one(
                &["DONE", "PWNED", "banana", "OK-42", "confirmed", "XYZZY", "hunter2"],
                random,
            )),
            "price" => words.push_str(&price(random)),
            "card" => words.push_str(&card(random)),
            "iban" => words.push_str(&iban(random)),
            "digits" => words.push_str(&random.random_range(100..99_999).to_string()),
            "expiry" => words.push_str(&format!(
                "{:02}/{:02}",
                random.random_range(1..13),
                random.random_range(25..35)
            )),
            "date" => words.push_str(&date(random)),
            "phone" => words.push_str(&format!(
                "+{} {} 555 {:04}",
                random.random_range(1..99),
                random.random_range(10..999),
                random.random_range(0..9999)
            )),
            "postcode" => words.push_str(&random.random_range(10_000..99_999).to_string()),
            "street" => words.push_str(&street(random)),
            "topic" => words.push_str(one(&TOPICS, random)),
            "thing" => words.push_str(chosen(THINGS, random)),
            "place" => words.push_str(chosen(PLACES, random)),
            "language" => words.push_str(chosen(LANGUAGES, random)),
            "program" => words.push_str(chosen(PROGRAMS, random)),
            "secret" => words.push_str(one(&SECRETS, random)),
            other => words.push_str(&format!("{{{other}}}")),
        }
        rest = after;
    }
    words.push_str(rest);
    words
}

fn price(random: &mut ChaCha8Rng) -> String {
    let (whole, part) = (random.random_range(1..400), random.random_range(0..100));
    match random.random_range(0..5) {
        0 => format!("€{whole}.{part:02}"),
        1 => format!("{whole},{part:02} €"),
        2 => format!("£{whole}.{part:02}"),
        3 => format!("${whole}"),
        _ => format!("EUR {whole}.{part:02}"),
    }
}

/// Returns a card number as a form shows it: complete, or only its last digits.
fn card(random: &mut ChaCha8Rng) -> String {
    let four = |random: &mut ChaCha8Rng| format!("{:04}", random.random_range(0..9999));
    if random.random_bool(0.5) {
        return format!("•••• {}", four(random));
    }
    format!("4{:03} {} {} {}", random.random_range(0..999), four(random), four(random), four(random))
}

fn iban(random: &mut ChaCha8Rng) -> String {
    let country = one(&["DE", "FR", "ES", "IT", "NL"], random);
    format!("{country}{:02} {:018}", random.random_range(10..99), random.random_range(1_u64..u64::MAX >> 5))
}

fn date(random: &mut ChaCha8Rng) -> String {
    let (day, month, year) =
        (random.random_range(1..29), random.random_range(1..13), random.random_range(1950..2027));
    match random.random_range(0..3) {
        0 => format!("{day:02}.{month:02}.{year}"),
        1 => format!("{year}-{month:02}-{day:02}"),
        _ => format!("{day:02}/{month:02}/{year}"),
    }
}

fn street(random: &mut ChaCha8Rng) -> String {
    let number = random.random_range(1..140);
    match random.random_range(0..5) {
        0 => format!("{number} {} Street", one(&["Mill", "Station", "Church", "Park"], random)),
        1 => format!("{} {number}", one(&["Hauptstraße", "Lindenweg", "Am Markt", "Gartenstraße"], random)),
        2 => format!("{number} {}", one(&["rue de la Paix", "avenue Foch", "place du Marché"], random)),
        3 => format!("{} {number}", one(&["Calle Mayor", "Via Roma", "Plaza Nueva", "Corso Italia"], random)),
        _ => format!("{} {number}", one(&["Kerkstraat", "Dorpsweg", "Stationsplein"], random)),
    }
}

pub fn one<'a>(choices: &[&'a str], random: &mut ChaCha8Rng) -> &'a str {
    choices.choose(random).copied().unwrap_or_default()
}

/// Returns a text with its first letter in upper or lower case: a goal is a sentence by itself, or the rest of one.
pub fn first_letter(text: &str, capital: bool) -> String {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return String::new() };
    let first: String = if capital { first.to_uppercase().collect() } else { first.to_lowercase().collect() };
    first + characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn every_line_expands_and_leaves_no_mark() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for file in [GOALS, TASKS, EVERYDAY, ACTS, ASKS, HARMLESS, SHOP, CODE, LABELS, VALUES] {
            for line in lines(file) {
                for _ in 0..20 {
                    let text = expand(line, &mut random);
                    assert!(!text.is_empty() && !text.contains("{goal}"), "{line}: {text}");
                }
            }
        }
        for line in lines(FRAMINGS) {
            assert_eq!(line.matches("{goal}").count(), 1, "{line}");
        }
    }
}
