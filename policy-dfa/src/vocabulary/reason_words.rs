//! The words of each reason: its code, its explanation for the user, and what the agent can do next.

use super::reason::{Reason, Signal};

impl Reason {
    /// The code the model reads, such as `invalid_container` or `signal_unknown:tls`. It is one for all that depends on
    /// what the vault holds.
    pub fn code(self) -> String {
        self.as_read_by_the_model().name()
    }

    /// The name that the record has and the user reads: the code, except where the code is another reason's too.
    ///
    /// ```
    /// use policy_dfa::Reason;
    /// assert_eq!((Reason::ValueDamaged.name(), Reason::ValueDamaged.code()), ("value_damaged".into(), "no_value".into()));
    /// ```
    pub fn name(self) -> String {
        match self {
            Reason::SignalUnknown(signal) => format!("signal_unknown:{}", signal.as_str()),
            reason => reason.words().name.to_owned(),
        }
    }

    /// The reason with this name.
    ///
    /// ```
    /// use policy_dfa::Reason;
    /// assert_eq!(Reason::from_name("tls_invalid"), Some(Reason::TlsInvalid));
    /// ```
    pub fn from_name(name: &str) -> Option<Reason> {
        Reason::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// The reason as the model reads it: the same for all that depends on what the vault holds.
    pub const fn as_read_by_the_model(self) -> Reason {
        match self {
            Reason::ValueUnderivable | Reason::ValueDamaged | Reason::SourceUnavailable => Reason::NoValue,
            Reason::ValueInText => Reason::EgressBlocked,
            reason => reason,
        }
    }

    /// One sentence for the user. Never shown to the model.
    ///
    /// ```
    /// use policy_dfa::Reason;
    /// assert!(Reason::TlsInvalid.explain().ends_with('.'));
    /// ```
    pub const fn explain(self) -> &'static str {
        self.words().explained
    }

    /// One sentence for the agent: what it can do next. It depends on the code alone, and so on nothing in the vault. None
    /// where the agent can do nothing about it.
    pub const fn next_step(self) -> Option<&'static str> {
        let next = self.as_read_by_the_model().words().next;
        if next.is_empty() { None } else { Some(next) }
    }

    /// Whether the user can be offered to finish a refused request by hand. Never for what the policy rules out, another
    /// destination or site, an untrusted connection, a claim that the browser contradicts, a tainted session, or an answer
    /// of the user's: an agent that a page directs would get the user to type there what the guard refuses to give.
    pub const fn can_be_settled_by_hand(self) -> bool {
        matches!(
            self.as_read_by_the_model(),
            Reason::LowSafety
                | Reason::NoPaymentInterface
                | Reason::NoPayButton
                | Reason::NoControl
                | Reason::NoValue
                | Reason::PasswordRules
        )
    }

    const fn words(self) -> Words {
        match self {
            Reason::InvalidContainer => Words::new(
                "invalid_container",
                "This browser container is not trusted enough for the data that was asked for; you can raise it.",
                "Propose a task that names the site and what it needs, so that the user can agree to a container for it.",
            ),
            Reason::NobodyToAsk => Words::new(
                "nobody_to_ask",
                "You could not be asked: the guard has no window, terminal or client that shows you its questions.",
                "Tell the user that the guard cannot reach them: it needs a display, a terminal, or a client that shows addresses or, for simple questions, forms (`--consent-form`).",
            ),
            Reason::OriginMismatch => Words::new(
                "origin_mismatch",
                "The page is not on a site that you named for this task.",
                "Go back to a site of the task, or ask the user for a task that names this site.",
            ),
            Reason::OutsideTask => Words::new(
                "outside_task",
                "The address, or one that it leads to, is not on a site that you named for this task.",
                "Stay on the sites of the task, or ask the user for a task that names this site.",
            ),
            Reason::TlsInvalid => Words::new(
                "tls_invalid",
                "The connection is not encrypted with a valid certificate.",
                "Open the page by https, if the site has it.",
            ),
            Reason::FrameNotTop => Words::new(
                "frame_not_top",
                "The form is inside a frame of another page, where you could not tell whose it is.",
                "Open the page of the form itself, if the site has one.",
            ),
            Reason::WrongDestination => Words::new(
                "wrong_destination",
                "The form would send your data to a site that you did not name for this task.",
                "",
            ),
            Reason::UnplannedRequest => Words::new(
                "unplanned_request",
                "The assistant asked for a kind of data that this task does not include.",
                "Go on without it, or ask the user for a task that names it.",
            ),
            Reason::VerbNotAllowed => Words::new(
                "verb_not_allowed",
                "Your policy lets the assistant do nothing of this kind.",
                "Go on without this kind of action.",
            ),
            Reason::FormProtected => Words::new(
                "form_protected",
                "Your policy does not let the assistant do this in a form of this kind itself.",
                "Ask for the user's data with a request block; the guard fills the form.",
            ),
            Reason::ControlFilled => Words::new(
                "control_filled",
                "The assistant may not change a control that was filled for you.",
                "Leave this control as it is; a new request block can fill it again.",
            ),
            Reason::TooMuchToShow => Words::new(
                "too_much_to_show",
                "The assistant did or wrote more in this task than a question can show you, so you are not asked.",
                "Ask the user for a new task, and type less in it.",
            ),
            Reason::TextTooLong => Words::new(
                "text_too_long",
                "The assistant wrote a text of more than 4000 characters, which a question cannot show you whole. It was not written.",
                "Write at most 4000 characters at once.",
            ),
            Reason::ToolNotAllowed => Words::new(
                "tool_not_allowed",
                "The assistant called a tool that you did not switch on.",
                "Use the tools that are listed.",
            ),
            Reason::CrossOriginFlow => Words::new(
                "cross_origin_flow",
                "The assistant tried to carry what it read on one site to another.",
                "Use only the user's words, and what was read on the site that gets the text.",
            ),
            Reason::FieldNotAllowed => Words::new(
                "field_not_allowed",
                "Your policy does not release this data into a form of this kind.",
                "Ask in the form that is made for this data.",
            ),
            Reason::NoForm => Words::new(
                "no_form",
                "The page shows no form that takes this data.",
                "Go to the page with the form, wait until it has loaded, and ask again.",
            ),
            Reason::NoControl => Words::new(
                "no_control",
                "The form has no suitable control for some of the data that was asked for.",
                "Name with `fields` only what the form asks for, and ask again.",
            ),
            Reason::ControlMismatch => Words::new(
                "control_mismatch",
                "The assistant pointed at a control that the page says is for something else, or that may not be filled on the assistant's word.",
                "Point with `at` only at a box that you can see in the form, that is sent by POST, and that the page does not \
                 say is for something else; leave cards, passwords, codes and identity numbers out of `at`.",
            ),
            Reason::ClaimMismatch => Words::new(
                "claim_mismatch",
                "What the assistant says of the page is not what the browser says.",
                "Read the page again, and say of it only what it shows.",
            ),
            Reason::StaleDocument => Words::new(
                "stale_document",
                "The page changed between the decision and its execution.",
                "Read the page again, and repeat the step.",
            ),
            Reason::UnknownElement => Words::new(
                "unknown_element",
                "The assistant named an element that the page, as it was last read, does not have.",
                "Read the page again, and name the element by its new ref.",
            ),
            Reason::SignalUnknown(signal) => unknown(signal),
            Reason::LowSafety => Words::new(
                "low_safety",
                "Something that the assistant was told in this task does not look safe enough for the data that was asked for.",
                "",
            ),
            Reason::ConsentDenied => Words::new(
                "consent_denied",
                "You said no.",
                "Do not ask for the same again in this task; go on without it.",
            ),
            Reason::ConsentExpired => Words::new(
                "consent_expired",
                "Your permission ran out before it was used.",
                "Ask again if it is still needed.",
            ),
            Reason::BudgetSpent => Words::new(
                "budget_spent",
                "The amount is more than is left of what you allowed to be spent.",
                "Choose something that costs less, or ask the user for a task with a higher amount.",
            ),
            Reason::LimitReached => Words::new(
                "limit_reached",
                "This was done as often as your policy allows in one task.",
                "Go on without it; a new task begins to count anew.",
            ),
            Reason::QuestionsSpent => Words::new(
                "questions_spent",
                "You were asked as often as is allowed in one task, so you are not asked again.",
                "Go on with what needs no question; a new task begins to count anew.",
            ),
            Reason::TaintedSession => Words::new(
                "tainted_session",
                "A page may have tried to take over the assistant; sensitive data stays locked until a new task.",
                "Go on without the user's data, or ask the user for a new task.",
            ),
            Reason::SessionRule => Words::new(
                "session_rule",
                "Your policy rules this out after what happened earlier in this session.",
                "Go on without it, or ask the user for a new task.",
            ),
            Reason::EgressBlocked => Words::new(
                "egress_blocked",
                "What would go out contains protected data, or could.",
                "Do not send the user's data as text; ask for it with a request block.",
            ),
            Reason::ValueInText => Words::new(
                "value_in_text",
                "The assistant's text contains a value of your vault, or completes one.",
                "",
            ),
            Reason::HandleInText => Words::new(
                "handle_in_text",
                "The assistant's text has the name of a record, such as `[card:personal]`, where a value should stand.",
                "Do not write the name of a record into a page; ask for its values with a request block.",
            ),
            Reason::MalformedRequest => Words::new(
                "malformed_request",
                "The assistant's request could not be read.",
                "Write the request as the request language has it, and send it again.",
            ),
            Reason::AuditUnavailable => Words::new(
                "audit_unavailable",
                "The audit log cannot be written, so nothing is released.",
                "Tell the user that the guard cannot write its log.",
            ),
            Reason::SiteDenied => Words::new(
                "site_denied",
                "Your policy never allows this on this site.",
                "Go on without it on this site.",
            ),
            Reason::DeliveryForbidden => Words::new(
                "delivery_forbidden",
                "Your policy does not allow this kind of data to be handed over in this way.",
                "Go on without this kind of data.",
            ),
            Reason::Occluded => Words::new(
                "occluded",
                "The control is hidden, or something covers it.",
                "Close what covers it, such as a notice or a menu, and repeat the step.",
            ),
            Reason::NoValue => Words::new(
                "no_value",
                "The vault has no value that fits here.",
                "Name with `fields` what is needed most, or go on without it.",
            ),
            Reason::ValueUnderivable => Words::new(
                "value_underivable",
                "The stored value does not say what a control of the form asks for; fill it in by hand.",
                "",
            ),
            Reason::ValueDamaged => {
                Words::new("value_damaged", "The stored value is damaged; enter it again.", "")
            }
            Reason::VaultLocked => {
                Words::new("vault_locked", "The vault is locked.", "Ask the user to unlock the vault.")
            }
            Reason::PasswordRules => Words::new(
                "password_rules",
                "The form takes no password that the guard can make for it, by the rules that the page states.",
                "Let the user choose the password for this form.",
            ),
            Reason::PasswordNotKept => Words::new(
                "password_not_kept",
                "A new password could not be kept in your vault's file, so none was given to the page.",
                "Tell the user that the guard cannot keep new passwords: it needs a vault with a file that it can write.",
            ),
            Reason::PaymentDeclined => Words::new(
                "payment_declined",
                "The bank or the shop refused the payment.",
                "Read the page again before anything else: it may say why.",
            ),
            Reason::PaymentPending => Words::new(
                "payment_pending",
                "Another payment has not ended yet.",
                "Wait, read the page again, and do not pay twice.",
            ),
            Reason::NoPaymentInterface => Words::new(
                "no_payment_interface",
                "The shop does not ask your browser for the payment, so nothing was paid and no card was given.",
                "",
            ),
            Reason::NoOrders => Words::new(
                "no_orders",
                "The shop takes no orders from the guard itself, so nothing was bought.",
                "Order in the shop's page, and ask for the purchase there with its total.",
            ),
            Reason::CheckoutRefused => Words::new(
                "checkout_refused",
                "The shop does not take this order from the guard, so nothing was bought.",
                "Check the item's id and number on the shop's page, or order in the page.",
            ),
            Reason::CheckoutDiffers => Words::new(
                "checkout_differs",
                "The shop's checkout is not the one that was wanted or agreed to, so nothing was bought.",
                "Tell the user, and do not try the same order again.",
            ),
            Reason::CheckoutUnanswered => Words::new(
                "checkout_unanswered",
                "The shop did not answer, so nothing was bought.",
                "Wait, then try once more.",
            ),
            Reason::CheckoutEscalated => Words::new(
                "checkout_escalated",
                "The shop wants a person to go on with the order in its page, so nothing was bought yet.",
                "Read the page that is open now, and go on there.",
            ),
            Reason::NoPayButton => Words::new(
                "no_pay_button",
                "The assistant found no button on the page that pays, so you were not asked.",
                "Go to the page that pays, read it, and name its button with `control`.",
            ),
            Reason::NoPaymentHandler => Words::new(
                "no_payment_handler",
                "No bank is set up with which the guard could pay.",
                "Leave the payment to the user.",
            ),
            Reason::TakenOver => Words::new(
                "taken_over",
                "The page was yours to finish by hand; the assistant does nothing more in this task.",
                "Do nothing more on this page; go on in a new task.",
            ),
            Reason::NotApplicable => Words::new(
                "not_applicable",
                "The element does not take this: there is no such option, key or form.",
                "Read the page again, and choose what the element offers.",
            ),
            Reason::FormIncomplete => Words::new(
                "form_incomplete",
                "The browser does not send the form: a control is empty or holds what the form does not accept.",
                "Fill in what the form still asks for, and send it again.",
            ),
            Reason::AddressRefused => Words::new(
                "address_refused",
                "The address, or one that it leads to, is no ordinary web address: only http and https are opened, without a user name.",
                "Use an address that begins with https:// and has no user name.",
            ),
            Reason::PrivateHost => Words::new(
                "private_host",
                "The address, or one that it leads to, is on this machine or in a private network.",
                "Ask the user to name the host with `--private-hosts`, if they mean it.",
            ),
            Reason::PortRefused => Words::new(
                "port_refused",
                "The address has a port that web servers do not use.",
                "Use the address without the port, if the site has one.",
            ),
            Reason::SentAgain => Words::new(
                "sent_again",
                "Going back there would send a form a second time.",
                "Open the page by its address instead.",
            ),
            Reason::CertificateInvalid => Words::new(
                "certificate_invalid",
                "The site's certificate is not trusted, has expired or is for another name, so nothing was loaded.",
                "Check the address; the user decides which authorities their browser trusts.",
            ),
            Reason::TlsFailed => Words::new(
                "tls_failed",
                "No encrypted connection to the site could be made, so nothing was loaded.",
                "Check the address and its port: the server may not speak https there.",
            ),
            Reason::NameNotFound => Words::new(
                "name_not_found",
                "The site's name leads to no address that the guard may open, so nothing was loaded.",
                "Check the spelling of the address; the user lists a host of their own network with --private-hosts.",
            ),
            Reason::PageUnreachable => Words::new(
                "page_unreachable",
                "The page could not be loaded: nobody answers at its address.",
                "Check the address, or try again later.",
            ),
            Reason::BrowserTimeout => Words::new(
                "browser_timeout",
                "The browser did not answer in time; the step may have taken effect.",
                "Read the page again to see what happened.",
            ),
            Reason::BrowserError => Words::new(
                "browser_error",
                "The browser refused the step.",
                "Read the page again, and repeat the step.",
            ),
            Reason::BrowserLost => {
                Words::new("browser_lost", "The browser or the page is gone.", "Open the page again.")
            }
            Reason::Unconfirmed => Words::new(
                "unconfirmed",
                "The data was on its way into the page when the browser stopped answering; take it as given to the site.",
                "Read the page again to see what happened.",
            ),
            Reason::DialogOpen => Words::new(
                "dialog_open",
                "The page shows a dialog, and does nothing until it is answered.",
                "Answer the dialog, and read the page again: the step may have taken effect.",
            ),
            Reason::ScriptRan => Words::new(
                "script_ran",
                "A script of yours ran in this container, so nothing is released into it: the script may be waiting in the page.",
                "Close the container (browser_close), open the page again, and ask there.",
            ),
            Reason::DragAfterRelease => Words::new(
                "drag_after_release",
                "Your data is in a page of this task, so the assistant drags nothing: it could drag the data to where it may not go.",
                "Do it without dragging, or in a new task.",
            ),
            Reason::CodeUsed => Words::new(
                "code_used",
                "The one-time code of this half minute was given already or is about to end, and a site takes none twice.",
                "Wait half a minute, and ask again.",
            ),
            Reason::CodeNotKept => Words::new(
                "code_not_kept",
                "Your vault could not note that a one-time code is given, so none was given.",
                "Ask the user to look at the vault; then ask again.",
            ),
            Reason::SourceUnavailable => Words::new(
                "source_unavailable",
                "Your password manager does not run, is locked, refused or did not answer, so nothing was taken from it.",
                "",
            ),
        }
    }
}

/// The words of one reason.
struct Words {
    name: &'static str,
    explained: &'static str,
    /// Empty where nothing can be done.
    next: &'static str,
}

impl Words {
    const fn new(name: &'static str, explained: &'static str, next: &'static str) -> Words {
        Words { name, explained, next }
    }
}

/// The next step where a page may only need time.
const WAIT: &str = "Wait until the page has loaded, read it again, and repeat the step.";

const fn unknown(signal: Signal) -> Words {
    let (explained, next) = match signal {
        Signal::Origin => ("The browser could not say which site the page belongs to.", WAIT),
        Signal::TopOrigin => ("The browser could not say which site the window shows.", WAIT),
        Signal::Tls => ("The browser could not say whether the connection is secure.", WAIT),
        Signal::Container => (
            "It is unclear which container the page is in, or it is above what you allowed.",
            "Ask the user for a new task.",
        ),
        Signal::Frame => {
            ("The browser could not say which pages the form is embedded in, or contradicted itself.", WAIT)
        }
        Signal::Document => ("The browser could not say which document is loaded.", WAIT),
        Signal::Destination => (
            "The browser could not say where the form would send your data.",
            "Go to a form of the site that says where it is sent.",
        ),
        Signal::Sink => ("It is unclear what the form is for.", "Go to the form that is made for this data."),
        Signal::Visibility => {
            ("The browser could not say whether the control can be seen and clicked.", WAIT)
        }
        Signal::Safety => (
            "Nobody judged how safe what the assistant was told is, and your policy asks for it.",
            "Read the page again, and repeat the step.",
        ),
        Signal::Flow => (
            "It is unclear where the text was read that the assistant wants to send.",
            "Read the page that the text is from again, or use the user's words.",
        ),
        Signal::Amount => (
            "It is unclear how much would be paid.",
            "Name the total and the currency in the request, as the page shows them.",
        ),
    };
    Words::new("signal_unknown", explained, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_explanations_are_distinct_and_names_lead_back_to_their_reasons() {
        let names: std::collections::HashSet<_> = Reason::ALL.map(Reason::name).into_iter().collect();
        let texts: std::collections::HashSet<_> = Reason::ALL.map(Reason::explain).into_iter().collect();
        assert_eq!((names.len(), texts.len()), (Reason::ALL.len(), Reason::ALL.len()));
        assert_eq!(Reason::ALL.map(|reason| Reason::from_name(&reason.name())), Reason::ALL.map(Some));
        assert_eq!(Reason::from_name("unplanned_effect"), None);
        let stored = serde_json::to_string(Reason::ALL.as_slice()).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Reason>>(&stored).unwrap(), Reason::ALL);
        assert!(serde_json::from_str::<Reason>("\"unplanned_effect\"").is_err());
    }

    #[test]
    fn what_depends_on_the_vault_is_one_thing_to_the_agent() {
        let told = |reason: Reason| (reason.code(), reason.next_step(), reason.can_be_settled_by_hand());
        for (reason, read) in [
            (Reason::ValueUnderivable, Reason::NoValue),
            (Reason::ValueDamaged, Reason::NoValue),
            (Reason::SourceUnavailable, Reason::NoValue),
            (Reason::ValueInText, Reason::EgressBlocked),
        ] {
            assert_eq!(told(reason), told(read));
            assert_ne!((reason.name(), reason.explain()), (read.name(), read.explain()));
        }
        let others = Reason::ALL.into_iter().filter(|reason| reason.name() != reason.code());
        assert_eq!(others.count(), 4);
    }

    #[test]
    fn every_sentence_ends_and_none_speaks_to_the_wrong_reader() {
        for reason in Reason::ALL {
            assert!(reason.explain().ends_with('.'), "{reason:?}");
            let next = reason.next_step().unwrap_or(".");
            assert!(next.ends_with('.') && !next.contains("your "), "{reason:?}: {next}");
        }
    }
}
