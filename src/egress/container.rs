//! The check of the requests of a container.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::egress::{Blocked, EgressGuard, OutgoingRequest};
use browser_signals::{Container, Destination, Origin};
use classifier::{Detectors, SensitiveKind};
use sirl::{Field, FieldSet, Money};
use url::Url;
use vault::{Outgoing, ReleaseError};

use super::amount;
use super::pieces::{self, Piece};
use super::sign_on::{AgreedSignOn, is_return, may_return};
use super::{ReleasedValue, Releases};
use crate::guard::agent_actions::{AgentActions, Forwarded};
use crate::guard::shared_vault::SharedVault;

/// The number of sequences, which are told apart by the name of a piece. A page with more names mixes some of them.
const SEQUENCES: usize = 16;

/// Headers that repeat an address, which is no piece of a message.
const ADDRESSES: [&str; 1] = ["referer"];
/// The words of a form's field from which on it counts as free text, which others may read.
const FREE_TEXT_WORDS: usize = 6;

/// Checks the requests of a container.
///
/// A container of tier T0 holds no data of the user and goes wherever the policy lets it. In a higher tier, before a
/// release, the top document stays within the task's origins. After a release, all requests go to the task's origins and
/// to the guard's own payment handler only. Address, headers with cookies, and body are compared with the released values,
/// over the session too. A request is stopped in three cases: it contains a value, or most of one, that was granted to
/// another origin; it goes to an origin without a grant and contains the form of a card number, an account number or a
/// token; or its body is not text, unless every released value may go to its origin, since a compressed body could contain
/// any of them. A request with a released card number is stopped too if it names a greater amount than the page did when the user agreed.
///
/// A form that takes a value to another path of its origin than the grant names, or by another method, waits until the user
/// agrees. A yes holds for the path, except for queries and free text, which are asked about each time. Links, cookies, referrers and requests
/// of scripts may carry a value within its origin. Where the policy has values keep to their path, a request carries a value only to the
/// path and with the method of its grant, whatever it is, and nothing is asked.
///
/// The provider of a sign-on is open beside the task's origins. What was released to the provider stays there, except for the names of
/// the account, which the site of the sign-on may get; the provider's own return to that site is not asked about.
pub struct ContainerEgress {
    container: Container,
    task: Vec<Origin>,
    payment: Vec<Origin>,
    providers: Vec<Origin>,
    own_path: bool,
    releases: Releases,
    vault: SharedVault,
    detectors: Arc<Detectors>,
    sent: Mutex<Vec<Outgoing>>,
    actions: AgentActions,
    sign_on: AgreedSignOn,
}

impl ContainerEgress {
    /// The check of a container of this tier and these task origins; `payment` are the origins of the guard's own payment
    /// handler.
    pub fn new(
        container: Container,
        task: Vec<Origin>,
        payment: Vec<Origin>,
        releases: Releases,
        vault: SharedVault,
        detectors: Arc<Detectors>,
    ) -> Self {
        let (sent, actions) = (Mutex::default(), AgentActions::default());
        let (providers, sign_on) = (Vec::new(), AgreedSignOn::default());
        ContainerEgress {
            container,
            task,
            payment,
            providers,
            own_path: false,
            releases,
            vault,
            detectors,
            sent,
            actions,
            sign_on,
        }
    }

    /// Also lets requests of frames go to these origins of payment providers, which the policy names. What they carry is
    /// judged as everywhere. This opens none of them to the top document.
    #[must_use]
    pub fn with_providers(self, providers: Vec<Origin>) -> Self {
        ContainerEgress { providers, ..self }
    }

    /// Lets values go only to the path of their grant, if the policy has them keep to it. The policy names the origins of a payment
    /// provider and not their paths, so these stay open to what was granted to them.
    #[must_use]
    pub fn keeping_to_path(self, own_path: bool) -> Self {
        ContainerEgress { own_path, ..self }
    }

    /// Also holds requests while the agent has set something that the user has not seen.
    #[must_use]
    pub fn watching(self, actions: AgentActions) -> Self {
        ContainerEgress { actions, ..self }
    }

    /// Also opens the provider of the sign-on that the user agrees to.
    #[must_use]
    pub fn signing_on(self, sign_on: AgreedSignOn) -> Self {
        ContainerEgress { sign_on, ..self }
    }

    /// Whether a request carries a released value. Where that cannot be checked, it counts as carrying one.
    fn carries_a_release(&self, request: &OutgoingRequest<'_>) -> bool {
        let entries = self.releases.entries();
        if entries.is_empty() {
            return false;
        }
        let Ok(vault) = self.vault.lock() else { return true };
        vault.scan_released(request.url, &entries).map_or(true, |found| !found.is_empty())
    }

    /// The request of a form that takes released values to another path than their grants name, or by another method; none for
    /// every other request.
    fn forwards(&self, request: &OutgoingRequest<'_>) -> Option<Forwarded> {
        if self.own_path || (request.resource_type != "Document" && !self.actions.is_sending()) {
            return None;
        }
        let url = Url::parse(request.url).ok()?;
        let to = Origin::of(&url).ok()?;
        // The policy names a provider's origins, and not their paths. The user agreed to them with the fill. A page of a
        // provider in the top frame is another matter.
        if !request.main_navigation && self.providers.contains(&to) {
            return None;
        }
        let sign_on = self.sign_on.get();
        let mut releases = self.releases.all();
        releases.retain(|release| !(release.any_path && release.destination.origin == to));
        if is_return(sign_on.as_ref(), request, &to) {
            releases.retain(|release| !may_return(sign_on.as_ref(), release, &to));
        }
        let entry = |release: &'_ ReleasedValue| (release.handle.clone(), release.field);
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            releases.iter().partition(|it| goes_to(&it.destination, &url, &to, request.method));
        // A value may have been granted to several paths.
        let here: BTreeSet<(String, Field)> = here.into_iter().map(entry).collect();
        let elsewhere: BTreeSet<(String, Field)> = elsewhere.into_iter().map(entry).collect();
        let entries: Vec<(&str, Field)> =
            elsewhere.difference(&here).map(|(handle, field)| (handle.as_str(), *field)).collect();
        let body = request.body.unwrap_or_default();
        let fields = if entries.is_empty() {
            FieldSet::EMPTY
        } else if is_text(body) {
            let body = String::from_utf8_lossy(body);
            // The path of a link may name the user; a form with the method GET writes a query.
            let address = if is_safe(request.method) { url.query().unwrap_or_default() } else { request.url };
            let pieces = if is_safe(request.method) {
                pieces::of_query(&url)
            } else {
                pieces::of_request(&OutgoingRequest { headers: &[], ..*request }, &url)
            };
            self.carried(&[address, &body], pieces, &entries)
        } else {
            set_of(entries.iter().map(|(_, field)| *field))
        };
        let once = is_safe(request.method) || has_free_text(body);
        (!fields.is_empty()).then(|| Forwarded { to, path: url.path().to_owned(), fields, once })
    }

    /// The released fields that occur in texts. Where that cannot be checked, it is all of them.
    fn carried(&self, texts: &[&str], pieces: Vec<Piece>, entries: &[(&str, Field)]) -> FieldSet {
        let all = || set_of(entries.iter().map(|(_, field)| *field));
        let Ok(vault) = self.vault.lock() else { return all() };
        let whole: Result<Vec<_>, ReleaseError> =
            texts.iter().map(|text| vault.scan_released(text, entries)).collect();
        // A form may have a control for each part of a value.
        let joined: Vec<String> = pieces.into_iter().map(|(_, text)| text).collect();
        let joined = vault.scan_outgoing_released(&mut Outgoing::default(), &joined.join("\n"), entries);
        let (Ok(whole), Ok(joined)) = (whole, joined) else { return all() };
        let whole = whole.iter().flatten().map(|found| found.field);
        set_of(whole.chain(joined.iter().map(|sent| sent.found.field)))
    }

    /// Checks the content of a request.
    fn judge_content(
        &self,
        request: &OutgoingRequest<'_>,
        (url, origin): (&Url, &Origin),
        releases: &[ReleasedValue],
    ) -> Result<(), Blocked> {
        let sign_on = self.sign_on.get();
        let every_path = !self.own_path || self.providers.contains(origin);
        let destined = |release: &ReleasedValue| {
            let at_path = || {
                every_path || release.any_path || goes_to(&release.destination, url, origin, request.method)
            };
            (release.destination.origin == *origin && at_path())
                || may_return(sign_on.as_ref(), release, origin)
        };
        // Each value has destinations of its own, and may have several.
        let may_go = |handle: &str, field: Field| {
            releases.iter().any(|r| r.handle == handle && r.field == field && destined(r))
        };
        let granted_all = releases.iter().all(|release| may_go(&release.handle, release.field));
        let body = request.body.unwrap_or(&[]);
        if !granted_all && !is_text(body) {
            return Err(Blocked::new("opaque_body"));
        }
        let body = String::from_utf8_lossy(body);
        let whole = [request.url, &body].into_iter();
        // The answer of a provider is a token.
        let near =
            releases.iter().any(destined) || sign_on.as_ref().is_some_and(|both| both.includes(origin));
        let formed =
            |text: &str| self.detectors.detect_doubtful(text).iter().any(|found| is_high_risk(found.kind));
        if !near && !self.payment.contains(origin) && whole.clone().any(formed) {
            return Err(Blocked::new("typed"));
        }

        let entries: Vec<(&str, Field)> = releases.iter().map(|r| (r.handle.as_str(), r.field)).collect();
        let vault = self.vault.lock().map_err(|_| Blocked::new("vault"))?;
        let unknown = |_: ReleaseError| Blocked::new("vault");
        let value = Blocked::new("value");
        let mut has_card = false;
        for text in whole.chain(request.headers.iter().map(|(_, text)| text.as_str())) {
            let found = vault.scan_released(text, &entries).map_err(unknown)?;
            if found.iter().any(|found| !may_go(&found.handle, found.field)) {
                return Err(value);
            }
            has_card |= found.iter().any(|found| found.field == Field::CardNumber);
        }
        let cards = releases.iter().filter(|it| it.field == Field::CardNumber && destined(it));
        // Where one of the cards was filled without a total, there is nothing to compare with.
        let totals: Vec<Money> = cards.map(|it| it.total).collect::<Option<_>>().unwrap_or_default();
        if has_card && amount::exceeds(url, &body, &totals) {
            return Err(Blocked::new("amount"));
        }
        if granted_all {
            return Ok(());
        }
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.resize_with(SEQUENCES, Outgoing::default);
        let mut pieces = pieces::of_request(request, url);
        pieces.retain(|(name, _)| !ADDRESSES.contains(&name.as_str()));
        for (before, text) in sent.iter_mut().zip(by_sequence(pieces)).filter(|(_, text)| !text.is_empty()) {
            let found = vault.scan_outgoing_released(before, &text, &entries).map_err(unknown)?;
            if found.iter().any(|sent| !may_go(&sent.found.handle, sent.found.field)) {
                return Err(value);
            }
        }
        Ok(())
    }
}

impl EgressGuard for ContainerEgress {
    fn judge(&self, request: &OutgoingRequest<'_>) -> Result<(), Blocked> {
        let releases = self.releases.all();
        let url = Url::parse(request.url).map_err(|_| Blocked::new("address"))?;
        if matches!(url.scheme(), "data" | "blob" | "about") && !request.main_navigation {
            return Ok(());
        }
        let origin = Origin::of(&url).map_err(|_| Blocked::new("address"))?;
        // A text that the user refused must not leave in another request.
        let body = String::from_utf8_lossy(request.body.unwrap_or_default());
        if self.actions.is_refused(&body) || self.actions.is_refused(request.url) {
            return Err(Blocked::new("refused"));
        }
        let is_provider = self.sign_on.get().is_some_and(|both| both.provider == origin);
        let at_home = self.task.contains(&origin) || self.payment.contains(&origin) || is_provider;
        if request.main_navigation && !at_home && self.container != Container::T0 {
            return Err(Blocked::new("navigation"));
        }
        if releases.is_empty() {
            return Ok(());
        }
        if !at_home && !self.providers.contains(&origin) {
            return Err(Blocked::new("origin"));
        }
        self.judge_content(request, (&url, &origin), &releases)
    }

    fn holds(&self, request: &OutgoingRequest<'_>, has_body: bool) -> bool {
        let own = Url::parse(request.url).ok().and_then(|url| Origin::of(&url).ok());
        let is_payment = own.is_some_and(|origin| self.payment.contains(&origin));
        if is_payment {
            return false;
        }
        // Both reasons are noted before the question, so that there is one question and not two.
        let forwards = self.forwards(request).is_some_and(|forwarded| self.actions.must_ask(forwarded));
        let unseen = self.actions.must_be_seen()
            && (has_body || !is_safe(request.method) || self.carries_a_release(request));
        forwards || unseen
    }
}

/// Whether a request goes to the destination of a release.
fn goes_to(destination: &Destination, url: &Url, origin: &Origin, method: &str) -> bool {
    destination.origin == *origin
        && *destination.path == *url.path()
        && destination.method.eq_ignore_ascii_case(method)
}

fn set_of(fields: impl Iterator<Item = Field>) -> FieldSet {
    fields.fold(FieldSet::EMPTY, FieldSet::with)
}

/// Whether a field of a form's body is free text: several lines, or more words than a name or an address has.
fn has_free_text(body: &[u8]) -> bool {
    let is_free =
        |text: &str| text.contains(['\n', '\r']) || text.split_whitespace().count() >= FREE_TEXT_WORDS;
    if is_text(body) && !body.contains(&b'\n') {
        // A body in another form, such as JSON, is read as one name.
        return url::form_urlencoded::parse(body)
            .any(|(name, text)| is_free(name.trim()) || is_free(text.trim()));
    }
    // In a body of several parts each part has lines of its own. They are not told apart here.
    true
}

/// Whether data of this kind must not go to an origin without a grant, whosever it is. Pages do send e-mail addresses and
/// phone numbers of others.
fn is_high_risk(kind: SensitiveKind) -> bool {
    matches!(kind, SensitiveKind::CardNumber | SensitiveKind::Iban | SensitiveKind::Token)
}

/// Whether a method is safe: it asks for an answer and nothing else. An unsafe request matters without a body too, such
/// as that of a one-click order.
fn is_safe(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS"].iter().any(|safe| method.eq_ignore_ascii_case(safe))
}

/// Whether a body is text.
fn is_text(body: &[u8]) -> bool {
    let odd = |c: char| c.is_control() && !c.is_whitespace();
    std::str::from_utf8(body).is_ok_and(|text| !text.contains(odd))
}

/// The pieces of each sequence, one after another.
fn by_sequence(pieces: Vec<Piece>) -> Vec<String> {
    let mut texts = vec![String::new(); SEQUENCES];
    for (name, text) in pieces {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let number = usize::try_from(hasher.finish() % SEQUENCES as u64).unwrap_or(0);
        if let Some(sequence) = texts.get_mut(number) {
            sequence.push_str(&text);
            // The scan treats a line end as a word boundary, and also as a separator within a value.
            sequence.push('\n');
        }
    }
    texts
}
