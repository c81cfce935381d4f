//! Suggestions for misspelled names.

/// The nearest of `names` to `word`, if it is near enough for a typing error: at most one letter in three added, left
/// out, changed or swapped with its neighbour, and never more than two.
pub(super) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = (word.len() / 3).clamp(1, 2);
    let near = names.map(|name| (distance(word, name), name)).filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The number of typing errors from `a` to `b`, by optimal string alignment.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut best =
                (at(&last, j) + usize::from(x != y)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_counted() {
        for (a, b, errors) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("city", "city", 0),
            ("ctiy", "city", 1),
            ("cit", "city", 1),
            ("cityy", "city", 1),
            ("cify", "city", 1),
            ("otp", "city", 3),
            ("adres", "address", 2),
        ] {
            assert_eq!(distance(a, b), errors, "{a} {b}");
        }
    }

    #[test]
    fn only_a_near_name_is_suggested() {
        let names = || ["address", "contact", "otp"].into_iter();
        assert_eq!(nearest("adress", names()), Some("address"));
        assert_eq!(nearest("contcat", names()), Some("contact"));
        assert_eq!(nearest("opt", names()), Some("otp"));
        assert_eq!(nearest("dress", names()), None, "two errors are too many for five letters");
        assert_eq!(nearest("passport", names()), None);
    }
}
