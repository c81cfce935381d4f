//! Writing a page's outline in the form of the guard and the bare browser.

/// A page's outline, line by line.
pub(crate) struct OutlineWriter {
    out: String,
    next: usize,
    /// The prefix of refs: empty, or the number of the document in the browser.
    prefix: String,
}

impl OutlineWriter {
    /// An outline; under the guard it begins with the page's origin and title.
    pub(crate) fn new(origin: Option<(&str, &str)>, document: usize) -> OutlineWriter {
        let prefix = if document == 0 { String::new() } else { format!("f{document}") };
        let mut sheet = OutlineWriter { out: String::new(), next: 1, prefix };
        if let Some((origin, title)) = origin {
            sheet.out.push_str(&format!("- document {origin} {}\n", quoted(title)));
        }
        sheet.plain(1, "main");
        sheet
    }

    /// The ref of the next element.
    pub(crate) fn handle(&mut self) -> String {
        let handle = format!("{}e{}", self.prefix, self.next);
        self.next += 1;
        handle
    }

    /// Skips the numbers of elements that are not shown.
    pub(crate) fn skip(&mut self, elements: usize) {
        self.next += elements;
    }

    /// An element without text.
    pub(crate) fn plain(&mut self, depth: usize, role: &str) {
        let handle = self.handle();
        self.line(depth, &format!("{role} [ref={handle}]:"));
    }

    /// A paragraph or the like.
    pub(crate) fn text(&mut self, depth: usize, role: &str, text: &str) {
        let handle = self.handle();
        self.line(depth, &format!("{role} [ref={handle}]: {}", quoted(text)));
    }

    /// A heading.
    pub(crate) fn heading(&mut self, depth: usize, level: usize, text: &str) {
        let handle = self.handle();
        self.line(depth, &format!("heading {} [level={level}] [ref={handle}]", quoted(text)));
    }

    /// A control without a separate label. Returns its ref.
    pub(crate) fn control(&mut self, depth: usize, role: &str, name: &str) -> String {
        let handle = self.handle();
        self.line(depth, &format!("{role} {} [ref={handle}]", quoted(name)));
        handle
    }

    /// A box with its label before it. Returns its ref.
    pub(crate) fn field(&mut self, depth: usize, role: &str, label: &str) -> String {
        self.line(depth, &format!("text: {}", quoted(label)));
        let handle = self.handle();
        let end = if role == "combobox" { ":" } else { ": empty" };
        self.line(depth, &format!("{role} {} [ref={handle}]{end}", quoted(label)));
        handle
    }

    /// A frame; the deeper elements after it are in it, with their own refs.
    pub(crate) fn frame(&mut self, depth: usize, document: usize) -> (String, usize) {
        self.plain(depth, "iframe");
        let outer = (std::mem::replace(&mut self.prefix, format!("f{document}")), self.next);
        self.next = 2;
        outer
    }

    /// Ends a frame.
    pub(crate) fn after_frame(&mut self, (prefix, next): (String, usize)) {
        (self.prefix, self.next) = (prefix, next);
    }

    /// The outline.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", depth));
        self.out.push_str("- ");
        self.out.push_str(text);
        self.out.push('\n');
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
