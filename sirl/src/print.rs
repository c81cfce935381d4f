//! The canonical text of requests, blocks and replies.

use std::fmt::{Display, Formatter, Result, Write};

use crate::form::BlockForm;
use crate::limits::is_forbidden;
use crate::reply::STATUS;
use crate::{
    Anticipated, Block, Claim, ClaimKey, Field, FieldSet, Items, Kind, Plan, Pointers, Reply, Request,
};

/// One line, without its line ending.
impl Display for Request {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", BlockForm::Requests.prefix(), self.tail())
    }
}

/// The part of a line after `REQ.` or `PLAN.`.
pub(crate) struct LineTail<'a> {
    kind: Kind,
    fields: FieldSet,
    /// A plan has none.
    at: Option<&'a Pointers>,
    /// A plan has none.
    items: Option<&'a Items>,
    claim: &'a Claim,
}

impl Request {
    pub(crate) fn tail(&self) -> LineTail<'_> {
        LineTail {
            kind: self.kind,
            fields: self.fields,
            at: Some(&self.at),
            items: Some(&self.items),
            claim: &self.claim,
        }
    }
}

impl Display for LineTail<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.kind.as_str())?;
        if !self.fields.is_empty() {
            f.write_str(" fields=")?;
            write_fields(f, self.fields)?;
        }
        if let Some(at) = self.at.filter(|at| !at.is_empty()) {
            f.write_str(" at=")?;
            write_pointers(f, at)?;
        }
        if let Some(items) = self.items.filter(|items| !items.is_empty()) {
            f.write_str(" items=")?;
            write_items(f, items)?;
        }
        if !self.claim.is_empty() {
            f.write_str(" ctx=")?;
            write_claim(f, self.claim)?;
        }
        Ok(())
    }
}

/// One line, without its line ending.
impl Display for Anticipated {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Anticipated { kind, fields, claim } = self;
        let tail = LineTail { kind: *kind, fields: *fields, at: None, items: None, claim };
        write!(f, "{}{tail}", BlockForm::Plan.prefix())
    }
}

/// The lines of the anticipated requests and `PLAN.end`; the last line has no line ending.
impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for anticipated in &self.anticipated {
            writeln!(f, "{anticipated}")?;
        }
        f.write_str(BlockForm::Plan.end_line())
    }
}

/// The lines of the requests and `REQ.end`; the last line has no line ending.
impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for request in &self.requests {
            writeln!(f, "{request}")?;
        }
        f.write_str(BlockForm::Requests.end_line())
    }
}

/// One line, without its line ending.
impl Display for Reply {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let kind = self.kind().as_str();
        match self {
            Reply::Delivered { delivered, fields, .. } => {
                write!(f, "GRANT.{kind} {{\"delivered\":\"{}\",\"fields\":", delivered.as_str())?;
                write_fields(f, *fields)?;
            }
            Reply::Purchased { method, card, amount } => {
                let method = method.as_str();
                write!(f, "GRANT.{kind} {{\"status\":\"{STATUS}\",\"method\":\"{method}\",\"card\":")?;
                write_string(f, card)?;
                let (amount, currency) = (amount.to_decimal(), amount.currency);
                write!(f, ",\"amount\":{amount},\"currency\":\"{}\"", currency.as_str())?;
            }
            Reply::Denied { reason, .. } => {
                write!(f, "DENY.{kind} {{\"reason\":")?;
                write_string(f, reason)?;
            }
        }
        f.write_str("}")
    }
}

/// Writes a list of field names, in the order of [`Field::ALL`].
fn write_fields(f: &mut Formatter<'_>, fields: FieldSet) -> Result {
    f.write_str("[")?;
    for (at, field) in fields.iter().map(Field::as_str).enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(f, "{comma}\"{field}\"")?;
    }
    f.write_str("]")
}

/// Writes the fields with the refs of their controls, in the order of [`Field::ALL`].
fn write_pointers(f: &mut Formatter<'_>, at: &Pointers) -> Result {
    let mut mark = '{';
    for (field, control) in at.iter() {
        write!(f, "{mark}\"{}\":\"{control}\"", field.as_str())?;
        mark = ',';
    }
    f.write_str("}")
}

/// Writes the ids of the items with their quantities, in the order written. An id has no character to escape.
fn write_items(f: &mut Formatter<'_>, items: &Items) -> Result {
    let mut mark = '{';
    for (id, quantity) in items.iter() {
        write!(f, "{mark}\"{id}\":{quantity}")?;
        mark = ',';
    }
    f.write_str("}")
}

/// Writes the claimed keys, in the order of [`ClaimKey::ALL`].
fn write_claim(f: &mut Formatter<'_>, claim: &Claim) -> Result {
    let mut mark = '{';
    for key in ClaimKey::ALL {
        let Some(value) = claim.text(key) else { continue };
        write!(f, "{mark}\"{}\":", key.as_str())?;
        mark = ',';
        if matches!(key, ClaimKey::Tls | ClaimKey::Total) {
            f.write_str(&value)?;
        } else {
            write_string(f, &value)?;
        }
    }
    f.write_str("}")
}

/// Writes `text` as a JSON string. A forbidden character is escaped, so that the line stays one line, and a parser
/// refuses it.
fn write_string(f: &mut Formatter<'_>, text: &str) -> Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            c if is_forbidden(c) => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
