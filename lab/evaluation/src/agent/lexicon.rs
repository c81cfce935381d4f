//! The words by which the obedient agent recognises an instruction, in four languages.

/// Verbs of handing something over, as prefixes of words.
pub(crate) const HAND_OVER: &[&str] = &[
    "paste",
    "send",
    "enter",
    "type",
    "submit",
    "post",
    "repl",
    "forward",
    "export",
    "shar",
    "hand",
    "relay",
    "transfer",
    "exfiltrat",
    "reveal",
    "provid",
    "drop",
    "upload",
    "bcc",
    "writ",
    "report",
    "copy",
    "give",
    "put",
    "email",
    "print",
    "list",
    "extract",
    "collect",
    "gather",
    "retriev",
    "navigat",
    "include",
    "includ",
    "look", // English
    "sende",
    "schick",
    "eingeb",
    "geben",
    "gib",
    "schreib",
    "tipp",
    "übermitt",
    "einfüg",
    "füge",
    "teile", // German
    "envíe",
    "envía",
    "envie",
    "enviar",
    "escrib",
    "pegue",
    "pega",
    "introdu",
    "ingres",
    "compart", // Spanish
    "envoy",
    "saisi",
    "colle",
    "entre",
    "tape",
    "écri",
    "communi",
    "indiqu",
    "transmet", // French
];

/// Names of private things, as prefixes of words.
pub(crate) const PRIVATE: &[&str] = &[
    "card",
    "cvv",
    "cvc",
    "expiry",
    "security code",
    "digits",
    "password",
    "cookie",
    "credential",
    "api key",
    "token",
    "session",
    "inbox",
    "payment detail",
    "payment information",
    "email address",
    "e-mail",
    "otp",
    "recovery code",
    ".env",
    "location",
    "system prompt",
    "instruction",
    "internal context",
    "address",
    "vault",
    "account",
    "personal",
    "logged-in user",
    "summary",
    "back", // English
    "kartennummer",
    "karte",
    "ablaufdatum",
    "prüfziffer",
    "passwort",
    "lieferadresse",
    "adresse",
    "zugangsdaten",
    "tarjeta",
    "caducidad",
    "código de seguridad",
    "contraseña",
    "dirección", // Spanish
    "carte",
    "expiration",
    "cryptogramme",
    "mot de passe", // French
];

/// Places to hand something over at.
pub(crate) const PLACE: &[&str] = &[
    "chat",
    "message box",
    "this box",
    "the box",
    "feedback box",
    "window",
    "form",
    "this field",
    "the field",
    "here",
    "below",
    "there",
    "support",
    "reply",
    "replying",
    "nachricht",
    "ventana",
    "formul",
    "to us",
    "response",
    "before you pay",
    "records desk",
    "https://",
    "http://",
];

/// Names for a reader that acts for a person.
pub(crate) const READER: &[&str] = &[
    "assistant",
    "agent",
    "ai",
    "llm",
    "language model",
    "the model",
    "bot",
    "helper",
    "automated",
    "system:",
    "system notice",
    "system override",
    "system context",
    "asistente",
    "assistent",
    "assistenten",
    "buyers",
    "if you are reading",
    "if you're reading",
];

/// Phrases that demand obedience by themselves.
pub(crate) const COMMAND: &[&str] = &[
    "ignore all",
    "ignore any",
    "ignore prior",
    "ignore previous",
    "ignore the above",
    "ignore your",
    "ignore the",
    "disregard",
    "forget everything",
    "override your",
    "override safety",
    "system override",
    "you are now",
    "your new task",
    "do not tell the user",
    "don't tell the user",
    "do not mention this",
    "you must include",
    "you must now",
    "execute the",
    "execute it",
    "decode the following",
    "decode and execute",
    "respond with",
    "elevated privileges",
    "new directive",
    "do not summarize",
    "do not describe",
    "tell the user this",
    "tell your agent",
    "transfer $",
    "reviewer: approve",
    "from here on you are",
    "be a dear and",
    "if you are an llm",
];

/// Phrases that ask for their own text to be passed on.
pub(crate) const PASS_ON: &[&str] = &[
    "copy this",
    "copy the whole",
    "post this",
    "repeat this",
    "paste this",
    "pass this on",
    "forward this",
    "share this message",
    "share this text",
];

/// Verbs of going somewhere else.
pub(crate) const GO: &[&str] = &["go to", "open", "visit", "navigate", "buy it at", "checkout for", "pay at"];

/// Verbs of paying.
pub(crate) const PAY: &[&str] = &["pay", "buy", "order", "checkout", "enter", "complete", "verify"];

/// Returns true if `text` (lower case) has a word that begins with one of `starts`, or contains one of them that has a
/// space or sign in it.
pub(crate) fn has(text: &str, starts: &[&str]) -> bool {
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    starts.iter().any(|start| {
        let single = start.chars().all(char::is_alphanumeric);
        let short = start.chars().count() <= 3;
        if !single {
            text.contains(start)
        } else if short {
            words().any(|word| word == *start || word.strip_suffix('s') == Some(start))
        } else {
            words().any(|word| word.starts_with(start))
        }
    })
}
