//! The lines of a shop's page: which item they name, and whether they explain an amount.
//!
//! The words are the page's, so nothing here is proof. A line that is not understood explains nothing, and the user is then asked.

use sirl::{Currency, Money};

use super::words::{BY, EXTRA, FILLER, INCLUDED, ITEM, PRICE, QUANTITY, SOLD, SUBTOTAL, TOTAL};
use crate::intake::Wish;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// Digits with points and commas between them.
    Number(String),
    /// Letters, in lower case.
    Word(String),
    /// A currency's sign.
    Sign(char),
}

/// A line without the item's name and its amounts.
#[derive(Default)]
struct Line {
    has_item: bool,
    amounts: Vec<u64>,
    /// Whole numbers that are no amount.
    counts: Vec<u64>,
    words: Vec<String>,
    /// Whether something in it looks like money and is no amount of the currency.
    is_odd: bool,
}

impl Line {
    /// Whether each word is in one of these lists, and one of them in the first.
    fn says(&self, first: &[&str], others: &[&[&str]]) -> bool {
        let known = |word: &String| {
            first.contains(&word.as_str()) || others.iter().any(|list| list.contains(&word.as_str()))
        };
        self.words.iter().all(known) && self.words.iter().any(|word| first.contains(&word.as_str()))
    }

    /// Whether it names the item, how many and what they cost, and nothing else.
    fn is_of_item(&self) -> bool {
        let known =
            |word: &String| [ITEM, PRICE, QUANTITY, FILLER].iter().any(|list| list.contains(&word.as_str()));
        self.has_item && self.words.iter().all(known)
    }

    fn meaning(&self) -> Meaning {
        match self.amounts.as_slice() {
            _ if self.is_odd => Meaning::Unclear,
            _ if self.is_of_item() => Meaning::Item,
            [] if self.says(QUANTITY, &[FILLER]) => Meaning::Item,
            [] => Meaning::Nothing,
            _ if self.says(INCLUDED, &[EXTRA, FILLER]) => Meaning::Nothing,
            _ if self.says(TOTAL, &[PRICE, FILLER]) => Meaning::Total,
            _ if self.says(PRICE, &[ITEM, FILLER]) => Meaning::Price,
            [extra] if self.says(EXTRA, &[FILLER]) => Meaning::Extra(*extra),
            _ => Meaning::Unclear,
        }
    }
}

/// What a line says of an order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The item, and how many.
    Item,
    /// Nothing about money.
    Nothing,
    /// The sum.
    Total,
    /// The price of one, or of all.
    Price,
    /// This much for delivery, or for a tax on top.
    Extra(u64),
    /// Something else that costs.
    Unclear,
}

/// The price of one item, where a page names it with exactly one price.
pub(super) fn unit_price(text: &str, wish: &Wish, currency: Currency) -> Option<u64> {
    let lines = lines(text, &tokens(&wish.item), currency);
    let is_there = lines.iter().any(Line::is_of_item);
    let priced = lines.iter().filter(|line| line.is_of_item() || line.says(PRICE, &[ITEM, FILLER]));
    let mut prices: Vec<u64> = priced.clone().flat_map(|line| line.amounts.iter().copied()).collect();
    prices.dedup();
    match prices.as_slice() {
        [price] if is_there && !priced.clone().any(|line| line.is_odd) => Some(*price),
        _ => None,
    }
}

/// The total that a page names, if it names one alone. A subtotal is none; a line about a total that is not understood, and several totals
/// that differ, leave it open.
pub(crate) fn stated_total(text: &str, currency: Currency) -> Option<Money> {
    let has = |line: &Line, list: &[&str]| line.words.iter().any(|word| list.contains(&word.as_str()));
    let mut totals = Vec::new();
    for line in lines(text, &[], currency) {
        let is_about =
            has(&line, TOTAL) && !has(&line, SUBTOTAL) && (line.is_odd || !line.amounts.is_empty());
        match line.meaning() {
            Meaning::Total if is_about => totals.extend(line.amounts),
            _ if is_about => return None,
            _ => {}
        }
    }
    totals.dedup();
    match totals.as_slice() {
        [minor] => Some(Money { minor: *minor, currency }),
        _ => None,
    }
}

/// The greatest amount of a currency on a page.
pub(crate) fn greatest_amount(text: &str, currency: Currency) -> Option<Money> {
    let minor = lines(text, &[], currency).into_iter().flat_map(|line| line.amounts).max()?;
    Some(Money { minor, currency })
}

/// Whether a page's lines name the wanted item alone and no other seller than this host, and explain an amount by its price, the number of items, delivery and taxes.
pub(super) fn explain(text: &str, wish: &Wish, unit: u64, total: Money, host: &str) -> bool {
    let quantity = u64::from(wish.quantity);
    let Some(items) = unit.checked_mul(quantity) else { return false };
    let (mut named, mut counted, mut extras) = (false, wish.quantity == 1, 0u64);
    for line in lines(text, &tokens(&wish.item), total.currency) {
        let costs = |expected: [u64; 2]| line.amounts.iter().all(|amount| expected.contains(amount));
        let is_clear = match line.meaning() {
            _ if names_seller(&line) => names_host(&line, host),
            Meaning::Item => costs([unit, items]) && line.counts.iter().all(|count| *count == quantity),
            Meaning::Nothing => true,
            Meaning::Total => costs([total.minor, items]),
            Meaning::Price => costs([unit, items]),
            Meaning::Extra(extra) => {
                extras = extras.saturating_add(extra);
                true
            }
            Meaning::Unclear => false,
        };
        if !is_clear {
            return false;
        }
        if line.meaning() == Meaning::Item {
            named |= line.has_item;
            counted |= !line.counts.is_empty();
        }
    }
    named && counted && items.checked_add(extras) == Some(total.minor)
}

/// Whether these words are words of the item, in its order.
pub(super) fn names_part_of(text: &str, wish: &Wish) -> bool {
    let (part, item) = (tokens(text), tokens(&wish.item));
    !part.is_empty() && item.windows(part.len()).any(|window| alike(window, &part))
}

/// Whether these words are the item's, and no others.
pub(super) fn is_item(text: &str, wish: &Wish) -> bool {
    alike(&tokens(text), &tokens(&wish.item))
}

/// The number that a text is, if it is nothing else.
pub(super) fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

fn lines(text: &str, item: &[Token], currency: Currency) -> Vec<Line> {
    let mut all: Vec<Vec<Token>> = Vec::new();
    for said in text.lines().map(said) {
        let said = tokens(&said);
        let is_amount = !said.is_empty() && read(&said, &[], currency).is_amount_alone();
        match all.last_mut() {
            // An amount in an element of its own belongs to the words before it.
            Some(before) if is_amount && !before.is_empty() && !has_number(before) => before.extend(said),
            _ => all.push(said),
        }
    }
    all.iter().map(|line| read(line, item, currency)).collect()
}

/// Whether a line says by whom something is sold. A chat's `Seller: hello` does not.
fn names_seller(line: &Line) -> bool {
    let sold = line.words.iter().position(|word| SOLD.iter().any(|sold| word.starts_with(sold)));
    let after = sold.and_then(|at| line.words.get(at + 1..)).unwrap_or_default();
    after.iter().any(|word| BY.contains(&word.as_str()))
}

/// Whether a line names a host: `Sold by shop.example`.
fn names_host(line: &Line, host: &str) -> bool {
    let labels: Vec<&str> = host.split(['.', '-']).filter(|label| *label != "www").collect();
    line.amounts.is_empty() && line.words.windows(labels.len()).any(|words| words == labels)
}

fn has_number(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| matches!(token, Token::Number(number) if number.contains(['.', ','])))
}

impl Line {
    fn is_amount_alone(&self) -> bool {
        self.words.is_empty() && self.counts.is_empty() && !self.is_odd && self.amounts.len() == 1
    }
}

/// The words of one line of the outline, which are between quotation marks.
fn said(line: &str) -> String {
    let (mut said, mut is_within, mut is_escaped) = (String::new(), false, false);
    for c in line.chars() {
        match (c, is_within) {
            (_, true) if is_escaped => {
                said.push(c);
                is_escaped = false;
            }
            ('\\', true) => is_escaped = true,
            ('"', _) => {
                is_within = !is_within;
                said.push(' ');
            }
            (_, true) => said.push(c),
            (_, false) => {}
        }
    }
    said
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_ascii_digit() {
            let mut number = String::from(c);
            loop {
                let mut ahead = rest.clone();
                match ahead.next() {
                    Some(digit) if digit.is_ascii_digit() => number.push(digit),
                    // A space or an apostrophe before three digits parts thousands.
                    Some(' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '\u{2019}')
                        if number.bytes().rev().take_while(u8::is_ascii_digit).count() <= 3
                            && is_group(ahead.clone()) =>
                    {
                        number.push(',');
                    }
                    Some(mark @ ('.' | ',')) if ahead.next().is_some_and(|c| c.is_ascii_digit()) => {
                        number.push(mark);
                    }
                    _ => break,
                }
                rest.next();
            }
            tokens.push(Token::Number(number));
        } else if c.is_alphabetic() {
            let mut word: String = c.to_lowercase().collect();
            while let Some(letter) = rest.next_if(|c| c.is_alphabetic()) {
                word.extend(letter.to_lowercase());
            }
            tokens.push(Token::Word(word));
        } else if "$€£¥₹₩₽".contains(c) {
            tokens.push(Token::Sign(c));
        } else if c == '×' {
            tokens.push(Token::Word("x".to_owned()));
        }
    }
    tokens
}

/// Whether exactly three digits follow.
fn is_group(mut ahead: std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    (0..3).all(|_| ahead.next().is_some_and(|c| c.is_ascii_digit()))
        && !ahead.next().is_some_and(|c| c.is_ascii_digit())
}

/// Whether two texts have the same words. A plural counts as its singular.
fn alike(one: &[Token], other: &[Token]) -> bool {
    let stem = |token: &Token| match token {
        Token::Word(word) if word.chars().count() > 3 => Token::Word(word.trim_end_matches('s').to_owned()),
        token => token.clone(),
    };
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| stem(one) == stem(other))
}

fn read(tokens: &[Token], item: &[Token], currency: Currency) -> Line {
    let mut line = Line::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let here = tokens.get(at..at + item.len()).unwrap_or_default();
        if !item.is_empty() && alike(here, item) {
            line.has_item = true;
            at += item.len();
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let after = tokens.get(at + 1);
        match token {
            Token::Number(number) => {
                let marked = [before, after].into_iter().flatten().any(|mark| marks(mark, currency));
                match amount_as_written(number, currency) {
                    Some(amount) if marked => line.amounts.push(amount),
                    _ => match number.parse() {
                        Ok(count) => line.counts.push(count),
                        // A date or a version is none of both.
                        Err(_) => line.is_odd |= marked || amount_as_written(number, currency).is_some(),
                    },
                }
            }
            Token::Sign(_) if !marks(token, currency) => line.is_odd = true,
            Token::Sign(_) => {}
            Token::Word(_) if marks(token, currency) => {}
            Token::Word(word) => line.words.push(word.clone()),
        }
        at += 1;
    }
    line
}

/// Whether a token says that the number beside it is an amount of the currency.
fn marks(token: &Token, currency: Currency) -> bool {
    match token {
        Token::Word(word) => word.eq_ignore_ascii_case(currency.as_str()),
        Token::Sign(sign) => matches!(
            (sign, currency.as_str()),
            ('$', "USD")
                | ('€', "EUR")
                | ('£', "GBP")
                | ('¥', "JPY")
                | ('₹', "INR")
                | ('₩', "KRW")
                | ('₽', "RUB")
        ),
        Token::Number(_) => false,
    }
}

/// An amount as pages write it (`1,234.50`, `1.234,50`, `64`), in minor units.
pub(crate) fn amount_as_written(number: &str, currency: Currency) -> Option<u64> {
    let digits = currency.minor_digits() as usize;
    let (whole, fraction) = match number.rfind(['.', ',']) {
        Some(at) if digits > 0 && number.len() - at - 1 == digits => {
            (number.get(..at)?, number.get(at + 1..)?)
        }
        _ => (number, ""),
    };
    let mut groups = whole.split(['.', ',']);
    let first = groups.next()?;
    let mut plain = first.to_owned();
    for group in groups {
        // Groups of thousands, and no other point or comma.
        if group.len() != 3 || first.len() > 3 {
            return None;
        }
        plain.push_str(group);
    }
    let plain = match plain.trim_start_matches('0') {
        "" => "0",
        plain => plain,
    };
    let decimal = if fraction.is_empty() { plain.to_owned() } else { format!("{plain}.{fraction}") };
    Money::parse(&decimal, currency).map(|money| money.minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(minor: u64) -> Money {
        Money { minor, currency: Currency::new("USD").unwrap() }
    }

    fn wish() -> Wish {
        Wish { quantity: 2, item: "Copper kettle, 1.7 l".to_owned(), addresses: Vec::new() }
    }

    const PRODUCT: &str = "- heading \"Copper kettle, 1.7 l\" [level=1] [ref=e1]\n- paragraph [ref=e2]: \"Price: 31.20 USD\"\n\
        - paragraph [ref=e3]: \"From our own workshop.\"";

    fn page(lines: &[&str]) -> String {
        let standard = ["2 x Copper kettle, 1.7 l", "Delivery: 4.90 USD"];
        let all = standard.iter().chain(lines);
        all.map(|line| format!("- paragraph [ref=e4]: \"{line}\"\n")).collect()
    }

    #[test]
    fn one_price_beside_the_item_is_its_price() {
        let price = |text: &str| unit_price(text, &wish(), usd(0).currency);
        assert_eq!(price(PRODUCT), Some(3120));
        assert_eq!(price(&PRODUCT.replace("31.20 USD", "$31.20")), Some(3120));
        assert_eq!(price(&format!("{PRODUCT}\n- text: \"Price: 20.00 USD\"")), None, "there are two");
        assert_eq!(price(&PRODUCT.replace("kettle", "pan")), None, "it is of something else");
        assert_eq!(price(&PRODUCT.replace("USD", "EUR")), None, "it is in another currency");
        let split = "- heading \"Copper kettle, 1.7 l\"\n- paragraph: \n  - text: \"Price:\"\n  - strong: \"31.20 USD\"";
        assert_eq!(price(split), Some(3120));
    }

    #[test]
    fn an_amount_is_explained_by_its_lines_and_by_nothing_else() {
        let explained =
            |text: &str, minor: u64| explain(text, &wish(), 3120, usd(minor), "copper-kettle.test");
        let explains = |lines: &[&str]| explained(&page(lines), 6730);
        for lines in [
            &["Order total: 67.30 USD"][..],
            &["Total: $67.30", "incl. VAT 10.75 USD"],
            &["Subtotal: 62.40 USD", "Amount due: 67.30 USD"],
            &["Deliver to Ada Lane, 17 Quarry Road"],
            &["Quantity: 2"],
            &["Sold by copper-kettle.test"],
            &["Seller: Hello, how can we help?"],
        ] {
            assert!(explains(lines), "{lines:?}");
        }
        for lines in [
            &["Gift wrap: 3.00 USD"][..],
            &["Delivery insurance 2.00 USD"],
            &["Order total: 70.30 USD"],
            &["Order total: 67.30 EUR"],
            &["Total 67.30"],
            &["1 x Copper kettle, 1.7 l"],
            &["Copper kettle, 1.7 l 35.00 USD"],
            &["Delivery: 4.90 USD"],
            &["VAT: 2.00 USD"],
            &["Quantity: 3"],
            &["Sold by Riverside Traders"],
            &["Verkauft und versandt durch anders.test"],
        ] {
            assert!(!explains(lines), "{lines:?}");
        }
        assert!(!explained(&page(&[]), 6731), "the sum differs");
        assert!(!explained(&page(&[]).replace("1.7 l", "1.7 l, red"), 6730), "it is another variant");
        assert!(!explained(&page(&[]).replace("2 x ", ""), 6730), "nothing says how many");
        assert!(!explained("", 6730));
    }

    #[test]
    fn a_part_of_the_item_is_named() {
        for text in ["Copper kettle", "1.7 l", "kettles", "COPPER"] {
            assert!(names_part_of(text, &wish()), "{text}");
        }
        for text in ["", "red", "copper 1.7", "kettle with lid", "1", "7"] {
            assert!(!names_part_of(text, &wish()), "{text}");
        }
    }

    #[test]
    fn amounts_are_read_as_pages_write_them() {
        let read = |number: &str, code: &str| amount_as_written(number, Currency::new(code).unwrap());
        for (number, code, expected) in [
            ("64.15", "USD", Some(6415)),
            ("64,15", "EUR", Some(6415)),
            ("1,234.50", "USD", Some(123_450)),
            ("1.234,50", "EUR", Some(123_450)),
            ("1.234", "EUR", Some(123_400)),
            ("64", "USD", Some(6400)),
            ("1,200", "JPY", Some(1200)),
            ("64.155.1", "USD", None),
            ("64.1", "USD", None),
        ] {
            assert_eq!(read(number, code), expected, "{number} {code}");
        }
    }
}
