//! Names of secrets: the whole identifier around a word such as `token`, judged by its words.

use std::ops::Range;

/// The longest part of an identifier that is read on each side of the word, in bytes.
const REACH: usize = 40;

/// Words behind the telling word that do not change what is named.
const NEUTRAL: [&str; 34] = [
    "a",
    "b",
    "backup",
    "base",
    "b64",
    "base64",
    "current",
    "data",
    "default",
    "dev",
    "development",
    "env",
    "example",
    "hex",
    "id",
    "live",
    "main",
    "new",
    "old",
    "plain",
    "primary",
    "prod",
    "production",
    "raw",
    "secondary",
    "staging",
    "str",
    "string",
    "test",
    "text",
    "val",
    "value",
    "v1",
    "v2",
];
/// Words before `key` that make it no secret.
const PUBLIC_KEYS: [&str; 46] = [
    "arrow",
    "cache",
    "candidate",
    "cluster",
    "composite",
    "config",
    "dict",
    "dictionary",
    "event",
    "feature",
    "field",
    "foreign",
    "group",
    "hash",
    "hot",
    "i18n",
    "idempotency",
    "index",
    "item",
    "lookup",
    "map",
    "message",
    "object",
    "order",
    "partition",
    "pk",
    "primary",
    "product",
    "public",
    "publishable",
    "pub",
    "query",
    "range",
    "registry",
    "row",
    "search",
    "setting",
    "short",
    "site",
    "sort",
    "state",
    "storage_class",
    "struct",
    "translation",
    "unique",
    "verify",
];
/// Words before `token` that make it no secret.
const PUBLIC_TOKENS: [&str; 26] = [
    "bos",
    "cls",
    "color",
    "continuation",
    "cursor",
    "design",
    "eos",
    "expected",
    "first",
    "last",
    "lexer",
    "mask",
    "max",
    "min",
    "next",
    "pad",
    "page",
    "paging",
    "parser",
    "prev",
    "sep",
    "special",
    "start",
    "sync",
    "theme",
    "unk",
];
/// Words before `key` with which the name says that the key is secret.
const SECRET_KEYS: [&str; 30] = [
    "access",
    "account",
    "admin",
    "api",
    "app",
    "application",
    "auth",
    "client",
    "consumer",
    "deploy",
    "encryption",
    "hmac",
    "integration",
    "jwt",
    "license",
    "licence",
    "master",
    "private",
    "rapidapi",
    "sdk",
    "secret",
    "server",
    "service",
    "session",
    "shared",
    "signing",
    "storage",
    "subscription",
    "webhook",
    "write",
];

/// The name of a secret.
#[derive(Debug)]
pub(super) struct Name {
    /// The identifier.
    pub(super) span: Range<usize>,
    /// The telling word.
    kind: Telling,
}

/// What the telling word of a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// A secret, a token, a credential, or a key of which the name says that it is one.
    Secret,
    /// A key of some service, or a signature: only a value that is long enough tells.
    Key,
    /// The header of a request.
    Header,
}

/// Returns the name around a word, if it names a secret.
pub(super) fn read_name(text: &str, word: Range<usize>) -> Option<Name> {
    let length = text.get(word.clone())?.trim_end_matches(['"', '\'', '=', ':', ' ']).len();
    let word = word.start..word.start + length;
    let bytes = text.as_bytes();
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let head = bytes.get(..word.start)?.iter().rev().take(REACH).take_while(|byte| part(byte)).count();
    let tail = bytes.get(word.end..)?.iter().take(REACH).take_while(|byte| part(byte)).count();
    let start = word.start - head;
    // A sentence or a method may follow a full stop.
    let behind = text.get(word.end..word.end + tail)?;
    let behind = behind.split('.').next().unwrap_or_default().trim_end_matches(['-', '_']);
    let before = text.get(start..word.start)?;
    let start = word.start - before.trim_start_matches(['-', '.']).len();
    let own = text.get(word.clone())?.to_ascii_lowercase();
    let own = own.trim_start_matches('_');
    let whole = words(text.get(start..word.end + behind.len())?);
    // The word of the identifier that the match is in; what is before the match in it counts as the word before.
    let at = word.end - own.len() - start;
    let place = whole.partition_point(|(from, _)| *from <= at).checked_sub(1)?;
    let (from, telling) = whole.get(place)?;
    let joined = telling.get(..at - from)?;
    let tail = telling.get(at - from..)?;
    if (tail != own && tail != format!("{own}s")) || !(joined.is_empty() || is_joined(joined)) {
        return None;
    }
    let mut before: Vec<&str> = whole.iter().take(place).map(|(_, word)| word.as_str()).collect();
    before.extend((!joined.is_empty()).then_some(joined));
    let neutral = |(_, word): &(usize, String)| {
        NEUTRAL.contains(&word.as_str()) || word.bytes().all(|byte| byte.is_ascii_digit()) || is_telling(word)
    };
    let after = whole.get(place + 1..).unwrap_or_default();
    if after.len() > 3
        || !after.iter().all(neutral)
        || after.iter().any(|(_, word)| word == "id") && own != "secret"
    {
        return None;
    }
    // "Next page token: ..."
    let head = text.get(..start)?.trim_end_matches(' ').as_bytes();
    let prose =
        before.is_empty() && head.last_chunk::<4>().is_some_and(|word| word.eq_ignore_ascii_case(b"page"));
    if prose {
        return None;
    }
    let kind = kind(own, &before)?;
    Some(Name { span: start..word.end + behind.len(), kind })
}

/// Returns whether a word may be joined to a telling one without a sign: `apikey`, `authtoken`.
fn is_joined(word: &str) -> bool {
    SECRET_KEYS.contains(&word) || ["o", "bot", "id", "refresh", "user"].contains(&word)
}

fn is_telling(word: &str) -> bool {
    ["secret", "token", "key", "credential", "credentials", "pat", "auth", "org", "com"].contains(&word)
}

fn kind(own: &str, before: &[&str]) -> Option<Telling> {
    let last = before.last().copied();
    match own {
        "key" => match last {
            Some(word) if PUBLIC_KEYS.contains(&word) => None,
            Some(word) if SECRET_KEYS.contains(&word) => Some(Telling::Secret),
            Some(_) if before.iter().any(|word| PUBLIC_KEYS.contains(word)) => None,
            Some(_) => Some(Telling::Key),
            None => None,
        },
        "token" if last.is_some_and(|word| PUBLIC_TOKENS.contains(&word)) => None,
        "authorization" => Some(Telling::Header),
        "sig" | "signature" => Some(Telling::Key),
        "pass" if before.is_empty() => None,
        _ => Some(Telling::Secret),
    }
}

/// Returns the words of an identifier, in lower case, with their places: `clientSecret_2` has `client`, `secret` and `2`.
fn words(identifier: &str) -> Vec<(usize, String)> {
    let bytes = identifier.as_bytes();
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut from = 0;
    let mut add = |from: usize, to: usize| {
        let word = identifier.get(from..to).unwrap_or_default();
        if !word.is_empty() {
            words.push((from, word.to_ascii_lowercase()));
        }
    };
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            add(from, at);
            from = at + 1;
            continue;
        }
        let Some(before) =
            at.checked_sub(1).filter(|before| *before >= from).and_then(|before| bytes.get(before))
        else {
            continue;
        };
        let next_small = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let capital = byte.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || next_small && before.is_ascii_uppercase());
        // `v2` is one word, `token2` is two.
        let number = byte.is_ascii_digit() && !before.is_ascii_digit() && at - from > 1;
        if capital || number {
            add(from, at);
            from = at;
        }
    }
    add(from, identifier.len());
    words
}

impl Name {
    /// Returns whether the name alone says that a secret follows.
    pub(super) fn is_plain_secret(&self) -> bool {
        self.kind != Telling::Key
    }

    /// Returns whether it is the header of a request, before whose value any scheme may be.
    pub(super) fn is_header(&self) -> bool {
        self.kind == Telling::Header
    }

    /// Returns whether the name is a field of a query, in which an ampersand ends the value.
    pub(super) fn in_query(&self, text: &str) -> bool {
        text.get(self.span.end..).is_some_and(|rest| rest.starts_with('='))
    }

    /// Returns whether the value follows without a sign: after an option of a command, or a word such as `ENV`.
    pub(super) fn takes_the_next_word(&self, text: &str) -> bool {
        let head = text.get(..self.span.start).unwrap_or_default();
        head.ends_with("--") || ["ENV ", "ARG ", "setenv ", "set "].iter().any(|word| head.ends_with(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(name: &str, word: &str) -> Option<Telling> {
        let at = name.to_ascii_lowercase().find(word)?;
        read_name(name, at..at + word.len()).map(|name| name.kind)
    }

    #[test]
    fn identifiers_are_cut_into_words() {
        let words = |text: &str| words(text).into_iter().map(|(_, word)| word).collect::<Vec<String>>();
        assert_eq!(words("clientSecret_v2"), ["client", "secret", "v2"]);
        assert_eq!(words("AWS_SECRET-key"), ["aws", "secret", "key"]);
        assert_eq!(words("X-RapidAPI-Key"), ["x", "rapid", "api", "key"]);
        assert_eq!(words("token2"), ["token", "2"]);
    }

    #[test]
    fn the_words_beside_the_telling_one_decide() {
        for name in [
            "API_TOKEN",
            "token",
            "githubToken",
            "oauth_token",
            "tokens",
            "token_2",
            "authtoken",
            "refresh-token",
        ] {
            assert_eq!(kind_of(name, "token"), Some(Telling::Secret), "{name}");
        }
        for name in [
            "token_count",
            "tokenizer",
            "next_page_token",
            "pad_token",
            "token_url",
            "tokenName",
            "token_type",
        ] {
            assert_eq!(kind_of(name, "token"), None, "{name}");
        }
        assert_eq!(kind_of("apikey", "key"), Some(Telling::Secret));
        assert_eq!(kind_of("FASTLY_KEY", "key"), Some(Telling::Key));
        for name in
            ["key", "monkey", "keyboard", "public_key", "primaryKey", "cache_key", "key_file", "hockey"]
        {
            assert_eq!(kind_of(name, "key"), None, "{name}");
        }
        assert_eq!(kind_of("secretName", "secret"), None);
        assert_eq!(kind_of("secretary", "secret"), None);
    }
}
