//! The pages, as a person sees them and as the agent read them under each approach.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::plan::Settings;
use crate::pages::escape;

/// The report's section. Kinds without a picture or text are left out.
pub(super) fn section(settings: &Settings, folder: &Path) -> String {
    let mut html = String::from(
        "<h2>Pages</h2><p>One page of each kind as a person sees it, and as the agent read it first.</p>",
    );
    for kind in &settings.kinds {
        let kind = kind.as_str();
        let _ = write!(html, "<details><summary>{}</summary><div class=\"two\">", kind.replace('_', " "));
        for half in ["hostile", "benign"] {
            let _ = write!(html, "<div><h4>{half}</h4>");
            if let Ok(picture) = fs::read(folder.join(format!("{kind}-{half}.png"))) {
                let picture = STANDARD.encode(picture);
                let _ = write!(html, "<img alt=\"the {half} page\" src=\"data:image/png;base64,{picture}\">");
            }
            for approach in &settings.approaches {
                let file = folder.join(format!("{kind}-{half}-{}.txt", approach.as_str()));
                if let Ok(text) = fs::read_to_string(file) {
                    let _ =
                        write!(html, "<h5>read under {}</h5><pre>{}</pre>", approach.as_str(), escape(&text));
                }
            }
            html.push_str("</div>");
        }
        html.push_str("</div></details>");
    }
    html
}
