//! The decrypted login: is it for the wanted origin, and its values as secrets.

use browser_signals::Origin;
use vault::sources::{Fetched, FetchedCode, FetchedValues, SourceError};

use super::message::{Credential, Response};
use crate::json::{account, value, value_if_there};

/// Reads the login of an answer.
pub(super) fn login(plain: &[u8], origin: &Origin) -> Result<Fetched, SourceError> {
    // The parser's own error may quote a value.
    let answer: Response = serde_json::from_slice(plain).map_err(|_| SourceError::Answer)?;
    let Some(credential) = answer.credential else { return Err(SourceError::NotGiven) };
    match credential.is_for(origin) {
        None => Err(SourceError::WithoutSite),
        Some(false) => Ok(Fetched::Nothing),
        Some(true) => Ok(Fetched::Values(credential.values()?)),
    }
}

impl Credential<'_> {
    /// Returns true if each site that the login names is exactly this origin; None where it names no site.
    fn is_for(&self, origin: &Origin) -> Option<bool> {
        let mut named =
            [&self.uri, &self.domain].into_iter().flatten().filter(|text| !text.is_empty()).peekable();
        named.peek()?;
        Some(named.all(|text| match text.contains("://") {
            true => Origin::parse(text).as_ref() == Ok(origin),
            // A host alone is its site by https.
            false => Origin::parse(&format!("https://{text}")).as_ref() == Ok(origin),
        }))
    }

    fn values(&self) -> Result<FetchedValues, SourceError> {
        let username = value_if_there(self.username)?;
        // A provider may give either a code or its seed.
        let code = match self.totp.and_then(|raw| value(raw, is_code)) {
            Some(code) => Some(FetchedCode::Code(code)),
            None => value_if_there(self.totp)?.map(FetchedCode::Seed),
        };
        let account = account(self.credential_id.as_deref().unwrap_or_default(), username.as_ref());
        Ok(FetchedValues { account, username, password: value_if_there(self.password)?, code })
    }
}

/// Returns true for the digits of a code. No seed is that short.
fn is_code(bytes: &[u8]) -> bool {
    (6..=8).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use browser_signals::Origin;
    use vault::Secret;
    use vault::sources::{Fetched, FetchedCode, FetchedValues, SourceError};

    use super::login;

    fn read(credential: &str) -> Result<Fetched, SourceError> {
        let origin = Origin::parse("https://shop.example").unwrap();
        login(format!(r#"{{"requestId":"r","credential":{credential}}}"#).as_bytes(), &origin)
    }

    fn values(credential: &str) -> FetchedValues {
        match read(credential) {
            Ok(Fetched::Values(values)) => values,
            _ => panic!("{credential} gives no values"),
        }
    }

    #[test]
    fn a_login_is_given_to_exactly_the_site_that_it_names() {
        for site in [
            r#""uri":"https://shop.example/login""#,
            r#""domain":"shop.example""#,
            r#""uri":"https://shop.example:443","domain":"shop.example""#,
        ] {
            let values = values(&format!(r#"{{"username":"ana","password":"x",{site}}}"#));
            assert!(values.password.unwrap().is_same(&Secret::new("x")), "{site}");
        }
        for site in [
            r#""uri":"https://login.shop.example""#,
            r#""uri":"http://shop.example""#,
            r#""uri":"https://shop.example:8443""#,
            r#""domain":"example""#,
            r#""domain":"shop.example.evil.example""#,
            r#""uri":"https://shop.example","domain":"evil.example""#,
            r#""uri":"https://shop.example@evil.example""#,
        ] {
            let answer = read(&format!(r#"{{"password":"x",{site}}}"#));
            assert!(matches!(answer, Ok(Fetched::Nothing)), "{site}");
        }
        for site in ["", r#","uri":"""#, r#","domain":null"#] {
            let answer = read(&format!(r#"{{"password":"x"{site}}}"#));
            assert!(matches!(answer, Err(SourceError::WithoutSite)), "{site}");
        }
    }

    #[test]
    fn a_code_and_a_seed_are_told_apart() {
        let code =
            |totp: &str| values(&format!(r#"{{"totp":"{totp}","domain":"shop.example"}}"#)).code.unwrap();
        for totp in ["123456", "12345678"] {
            assert!(matches!(code(totp), FetchedCode::Code(_)), "{totp}");
        }
        for totp in ["JBSWY3DPEHPK3PXP", "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP"] {
            assert!(matches!(code(totp), FetchedCode::Seed(_)), "{totp}");
        }
    }

    #[test]
    fn an_answer_without_a_login_and_a_malformed_one_give_nothing() {
        let origin = Origin::parse("https://shop.example").unwrap();
        let refused = login(br#"{"requestId":"r","error":"hunter2"}"#, &origin);
        assert!(matches!(refused, Err(SourceError::NotGiven)));
        for answer in [&b"hunter2"[..], br#"{"credential":"hunter2"}"#] {
            assert!(matches!(login(answer, &origin), Err(SourceError::Answer)));
        }
        assert!(matches!(read(r#"{"password":"a\nb","domain":"shop.example"}"#), Err(SourceError::Unusable)));
        assert!(matches!(read(r#"{"password":7,"domain":"shop.example"}"#), Err(SourceError::Unusable)));
    }
}
