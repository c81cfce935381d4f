//! The parts of a request that its sender can choose, by name, so that a value that is sent under one name in many
//! requests can be reassembled.

use browser_signals::OutgoingRequest;
use serde_json::Value;
use url::Url;

/// The name of the last segment of a path. The names of this module begin with a slash, unlike others.
pub(super) const PATH: &str = "/";
/// The name of the names themselves, which can carry a value too.
const NAMES: &str = "/names";
/// The name of a body without names.
const BODY: &str = "/body";

/// A name and a text.
pub(super) type Piece = (String, String);

/// The last segment of the path, and the values and names of query and fragment.
pub(super) fn of_address(url: &Url) -> Vec<Piece> {
    let last = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
    let mut pieces: Vec<Piece> = last.map(|last| (PATH.to_owned(), last.to_owned())).into_iter().collect();
    for part in [url.query(), url.fragment()].into_iter().flatten() {
        pieces.extend(of_form(part));
    }
    pieces
}

/// The values and names of a query.
pub(super) fn of_query(url: &Url) -> Vec<Piece> {
    url.query().map(of_form).unwrap_or_default()
}

/// The values of a form's encoding, each under its name, and the names.
fn of_form(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
        let (name, value) = (name.into_owned(), value.into_owned());
        // A name without a value carries the text itself.
        let carries = if value.is_empty() { (NAMES.to_owned(), name) } else { (name, value) };
        pieces.push(carries);
    }
    pieces
}

/// All parts of a request that a page can choose: address, headers and body.
pub(super) fn of_request(request: &OutgoingRequest<'_>, url: &Url) -> Vec<Piece> {
    let mut pieces = of_address(url);
    pieces.extend(request.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())));
    let body = String::from_utf8_lossy(request.body.unwrap_or(&[]));
    let body = body.trim();
    if body.is_empty() {
        return pieces;
    }
    match serde_json::from_str(body) {
        Ok(json) => of_json("", json, &mut pieces),
        Err(_) if body.contains('=') && !body.contains(['\n', '{', '<']) => pieces.extend(of_form(body)),
        Err(_) => pieces.push((BODY.to_owned(), body.to_owned())),
    }
    pieces
}

/// Every string and number under the name of its member. The parser bounds the depth.
fn of_json(name: &str, json: Value, pieces: &mut Vec<Piece>) {
    match json {
        Value::String(text) => pieces.push((name.to_owned(), text)),
        Value::Number(number) => pieces.push((name.to_owned(), number.to_string())),
        Value::Array(items) => items.into_iter().for_each(|item| of_json(name, item, pieces)),
        Value::Object(members) => members.into_iter().for_each(|(name, value)| of_json(&name, value, pieces)),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, body: &str) -> Vec<Piece> {
        let headers = [("X-Note".to_owned(), "hi".to_owned())];
        let url = Url::parse(url).unwrap();
        let request = OutgoingRequest {
            url: url.as_str(),
            method: "POST",
            headers: &headers,
            body: Some(body.as_bytes()),
            frame: None,
            from: None,
            resource_type: "Fetch",
            main_navigation: false,
        };
        of_request(&request, &url)
    }

    fn named(pieces: &[(&str, &str)]) -> Vec<Piece> {
        pieces.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn each_part_has_its_name() {
        let start = [("/", "b"), ("q", "one two"), ("/names", "flag"), ("x-note", "hi")];
        let with = |more: &[(&str, &str)]| named(&[&start, more].concat());
        let url = "https://shop.example/a/b/?q=one+two&flag";
        assert_eq!(of(url, ""), with(&[]));
        assert_eq!(of(url, "a=1&b=%41"), with(&[("a", "1"), ("b", "A")]));
        assert_eq!(
            of(url, r#"{"i":3,"v":["x",{"w":"y"}],"n":null}"#),
            with(&[("i", "3"), ("v", "x"), ("w", "y")])
        );
        assert_eq!(of(url, "just words"), with(&[("/body", "just words")]));
        assert_eq!(of(url, "--b\nname=\"x\"\n\nv"), with(&[("/body", "--b\nname=\"x\"\n\nv")]));
    }
}
