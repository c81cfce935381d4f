//! Every dependency's licence against a list.

use crate::process::{Failure, Place};
use std::collections::BTreeMap;
use std::process::Stdio;

/// Licences that combine with ours and ask for no more than their text to be kept.
const ALLOWED: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "NCSA",
    "Unicode-3.0",
    "Zlib",
];

/// Checks every package that any feature, on any system, can bring in.
pub fn check(place: &Place) -> Result<(), Failure> {
    let mut tree = place.cargo();
    tree.args(["tree", "--workspace", "--all-features", "--target", "all", "--edges", "normal,build,dev"]);
    tree.args(["--prefix", "none", "--format", "{p}|{l}"]).stderr(Stdio::inherit());
    let output = tree
        .output()
        .map_err(|error| Failure::not_set_up(format!("`cargo tree` does not start: {error}")))?;
    if !output.status.success() {
        return Err(Failure::not_set_up("`cargo tree` failed: its message is above".to_owned()));
    }
    let packages = packages(&String::from_utf8_lossy(&output.stdout));
    let refused: Vec<String> = packages
        .iter()
        .filter(|(_, licence)| !is_allowed(licence))
        .map(|(package, licence)| {
            let licence = if licence.is_empty() { "no licence named" } else { licence };
            format!("{package}: {licence}")
        })
        .collect();
    if packages.is_empty() || !refused.is_empty() {
        let found = refused.join("\n  ");
        return Err(Failure::finding(format!("licences that are not on the list:\n  {found}")));
    }
    println!("{} packages, every licence on the list", packages.len());
    Ok(())
}

/// Package and licence of each line `name v1.2.3 (where)|licence (*)`, each once.
fn packages(tree: &str) -> BTreeMap<String, String> {
    let mut packages = BTreeMap::new();
    for line in tree.lines() {
        // Cargo marks what it has printed before with a star.
        let line = line.trim().trim_end_matches("(*)");
        if let Some((package, licence)) = line.split_once('|') {
            let name: Vec<&str> = package.split_whitespace().take(2).collect();
            packages.insert(name.join(" "), licence.trim().to_owned());
        }
    }
    packages
}

/// Whether a licence expression can be met from the list. Reads SPDX's `AND`, `OR`, `WITH` and
/// parentheses, and the slash that older packages write for `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), next: 0, depth: 0 };
    words.any() == Some(true) && words.next == words.words.len()
}

/// A cursor over an expression; each method returns `None` where the expression is malformed.
struct Words<'a> {
    words: Vec<&'a str>,
    next: usize,
    depth: usize,
}

/// Deeper nesting than any sane package writes.
const DEEPEST: usize = 16;

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let here = self.peek() == Some(word);
        self.next += usize::from(here);
        here
    }

    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            self.depth += 1;
            let met = (self.depth <= DEEPEST).then(|| self.any())??;
            self.depth -= 1;
            return self.take(")").then_some(met);
        }
        let name = self.name()?;
        // An exception only adds to what the licence permits.
        if self.take("WITH") {
            self.name()?;
        }
        Some(ALLOWED.contains(&name))
    }

    fn name(&mut self) -> Option<&'a str> {
        let name = self.peek().filter(|word| !matches!(*word, "AND" | "OR" | "WITH" | "(" | ")"))?;
        self.next += 1;
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_the_list_meets() {
        for expression in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "Apache-2.0 WITH LLVM-exception",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-2.0-only OR MIT AND ISC",
        ] {
            assert!(is_allowed(expression), "{expression}");
        }
    }

    #[test]
    fn expressions_that_the_list_does_not_meet() {
        for expression in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR Apache-2.0) AND GPL-3.0-only",
            "GPL-2.0-only WITH Classpath-exception-2.0",
            "mit",
            "MIT OR",
            "MIT Apache-2.0",
            "(MIT",
            "MIT)",
            "WITH MIT",
            "MIT WITH",
        ] {
            assert!(!is_allowed(expression), "{expression}");
        }
        assert!(!is_allowed(&format!("{}MIT{}", "(".repeat(50_000), ")".repeat(50_000))));
    }

    #[test]
    fn and_binds_tighter_than_or() {
        assert!(is_allowed("MIT OR MIT AND GPL-3.0-only"));
        assert!(!is_allowed("GPL-3.0-only OR MIT AND GPL-3.0-only"));
    }

    #[test]
    fn lines_of_the_tree_are_read_once_each() {
        let tree = "sirl v0.1.0 (/x/sirl)|MIT OR Apache-2.0\nnom v8.0.0|MIT\n\nnom v8.0.0|MIT (*)\n\
                    thiserror-impl v2.0.1 (proc-macro)|MIT OR Apache-2.0\nbare v1.0.0|\n";
        let packages = packages(tree);
        let lines: Vec<String> = packages.iter().map(|(name, licence)| format!("{name}={licence}")).collect();
        assert_eq!(
            lines,
            [
                "bare v1.0.0=",
                "nom v8.0.0=MIT",
                "sirl v0.1.0=MIT OR Apache-2.0",
                "thiserror-impl v2.0.1=MIT OR Apache-2.0"
            ]
        );
    }
}
