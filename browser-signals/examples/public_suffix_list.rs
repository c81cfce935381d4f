//! Renews the public suffix list that this crate searches: reads the official list, writes the crate's.
//!
//! `curl https://publicsuffix.org/list/public_suffix_list.dat > list.dat`, then
//! `cargo run -p browser-signals --example public_suffix_list < list.dat > browser-signals/src/host/public_suffix.txt`.

use std::collections::BTreeMap;
use std::io::Read;

const HEADER: &str = "\
# The public suffix list of Mozilla, https://publicsuffix.org/list/, in another form.
# This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
# distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.
#
# Each line is a name and its marks: `r` a suffix of a registry, `c` a suffix of a company, `r*` and `c*` the same for all
# names one label below, `!` a name that such a star does not mean. Names are in ASCII, and in the order of their bytes.
# `browser-signals/examples/public_suffix_list.rs` writes this file from the official one.
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut official = String::new();
    std::io::stdin().read_to_string(&mut official)?;
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut version, mut owner) = ("", "r");
    for line in official.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("//") {
            match comment.trim() {
                "===BEGIN ICANN DOMAINS===" => owner = "r",
                "===BEGIN PRIVATE DOMAINS===" => owner = "c",
                comment => version = comment.strip_prefix("VERSION: ").unwrap_or(version),
            }
            continue;
        }
        let rule = line.split_whitespace().next().unwrap_or(line);
        let (name, mark) = if let Some(name) = rule.strip_prefix("*.") {
            (name, format!("{owner}*"))
        } else if let Some(name) = rule.strip_prefix('!') {
            (name, "!".to_owned())
        } else {
            (rule, owner.to_owned())
        };
        let marks = names.entry(idna::domain_to_ascii(name)?).or_default();
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    let version = if version.is_empty() { "unknown" } else { version };
    println!("{HEADER}# Version: {version}");
    for (name, marks) in names {
        println!("{name} {}", marks.join(" "));
    }
    Ok(())
}
