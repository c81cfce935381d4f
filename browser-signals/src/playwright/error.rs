//! Why a step of the bridge failed.

use crate::address::AddressRefused;

/// Why a step failed. No message holds text of a page or a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// Node, Playwright's server or Chromium is missing.
    #[error("a part of the browser is not installed: {0}")]
    NotInstalled(String),
    /// The browser did not start.
    #[error("the browser did not start: {0}")]
    Launch(String),
    /// There is no screen to show a window on.
    #[error("there is no display to show the consent page on; use the terminal")]
    NoDisplay,
    /// An argument that is not accepted.
    #[error("the browser argument `{0}` is refused: only arguments of language and appearance are accepted")]
    Argument(String),
    /// The browser or the tab is gone.
    #[error("the browser is gone")]
    Lost,
    /// The address, or one that it led to, is not opened.
    #[error("the address was refused: {0}")]
    Refused(AddressRefused),
    /// The browser could not load the address.
    #[error("the page could not be reached: {0}")]
    Unreachable(LoadFailure),
    /// The document, the node or its form is no longer the one that the decision was about.
    #[error("the page changed since it was observed")]
    Stale,
    /// A click would hit something else.
    #[error("the element is covered, hidden or off the screen")]
    Occluded,
    /// The form, its destination or a control differs from the one of the decision, or the page changed a value.
    #[error("the page diverted the step")]
    Diverted,
    /// The control does not accept this value: it has no such option, or is not editable.
    #[error("the element does not accept this")]
    NotApplicable,
    /// The control took a value of the user's, which only a fill may change.
    #[error("the control was filled for the user")]
    Filled,
    /// A form's own rules refuse a password that was made for it.
    #[error("the form does not accept the password that was made for it")]
    RuledOut,
    /// The browser does not send the form: a control of it is not valid. [`Tab::take_asked_for`](super::Tab::take_asked_for)
    /// names the control.
    #[error("the browser does not send the form as it is filled in")]
    FormIncomplete,
    /// A dialog of the page waits for its answer, and the page with it.
    #[error("a dialog of the page is open")]
    DialogOpen,
    /// No element of the last read has this ref.
    #[error("no element has this ref; read the page again")]
    UnknownRef,
    /// A selector that the browser cannot read.
    #[error("the browser cannot read this selector")]
    Selector,
    /// A selector that does not match exactly one element.
    #[error("the selector matches {0} elements of the page; it has to match one")]
    NotOne(u64),
    /// The text filter refused or failed.
    #[error("the page's text was withheld")]
    TextWithheld,
    /// The browser did not answer in time.
    #[error("the browser did not answer in time")]
    Timeout,
    /// The values of a fill were sent to the browser, and it did not confirm the outcome.
    #[error("the browser did not say whether the values arrived")]
    Unconfirmed,
    /// The browser refused a command.
    #[error("the browser refused the command {0}")]
    Protocol(String),
}

/// Why the browser could not load an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LoadFailure {
    /// The site's certificate is not valid: its issuer, its name, its time, or its signature.
    #[error("the certificate is not valid")]
    Certificate,
    /// The encrypted connection could not be made for another cause.
    #[error("no encrypted connection could be made")]
    Tls,
    /// The name has no address.
    #[error("the name has no address")]
    NoName,
    /// Anything else: nobody answers, or not with a page.
    #[error("nobody answers")]
    NoAnswer,
}

impl LoadFailure {
    /// The failure of an error of the browser, such as `net::ERR_CERT_DATE_INVALID`. The codes are those of Chromium's
    /// `net_error_list.h`; its certificate errors are those from -200 to -299.
    pub(crate) fn of(error: &str) -> LoadFailure {
        match error.strip_prefix("net::").unwrap_or(error) {
            "ERR_CERTIFICATE_TRANSPARENCY_REQUIRED" | "ERR_SSL_PINNED_KEY_NOT_IN_CERT_CHAIN" => {
                LoadFailure::Certificate
            }
            code if code.starts_with("ERR_CERT_") => LoadFailure::Certificate,
            code if code.starts_with("ERR_SSL_") => LoadFailure::Tls,
            "ERR_NAME_NOT_RESOLVED" | "ERR_NAME_RESOLUTION_FAILED" => LoadFailure::NoName,
            _ => LoadFailure::NoAnswer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_known_by_the_browsers_code_and_not_by_words_in_it() {
        for (code, failure) in [
            ("net::ERR_CERT_AUTHORITY_INVALID", LoadFailure::Certificate),
            ("net::ERR_CERT_COMMON_NAME_INVALID", LoadFailure::Certificate),
            ("net::ERR_CERT_DATE_INVALID", LoadFailure::Certificate),
            ("net::ERR_CERTIFICATE_TRANSPARENCY_REQUIRED", LoadFailure::Certificate),
            ("net::ERR_SSL_PROTOCOL_ERROR", LoadFailure::Tls),
            ("net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH", LoadFailure::Tls),
            ("net::ERR_NAME_NOT_RESOLVED", LoadFailure::NoName),
            ("net::ERR_CONNECTION_REFUSED", LoadFailure::NoAnswer),
            ("net::ERR_TUNNEL_CONNECTION_FAILED", LoadFailure::NoAnswer),
            ("net::ERR_HTTP_RESPONSE_CODE_FAILURE", LoadFailure::NoAnswer),
            ("net::ERR_NO_ERR_CERT_HERE", LoadFailure::NoAnswer),
            ("", LoadFailure::NoAnswer),
        ] {
            assert_eq!(LoadFailure::of(code), failure, "{code}");
        }
    }
}
