//! Which `site` rules a place falls under: one automaton over all patterns.
//!
//! Hosts are read backwards, so that a pattern with a star in front is a common beginning and the automaton
//! stays small; the path follows. One walk gives every pattern that a place matches.

use regex_automata::Anchored;
use regex_automata::MatchKind;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::start;
use regex_automata::util::syntax;

use crate::site::{SiteEffect, SiteRule};
use crate::table::Root;

/// The most `site` rules of a policy.
pub(crate) const MAX_SITES: usize = 256;
/// The largest automaton over the patterns, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// A set of rules, by their places.
type RuleSet = [u64; MAX_SITES / 64];

/// Where something takes part in an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The host in its ASCII form.
    pub(crate) host: &'a str,
    /// The path, where the place is one that the event goes to; none for the page it comes from.
    pub(crate) path: Option<&'a str>,
}

/// The `site` rules, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    rules: Vec<SiteRule>,
    /// Two patterns a rule: its hosts with any path, and its hosts with its own. None without rules, and
    /// where the patterns are tried one by one.
    automaton: Option<dense::DFA<Vec<u32>>>,
}

impl Places {
    /// The automaton of these rules, or nothing where it would be too large.
    pub(crate) fn new(rules: Vec<SiteRule>) -> Option<Places> {
        if rules.is_empty() {
            return Some(Places { rules, automaton: None });
        }
        let patterns: Vec<String> =
            rules.iter().flat_map(|rule| [false, true].map(|path| rule.place.expression(path))).collect();
        let config = dense::Config::new()
            .match_kind(MatchKind::All)
            .start_kind(StartKind::Anchored)
            .dfa_size_limit(Some(MAX_BYTES))
            .determinize_size_limit(Some(2 * MAX_BYTES));
        let automaton = dense::Builder::new()
            .configure(config)
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .build_many(&patterns)
            .ok()?;
        Some(Places { rules, automaton: Some(automaton) })
    }

    /// The same rules without an automaton, which takes milliseconds to make: their patterns are tried one
    /// after the other.
    pub(crate) fn one_by_one(rules: Vec<SiteRule>) -> Places {
        Places { rules, automaton: None }
    }

    /// With an automaton, unless it would be too large; the answers are the same.
    pub(crate) fn ready(self) -> Places {
        if self.automaton.is_some() {
            return self;
        }
        Places::new(self.rules.clone()).unwrap_or(self)
    }

    /// Whether any rule names the event.
    pub(crate) fn concern(&self, root: Root) -> bool {
        self.rules.iter().any(|rule| rule.names(root))
    }

    /// Whether a rule forbids the event at one of the places that take part in it.
    ///
    /// A path with an escape or an empty segment may be another path to the server. It falls under every
    /// `never` rule of its host and under no `only` rule with a path.
    pub(crate) fn forbid<'a>(&self, root: Root, places: impl Iterator<Item = Place<'a>>) -> bool {
        if !self.concern(root) {
            return false;
        }
        let mut limited = false;
        let named = |rule: &&SiteRule, effect| rule.effect == effect && rule.names(root);
        let confined = self.rules.iter().any(|rule| named(&rule, SiteEffect::Only));
        for place in places {
            let odd = place.path.is_some_and(|path| path.contains('%') || path.contains("//"));
            let (on_host, there) = self.matched(place);
            let mut allowed = false;
            for (number, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.names(root)) {
                let host = contains(&on_host, number);
                let exact = contains(&there, number) && !(odd && rule.place.path.is_some());
                match (rule.effect, &rule.place.path, place.path) {
                    (SiteEffect::Never, Some(_), None) => {}
                    (SiteEffect::Never, Some(_), Some(_)) => limited |= exact || (odd && host),
                    (SiteEffect::Never, None, _) => limited |= host,
                    (SiteEffect::Only, _, None) => allowed |= host,
                    (SiteEffect::Only, _, Some(_)) => allowed |= exact,
                }
            }
            limited |= confined && !allowed;
        }
        limited
    }

    /// The rules whose hosts a place is on, and those whose path it has too.
    fn matched(&self, place: Place<'_>) -> (RuleSet, RuleSet) {
        let (mut on_host, mut there) = (RuleSet::default(), RuleSet::default());
        let path = place.path.unwrap_or("/");
        let Some(automaton) = &self.automaton else {
            let on = self.rules.iter().enumerate().filter(|(_, rule)| rule.place.hosts.matches(place.host));
            for (number, rule) in on {
                insert(&mut on_host, number);
                if rule.place.path.as_ref().is_none_or(|pattern| pattern.matches(path)) {
                    insert(&mut there, number);
                }
            }
            return (on_host, there);
        };
        let Ok(mut state) = automaton.start_state(&start::Config::new().anchored(Anchored::Yes)) else {
            return (on_host, there);
        };
        for byte in place.host.bytes().rev().chain(path.bytes()) {
            state = automaton.next_state(state, byte);
            if automaton.is_dead_state(state) {
                return (on_host, there);
            }
        }
        let end = automaton.next_eoi_state(state);
        if automaton.is_match_state(end) {
            for nth in 0..automaton.match_len(end) {
                let pattern = automaton.match_pattern(end, nth).as_usize();
                insert(if pattern % 2 == 0 { &mut on_host } else { &mut there }, pattern / 2);
            }
        }
        (on_host, there)
    }
}

fn insert(set: &mut RuleSet, number: usize) {
    if let Some(word) = set.get_mut(number / 64) {
        *word |= 1 << (number % 64);
    }
}

fn contains(set: &RuleSet, number: usize) -> bool {
    set.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sirl::{Kind, Tier};

    use super::{Place, Places};
    use crate::site::{SiteEffect, SitePattern, SiteRule};
    use crate::table::Root;

    const ROOT: Root = Root::Request(Kind::Login, Tier::T2);

    fn rule(text: &str, effect: SiteEffect) -> SiteRule {
        SiteRule { place: SitePattern::parse(text).unwrap(), effect, kinds: vec![Kind::Login], verbs: vec![] }
    }

    fn host() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "shop", "example"]), 1..4)
            .prop_map(|labels| labels.join("."))
    }

    fn path() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "%61", ""]), 0..3)
            .prop_map(|segments| format!("/{}", segments.join("/")))
    }

    fn pattern() -> impl Strategy<Value = String> {
        let path = prop::sample::select(vec!["", "", "/", "/*", "/a", "/a/*", "/a/b", "/b*"]);
        (any::<bool>(), host(), path)
            .prop_map(|(star, host, path)| format!("{}{host}{path}", if star { "*." } else { "" }))
    }

    /// The rules one by one, as the specification words them.
    fn slowly(rules: &[SiteRule], places: &[(String, Option<String>)]) -> bool {
        let odd = |path: &str| path.contains('%') || path.contains("//");
        let falls = |rule: &SiteRule, (host, path): &(String, Option<String>)| {
            let meant = match (&rule.place.path, path) {
                (None, _) => true,
                (Some(_), None) => rule.effect == SiteEffect::Only,
                (Some(_), Some(path)) if odd(path) => rule.effect == SiteEffect::Never,
                (Some(pattern), Some(path)) => pattern.matches(path),
            };
            rule.place.hosts.matches(host) && meant
        };
        let confined = rules.iter().any(|rule| rule.effect == SiteEffect::Only);
        places.iter().any(|place| {
            let never = rules.iter().any(|rule| rule.effect == SiteEffect::Never && falls(rule, place));
            let allowed = rules.iter().any(|rule| rule.effect == SiteEffect::Only && falls(rule, place));
            never || (confined && !allowed)
        })
    }

    proptest! {
        #[test]
        fn the_automaton_agrees_with_the_patterns_one_by_one(
            rules in prop::collection::vec((pattern(), any::<bool>()), 0..6),
            page in host(),
            goal in (host(), path()),
        ) {
            let effect = |only: bool| if only { SiteEffect::Only } else { SiteEffect::Never };
            let rules: Vec<_> = rules.iter().map(|(text, only)| rule(text, effect(*only))).collect();
            let places = [(page.clone(), None), (goal.0.clone(), Some(goal.1.clone()))];
            let expected = slowly(&rules, &places);
            let one_by_one = Places::one_by_one(rules.clone());
            for ready in [Places::new(rules.clone()).unwrap(), one_by_one.clone(), one_by_one.ready()] {
                let found = ready.forbid(ROOT, places.iter().map(|(host, path)| {
                    Place { host, path: path.as_deref() }
                }));
                prop_assert_eq!(found, expected, "{:?} {:?}", rules, places);
            }
        }
    }

    #[test]
    fn as_many_rules_as_allowed_make_a_usable_automaton() {
        let rules =
            (0..super::MAX_SITES).map(|n| rule(&format!("*.shop{n}.example/a{n}/*"), SiteEffect::Never));
        let places = Places::new(rules.collect()).unwrap();
        let at = |host, path| places.forbid(ROOT, [Place { host, path: Some(path) }].into_iter());
        assert!(at("x.shop255.example", "/a255/b") && !at("x.shop255.example", "/a254/b"));
        assert!(at("x.shop7.example", "/%61") && !at("x.shop7.example.test", "/a7/"));
    }
}
