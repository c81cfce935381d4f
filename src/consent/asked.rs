//! The things that a prompt can ask.

use std::fmt;

use browser_signals::{Container, Origin};
use policy_dfa::VerbKind;
use sirl::{Field, FieldSet, Kind, Money};

use super::asked_parts::{AskedFile, AskedProvider, OpenPages, PointedBox, Quoted};
use super::form::FormPlace;
use super::line::{MAX_LABEL_CHARS, PromptLine, SiteName, named, visible};
use super::offer::SeenOffer;
use super::order::Order;
use super::standing::date;

/// The fields that name an account, of which a page asks for one.
pub(crate) const ACCOUNT_NAMES: FieldSet = FieldSet::EMPTY.with(Field::Username).with(Field::Email);

/// The most characters of an address that is shown.
const MAX_ADDRESS_CHARS: usize = 300;
/// The most characters of a path that is shown.
const MAX_PATH_CHARS: usize = 120;

/// One thing that the user is asked. Origins are shown in ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// To open a container in which data may be released, for these origins only.
    Container {
        /// Its tier.
        tier: Container,
        /// The only origins that it may reach.
        origins: Vec<Origin>,
        /// The handling of pages that are open already, where the task runs in tabs of the user's own browser.
        own_browser: Option<OpenPages>,
    },
    /// To release fields to a site.
    Release {
        /// The kind of request.
        kind: Kind,
        /// The fields.
        fields: FieldSet,
        /// Those of them that a later form of the same login asks for.
        later: FieldSet,
        /// The site that gets them: the origin of the form's own frame.
        to: Origin,
        /// The origin that the form is sent to, if a page was examined.
        sent_to: Option<Origin>,
        /// The records that supply the fields, such as `address:home`.
        records: Vec<String>,
        /// The form, if a page was examined.
        form: Option<FormPlace>,
        /// The controls of which only the agent says what they are for.
        boxes: Vec<PointedBox>,
        /// For card data in the frame of a payment provider: whose frame it is, and where.
        provider: Option<AskedProvider>,
        /// Without a form: whether the site may be told the fields in an order by its own protocol in place of a form.
        in_order: bool,
    },
    /// To pay.
    Pay {
        /// The payee.
        payee: Origin,
        /// The exact amount.
        amount: Money,
        /// The card's record, such as `card:personal`.
        card: Option<String>,
        /// The page's description of the purchase: unchecked words of the page.
        page_says: Vec<String>,
    },
    /// To tell a shop an address, or how the buyer is reached, for an order by the shop's own protocol.
    Tell {
        /// The kind of request.
        kind: Kind,

        /// The fields.
        fields: FieldSet,
        /// The shop.
        shop: Origin,
        /// The records that supply them, such as `address:home`.
        records: Vec<String>,
    },
    /// To buy what a shop offers, by the shop's own protocol.
    Buy {
        /// The shop.
        shop: Origin,
        /// The records that the goods go to, such as `address:home`.
        records: Vec<String>,
        /// The account that pays, such as `wallet:test`.
        account: String,
        /// The shop's offer.
        offer: Box<SeenOffer>,
    },
    /// To pay once, within bounds, without another question.
    Mandate {
        /// The payee.
        payee: Origin,
        /// The most that is paid.
        ceiling: Money,
        /// How many.
        quantity: u32,
        /// The item, in the user's own words.
        item: String,
        /// The record that the goods go to, such as `address:home`.
        record: String,
    },
    /// To send the recorded actions of the agent, with a payment or with held requests.
    Order(Order),
    /// To make a password for a new account, and to keep it.
    NewPassword {
        /// The site that it is for.
        site: Origin,
        /// The record that keeps it, such as `login:shop-example`.
        record: String,
        /// Its entropy in bits, where the page's rules make it weak.
        weak: Option<u32>,
        /// Whether it was made earlier in this task.
        again: bool,
    },
    /// To let the model read words of the user's prompt that may be a value.
    Reveal {
        /// The field that they may be.
        field: Field,
        /// The words.
        words: Quoted,
    },
    /// To log in at an identity provider for a site of the task.
    SignOn {
        /// The site.
        site: Origin,
        /// The provider.
        provider: Origin,
        /// The address that the site leads to, in the site's own words but for its origin.
        address: String,
        /// The fields of the login.
        fields: FieldSet,
        /// The records that supply them.
        records: Vec<String>,
    },
    /// To let the agent press something at the provider of a sign-on.
    AtProvider {
        /// The effect.
        verb: VerbKind,
        /// The provider.
        provider: Origin,
        /// The site that the user logs in for.
        site: Origin,
        /// The page's name for what is pressed.
        label: String,
        /// The address that it leads to, if that is known.
        goes_to: Option<(Origin, String)>,
        /// Lines of the page, which are its words.
        page_says: Vec<String>,
    },
    /// To give files of the user's to a page.
    Upload {
        /// The files.
        files: Vec<AskedFile>,
        /// The site whose page gets them.
        site: Origin,
        /// The path of the page.
        path: String,
        /// The page's name for the control.
        label: String,
        /// The origin and path that the control's form is sent to; none where it has no form.
        sent_to: Option<(Origin, String)>,
    },
    /// To use a login that the user saved, in a fresh container.
    Restore {
        /// The site.
        site: Origin,
        /// When the user logged in, in milliseconds since 1970.
        made_ms: u64,
        /// When the saved login ends, in milliseconds since 1970.
        ends_ms: u64,
        /// The other sites of the task, which the container does not reach.
        closed: Vec<Origin>,
    },
    /// To keep the login that the user has just made by hand, for later tasks.
    KeepLogin {
        /// The site.
        site: Origin,
        /// When the saved login ends at the latest, in milliseconds since 1970.
        ends_ms: u64,
        /// When the user made the login that it replaces, if there is one, in milliseconds since 1970.
        replaces_ms: Option<u64>,
    },
    /// To let the agent use a verb that the task did not plan.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// The origin of the page.
        page: Option<Origin>,
        /// The origin that it leads to, if any.
        goes_to: Option<Origin>,
    },
}

impl Asked {
    /// The origin that gets the data or the payment.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Asked::Container { origins, .. } => origins.first(),
            Asked::Release { to, .. } => Some(to),
            Asked::Pay { payee, .. } | Asked::Mandate { payee, .. } => Some(payee),
            Asked::Tell { shop, .. } | Asked::Buy { shop, .. } => Some(shop),
            Asked::Order(order) => Some(&order.site),
            Asked::NewPassword { site, .. } => Some(site),
            Asked::Reveal { .. } => None,
            Asked::Upload { site, .. } | Asked::Restore { site, .. } | Asked::KeepLogin { site, .. } => {
                Some(site)
            }
            Asked::SignOn { provider, .. } | Asked::AtProvider { provider, .. } => Some(provider),
            Asked::Verb { page, .. } => page.as_ref(),
        }
    }

    /// The sites that are involved: the one that gets the data or the payment, and the one that a form or verb leads to.
    pub fn sites(&self) -> Vec<SiteName> {
        let origins: Vec<&Origin> = match self {
            Asked::Container { origins, .. } => origins.iter().collect(),
            Asked::Release { to, sent_to, .. } => {
                std::iter::once(to).chain(sent_to.iter().filter(|sent| *sent != to)).collect()
            }
            Asked::Pay { payee, .. } | Asked::Mandate { payee, .. } => vec![payee],
            Asked::Tell { shop, .. } | Asked::Buy { shop, .. } => vec![shop],
            Asked::Order(order) => vec![&order.site],
            Asked::NewPassword { site, .. } | Asked::Restore { site, .. } | Asked::KeepLogin { site, .. } => {
                vec![site]
            }
            Asked::Reveal { .. } => Vec::new(),
            Asked::Upload { site, sent_to, .. } => {
                let other = sent_to.iter().map(|(to, _)| to).filter(|to| *to != site);
                std::iter::once(site).chain(other).collect()
            }
            Asked::SignOn { site, provider, .. } => vec![provider, site],
            Asked::AtProvider { provider, goes_to, .. } => {
                let other = goes_to.iter().map(|(to, _)| to).filter(|to| *to != provider);
                std::iter::once(provider).chain(other).collect()
            }
            Asked::Verb { page, goes_to, .. } => page.iter().chain(goes_to).collect(),
        };
        origins.into_iter().map(SiteName::of).collect()
    }

    /// The question without the sites, which have lines of their own.
    pub fn act(&self) -> String {
        match self {
            Asked::Container { own_browser: None, .. } => {
                "work on these sites and no others, with your data where you agree:".to_owned()
            }
            Asked::Container { own_browser: Some(_), .. } => {
                "read the tab in front, and ask there for your data, while it shows:".to_owned()
            }
            Asked::Release { kind, fields, .. } => {
                format!("fill your {} into a form of:", data_of(*kind, *fields))
            }
            Asked::Pay { amount, .. } => format!("pay {amount} to:"),
            Asked::Tell { kind, fields, .. } => {
                format!("tell your {}, for an order that Portcullis places, to:", data_of(*kind, *fields))
            }
            Asked::Buy { offer, .. } => format!("order for {}, in all, from:", offer.total),
            Asked::Mandate { ceiling, .. } => {
                format!("pay at most {ceiling}, once and without asking again, to:")
            }
            Asked::Order(order) => order.act(),
            Asked::NewPassword { again: false, .. } => "make a new password for:".to_owned(),
            Asked::NewPassword { again: true, .. } => {
                "use the new password again that Portcullis made in this task for:".to_owned()
            }
            Asked::Reveal { .. } => self.to_string(),
            Asked::SignOn { fields, .. } => {
                format!("fill your login ({}) at the first of these sites, for the second:", names(*fields))
            }
            Asked::AtProvider { label, .. } => format!("let the agent press {} at:", named(label)),
            Asked::Upload { files, .. } => format!("give your {} to:", listed(files)),
            Asked::Restore { .. } => {
                "use your saved login, and act as you until the end of this task, at:".to_owned()
            }
            Asked::KeepLogin { .. } => {
                "keep the login for later tasks that you have just made by hand at:".to_owned()
            }
            Asked::Verb { verb, page, .. } => {
                let on = if page.is_some() { " on:" } else { "" };
                format!("let the agent {}{on}", verb.as_str())
            }
        }
    }

    /// The lines of details: the destination, the record, the page's words. Warnings among them are shown before
    /// everything else.
    pub fn details(&self) -> Vec<PromptLine> {
        match self {
            Asked::Container { own_browser: Some(pages), .. } => pages.lines(),
            Asked::Container { .. } | Asked::Reveal { .. } => Vec::new(),
            Asked::Order(order) => order.details(),
            Asked::SignOn { site, provider, address, fields, records } => {
                let secret = fields.without(ACCOUNT_NAMES);
                let lines = [
                    format!("{site} sent the browser to {provider}, where you have a login"),
                    format!("the address is {}", visible(address, MAX_ADDRESS_CHARS)),
                    format!("from your {}", records.join(", ")),
                    format!(
                        "your {} and one-time codes go to {provider} alone; your e-mail address and user name there may return to {site}",
                        names(secret)
                    ),
                    format!("whatever else the agent presses at {provider} is asked about"),
                    "once logged in, the agent reads what both sites show of your accounts".to_owned(),
                ];
                lines.into_iter().map(PromptLine::plain).collect()
            }
            Asked::AtProvider { verb, provider, site, goes_to, page_says, .. } => {
                let text = format!(
                    "this is not the login for {site}: at {provider} it may give an app or a device access to your account, or change it"
                );
                let sends = if *verb == VerbKind::Submit { "it sends a form" } else { "it leads" };
                let to = goes_to.iter().map(|(to, path)| {
                    PromptLine::plain(format!("{sends} to {to}{}", visible(path, MAX_PATH_CHARS)))
                });
                let warning = std::iter::once(PromptLine::warning(text));
                let unread = page_says
                    .is_empty()
                    .then(|| PromptLine::warning("the page has no text that could be shown".to_owned()));
                let says = page_says.iter().cloned().map(PromptLine::quoted);
                warning.chain(unread).chain(to).chain(says).collect()
            }
            Asked::NewPassword { record, weak, .. } => new_password_lines(record, *weak),
            Asked::Restore { made_ms, ends_ms, closed, .. } => restore_lines((*made_ms, *ends_ms), closed),
            Asked::KeepLogin { ends_ms, replaces_ms, .. } => {
                let replaced = replaces_ms.map(|made| {
                    PromptLine::warning(format!(
                        "it replaces the login that you saved there on {}, which is removed",
                        day(made)
                    ))
                });
                let lines = [
                    format!("it is kept encrypted beside your vault until {} at the latest", day(*ends_ms)),
                    "you are asked each time before a task uses it, and no agent sees it".to_owned(),
                    "`portcullis vault forget-login` removes it".to_owned(),
                ];
                replaced.into_iter().chain(lines.map(PromptLine::plain)).collect()
            }
            Asked::Upload { site, path, label, sent_to, .. } => {
                let page = format!("on the page {site}{}", visible(path, MAX_PATH_CHARS));
                let sent = sent_to
                    .iter()
                    .map(|(to, path)| format!("its form is sent to {to}{}", visible(path, MAX_PATH_CHARS)));
                let after =
                    "the site gets the whole content, and the agent may read what the page then shows of it";
                let lines = std::iter::once(page).chain(sent).chain([after.to_owned()]);
                let label = (!label.is_empty()).then(|| PromptLine::quoted(visible(label, MAX_LABEL_CHARS)));
                lines.map(PromptLine::plain).chain(label).collect()
            }
            Asked::Verb { goes_to, .. } => {
                goes_to.iter().map(|to| PromptLine::plain(format!("it goes to {to}"))).collect()
            }
            Asked::Release {
                kind, fields, later, sent_to, records, form, boxes, provider, in_order, ..
            } => {
                let warned = form.as_ref().and_then(|form| form.exposed);
                let warned = warned.map(|exposed| PromptLine::warning(exposed.to_string()));
                let into = match form {
                    Some(form) => format!("into {form}"),
                    None if *kind == Kind::Login => {
                        "into the forms of one login, each value into one; another form is asked about"
                            .to_owned()
                    }
                    None if *in_order => {
                        "into one form for it, or into one order that Portcullis places there; another one is asked about"
                            .to_owned()
                    }
                    None => "into one form for it; another form is asked about".to_owned(),
                };
                let steps = (!later.is_empty()).then(|| {
                    let (now, later) = (names(fields.without(*later)), names(*later));
                    PromptLine::plain(format!(
                        "the {now} now, and the {later} into the login form that follows on this site"
                    ))
                });
                let sent = sent_to.iter().map(|origin| PromptLine::plain(format!("it is sent to {origin}")));
                let from = format!("from your {}", records.join(", "));
                let from = (!records.is_empty()).then(|| PromptLine::plain(from));
                let after = (*kind == Kind::Login).then(|| {
                    let text =
                        "once logged in, the agent reads what the account shows, such as your stored address and orders";
                    PromptLine::plain(text.to_owned())
                });
                let unsaid = boxes.iter().map(|one| PromptLine::warning(one.to_string()));
                warned
                    .into_iter()
                    .chain(unsaid)
                    .chain([PromptLine::plain(into)])
                    .chain(provider.iter().flat_map(AskedProvider::lines))
                    .chain(steps)
                    .chain(sent)
                    .chain(from)
                    .chain(after)
                    .collect()
            }
            Asked::Tell { records, .. } => {
                let from = (!records.is_empty()).then(|| format!("from your {}", records.join(", ")));
                let next = "nothing is bought yet: you are asked again once the shop has said what it costs";
                from.into_iter().chain([next.to_owned()]).map(PromptLine::plain).collect()
            }
            Asked::Buy { records, account, offer, .. } => order_lines(records, account, offer),
            Asked::Mandate { quantity, item, record, .. } => {
                let lines = [
                    format!("for {quantity} x {}", visible(item, MAX_LABEL_CHARS)),
                    format!("delivered to your {record}"),
                    "you are asked where the page or the agent sets anything else, where the sum does not add up, or where the agent was told something that looks unsafe".to_owned(),
                ];
                lines.into_iter().map(PromptLine::plain).collect()
            }
            Asked::Pay { card, page_says, .. } => {
                let with = card.iter().map(|card| PromptLine::plain(format!("with your {card}")));
                with.chain(page_says.iter().map(|line| PromptLine::quoted(line.clone()))).collect()
            }
        }
    }
}

/// The lines about an order: what the shop offers, in its own words.
fn order_lines(records: &[String], account: &str, offer: &SeenOffer) -> Vec<PromptLine> {
    let warned =
        offer.warnings.iter().map(|text| PromptLine::warning(format!("the shop says: {}", in_quotes(text))));
    let to = (!records.is_empty()).then(|| format!("delivered to your {}", records.join(", ")));
    let signed = if offer.is_signed {
        "the shop signed these lines, and no page or agent can change them after a yes:"
    } else {
        "the shop does not sign these lines: it may sell something else after a yes, and you cannot prove what it offered:"
    };
    let with = format!("paid from your {account}");
    let plain = to.into_iter().chain([with, signed.to_owned()]).map(PromptLine::plain);
    let ways = offer.delivery.iter().map(|way| format!("delivery: {way}"));
    let lines = offer.lines.iter().map(ToString::to_string).chain(offer.parts.iter().cloned()).chain(ways);
    let lines = lines.chain([format!("sold by {}", offer.seller)]);
    let said = |line: String| in_quotes(&line);
    let lines: Vec<PromptLine> = lines.map(said).map(PromptLine::plain).collect();
    warned.chain(plain).chain(lines).collect()
}

/// Words of a shop's in quotes that they cannot end.
fn in_quotes(text: &str) -> String {
    format!("\"{}\"", visible(text, MAX_ADDRESS_CHARS).replace('"', "'"))
}

/// The lines about a new password. A weak one is warned of every time.
fn new_password_lines(record: &str, weak: Option<u32>) -> Vec<PromptLine> {
    let weak = weak.map(|bits| {
        PromptLine::warning(format!(
            "this site allows only weak passwords: about {bits} bits, which a program can guess"
        ))
    });
    let kept = format!(
        "Portcullis makes it, and keeps it with this form's e-mail address or user name in your vault as {record} before the site gets it; the agent does not see it"
    );
    weak.into_iter().chain([PromptLine::plain(kept)]).collect()
}

/// The day of a time in milliseconds since 1970.
fn day(unix_ms: u64) -> String {
    date(i64::try_from(unix_ms).unwrap_or(i64::MAX))
}

/// The lines about a saved login.
fn restore_lines((made_ms, ends_ms): (u64, u64), closed: &[Origin]) -> Vec<PromptLine> {
    let saved =
        format!("you logged in there on {}, and the saved login ends on {}", day(made_ms), day(ends_ms));
    let after = "the agent reads what the account shows, such as your stored address and orders; it does not see the login itself";
    let closed: Vec<String> = closed.iter().map(ToString::to_string).collect();
    let closed = (!closed.is_empty())
        .then(|| format!("with a yes this task reaches no other site, also not {}", closed.join(", ")));
    [saved, after.to_owned()].into_iter().chain(closed).map(PromptLine::plain).collect()
}

/// The files of an upload, each with its name and size.
fn listed(files: &[AskedFile]) -> String {
    let files: Vec<String> = files.iter().map(ToString::to_string).collect();
    let noun = if files.len() == 1 { "file" } else { "files" };
    format!("{noun} {}", files.join(", "))
}

/// The data that a question about a request names.
fn data_of(kind: Kind, fields: FieldSet) -> String {
    match kind {
        Kind::Otp => "one-time code".to_owned(),
        kind => format!("{} ({})", kind.as_str(), names(fields)),
    }
}

/// The readable names of fields.
pub(super) fn names(fields: FieldSet) -> String {
    let names: Vec<String> = fields.iter().map(|field| field.as_str().replace('_', " ")).collect();
    names.join(", ")
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Container { origins, own_browser, .. } => {
                let origins: Vec<String> = origins.iter().map(ToString::to_string).collect();
                let origins = origins.join(", ");
                match own_browser {
                    Some(_) => write!(
                        f,
                        "read the tab in front while it shows {origins}, and ask there for your data"
                    ),
                    None => write!(f, "work on {origins} and no other site, with your data where you agree"),
                }
            }
            Asked::Release { kind, fields, to, .. } => {
                write!(f, "fill your {} into a form of {to}", data_of(*kind, *fields))
            }
            Asked::Pay { payee, amount, .. } => write!(f, "pay {amount} to {payee}"),
            Asked::Tell { kind, fields, shop, .. } => {
                write!(f, "tell your {} to {shop}, for an order", data_of(*kind, *fields))
            }
            Asked::Buy { shop, offer, .. } => write!(f, "order for {} from {shop}", offer.total),
            Asked::Mandate { payee, ceiling, .. } => {
                write!(f, "pay at most {ceiling} to {payee}, once and without asking again")
            }
            Asked::Order(order) => write!(f, "{order}"),
            Asked::NewPassword { site, again: false, .. } => write!(f, "make a new password for {site}"),
            Asked::NewPassword { site, again: true, .. } => {
                write!(f, "use the new password for {site} again")
            }
            Asked::Reveal { field, words } => {
                let name = field.as_str().replace('_', " ");
                write!(f, "let the model read \"{}\", which may be your {name}", words.as_str())
            }
            Asked::SignOn { site, provider, fields, .. } => {
                write!(f, "fill your login ({}) at {provider}, for {site}", names(*fields))
            }
            Asked::AtProvider { provider, label, .. } => {
                write!(f, "let the agent press {} at {provider}", named(label))
            }
            Asked::Restore { site, .. } => write!(f, "use your saved login and act as you at {site}"),
            Asked::KeepLogin { site, .. } => write!(f, "keep your login at {site} for later tasks"),
            Asked::Upload { files, site, .. } => write!(f, "give your {} to {site}", listed(files)),
            Asked::Verb { verb, page, .. } => {
                write!(f, "let the agent {}", verb.as_str())?;
                page.as_ref().map_or(Ok(()), |page| write!(f, " on {page}"))
            }
        }
    }
}
