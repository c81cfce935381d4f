//! Countries and regions, by name and code.

use std::sync::LazyLock;

use super::choice::{equal, folded};
use super::{Shaped, Target};

/// The two codes and the names of one country, the codes first.
struct Names(Vec<&'static str>);

static COUNTRIES: LazyLock<Vec<Names>> = LazyLock::new(|| {
    let lines = include_str!("countries.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| Names(line.split('|').collect())).collect()
});

/// Code and name of each region.
static REGIONS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("regions.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| line.split('|').filter_map(|pair| pair.split_once('='))).collect()
});

/// The code of a country in two letters.
pub(crate) fn country_code(value: &str) -> Option<&'static str> {
    names_of(value)?.0.first().copied()
}

/// All names of the country with this name or code.
fn names_of(value: &str) -> Option<&'static Names> {
    let wanted = folded(value);
    COUNTRIES.iter().find(|names| names.0.iter().any(|name| folded(name) == wanted))
}

/// A country as a list or a box takes it: a list by its code or one of its names, a box of two or three letters by its code.
pub(super) fn country(value: &str, target: &Target<'_>) -> Shaped {
    let names = names_of(value);
    if target.is_select() {
        let all: Vec<&str> =
            std::iter::once(value).chain(names.iter().flat_map(|names| names.0.iter().copied())).collect();
        return equal(target.control, &all);
    }
    let codes = names.and_then(|names| Some((names.0.first()?, names.0.get(1)?)));
    match (target.control.words.max_length, codes) {
        (Some(2), Some((code, _))) | (Some(3), Some((_, code))) => Shaped::text(*code),
        _ => Shaped::AsStored,
    }
}

/// A state or province as a list or a box takes it.
pub(super) fn region(value: &str, target: &Target<'_>) -> Shaped {
    let wanted = folded(value);
    let is_it = |(code, name): &&(&str, &str)| folded(name) == wanted || folded(code) == wanted;
    let known: Vec<_> = REGIONS.iter().filter(is_it).collect();
    if target.is_select() {
        // A code may stand for regions of two countries, so the value as it is stored comes first.
        let names = known.iter().flat_map(|(code, name)| [*name, *code]);
        let all: Vec<&str> = std::iter::once(value).chain(names).collect();
        return equal(target.control, &all);
    }
    match (target.control.words.max_length, known.as_slice()) {
        (Some(2 | 3), [(code, _)]) => Shaped::text(*code),
        _ => Shaped::AsStored,
    }
}
