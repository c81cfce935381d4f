//! The decrypted answer. Its strings stay in its wiped buffer until they become secrets.

use std::collections::{HashMap, HashSet};

use super::KeePassXcError;
use super::client::Login;
use crate::json::{string, value};
use browser_signals::Origin;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The name of the additional attribute that gives an entry's address back. Its value in KeePassXC is `{URL}`.
const ADDRESS: &str = "KPH: portcullis";

/// The outer fields of a decrypted answer.
#[derive(Deserialize)]
struct Answer<'a> {
    nonce: String,
    #[serde(default)]
    hash: String,
    #[serde(default)]
    version: String,
    id: Option<String>,
    #[serde(borrow)]
    entries: Option<Vec<RawEntry<'a>>>,
}

#[derive(Deserialize)]
struct RawEntry<'a> {
    #[serde(borrow)]
    uuid: &'a RawValue,
    #[serde(borrow)]
    login: &'a RawValue,
    #[serde(borrow)]
    password: &'a RawValue,
    #[serde(borrow)]
    totp: Option<&'a RawValue>,
    #[serde(borrow, rename = "stringFields")]
    fields: Option<&'a RawValue>,
}

/// The facts about its sender that every answer has.
pub(super) struct About {
    /// The database that was at the front.
    pub(super) hash: String,
    /// The version of KeePassXC.
    pub(super) version: String,
    /// The name of the association.
    pub(super) id: Option<String>,
}

/// An entry that came for an address.
pub(super) struct Found {
    pub(super) uuid: String,
    /// Its address, if the user had it given back: `Some(None)` is one that is no origin.
    pub(super) address: Option<Option<Origin>>,
    /// Its values, or nothing where one is too long or has control characters.
    pub(super) login: Option<Login>,
}

fn fault() -> KeePassXcError {
    // The parser's own error may quote a value.
    KeePassXcError::Protocol("an answer without the fields that it needs")
}

fn read<'a>(plain: &'a [u8], nonce: &str) -> Result<(About, Vec<RawEntry<'a>>), KeePassXcError> {
    let answer: Answer = serde_json::from_slice(plain).map_err(|_| fault())?;
    if answer.nonce != nonce {
        return Err(KeePassXcError::Protocol("an answer with another nonce inside"));
    }
    let about = About { hash: answer.hash, version: answer.version, id: answer.id };
    Ok((about, answer.entries.unwrap_or_default()))
}

/// Reads what an answer tells of its sender.
pub(super) fn about(plain: &[u8], nonce: &str) -> Result<About, KeePassXcError> {
    read(plain, nonce).map(|(about, _)| about)
}

/// Reads which entries came, and nothing else of them.
pub(super) fn uuids(plain: &[u8], nonce: &str) -> Result<HashSet<String>, KeePassXcError> {
    let (_, entries) = read(plain, nonce)?;
    entries.iter().map(|entry| uuid(entry.uuid)).collect()
}

/// Reads the entries that came.
pub(super) fn logins(plain: &[u8], nonce: &str) -> Result<(About, Vec<Found>), KeePassXcError> {
    let (about, entries) = read(plain, nonce)?;
    let found = entries.iter().map(|entry| {
        let uuid = uuid(entry.uuid)?;
        Ok(Found { address: address(entry.fields)?, login: login(&uuid, entry), uuid })
    });
    Ok((about, found.collect::<Result<_, _>>()?))
}

fn uuid(raw: &RawValue) -> Result<String, KeePassXcError> {
    let bytes = string(raw).ok_or_else(fault)?;
    let is_uuid = bytes.len() == 32 && bytes.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(&bytes).ok().filter(|_| is_uuid).ok_or_else(fault)?;
    Ok(text.to_ascii_lowercase())
}

fn address(fields: Option<&RawValue>) -> Result<Option<Option<Origin>>, KeePassXcError> {
    let Some(fields) = fields else { return Ok(None) };
    let fields: Vec<HashMap<String, &RawValue>> = serde_json::from_str(fields.get()).map_err(|_| fault())?;
    let Some(raw) = fields.iter().find_map(|field| field.get(ADDRESS)) else { return Ok(None) };
    let bytes = string(raw).ok_or_else(fault)?;
    Ok(Some(std::str::from_utf8(&bytes).ok().and_then(|text| Origin::parse(text).ok())))
}

fn login(uuid: &str, entry: &RawEntry) -> Option<Login> {
    let code = entry.totp.map(|raw| {
        // Codes have six to eight digits, those of Steam five letters and digits.
        value(raw, |bytes| (5..=10).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_alphanumeric))
    });
    Some(Login {
        uuid: uuid.to_owned(),
        user_name: value(entry.login, |_| true)?,
        password: value(entry.password, |_| true)?,
        code: if let Some(code) = code { Some(code?) } else { None },
    })
}

#[cfg(test)]
mod tests {
    use vault::Secret;

    use super::{logins, uuids};
    use crate::keepassxc::KeePassXcError;

    fn entry(rest: &str) -> String {
        format!(
            r#"{{"nonce":"n","entries":[{{"uuid":"{}","login":"ana","password":{rest}}}]}}"#,
            "0a".repeat(16)
        )
    }

    #[test]
    fn values_become_secrets() {
        let answer = entry(
            r#""a\"\\\u00e4\ud83d\ude00","totp":"123456","name":"\n","stringFields":[{"KPH: pin":"1"}]"#,
        );
        let (_, found) = logins(answer.as_bytes(), "n").unwrap();
        let login = found[0].login.as_ref().unwrap();
        assert!(login.password.is_same(&Secret::new("a\"\\ä😀")));
        assert!(login.code.as_ref().unwrap().is_same(&Secret::new("123456")));
        assert!(found[0].address.is_none());
        assert_eq!(uuids(answer.as_bytes(), "n").unwrap(), ["0a".repeat(16)].into());
    }

    #[test]
    fn values_of_more_than_one_line_or_too_long_are_no_login() {
        for rest in [
            r#""a\nb""#,
            r#""a\u0000""#,
            "7",
            &format!("\"{}\"", "x".repeat(4095)),
            r#""a","totp":"seed 12""#,
        ] {
            assert!(logins(entry(rest).as_bytes(), "n").unwrap().1[0].login.is_none(), "{rest}");
        }
    }

    #[test]
    fn a_malformed_answer_is_not_quoted() {
        for answer in [
            r#"{"nonce":"n","entries":"hunter2"}"#,
            r#"{"nonce":"n","hash":["hunter2"]}"#,
            "hunter2",
            r#"{"nonce":"n","entries":[{"uuid":"hunter2","login":"","password":""}]}"#,
        ] {
            let error = logins(answer.as_bytes(), "n").err().unwrap();
            assert!(matches!(error, KeePassXcError::Protocol(_)));
            assert!(!format!("{error} {error:?}").contains("hunter2"));
        }
        assert!(logins(entry("\"\"").as_bytes(), "m").is_err(), "another nonce");
    }
}
