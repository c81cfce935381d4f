//! The matcher of `site` rules: a table of the hosts in the patterns.
//!
//! A host is read backwards. After each whole label the table gives the rules for every host below the labels that
//! were read (`*.shop.example`), and at the end those for this host alone. So the cost of a match grows with the
//! labels of the host and with the rules that match it, and not with the rules of the policy. Building the table
//! takes time in proportion to the rules.

use std::ops::Range;

use crate::language::site::{PathPattern, SiteEffect, SiteRule};
use crate::vocabulary::event::{EventKind, Root};

/// The hash of the empty text (FNV-1a with 32 bits). The hash only chooses a place in the table: hosts are compared
/// as a whole, so that a collision costs time and changes no match.
const EMPTY_HASH: u32 = 0x811c_9dc5;
/// The mark of an unused place in the table. A policy has fewer hosts.
const UNUSED: u16 = u16::MAX;

/// An address that takes part in an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SiteAddress<'a> {
    /// The host in its ASCII form.
    pub(crate) host: &'a str,
    /// The path of an address that the event goes to; none for the page that it comes from.
    pub(crate) path: Option<&'a str>,
}

/// A set of events, with a bit for each.
#[derive(Debug, Clone, Copy, Default)]
struct Events(u32);

impl Events {
    fn of(event: EventKind) -> Events {
        Events(1 << event.index())
    }

    fn add(&mut self, other: Events) {
        self.0 |= other.0;
    }

    fn meet(self, other: Events) -> bool {
        self.0 & other.0 != 0
    }
}

/// The part of a rule that is left once its host matches.
#[derive(Debug, Clone)]
struct OnHost {
    events: Events,
    effect: SiteEffect,
    path: Option<PathPattern>,
}

/// A host that some pattern names, with its rules as parts of [`SiteMatcher::rules`].
#[derive(Debug, Clone)]
struct NamedHost {
    hash: u32,
    host: Box<str>,
    /// The rules for this host alone.
    exact: Range<usize>,
    /// The rules for every host below it.
    below: Range<usize>,
}

/// The `site` rules of a policy, by their hosts.
#[derive(Debug, Clone)]
pub(crate) struct SiteMatcher {
    /// Those of one host stand together.
    rules: Vec<OnHost>,
    hosts: Vec<NamedHost>,
    /// Indices of `hosts`, with linear probing. The length is a power of two, and at most half of the places are used.
    places: Vec<u16>,
    /// The events that any rule names.
    named: Events,
    /// The events that an `only` rule names.
    confined: Events,
}

impl SiteMatcher {
    /// The matcher of these rules.
    pub(crate) fn new(rules: &[SiteRule]) -> SiteMatcher {
        let mut sorted: Vec<&SiteRule> = rules.iter().collect();
        // The order of the rules for one host has no meaning.
        sorted.sort_by_key(|rule| (rule.pattern.hosts.host(), rule.pattern.hosts.is_below()));
        let mut matcher = SiteMatcher {
            rules: Vec::with_capacity(rules.len()),
            hosts: Vec::new(),
            places: vec![UNUSED; (2 * rules.len()).next_power_of_two()],
            named: Events::default(),
            confined: Events::default(),
        };
        for group in sorted.chunk_by(|one, other| one.pattern.hosts.host() == other.pattern.hosts.host()) {
            let Some(host) = group.first().map(|rule| rule.pattern.hosts.host()) else { continue };
            let first = matcher.rules.len();
            let exact = group.iter().filter(|rule| !rule.pattern.hosts.is_below()).count();
            group.iter().for_each(|rule| matcher.add(rule));
            matcher.place(NamedHost {
                hash: host.bytes().rev().fold(EMPTY_HASH, hashed),
                host: host.into(),
                exact: first..first + exact,
                below: first + exact..first + group.len(),
            });
        }
        matcher
    }

    fn add(&mut self, rule: &SiteRule) {
        let mut events = Events::default();
        rule.events.iter().for_each(|event| events.add(Events::of(*event)));
        self.named.add(events);
        if rule.effect == SiteEffect::Only {
            self.confined.add(events);
        }
        self.rules.push(OnHost { events, effect: rule.effect, path: rule.pattern.path.clone() });
    }

    /// Gives a host the first unused place from that of its hash on.
    fn place(&mut self, host: NamedHost) {
        let Ok(number) = u16::try_from(self.hosts.len()) else { return };
        let at = self.probes(host.hash).find(|at| self.places.get(*at) == Some(&UNUSED));
        if let Some(place) = at.and_then(|at| self.places.get_mut(at)) {
            *place = number;
            self.hosts.push(host);
        }
    }

    /// The places for a hash, in the order in which they are tried.
    fn probes(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let mask = self.places.len().wrapping_sub(1);
        // The upper bits, which depend on every letter, choose the place as well.
        let first = (hash ^ (hash >> 15)) as usize;
        (0..self.places.len()).map(move |step| first.wrapping_add(step) & mask)
    }

    /// The rules of a host, which has this hash.
    fn find(&self, hash: u32, host: &str) -> Option<&NamedHost> {
        for at in self.probes(hash) {
            // No host has the number of an unused place.
            let found = self.hosts.get(usize::from(*self.places.get(at)?))?;
            if found.hash == hash && *found.host == *host {
                return Some(found);
            }
        }
        None
    }

    /// Whether any rule names the event.
    pub(crate) fn any_names(&self, root: Root) -> bool {
        self.named.meet(Events::of(EventKind::of(root)))
    }

    /// Returns true if a rule forbids the event at one of the addresses that take part in it. It allocates nothing.
    ///
    /// The server may read a path with an escape or an empty segment as another path. So such a path matches every
    /// `never` rule of its host, and no `only` rule with a path.
    pub(crate) fn forbids<'a>(
        &self,
        root: Root,
        mut addresses: impl Iterator<Item = SiteAddress<'a>>,
    ) -> bool {
        let event = Events::of(EventKind::of(root));
        self.named.meet(event) && addresses.any(|address| self.forbids_at(event, address))
    }

    fn forbids_at(&self, event: Events, SiteAddress { host, path }: SiteAddress<'_>) -> bool {
        let ambiguous = path.is_some_and(|path| path.contains('%') || path.contains("//"));
        let mut allowed = !self.confined.meet(event);
        let mut forbidden = false;
        let mut judge = |rules: &Range<usize>| {
            let rules = self.rules.get(rules.clone()).unwrap_or_default();
            for rule in rules.iter().filter(|rule| rule.events.meet(event)) {
                let is_never = rule.effect == SiteEffect::Never;
                let matches = match (&rule.path, path) {
                    (None, _) => true,
                    (Some(_), None) => !is_never,
                    (Some(_), Some(_)) if ambiguous => is_never,
                    (Some(pattern), Some(path)) => pattern.matches(path),
                };
                *(if is_never { &mut forbidden } else { &mut allowed }) |= matches;
            }
        };
        let mut hash = EMPTY_HASH;
        for (at, byte) in host.bytes().enumerate().rev() {
            // A host below another one has at least one letter in front of the dot.
            if byte == b'.'
                && at > 0
                && let Some(found) = host.get(at + 1..).and_then(|labels| self.find(hash, labels))
            {
                judge(&found.below);
            }
            hash = hashed(hash, byte);
        }
        if let Some(found) = self.find(hash, host) {
            judge(&found.exact);
        }
        forbidden || !allowed
    }
}

fn hashed(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sirl::{Kind, Tier};

    use super::{SiteAddress, SiteMatcher};
    use crate::language::site::{MAX_SITES, SiteEffect, SitePattern, SiteRule};
    use crate::vocabulary::event::{EventKind, Root};

    const LOGIN: Root = Root::Request(Kind::Login, Tier::T2);
    const OTP: Root = Root::Request(Kind::Otp, Tier::T2);

    fn rule(text: &str, effect: SiteEffect, events: &[Root]) -> SiteRule {
        SiteRule {
            pattern: SitePattern::parse(text).unwrap(),
            effect,
            events: events.iter().map(|root| EventKind::of(*root)).collect(),
        }
    }

    fn host() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "shop", "example"]), 1..4)
            .prop_map(|labels| labels.join("."))
    }

    /// Hosts of addresses: also those that no pattern with a star can name.
    fn address() -> impl Strategy<Value = String> {
        prop_oneof![8 => host(), 1 => Just("[::1]".to_owned()), 1 => host().prop_map(|host| format!(".{host}"))]
    }

    fn path() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "%61", ""]), 0..3)
            .prop_map(|segments| format!("/{}", segments.join("/")))
    }

    fn pattern() -> impl Strategy<Value = String> {
        let path = prop::sample::select(vec!["", "", "/", "/*", "/a", "/a/*", "/a/b", "/b*"]);
        let host = prop_oneof![
            4 => host(),
            4 => host().prop_map(|host| format!("*.{host}")),
            1 => Just("[::1]".to_owned()),
        ];
        (host, path).prop_map(|(host, path)| host + path)
    }

    fn events() -> impl Strategy<Value = Vec<Root>> {
        prop::sample::select(vec![vec![LOGIN], vec![OTP], vec![LOGIN, OTP]])
    }

    /// The rules as the specification states them.
    fn reference(root: Root, rules: &[SiteRule], places: &[(String, Option<String>)]) -> bool {
        let rules: Vec<_> = rules.iter().filter(|rule| rule.events.contains(&EventKind::of(root))).collect();
        let odd = |path: &str| path.contains('%') || path.contains("//");
        let falls = |rule: &SiteRule, (host, path): &(String, Option<String>)| {
            let meant = match (&rule.pattern.path, path) {
                (None, _) => true,
                (Some(_), None) => rule.effect == SiteEffect::Only,
                (Some(_), Some(path)) if odd(path) => rule.effect == SiteEffect::Never,
                (Some(pattern), Some(path)) => pattern.matches(path),
            };
            rule.pattern.hosts.matches(host) && meant
        };
        let confined = rules.iter().any(|rule| rule.effect == SiteEffect::Only);
        places.iter().any(|place| {
            let never = rules.iter().any(|rule| rule.effect == SiteEffect::Never && falls(rule, place));
            let allowed = rules.iter().any(|rule| rule.effect == SiteEffect::Only && falls(rule, place));
            never || (confined && !allowed)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn the_table_agrees_with_the_specification(
            rules in prop::collection::vec((pattern(), any::<bool>(), events()), 0..12),
            page in address(),
            goal in (address(), path()),
            root in prop::sample::select(vec![LOGIN, OTP]),
        ) {
            let effect = |only: bool| if only { SiteEffect::Only } else { SiteEffect::Never };
            let rules: Vec<_> = rules.iter().map(|(text, only, events)| rule(text, effect(*only), events)).collect();
            let places = [(page.clone(), None), (goal.0.clone(), Some(goal.1.clone()))];
            let expected = reference(root, &rules, &places);
            let matcher = SiteMatcher::new(&rules);
            let found = matcher.forbids(root, places.iter().map(|(host, path)| {
                SiteAddress { host, path: path.as_deref() }
            }));
            prop_assert_eq!(found, expected, "{:?} {:?}", rules, places);
        }
    }

    /// Every host of the patterns and its neighbours, against every rule tried one by one.
    #[test]
    fn the_largest_number_of_rules_agrees_with_the_specification() {
        let rules: Vec<_> = (0..MAX_SITES)
            .map(|n| {
                let effect = if n % 5 == 0 { SiteEffect::Only } else { SiteEffect::Never };
                match n % 4 {
                    0 => rule(&format!("shop{n}.example"), effect, &[LOGIN]),
                    1 => rule(&format!("*.shop{n}.example"), effect, &[LOGIN]),
                    2 => rule(&format!("*.b.shop{}.example/a{n}/*", n - 1), effect, &[LOGIN]),
                    _ => rule(&format!("shop{}.example/a{n}", n - 3), effect, &[LOGIN]),
                }
            })
            .collect();
        let matcher = SiteMatcher::new(&rules);
        let (mut forbidden, mut all) = (0, 0);
        for n in 0..MAX_SITES {
            for host in ["", "x.", "b.", "x.b.", "x"].map(|below| format!("{below}shop{n}.example")) {
                for path in [
                    None,
                    Some("/".to_owned()),
                    Some(format!("/a{}", n + 3)),
                    Some(format!("/a{}/b", n + 1)),
                    Some("/%61".to_owned()),
                ] {
                    let place = (host.clone(), path);
                    let address = SiteAddress { host: &place.0, path: place.1.as_deref() };
                    let found = matcher.forbids(LOGIN, [address].into_iter());
                    assert_eq!(found, reference(LOGIN, &rules, std::slice::from_ref(&place)), "{place:?}");
                    (forbidden, all) = (forbidden + usize::from(found), all + 1);
                }
            }
        }
        assert!(forbidden > all / 10 && forbidden < all, "{forbidden} of {all}");
    }
}
