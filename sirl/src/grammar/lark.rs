//! The grammar in the Lark format.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::automaton::MAX_TEXT_CHARS;
use super::expr::{Expr, ItemOrder};
use super::utf8::PLAIN;
use crate::limits::MAX_REQUESTS;

/// The rules and terminals by name.
#[derive(Default)]
struct Lark {
    rules: BTreeMap<String, String>,
}

/// Writes `expr` as Lark text with the start rule `start`.
pub(super) fn lark(expr: &Expr) -> String {
    let mut lark = Lark::default();
    let start = lark.term(expr);
    let mut text = format!("start: {start}\n");
    for (name, body) in &lark.rules {
        let _ = writeln!(text, "{name}: {body}");
    }
    text
}

impl Lark {
    /// Writes `expr` for use in a rule.
    fn term(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Literal(text) => string(text),
            Expr::Seq(parts) => self.terms(parts, " "),
            Expr::Alt(parts) => format!("({})", self.terms(parts, " | ")),
            Expr::Optional(item) => format!("({})?", self.term(item)),
            Expr::Class(_) | Expr::Repeat { .. } | Expr::Id { .. } => {
                regular(expr).map(|regex| format!("/{regex}/")).unwrap_or_default()
            }
            Expr::Text => {
                let body = regular(expr).map(|regex| format!("/{regex}/")).unwrap_or_default();
                self.rules.insert("TEXT".to_owned(), body);
                "TEXT".to_owned()
            }
            Expr::Named(name, item) => match regular(item) {
                Some(regex) => {
                    let name = name.to_ascii_uppercase();
                    self.rules.insert(name.clone(), format!("/{regex}/"));
                    name
                }
                None => {
                    let body = self.term(item);
                    self.rules.insert((*name).to_owned(), body);
                    (*name).to_owned()
                }
            },
            Expr::Lines(line) => format!("{}{{1,{MAX_REQUESTS}}}", self.term(line)),
            Expr::Counted(item) => self.term(item),
            Expr::List { name, items, mark, order } => {
                let items: Vec<String> = items.iter().map(|item| self.term(item)).collect();
                let mark = self.term(mark);
                let all = (1u32 << items.len()) - 1;
                self.list(name, &items, &mark, *order, all)
            }
        }
    }

    fn terms(&mut self, parts: &[Expr], between: &str) -> String {
        parts.iter().map(|part| self.term(part)).collect::<Vec<_>>().join(between)
    }

    /// Adds the rule for a list of the items whose bits are in `left`, and returns its name.
    fn list(&mut self, name: &str, items: &[String], mark: &str, order: ItemOrder, left: u32) -> String {
        let rule = format!("{name}_{left}");
        if self.rules.contains_key(&rule) {
            return rule;
        }
        let mut alternatives = Vec::new();
        for (at, item) in items.iter().enumerate().filter(|(at, _)| left & (1 << at) != 0) {
            let rest = match order {
                ItemOrder::Any => left & !(1 << at),
                ItemOrder::Fixed => left & !((2 << at) - 1),
            };
            alternatives.push(match rest {
                0 => item.clone(),
                rest => format!("{item} ({mark} {})?", self.list(name, items, mark, order, rest)),
            });
        }
        self.rules.insert(rule.clone(), alternatives.join(" | "));
        rule
    }
}

/// Writes `expr` as a regular expression; `None` if it contains a list, lines or a counted part.
fn regular(expr: &Expr) -> Option<String> {
    Some(match expr {
        Expr::Literal(text) => text.chars().map(escaped).collect(),
        Expr::Class(ranges) => set(ranges),
        Expr::Seq(parts) => parts.iter().map(regular).collect::<Option<String>>()?,
        Expr::Alt(parts) => {
            format!("({})", parts.iter().map(regular).collect::<Option<Vec<_>>>()?.join("|"))
        }
        Expr::Optional(item) => format!("({})?", regular(item)?),
        Expr::Repeat { item, min, max } => format!("({}){{{min},{max}}}", regular(item)?),
        Expr::Text => {
            let escape = r#"\\["\\]"#;
            format!("\"({}|{escape}){{0,{MAX_TEXT_CHARS}}}\"", set(&PLAIN))
        }
        Expr::Id { ranges, max } => format!("\"{}{{1,{max}}}\"", set(ranges)),
        Expr::Named(_, item) => regular(item)?,
        Expr::List { .. } | Expr::Lines(_) | Expr::Counted(_) => return None,
    })
}

fn set(ranges: &[(char, char)]) -> String {
    let ranges = ranges.iter().map(|(from, to)| match from == to {
        true => escaped(*from),
        false => format!("{}-{}", escaped(*from), escaped(*to)),
    });
    format!("[{}]", ranges.collect::<String>())
}

/// Escapes one character of a regular expression.
fn escaped(c: char) -> String {
    match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':' | '"' | ' ') => c.to_string(),
        c if c.is_ascii_graphic() => format!("\\{c}"),
        c if u32::from(c) <= 0xffff => format!("\\u{:04x}", u32::from(c)),
        c => format!("\\U{:08x}", u32::from(c)),
    }
}

/// Writes a string of a rule.
fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
