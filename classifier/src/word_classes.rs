//! Classes of words that stand in like company: what a model knows of one word of a class it knows of all.

/// The class of a word, at two grains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordClass {
    /// One of many small classes.
    pub fine: u16,
    /// One of few large ones.
    pub coarse: u8,
}

/// As many of the first bits of a word's number lead to where it is looked for.
const LEADING: u32 = 12;

/// The classes of the frequent words of some texts, in which words are known by their numbers (see
/// [`FeatureSink::identity`](crate::FeatureSink::identity)); the words themselves are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordClasses {
    /// In order of the numbers, each once.
    entries: Box<[(u32, WordClass)]>,
    /// Where the numbers with some first bits begin, and at last the end.
    starts: Box<[u32]>,
}

impl WordClasses {
    /// Classes from words' numbers, in any order; of a number that is there twice one is kept.
    pub fn new(mut entries: Vec<(u32, WordClass)>) -> WordClasses {
        entries.sort_by_key(|(number, class)| (*number, class.fine, class.coarse));
        entries.dedup_by_key(|(number, _)| *number);
        let start = |leading: u32| {
            let first = u64::from(leading) << (32 - LEADING);
            entries.partition_point(|(number, _)| u64::from(*number) < first) as u32
        };
        let starts = (0..=1 << LEADING).map(start).collect();
        WordClasses { entries: entries.into(), starts }
    }

    /// The class of a word.
    pub fn of(&self, number: u32) -> Option<WordClass> {
        let leading = (number >> (32 - LEADING)) as usize;
        let (from, to) = (*self.starts.get(leading)?, *self.starts.get(leading + 1)?);
        let few = self.entries.get(from as usize..to as usize)?;
        let at = few.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        few.get(at).map(|(_, class)| *class)
    }

    /// The words' numbers and their classes, in order.
    pub fn entries(&self) -> &[(u32, WordClass)] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_class_and_no_other_has_one() {
        let class = |k: u32| WordClass { fine: (k % 500) as u16, coarse: (k % 60) as u8 };
        // Many words with the same first bits, and the least and the greatest number.
        let numbers = (0..3_000_u32).map(|k| k.wrapping_mul(0x9E37_79B1)).chain(7..900);
        let mut entries: Vec<(u32, WordClass)> = numbers.map(|number| (number, class(number))).collect();
        entries.push((u32::MAX, class(u32::MAX)));
        let classes = WordClasses::new(entries.iter().rev().copied().collect());
        for (number, class) in &entries {
            assert_eq!(classes.of(*number), Some(*class));
        }
        assert_eq!(classes.of(1_000), None);
        assert_eq!(classes.of(u32::MAX - 1), None);
        assert_eq!(WordClasses::new(classes.entries().to_vec()), classes);
        assert_eq!(WordClasses::new(Vec::new()).of(0), None);
    }
}
