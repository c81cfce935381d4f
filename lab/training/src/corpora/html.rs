//! Reads an HTML document as text, without a browser: running text, and the names of links and controls apart from it.
//!
//! It follows the reading of pages in use (`src/page_text/running_text.rs` of the facade), as far as that is possible
//! without layout: style sheets and scripts have no effect, apart from `hidden` and a `style` that hides an element.

/// The elements that begin and end a line.
const BLOCKS: [&str; 45] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "td",
    "th",
    "tr",
    "ul",
    "iframe",
];
/// The elements whose contents are not markup.
const RAW: [&str; 7] = ["script", "style", "textarea", "title", "xmp", "noembed", "noframes"];
/// The elements without contents.
const VOID: [&str; 13] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// The elements whose contents are not displayed.
const UNSEEN: [&str; 8] = ["head", "noscript", "script", "style", "svg", "template", "textarea", "title"];
/// The least words of text between links that make a line a sentence with links in it.
const SENTENCE_WORDS: usize = 3;

/// The text of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageText {
    /// The running text, line by line.
    pub running: String,
    /// The names of links outside of sentences and of controls, one by one.
    pub names: Vec<String>,
}

/// The kind of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Link,
    Control,
}

/// Reads a document; it accepts any text.
pub fn read_html(html: &str) -> PageText {
    let mut reader = Reader::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, markup) = rest.split_at(at);
        reader.text(text);
        rest = reader.markup(markup);
    }
    reader.text(rest);
    reader.end_line();
    reader.page
}

#[derive(Default)]
struct Reader {
    page: PageText,
    /// The open elements that hide their contents, or make them a link or a control.
    open: Vec<(String, Option<Kind>)>,
    /// The open `pre` elements.
    preformatted: usize,
    /// The pieces of the current line.
    line: Vec<(Kind, String)>,
}

impl Reader {
    fn hidden(&self) -> bool {
        self.open.iter().any(|(_, kind)| kind.is_none())
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() || self.hidden() {
            return;
        }
        let kind = self.open.last().and_then(|(_, kind)| *kind).unwrap_or(Kind::Text);
        let text = characters(text);
        if self.preformatted == 0 {
            self.piece(kind, &text);
            return;
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.end_line();
            }
            self.piece(kind, line);
        }
    }

    fn piece(&mut self, kind: Kind, text: &str) {
        match self.line.last_mut().filter(|(last, _)| *last == kind) {
            Some((_, piece)) => piece.push_str(text),
            None => self.line.push((kind, text.to_owned())),
        }
    }

    /// Reads a tag, a comment or a declaration, and returns what follows it.
    fn markup<'a>(&mut self, markup: &'a str) -> &'a str {
        if let Some(comment) = markup.strip_prefix("<!--") {
            return comment.split_once("-->").map_or("", |(_, rest)| rest);
        }
        let inner = markup.get(1..).unwrap_or_default();
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            self.text("<");
            return inner;
        }
        let end = tag_end(inner);
        let (tag, rest) = inner.split_at(end);
        let rest = rest.strip_prefix('>').unwrap_or_default();
        if let Some(name) = tag.strip_prefix('/') {
            self.close(&name_of(name));
            return rest;
        }
        let name = name_of(tag);
        self.begin(&name, tag);
        if RAW.contains(&name.as_str()) {
            let end = find_close(rest, &name);
            return rest.get(end..).unwrap_or_default();
        }
        rest
    }

    fn begin(&mut self, name: &str, tag: &str) {
        if BLOCKS.contains(&name) {
            self.end_line();
        }
        if name == "pre" {
            self.preformatted += 1;
        }
        if VOID.contains(&name) || tag.ends_with('/') {
            return;
        }
        let attributes = tag.to_ascii_lowercase();
        let style: String = attributes.chars().filter(|c| !c.is_whitespace()).collect();
        let hides = UNSEEN.contains(&name)
            || style.contains("display:none")
            || style.contains("visibility:hidden")
            || attributes.split_whitespace().any(|word| word == "hidden" || word == "hidden=\"\"");
        let kind = match name {
            _ if hides => None,
            "a" => Some(Kind::Link),
            "button" | "option" | "label" => Some(Kind::Control),
            _ => return,
        };
        if kind == Some(Kind::Control) && name != "label" {
            self.end_line();
        }
        self.open.push((name.to_owned(), kind));
    }

    fn close(&mut self, name: &str) {
        if BLOCKS.contains(&name) || matches!(name, "button" | "option") {
            self.end_line();
        }
        if name == "pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
        if let Some(at) = self.open.iter().rposition(|(open, _)| open == name) {
            self.open.truncate(at);
        }
    }

    /// Ends a line: links are part of the running text if the line has a few words besides them.
    fn end_line(&mut self) {
        let line: Vec<(Kind, String)> =
            std::mem::take(&mut self.line).into_iter().map(|(kind, text)| (kind, spaced(&text))).collect();
        let words =
            |text: &str| text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
        let text_words: usize =
            line.iter().filter(|(kind, _)| *kind == Kind::Text).map(|(_, text)| words(text)).sum();
        let links = line.iter().filter(|(kind, _)| *kind == Kind::Link).count();
        let sentence = text_words >= SENTENCE_WORDS.max(links);
        let mut running: Vec<&str> = Vec::new();
        for (kind, text) in line.iter().filter(|(_, text)| !text.trim().is_empty()) {
            if *kind == Kind::Text || (*kind == Kind::Link && sentence) {
                running.push(text.trim());
            } else {
                self.page.names.push(text.trim().to_owned());
            }
        }
        if !running.is_empty() {
            self.page.running.push_str(&running.join("\n"));
            self.page.running.push('\n');
        }
    }
}

/// Returns the text with single spaces.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the end of a tag, with regard to quotes.
fn tag_end(tag: &str) -> usize {
    let mut quote = None;
    let mut last = ' ';
    for (at, c) in tag.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '>' => return at,
            None if matches!(c, '"' | '\'') && last == '=' => quote = Some(c),
            None => {}
        }
        last = c;
    }
    tag.len()
}

fn name_of(tag: &str) -> String {
    let name = tag.split(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).next().unwrap_or_default();
    name.to_ascii_lowercase()
}

/// Returns the position of the closing tag of a raw element.
fn find_close(rest: &str, name: &str) -> usize {
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|rest| rest.find("</")) {
        let at = from + at;
        if name_of(rest.get(at + 2..).unwrap_or_default()) == name {
            return at;
        }
        from = at + 2;
    }
    rest.len()
}

/// Replaces character references.
fn characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, reference) = rest.split_at(at);
        out.push_str(before);
        let end = reference.bytes().take(12).position(|byte| byte == b';');
        let name = end.and_then(|end| reference.get(1..end)).unwrap_or_default();
        match named(name) {
            Some(character) => {
                out.push(character);
                rest = reference.get(name.len() + 2..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = reference.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn named(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let hexadecimal = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
        return char::from_u32(hexadecimal.unwrap_or_else(|| number.parse()).ok()?);
    }
    let simple = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("mdash", '—'),
        ("ndash", '–'),
        ("hellip", '…'),
        ("lsquo", '‘'),
        ("rsquo", '’'),
        ("ldquo", '“'),
        ("rdquo", '”'),
        ("bull", '•'),
        ("rarr", '→'),
        ("larr", '←'),
    ];
    if let Some((_, character)) = simple.iter().find(|(known, _)| *known == name) {
        return Some(*character);
    }
    // The names of Latin-1, whose characters have the numbers from 160 on, in order.
    let at = LATIN.split_whitespace().position(|known| known == name)?;
    char::from_u32(160 + u32::try_from(at).ok()?)
}

/// The names of the characters of Latin-1 from the no-break space on.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
    Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash \
    Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml \
    igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute \
    thorn yuml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_keep_their_links_and_menus_are_names() {
        let page = read_html(
            "<title>T</title><nav><ul><li><a href='/a'>Home</a><li><a>Shop now</a></ul></nav>\
             <p>See <a href=\"x>y\">the docs</a> for <b>much</b> more&hellip;<br>Next</p>\
             <footer><a>Imprint</a> | <a>Privacy</a></footer><button>Send</button>",
        );
        assert_eq!(page.running, "See\nthe docs\nfor much more…\nNext\n|\n");
        assert_eq!(page.names, ["Home", "Shop now", "Imprint", "Privacy", "Send"]);
    }

    #[test]
    fn what_is_not_displayed_is_not_read_and_preformatted_lines_stay() {
        let page = read_html(
            "<style>p{}</style><!-- no --><p hidden>no</p><p style='display: none'>no <b>no</b></p>\
             <pre>a  b\nc &lt; d</pre><script>'</p>no'</script>1 < 2 &unknown; &#65;&yuml;",
        );
        assert_eq!(page.running, "a b\nc < d\n1 < 2 &unknown; Aÿ\n");
        assert!(page.names.is_empty());
        assert_eq!(read_html("<p"), PageText::default());
    }
}
