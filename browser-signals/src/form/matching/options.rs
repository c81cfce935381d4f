//! Recognises lists of options: days, months, years, countries, states, dialling codes and titles.

use super::folded::words;
use crate::Control;

/// The beginnings of the months' names.
const MONTHS: [&str; 26] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mai", "okt", "dez",
    "ene", "abr", "ago", "dic", "gen", "mag", "giu", "lug", "set", "ott", "maa",
];
const COUNTRIES: [&str; 10] = [
    "france",
    "germany",
    "afghanistan",
    "albania",
    "algeria",
    "united states",
    "canada",
    "australia",
    "austria",
    "deutschland",
];
const STATES: [&str; 11] = [
    "alabama",
    "alaska",
    "arizona",
    "al",
    "ak",
    "az",
    "ontario",
    "queensland",
    "bayern",
    "victoria",
    "alberta",
];
const TITLES: [&str; 9] = ["mr", "mrs", "ms", "dr", "herr", "frau", "miss", "mme", "m"];

/// The first year that a list of expiry years can begin with.
const RECENT: u32 = 2012;

/// The subject of a list of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionsAre {
    Months,
    Days,
    YearsAhead,
    YearsBack,
    Countries,
    States,
    DialCodes,
    Titles,
    Other,
}

/// Returns the subject of a control's options; `Other` where it has none.
pub fn options_are(control: &Control) -> OptionsAre {
    let small = |(value, text): &(String, String)| (value.to_lowercase(), text.to_lowercase());
    let options: Vec<(String, String)> = control.words.options.iter().map(small).collect();
    let count = options.len();
    let number = |(value, text): &(String, String)| -> Option<u32> {
        text.trim().parse().or_else(|_| value.trim().parse()).ok()
    };
    let numbers: Vec<u32> = options.iter().filter_map(number).collect();
    let years: Vec<u32> = numbers.iter().copied().filter(|year| (1900..2100).contains(year)).collect();
    if let (true, Some(first)) = (years.len() >= 4 && years.len() + 2 >= count.min(300), years.iter().min()) {
        return if *first >= RECENT { OptionsAre::YearsAhead } else { OptionsAre::YearsBack };
    }
    let is_month = |word: &str| word.get(..3).is_some_and(|start| MONTHS.contains(&start));
    let months = options
        .iter()
        .filter(|(value, text)| words(text).iter().any(|word| is_month(word)) || is_month(value));
    if (12..=14).contains(&count) && (months.count() >= 10 || (1..=12).all(|month| numbers.contains(&month)))
    {
        return OptionsAre::Months;
    }
    if (31..=33).contains(&count) && (1..=31).all(|day| numbers.contains(&day)) {
        return OptionsAre::Days;
    }
    let has = |wanted: &[&str]| {
        let known = |name: &&&str| options.iter().any(|(value, text)| text == **name || value == **name);
        wanted.iter().filter(known).count()
    };
    let prefixed = options.iter().filter(|(value, text)| text.contains('+') || value.contains('+')).count();
    if prefixed > 5 && prefixed * 2 > count {
        return OptionsAre::DialCodes;
    }
    let by_code = has(&["af", "al", "dz"]) >= 3 && count > 30 && has(&["alabama", "alaska"]) == 0;
    if (count > 3 && has(&COUNTRIES) >= 2) || by_code {
        return OptionsAre::Countries;
    }
    if count > 5 && has(&STATES) >= 2 {
        return OptionsAre::States;
    }
    let titles = options.iter().filter(|(_, text)| TITLES.contains(&text.trim_end_matches('.')));
    if count <= 10 && titles.count() >= 2 {
        return OptionsAre::Titles;
    }
    OptionsAre::Other
}
