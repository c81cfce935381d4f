//! The controls of the open page, each with what the guard takes it for.

use portcullis::signals::matching::{Asked, match_form};
use portcullis::signals::playwright::Tab;
use portcullis::signals::{Control, Sink, Snapshot};

use crate::failure::Failure;

/// One control of a page.
pub struct Found {
    /// A CSS path of the control.
    pub selector: String,
    /// The kind of data that it asks for.
    pub asked: Option<Asked>,
    /// The section of its form.
    pub section: Option<String>,
    /// The sink of its form.
    pub sink: &'static str,
    /// The source of evidence that decided.
    pub evidence: &'static str,
    /// Whether a value could be put there now.
    pub fillable: bool,
}

impl Found {
    /// The field that would be placed there.
    pub fn field(&self) -> Option<&'static str> {
        self.asked.filter(|asked| portcullis::vault::field_of(*asked).is_some()).map(Asked::as_str)
    }

    /// The evidence, with what it names where no record holds such data, and whether the control is out of reach now.
    pub fn why(&self) -> String {
        let mut why = self.evidence.to_owned();
        if let (Some(asked), None) = (self.asked, self.field()) {
            why.push_str(&format!(": {}, which no record holds", asked.as_str()));
        }
        if !self.fillable {
            why.push_str("; not fillable as the page is now");
        }
        why
    }
}

/// Reads the controls of every form of the open page.
pub async fn read_forms(tab: &Tab) -> Result<Vec<Found>, Failure> {
    let failed = |error| Failure::Input(format!("the forms of the page cannot be read: {error}"));
    let mut all = Vec::new();
    for form in tab.forms().await.map_err(failed)? {
        let page = form.value();
        let paths = tab.paths(page).await.map_err(failed)?;
        let matches = match_form(&page.controls, &page.words);
        for ((control, found), selector) in page.controls.iter().zip(matches).zip(paths) {
            if !is_listed(control) {
                continue;
            }
            all.push(Found {
                selector,
                asked: found.asked,
                section: found.section.map(|section| section.as_str().to_owned()),
                sink: sink_of(page),
                evidence: found.evidence.as_str(),
                fillable: control.editable && control.visible.known() == Some(&true),
            });
        }
    }
    Ok(all)
}

/// Whether a person enters something into the control.
fn is_listed(control: &Control) -> bool {
    !matches!(control.tag.as_str(), "button" | "output" | "fieldset" | "object")
        && !matches!(control.input_type.as_str(), "hidden" | "submit" | "button" | "image" | "reset")
}

fn sink_of(page: &Snapshot) -> &'static str {
    match page.sink.known() {
        Some(Sink::PaymentForm) => "payment_form",
        Some(Sink::AddressForm) => "address_form",
        Some(Sink::LoginForm) => "login_form",
        Some(Sink::FreeText) => "free_text",
        Some(Sink::Other) => "other",
        None => "unknown",
    }
}
