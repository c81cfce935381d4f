//! The questions that the own form of a client may ask.
//!
//! A client that shows a form can also answer it by itself, so the user has to name the client, and only simple questions are
//! asked so. Every `match` here names each case: a new kind of question, notice, request, form or answer does not compile until it is
//! decided. A field counts by its tier.

use browser_signals::Container;
use sirl::{Field, FieldSet, Kind, Tier};

use super::answer::Answer;
use super::asked::Asked;
use super::asked_parts::OpenPages;
use super::form::{Exposed, FormPlace, Purpose};
use super::prompt::{ConsentPrompt, Notice};

/// The most characters of a question. A client may cut longer ones.
const MAX_CHARS: usize = 1500;

/// The author of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// The sites and the kinds of data stand in the user's own words.
    User,
    /// The agent proposed them.
    Agent,
}

/// The task that a question belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionTask {
    /// The author of the task.
    pub chosen_by: ChosenBy,
    /// The higher one of the tier of the task's container and that of the data under the policy.
    pub tier: Container,
}

impl QuestionTask {
    /// A task of which nothing is known: it permits the least.
    pub const UNKNOWN: QuestionTask = QuestionTask { chosen_by: ChosenBy::Agent, tier: Container::T2 };
}

/// Why a question is not asked by a client's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotByForm {
    /// It concerns a container or data of T2.
    HighTier,
    /// It concerns a payment or an order, or a form for one.
    Payment,
    /// It gives files to a site.
    Upload,
    /// It concerns an account: a login, a code, a password, an identity provider.
    Account,
    /// It lets the agent act, and nobody knows what the action does.
    Action,
    /// It shows words of the user's that may be a value.
    UsersWords,
    /// The agent chose the task, or says what a control is for.
    ChosenByTheAgent,
    /// It offers a yes that outlives the task.
    StandingYes,
    /// It has a warning, or the form is one of which nobody knows what it is for or who reads what it sends.
    Warned,
    /// It is about a tab of the user's own browser.
    OwnBrowser,
    /// Several clients are served, by HTTP.
    SeveralClients,
    /// The form might not show it whole.
    NotWhole,
}

/// A question that a client's form may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormQuestion(String);

impl FormQuestion {
    /// The whole question. Nothing in it is invisible.
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl ConsentPrompt {
    /// The prompt as a client's form may ask it. The only answers are yes, this once, and no.
    ///
    /// # Errors
    /// The reason for asking it in another way.
    pub fn by_form(&self) -> Result<FormQuestion, NotByForm> {
        let QuestionTask { chosen_by, tier } = self.task();
        match chosen_by {
            ChosenBy::User => {}
            ChosenBy::Agent => return Err(NotByForm::ChosenByTheAgent),
        }
        judge_tier(tier)?;
        self.asked.iter().try_for_each(judge)?;
        self.noticed.iter().try_for_each(judge_notice)?;
        self.choices().try_for_each(judge_choice)?;
        let lines = self.whole_lines().ok_or(NotByForm::NotWhole)?;
        let opens_task = self.asked.iter().any(|asked| matches!(asked, Asked::Container { .. }));
        let holds = if opens_task { "for this task" } else { "this once" };
        let message = format!("Portcullis asks. {lines}A yes holds {holds}, and everything else is no.");
        if message.chars().count() > MAX_CHARS { Err(NotByForm::NotWhole) } else { Ok(FormQuestion(message)) }
    }
}

fn judge(asked: &Asked) -> Result<(), NotByForm> {
    match asked {
        Asked::Container { tier, origins: _, own_browser } => match own_browser {
            None => judge_tier(*tier),
            Some(OpenPages::Wait | OpenPages::Trusted) => Err(NotByForm::OwnBrowser),
        },
        Asked::Release {
            kind,
            fields,
            later,
            to: _,
            sent_to: _,
            records: _,
            form,
            boxes,
            provider,
            in_order: _,
        } => {
            judge_kind(*kind)?;
            fields.iter().chain(later.iter()).try_for_each(judge_field)?;
            match (provider, *later, boxes.as_slice()) {
                (Some(_), _, _) => Err(NotByForm::Payment),
                (None, FieldSet::EMPTY, []) => form.as_ref().map_or(Ok(()), judge_form),
                (None, FieldSet::EMPTY, [_, ..]) => Err(NotByForm::ChosenByTheAgent),
                // Only a login has several steps.
                (None, _, _) => Err(NotByForm::Account),
            }
        }
        Asked::Pay { .. }
        | Asked::Mandate { .. }
        | Asked::Order(_)
        | Asked::Tell { .. }
        | Asked::Buy { .. } => Err(NotByForm::Payment),
        Asked::NewPassword { .. }
        | Asked::SignOn { .. }
        | Asked::AtProvider { .. }
        | Asked::Restore { .. }
        | Asked::KeepLogin { .. } => Err(NotByForm::Account),
        Asked::Reveal { .. } => Err(NotByForm::UsersWords),
        Asked::Upload { .. } => Err(NotByForm::Upload),
        Asked::Verb { .. } => Err(NotByForm::Action),
    }
}

fn judge_tier(tier: Container) -> Result<(), NotByForm> {
    match tier {
        Container::T0 | Container::T1 => Ok(()),
        Container::T2 => Err(NotByForm::HighTier),
    }
}

fn judge_kind(kind: Kind) -> Result<(), NotByForm> {
    match kind {
        Kind::Address | Kind::Contact => Ok(()),
        Kind::Payment | Kind::Purchase => Err(NotByForm::Payment),
        Kind::Login | Kind::Otp => Err(NotByForm::Account),
        Kind::Identity => Err(NotByForm::HighTier),
    }
}

fn judge_field(field: Field) -> Result<(), NotByForm> {
    match field.tier() {
        Tier::T0 | Tier::T1 => Ok(()),
        Tier::T2 => Err(NotByForm::HighTier),
    }
}

fn judge_form(form: &FormPlace) -> Result<(), NotByForm> {
    let FormPlace { purpose, page, action, exposed } = form;
    match purpose {
        Purpose::Address | Purpose::Contact | Purpose::Newsletter | Purpose::Registration => {}
        Purpose::Login => return Err(NotByForm::Account),
        Purpose::Payment => return Err(NotByForm::Payment),
        Purpose::Review | Purpose::Order | Purpose::Search | Purpose::Unknown => {
            return Err(NotByForm::Warned);
        }
    }
    match exposed {
        None => {}
        Some(Exposed::FreeText | Exposed::InTheAddress) => return Err(NotByForm::Warned),
    }
    let is_plain = page.iter().chain(action).all(|path| path.chars().all(is_plain));
    if is_plain { Ok(()) } else { Err(NotByForm::NotWhole) }
}

/// Whether a character of a path, which the site chose, is shown as it is where a client takes the text for Markdown or HTML.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '.' | '%' | '_' | '*')
}

fn judge_notice(notice: &Notice) -> Result<(), NotByForm> {
    match notice {
        // The user listed the site, or the agent made a mistake: neither is a sign of an attack.
        Notice::InClear { .. } | Notice::Refusals(_) => Ok(()),
        Notice::Client(_) => Err(NotByForm::SeveralClients),
        Notice::ChosenByTheAgent => Err(NotByForm::ChosenByTheAgent),
        Notice::NoAmount { .. } | Notice::NotMandated(_) => Err(NotByForm::Payment),
        Notice::OwnBrowser => Err(NotByForm::OwnBrowser),
        Notice::Host(_)
        | Notice::InFrame { .. }
        | Notice::SentElsewhere { .. }
        | Notice::CodeAlone
        | Notice::Guessed
        | Notice::GuessedBefore(_)
        | Notice::Suspicion(_) => Err(NotByForm::Warned),
    }
}

fn judge_choice(choice: Answer) -> Result<(), NotByForm> {
    match choice {
        // Of these the form offers the first no and the shortest yes.
        Answer::No | Answer::Never | Answer::Once | Answer::Session => Ok(()),
        Answer::Site => Err(NotByForm::StandingYes),
    }
}

#[cfg(test)]
mod tests;
