//! Single sign-on: the provider is a site of the task for the login and for what sends it on, and for nothing else.

use browser_signals::{Fact, Observed};
use policy_dfa::{
    Axis, Carried, Consent, DecisionPoint, Event, History, Millis, Question, SignOn, Symbol, Task, VerbKind,
    symbol,
};
use sirl::{FieldSet, Kind, Request};

use crate::common::{DEFAULT, Scene, goal, guard, origin};

const SHOP: &str = "https://shop.example";
const PROVIDER: &str = "https://id.example";
const OTHER: &str = "https://id-login.example";

fn signed_on(task: &Task) -> Task {
    task.clone().signing_on(SignOn { provider: origin(PROVIDER), site: origin(SHOP) })
}

/// The symbols of origin, top origin and destination of an event on a page of these origins with a form that goes there.
fn seen(
    point: &DecisionPoint,
    task: &Task,
    event: Event<'_>,
    (here, top, to): (&str, &str, &str),
) -> [u8; 3] {
    let mut page = Scene::address().page;
    (page.origin, page.top_origin) = (Fact::Known(origin(here)), Fact::Known(origin(top)));
    page.destination = goal(to);
    let page = Observed::simulated(page, 1);
    let (consent, history, now) = (Consent::None, History::default(), Millis(0));
    let question = Question { event, page: Some(&page), task, consent, history, safety: Fact::Unknown, now };
    let (_, valuation) = point.valuation(&question);
    [Axis::Origin, Axis::TopOrigin, Axis::Destination].map(|axis| valuation.get(axis))
}

const ALL: [&str; 3] = [SHOP, PROVIDER, OTHER];

fn pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    ALL.into_iter()
        .flat_map(|here| ALL.into_iter().flat_map(move |top| ALL.into_iter().map(move |to| (here, top, to))))
}

fn events() -> (Vec<Request>, Vec<VerbKind>) {
    let request = |kind| Request {
        kind,
        fields: FieldSet::EMPTY,
        at: Default::default(),
        items: Default::default(),
        claim: Default::default(),
    };
    (
        Kind::ALL.into_iter().map(request).collect(),
        vec![
            VerbKind::Open,
            VerbKind::Read,
            VerbKind::Click,
            VerbKind::Type,
            VerbKind::Choose,
            VerbKind::Press,
            VerbKind::Submit,
            VerbKind::Idle,
        ],
    )
}

/// Over every kind of request and every verb, on every page of the three sites that sends to every one of them.
#[test]
fn the_provider_is_a_site_of_the_task_only_for_its_login() {
    let (point, _) = guard(DEFAULT);
    let plain = Scene::address().task;
    let agreed = signed_on(&plain);
    let (requests, verbs) = events();
    let of_request = |request| Event::Request { request, placements: &[], amount: None };
    let of_verb = |verb| Event::Verb { verb, to: None, carries: Fact::Known(Carried::Own) };
    let all = requests.iter().map(|it| (of_request(it), matches!(it.kind, Kind::Login | Kind::Otp), false));
    let sends = |verb: &VerbKind| matches!(verb, VerbKind::Click | VerbKind::Submit);
    let all = all.chain(verbs.iter().map(|verb| (of_verb(*verb), sends(verb), sends(verb))));
    let mut differ = 0;
    for (event, belongs, leads_on) in all {
        for page in pages() {
            let (here, top, to) = page;
            let (before, after) = (seen(&point, &plain, event, page), seen(&point, &agreed, event, page));
            let whole = (here, top) == (PROVIDER, PROVIDER);
            let task = |yes: bool, other| if yes { symbol::Origin::Task.index() } else { other };
            let expected = [
                task(belongs && whole, before[0]),
                if belongs && whole { symbol::TopOrigin::Task.index() } else { before[1] },
                match to {
                    PROVIDER if belongs && whole => symbol::Destination::Task.index(),
                    PROVIDER if leads_on && (here, top) == (SHOP, SHOP) => symbol::Destination::Task.index(),
                    // What the provider is given does not go on to the site.
                    SHOP if here == PROVIDER && matches!(event, Event::Request { .. }) => {
                        symbol::Destination::Other.index()
                    }
                    _ => before[2],
                },
            ];
            assert_eq!(after, expected, "{event:?} {page:?}");
            differ += usize::from(after != before);
        }
    }
    assert!(differ > 0);
}

#[test]
fn a_provider_without_a_site_of_the_task_and_a_site_that_is_one_anyway_change_nothing() {
    let task = Scene::address().task;
    for (provider, site) in [(PROVIDER, OTHER), (SHOP, SHOP)] {
        let sign_on = SignOn { provider: origin(provider), site: origin(site) };
        assert_eq!(task.clone().signing_on(sign_on).sign_on(), None);
    }
    assert!(
        signed_on(&task)
            .sign_on()
            .is_some_and(|it| it.includes(&origin(PROVIDER)) && !it.includes(&origin(OTHER)))
    );
    assert_eq!(signed_on(&task).origins(), task.origins(), "the task's own sites stay the same");
}

#[test]
fn an_address_of_the_provider_is_not_opened() {
    let (point, _) = guard(DEFAULT);
    let (task, provider) = (signed_on(&Scene::address().task), origin(PROVIDER));
    let goal = policy_dfa::Goal { origin: &provider, path: "/device" };
    let open = Event::Verb { verb: VerbKind::Open, to: Some(goal), carries: Fact::Known(Carried::Own) };
    for here in ALL {
        let [_, _, to] = seen(&point, &task, open, (here, here, here));
        assert_eq!(to, symbol::Destination::Other.index(), "{here}");
    }
}
