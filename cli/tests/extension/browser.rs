//! A Chromium with the extension, driven through `browser.mjs`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The path of a program that `cargo xtask setup` installed, or that an environment variable names.
fn driver(name: &str) -> PathBuf {
    let folder = std::env::var_os("PLAYWRIGHT_DRIVER_PATH").expect("run `cargo xtask setup`");
    Path::new(&folder).join(name)
}

/// Node.
pub fn node() -> PathBuf {
    std::env::var_os("PLAYWRIGHT_NODE_EXE").map_or_else(|| driver("node"), PathBuf::from)
}

/// The folder of playwright-core.
fn playwright() -> PathBuf {
    let named = std::env::var_os("PLAYWRIGHT_CLI_JS").map(PathBuf::from);
    let folder = named.and_then(|cli| cli.parent().map(Path::to_owned));
    folder.unwrap_or_else(|| driver("package"))
}

pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Browser {
    /// Starts it with a profile and a home of its own.
    pub fn start(profile: &Path, home: &Path) -> Browser {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let settings = json!({
            "playwright": playwright(),
            "profile": profile,
            "home": home,
            "extension": crate::files::extension(),
            "executable": evaluation::stage::chromium().expect("no Chromium was found"),
            "sandbox": evaluation::stage::sandbox(),
            "rules": "MAP *.test 127.0.0.1",
        });
        let mut child = Command::new(node())
            .arg(here.join("tests/extension/browser.mjs"))
            .arg(settings.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Browser { child, input, output };
        assert_eq!(browser.line(), json!({ "ready": true }));
        browser
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the browser is gone: {line}"))
    }

    fn act(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").unwrap();
        let mut answer = self.line();
        assert!(answer.get("error").is_none(), "{request}: {answer}");
        answer["answer"].take()
    }

    pub fn open(&mut self, url: &str) {
        self.act(&json!({ "act": "open", "url": url }));
    }

    /// Waits until the page has navigated to this host by itself.
    pub fn arrive(&mut self, host: &str) {
        self.act(&json!({ "act": "arrive", "host": host }));
    }

    /// Reloads the page without waiting for it.
    pub fn reload(&mut self) {
        self.act(&json!({ "act": "reload" }));
    }

    /// Opens another tab in front.
    pub fn tab(&mut self, url: &str) -> String {
        self.act(&json!({ "act": "tab", "url": url })).as_str().unwrap_or_default().to_owned()
    }

    /// Puts the page in front of windows that it opened.
    pub fn front(&mut self) {
        self.act(&json!({ "act": "front" }));
    }

    /// The value of a script in the page.
    pub fn evaluate(&mut self, code: &str) -> Value {
        self.act(&json!({ "act": "evaluate", "code": code }))
    }

    pub fn click(&mut self, selector: &str) {
        self.act(&json!({ "act": "click", "selector": selector }));
    }

    pub fn options(&mut self) -> String {
        self.act(&json!({ "act": "options" })).as_str().unwrap().to_owned()
    }

    /// An action of the user at the open question, or of an attack on it; `what` names an act of `browser.mjs`.
    pub fn at_question(&mut self, what: &str, more: &Value) -> Value {
        let mut request = json!({ "act": what });
        request.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        self.act(&request)
    }

    /// Answers the open question by a click, after the user has read it.
    pub fn say(&mut self, word: &str) -> String {
        self.at_question("say", &json!({ "word": word })).as_str().unwrap().to_owned()
    }

    pub fn stop_worker(&mut self) {
        self.act(&json!({ "act": "stopWorker" }));
    }

    /// The values of the controls with a name.
    pub fn values(&mut self) -> Value {
        self.evaluate(
            "Object.fromEntries([...document.querySelectorAll('[name]')].map((el) => [el.name, el.value]))",
        )
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
