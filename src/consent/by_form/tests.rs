//! Each kind of question, and whether a form asks it.

use browser_signals::Origin;
use policy_dfa::{ConsentScope, Millis, VerbKind};
use sirl::{Currency, Money};

use super::*;
use crate::consent::answer::{SubjectBuilder, Ticket};
use crate::consent::asked_parts::{AskedFile, AskedProvider, PointedBox, Quoted};
use crate::consent::order::Order;
use crate::consent::suspicion::{Concern, Suspicion};

const OWN_TASK: QuestionTask = QuestionTask { chosen_by: ChosenBy::User, tier: Container::T1 };

fn site() -> Origin {
    Origin::parse("https://shop.example").unwrap()
}

fn place(purpose: Purpose, page: &str, exposed: Option<Exposed>) -> Option<FormPlace> {
    Some(FormPlace::new(purpose, Some(page), Some("/send"), exposed))
}

/// A release that a form may ask about.
fn release() -> Asked {
    Asked::Release {
        kind: Kind::Contact,
        fields: [Field::Name, Field::Email].into_iter().collect(),
        later: FieldSet::EMPTY,
        to: site(),
        sent_to: Some(site()),
        records: vec!["contact:me".into()],
        form: place(Purpose::Contact, "/contact", None),
        boxes: Vec::new(),
        provider: None,
        in_order: false,
    }
}

/// The release with one difference.
fn release_with(change: impl FnOnce(&mut Kind, &mut FieldSet, &mut Option<FormPlace>)) -> Asked {
    let mut release = release();
    if let Asked::Release { kind, fields, form, .. } = &mut release {
        change(kind, fields, form);
    }
    release
}

fn prompt(asked: Vec<Asked>, noticed: Vec<Notice>, scope: ConsentScope) -> ConsentPrompt {
    let ticket = Ticket::new([0; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
    ConsentPrompt::new(asked, noticed, scope, ticket).in_task(OWN_TASK)
}

fn judged(asked: Asked) -> Result<(), NotByForm> {
    prompt(vec![asked], Vec::new(), ConsentScope::Session).by_form().map(drop)
}

fn container(tier: Container, own_browser: Option<OpenPages>) -> Asked {
    Asked::Container { tier, origins: vec![site()], own_browser }
}

#[test]
fn a_form_shows_the_whole_question_and_what_a_yes_covers() {
    let release = prompt(vec![release()], vec![Notice::Refusals(2)], ConsentScope::Session);
    assert_eq!(
        release.by_form().unwrap().message(),
        "Portcullis asks. The agent needs your consent to:\n  ! the agent was refused 2 times in this task\n  \
         - fill your contact (name, email) into a form of:\n      shop.example\n      into a contact form on /contact, sent to \
         /send\n      it is sent to https://shop.example\n      from your contact:me\nA yes holds this once, and everything else is no."
    );
    let task = prompt(vec![container(Container::T1, None)], Vec::new(), ConsentScope::Session);
    assert!(
        task.by_form().unwrap().message().ends_with("A yes holds for this task, and everything else is no.")
    );
}

#[test]
fn only_a_task_of_the_users_own_words_below_t2_is_asked_about_by_form() {
    let asked = |task| {
        let ticket = Ticket::new([0; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
        let prompt = ConsentPrompt::new(vec![release()], Vec::new(), ConsentScope::Session, ticket);
        match task {
            Some((chosen_by, tier)) => prompt.in_task(QuestionTask { chosen_by, tier }),
            None => prompt,
        }
    };
    let judged = |task| asked(task).by_form().map(drop);
    assert_eq!(judged(Some((ChosenBy::User, Container::T1))), Ok(()));
    assert_eq!(judged(Some((ChosenBy::User, Container::T2))), Err(NotByForm::HighTier));
    assert_eq!(judged(Some((ChosenBy::Agent, Container::T1))), Err(NotByForm::ChosenByTheAgent));
    assert_eq!(judged(None), Err(NotByForm::ChosenByTheAgent));
}

#[test]
fn a_release_is_asked_about_by_form_for_t1_fields_of_a_plain_form_alone() {
    assert_eq!(judged(release()), Ok(()));
    for kind in Kind::ALL {
        let expected = match kind {
            Kind::Address | Kind::Contact => Ok(()),
            Kind::Payment | Kind::Purchase => Err(NotByForm::Payment),
            Kind::Login | Kind::Otp => Err(NotByForm::Account),
            Kind::Identity => Err(NotByForm::HighTier),
        };
        assert_eq!(judged(release_with(|it, _, _| *it = kind)), expected, "{kind:?}");
    }
    let simple = [
        Field::Name,
        Field::Country,
        Field::Region,
        Field::City,
        Field::Phone,
        Field::Email,
        Field::Username,
        Field::Company,
    ];
    for field in Field::ALL {
        let with = |fields: &mut FieldSet| *fields = fields.with(field);
        let expected = if simple.contains(&field) { Ok(()) } else { Err(NotByForm::HighTier) };
        assert_eq!(judged(release_with(|_, fields, _| with(fields))), expected, "{field:?}");
    }
    for purpose in Purpose::ALL {
        let expected = match purpose {
            Purpose::Address | Purpose::Contact | Purpose::Newsletter | Purpose::Registration => Ok(()),
            Purpose::Login => Err(NotByForm::Account),
            Purpose::Payment => Err(NotByForm::Payment),
            Purpose::Review | Purpose::Order | Purpose::Search | Purpose::Unknown => Err(NotByForm::Warned),
        };
        assert_eq!(judged(release_with(|_, _, form| *form = place(purpose, "/a", None))), expected);
    }
    for exposed in [Exposed::FreeText, Exposed::InTheAddress] {
        let asked = release_with(|_, _, form| *form = place(Purpose::Contact, "/a", Some(exposed)));
        assert_eq!(judged(asked), Err(NotByForm::Warned));
    }
}

#[test]
fn a_release_of_a_later_step_a_pointed_box_or_a_providers_frame_is_not_asked_about_by_form() {
    for (change, expected) in
        [(0, NotByForm::Account), (1, NotByForm::ChosenByTheAgent), (2, NotByForm::Payment)]
    {
        let mut asked = release();
        if let Asked::Release { later, boxes, provider, .. } = &mut asked {
            match change {
                0 => *later = FieldSet::EMPTY.with(Field::Email),
                1 => boxes.push(PointedBox { field: Field::Email, label: "b7".into() }),
                _ => {
                    let name = "pay".into();
                    *provider = Some(AskedProvider { name, shop: site(), tokens: Vec::new() });
                }
            }
        }
        assert_eq!(judged(asked), Err(expected));
    }
}

#[test]
fn no_other_kind_of_question_is_asked_by_form() {
    assert_eq!(judged(container(Container::T1, None)), Ok(()));
    let amount = Money::parse("64.15", Currency::new("USD").unwrap()).unwrap();
    let order = Order {
        site: site(),
        waiting: Vec::new(),
        address: Vec::new(),
        actions: Vec::new(),
        refused: Vec::new(),
        page_says: Vec::new(),
    };
    let file = AskedFile { name: "cv.pdf".into(), bytes: 1, sha256: [0; 32] };
    let (label, page_says) = (String::new(), Vec::new());
    for (asked, expected) in [
        (container(Container::T2, None), NotByForm::HighTier),
        (container(Container::T1, Some(OpenPages::Wait)), NotByForm::OwnBrowser),
        (container(Container::T1, Some(OpenPages::Trusted)), NotByForm::OwnBrowser),
        (Asked::Pay { payee: site(), amount, card: None, page_says: page_says.clone() }, NotByForm::Payment),
        (Asked::Order(order), NotByForm::Payment),
        (
            Asked::NewPassword { site: site(), record: "login:shop".into(), weak: None, again: false },
            NotByForm::Account,
        ),
        (Asked::Reveal { field: Field::Name, words: Quoted::new("Ada Lane") }, NotByForm::UsersWords),
        (
            Asked::SignOn {
                site: site(),
                provider: site(),
                address: "/".into(),
                fields: FieldSet::EMPTY.with(Field::Email),
                records: Vec::new(),
            },
            NotByForm::Account,
        ),
        (
            Asked::AtProvider {
                verb: VerbKind::Click,
                provider: site(),
                site: site(),
                label: label.clone(),
                goes_to: None,
                page_says,
            },
            NotByForm::Account,
        ),
        (
            Asked::Upload { files: vec![file], site: site(), path: "/".into(), label, sent_to: None },
            NotByForm::Upload,
        ),
        (Asked::Verb { verb: VerbKind::Click, page: Some(site()), goes_to: None }, NotByForm::Action),
    ] {
        assert_eq!(judged(asked.clone()), Err(expected), "{asked:?}");
        // A simple question beside it changes nothing.
        let both = prompt(vec![release(), asked], Vec::new(), ConsentScope::Session);
        assert_eq!(both.by_form().map(drop), Err(expected));
    }
}

#[test]
fn a_warning_or_a_standing_yes_keeps_a_question_from_the_form() {
    let noticed =
        |notice: Notice| prompt(vec![release()], vec![notice], ConsentScope::Session).by_form().map(drop);
    assert_eq!(noticed(Notice::InClear { site: site() }), Ok(()));
    assert_eq!(noticed(Notice::Refusals(1)), Ok(()));
    let suspicion = Suspicion { concern: Concern::Low, page: None, told: true };
    for (notice, expected) in [
        (Notice::Client("editor".into()), NotByForm::SeveralClients),
        (Notice::ChosenByTheAgent, NotByForm::ChosenByTheAgent),
        (Notice::NoAmount { page_says: Vec::new(), is_repeated: false }, NotByForm::Payment),
        (Notice::OwnBrowser, NotByForm::OwnBrowser),
        (Notice::Host("looks like another".into()), NotByForm::Warned),
        (Notice::InFrame { top: site() }, NotByForm::Warned),
        (Notice::SentElsewhere { to: site() }, NotByForm::Warned),
        (Notice::Guessed, NotByForm::Warned),
        (Notice::GuessedBefore(1), NotByForm::Warned),
        (Notice::Suspicion(suspicion), NotByForm::Warned),
    ] {
        assert_eq!(noticed(notice.clone()), Err(expected), "{notice:?}");
    }
    let within = |scope| prompt(vec![release()], Vec::new(), scope);
    assert_eq!(within(ConsentScope::EveryTime).by_form().map(drop), Ok(()));
    assert_eq!(within(ConsentScope::Site).by_form().map(drop), Err(NotByForm::StandingYes));
    assert_eq!(within(ConsentScope::Site).for_this_task_only().by_form().map(drop), Ok(()));
}

#[test]
fn what_a_form_might_not_show_whole_is_not_asked_by_it() {
    let on = |page: &str| judged(release_with(|_, _, form| *form = place(Purpose::Contact, page, None)));
    assert_eq!(on("/kontakt-2/a_b.html/caf%C3%A9"), Ok(()));
    for page in [
        "/[yes](https://evil.example)",
        "/<b>",
        "/a`b`",
        "/a~~b~~",
        "/a&lt;",
        "/\u{202E}a",
        "/a b",
        "/a\nb",
        "/é",
    ] {
        assert_eq!(on(page), Err(NotByForm::NotWhole), "{page}");
    }
    assert_eq!(on(&"/long".repeat(500)), Err(NotByForm::NotWhole));
    let named = |record: &str| {
        let mut asked = release();
        if let Asked::Release { records, .. } = &mut asked {
            *records = vec![record.to_owned()];
        }
        judged(asked)
    };
    assert_eq!(named("contact:Zoë"), Ok(()));
    assert_eq!(named("contact:\u{200B}me"), Err(NotByForm::NotWhole));
    let origins = (0..8).map(|n| format!("https://{}{n}.example", "long-name.".repeat(20)));
    let origins = origins.map(|origin| Origin::parse(&origin).unwrap()).collect();
    let many = Asked::Container { tier: Container::T1, origins, own_browser: None };
    assert_eq!(judged(many), Err(NotByForm::NotWhole));
}
