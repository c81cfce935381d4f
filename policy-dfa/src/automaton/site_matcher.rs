//! The matcher of `site` rules: one automaton over all patterns.
//!
//! The automaton reads a host backwards and then the path. So a pattern with a star in front becomes a common
//! prefix, which keeps the automaton small. One walk gives every pattern that an address matches.

use regex_automata::Anchored;
use regex_automata::MatchKind;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::start;
use regex_automata::util::syntax;

use crate::language::site::{MAX_SITES, SiteEffect, SiteRule};
use crate::vocabulary::event::Root;

/// The largest automaton over the patterns, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// A set of rules, as bits.
type RuleSet = [u64; MAX_SITES / 64];

/// An address that takes part in an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SiteAddress<'a> {
    /// The host in its ASCII form.
    pub(crate) host: &'a str,
    /// The path of an address that the event goes to; none for the page that it comes from.
    pub(crate) path: Option<&'a str>,
}

/// The `site` rules of a policy, with the automaton of their patterns.
#[derive(Debug, Clone)]
pub(crate) struct SiteMatcher {
    rules: Vec<SiteRule>,
    /// It has two patterns for each rule: the hosts with any path, and the hosts with the path of the rule. With no
    /// automaton, the patterns are tried one by one.
    automaton: Option<dense::DFA<Vec<u32>>>,
}

impl SiteMatcher {
    /// The rules with their automaton, or none where it would be too large.
    pub(crate) fn new(rules: Vec<SiteRule>) -> Option<SiteMatcher> {
        if rules.is_empty() {
            return Some(SiteMatcher { rules, automaton: None });
        }
        let patterns: Vec<String> =
            rules.iter().flat_map(|rule| [false, true].map(|path| rule.pattern.expression(path))).collect();
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
        Some(SiteMatcher { rules, automaton: Some(automaton) })
    }

    /// The rules without an automaton, since it takes milliseconds to build. The matches are the same.
    pub(crate) fn without_automaton(rules: Vec<SiteRule>) -> SiteMatcher {
        SiteMatcher { rules, automaton: None }
    }

    /// The rules with their automaton, unless it would be too large.
    pub(crate) fn with_automaton(self) -> SiteMatcher {
        if self.automaton.is_some() {
            return self;
        }
        SiteMatcher::new(self.rules.clone()).unwrap_or(self)
    }

    /// Whether any rule names the event.
    pub(crate) fn any_names(&self, root: Root) -> bool {
        self.rules.iter().any(|rule| rule.names(root))
    }

    /// Whether a rule forbids the event at one of the addresses that take part in it.
    ///
    /// The server may read a path with an escape or an empty segment as another path. So such a path matches every
    /// `never` rule of its host, and no `only` rule with a path.
    pub(crate) fn forbids<'a>(&self, root: Root, addresses: impl Iterator<Item = SiteAddress<'a>>) -> bool {
        if !self.any_names(root) {
            return false;
        }
        let mut forbidden = false;
        let named = |rule: &&SiteRule, effect| rule.effect == effect && rule.names(root);
        let confined = self.rules.iter().any(|rule| named(&rule, SiteEffect::Only));
        for address in addresses {
            let ambiguous = address.path.is_some_and(|path| path.contains('%') || path.contains("//"));
            let (on_host, on_path) = self.matches(address);
            let mut allowed = false;
            for (number, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.names(root)) {
                let host = contains(&on_host, number);
                let exact = contains(&on_path, number) && !(ambiguous && rule.pattern.path.is_some());
                match (rule.effect, &rule.pattern.path, address.path) {
                    (SiteEffect::Never, Some(_), None) => {}
                    (SiteEffect::Never, Some(_), Some(_)) => forbidden |= exact || (ambiguous && host),
                    (SiteEffect::Never, None, _) => forbidden |= host,
                    (SiteEffect::Only, _, None) => allowed |= host,
                    (SiteEffect::Only, _, Some(_)) => allowed |= exact,
                }
            }
            forbidden |= confined && !allowed;
        }
        forbidden
    }

    /// The rules that match the host of an address, and those that match its path too.
    fn matches(&self, address: SiteAddress<'_>) -> (RuleSet, RuleSet) {
        let (mut on_host, mut on_path) = (RuleSet::default(), RuleSet::default());
        let path = address.path.unwrap_or("/");
        let Some(automaton) = &self.automaton else {
            let on =
                self.rules.iter().enumerate().filter(|(_, rule)| rule.pattern.hosts.matches(address.host));
            for (number, rule) in on {
                insert(&mut on_host, number);
                if rule.pattern.path.as_ref().is_none_or(|pattern| pattern.matches(path)) {
                    insert(&mut on_path, number);
                }
            }
            return (on_host, on_path);
        };
        let Ok(mut state) = automaton.start_state(&start::Config::new().anchored(Anchored::Yes)) else {
            return (on_host, on_path);
        };
        for byte in address.host.bytes().rev().chain(path.bytes()) {
            state = automaton.next_state(state, byte);
            if automaton.is_dead_state(state) {
                return (on_host, on_path);
            }
        }
        let end = automaton.next_eoi_state(state);
        if automaton.is_match_state(end) {
            for nth in 0..automaton.match_len(end) {
                let pattern = automaton.match_pattern(end, nth).as_usize();
                insert(if pattern % 2 == 0 { &mut on_host } else { &mut on_path }, pattern / 2);
            }
        }
        (on_host, on_path)
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

    use super::{SiteAddress, SiteMatcher};
    use crate::language::site::{SiteEffect, SitePattern, SiteRule};
    use crate::vocabulary::event::{EventKind, Root};

    const ROOT: Root = Root::Request(Kind::Login, Tier::T2);

    fn rule(text: &str, effect: SiteEffect) -> SiteRule {
        SiteRule {
            pattern: SitePattern::parse(text).unwrap(),
            effect,
            events: vec![EventKind::Request(Kind::Login)],
        }
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

    /// The rules as the specification states them.
    fn reference(rules: &[SiteRule], places: &[(String, Option<String>)]) -> bool {
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
        #[test]
        fn the_automaton_agrees_with_the_specification(
            rules in prop::collection::vec((pattern(), any::<bool>()), 0..6),
            page in host(),
            goal in (host(), path()),
        ) {
            let effect = |only: bool| if only { SiteEffect::Only } else { SiteEffect::Never };
            let rules: Vec<_> = rules.iter().map(|(text, only)| rule(text, effect(*only))).collect();
            let places = [(page.clone(), None), (goal.0.clone(), Some(goal.1.clone()))];
            let expected = reference(&rules, &places);
            let one_by_one = SiteMatcher::without_automaton(rules.clone());
            for ready in [SiteMatcher::new(rules.clone()).unwrap(), one_by_one.clone(), one_by_one.with_automaton()] {
                let found = ready.forbids(ROOT, places.iter().map(|(host, path)| {
                    SiteAddress { host, path: path.as_deref() }
                }));
                prop_assert_eq!(found, expected, "{:?} {:?}", rules, places);
            }
        }
    }

    #[test]
    fn the_largest_number_of_rules_has_a_usable_automaton() {
        let rules =
            (0..super::MAX_SITES).map(|n| rule(&format!("*.shop{n}.example/a{n}/*"), SiteEffect::Never));
        let matcher = SiteMatcher::new(rules.collect()).unwrap();
        let at = |host, path| matcher.forbids(ROOT, [SiteAddress { host, path: Some(path) }].into_iter());
        assert!(at("x.shop255.example", "/a255/b") && !at("x.shop255.example", "/a254/b"));
        assert!(at("x.shop7.example", "/%61") && !at("x.shop7.example.test", "/a7/"));
    }
}
